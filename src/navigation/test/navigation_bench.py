# SPDX-License-Identifier: Apache-2.0
"""The navigation without ROS: the executor's core, all rules, and a small world that answers them.

The world is made to go wrong: each of its parts does as the test says, from the next tick on.
"""

from collections.abc import Callable
from pathlib import Path

from behavior_executor.core import ExecutorCore, Settings
from behavior_executor.journal.journal import MissionJournal
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.catalogue import MissionCatalogue, MissionEntry
from behavior_executor.missions.mission import Code, Kind, Mission, MissionRequest, Policy
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.missions.tree_digests import TreeDigests
from behavior_executor.running.tree_run import TreeRun
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_navigation.managers.autonomy_level import register_autonomy_level_nodes
from behavior_navigation.managers.planner import register_planner_nodes
from behavior_navigation.managers.system_health import register_system_health_nodes
from behavior_navigation.rules.action_core import ActionCore, ActionRules
from behavior_navigation.rules.action_nodes import register_action_nodes
from behavior_navigation.rules.behavior_call import BehaviorCall, register_behavior_nodes
from behavior_navigation.rules.calls import CallResult
from behavior_navigation.rules.entities import Entity, EntityPool
from behavior_navigation.rules.maneuver import Maneuver
from behavior_navigation.rules.map_change import LoadAnswer, MapChange, TileRequest
from behavior_navigation.rules.map_nodes import register_map_nodes
from behavior_navigation.rules.planner_core import PlannerCore
from behavior_navigation.rules.planner_mode import PlannerRules
from behavior_navigation.rules.polyline import Polyline
from behavior_navigation.rules.route_exchange import RouteAnswer, RouteQuestion
from behavior_navigation.rules.state import Level, MapPhase, NavigationState, PlannerMode
from behavior_tree import BehaviorTreeFactory, Blackboard, Cause

TREES = Path(__file__).parents[3] / "trees" / "navigation"
PERIOD = 0.1
SPEED = 1.0
NAMES = ("egm", "rpp", "sdm", "tp")


class FakeCall:
    """Answers when and as the test says."""

    def __init__(
        self, answer: Callable[[], CallResult | None], waits: Callable[[], bool] = lambda: False
    ) -> None:
        self.answer, self._waits = answer, waits
        self.forgotten = False

    @property
    def waits(self) -> bool:
        return self._waits()

    def poll(self) -> CallResult | None:
        return self.answer()

    def forget(self) -> None:
        self.forgotten = True


class FakeModule:
    """A module that is switched; silent or refusing if told so."""

    def __init__(self) -> None:
        self.on = True
        self.silent = False
        self.absent = False
        """Nothing gets there, before it comes up."""
        self.refuses = ""
        self.orders: list[bool] = []

    def set(self, enabled: bool) -> FakeCall:
        self.orders.append(enabled)

        def answer() -> CallResult | None:
            if self.silent or self.absent:
                return None
            if self.refuses:
                return CallResult(False, self.refuses)
            self.on = enabled
            return CallResult(True)

        return FakeCall(answer, lambda: self.absent)

    def known(self) -> bool | None:
        return None if self.silent or self.absent else self.on


class World:
    """Robot, route planner, map loader, localizer: what the rules call, and what answers."""

    def __init__(self, state: NavigationState) -> None:
        self.state = state
        self.time = 0.0
        self.robot = Pose2D()
        self.frames: dict[str, Pose2D] = {"map": Pose2D()}
        self.modules = {name: FakeModule() for name in NAMES}
        self.questions: list[RouteQuestion] = []
        self.route_delay: float | None = 0.2
        self.route_refusal = ""
        self.edges: tuple[str, ...] = ()
        self.detour = 0.0
        self.corners: tuple[tuple[float, float], ...] = ()
        self.maneuvers: list[Maneuver] = []
        self.phases_at_maneuvers: set[MapPhase] = set()
        self.resets = 0
        self.reset_answer: CallResult | None = CallResult(True)
        self.tiles: list[str] = []
        self.loads: list[tuple[int, str]] = []
        self.load_delay: float | None = 0.5
        self.load_refusal = ""
        self.republished: list[float] = []
        self.localized = True
        self.relocalizes = True
        self.localization_resets = 0
        self.localization_answer: CallResult | None = CallResult(True)
        self.map_id = ""
        self.planning_fails = False
        self._due: list[tuple[float, Callable[[], None]]] = []
        self.bench: NavigationBench

    # what the action needs

    def frame_in_map(self, frame: str) -> Pose2D | None:
        return self.frames.get(frame)

    def request_route(self, question: RouteQuestion) -> None:
        self.questions.append(question)
        if self.route_delay is not None:
            start = self.robot
            self.later(self.route_delay, lambda: self._answer_route(question, start))

    def _answer_route(self, question: RouteQuestion, start: Pose2D) -> None:
        points: tuple[tuple[float, float], ...] = ()
        if not self.route_refusal:
            middle = (0.5 * (start.x + question.goal.x), self.detour)
            ends = (start.x, start.y), (question.goal.x, question.goal.y)
            points = (ends[0], middle, ends[1]) if self.detour else ends
            points = (ends[0], *self.corners, ends[1]) if self.corners else points
        self.bench.action.take_route(
            RouteAnswer(
                question.id, self.time, f"r{question.id}", points, self.edges, self.route_refusal
            )
        )

    def publish_maneuver(self, maneuver: Maneuver) -> None:
        self.maneuvers.append(maneuver)
        self.phases_at_maneuvers.add(self.state.map.phase)

    def request_tile(self, tile: str) -> None:
        self.tiles.append(tile)
        self.later(PERIOD, lambda: self.bench.change.request(TileRequest(tile)))

    def reset_route_planner(self) -> FakeCall:
        self.resets += 1
        return FakeCall(lambda: self.reset_answer)

    # what the map change needs

    def load(self, request_id: int, tile: TileRequest) -> None:
        self.loads.append((request_id, tile.tile_id))
        if self.load_delay is not None:
            self.later(self.load_delay, lambda: self._loaded(request_id, tile.tile_id))

    def _loaded(self, request_id: int, tile: str) -> None:
        taken = self.bench.change.answer(
            LoadAnswer(
                request_id,
                not self.load_refusal,
                self.load_refusal,
                self.time,
                kept=self.load_refusal.startswith("unknown"),
            )
        )
        if taken and not self.load_refusal:
            self.map_id = tile

    def stop_loading(self) -> None:
        pass

    def republish(self, acquired: float) -> None:
        self.republished.append(acquired)

    # time

    def later(self, delay: float, what: Callable[[], None]) -> None:
        self._due.append((self.time + delay, what))

    def step(self) -> None:
        self.time = round(self.time + PERIOD, 6)
        due = [entry for entry in self._due if entry[0] <= self.time + 1e-9]
        self._due = [entry for entry in self._due if entry not in due]
        for _, what in due:
            what()
        moving = self.state.planner.mode is not PlannerMode.IDLE and self.modules["tp"].on
        if moving and self.maneuvers and not self.planning_fails:
            self._drive(self.maneuvers[-1])
        place = self.state.localization
        place.good = place.fresh = self.localized
        place.reason = "" if self.localized else "localizer doubts its pose"
        place.pose, place.map_id = self.robot, self.map_id

    def _drive(self, maneuver: Maneuver) -> None:
        line = Polyline(maneuver.path)
        at = maneuver.s_robot - maneuver.s_start + SPEED * PERIOD
        x, y = line.point(at)
        yaw = maneuver.goal.yaw if at >= line.length else line.heading(at)
        self.robot = Pose2D(x, y, yaw)

    # the localizer's reset, as the health nodes see it

    def begin(self) -> None:
        self.localization_resets += 1
        if self.relocalizes:
            self.later(0.3, lambda: setattr(self, "localized", True))

    def answer(self) -> CallResult | None:
        return self.localization_answer

    def waits_for(self) -> str:
        return "/localization/reset answers not"

    def abandon(self) -> None:
        pass


class FakeHealth:
    """What the nodes of the system health look at."""

    reset_timeout = 5.0

    def __init__(self, world: World) -> None:
        self.state = world.state
        self.reset = world
        self._world = world

    def begin_reset(self) -> None:
        self._world.begin()

    def unhealthy(self) -> str:
        return self.state.localization.reason


class FakeAutonomy:
    """Who moves the robot; a test writes the state itself."""

    def __init__(self, state: NavigationState) -> None:
        self.state = state

    def why_halted(self) -> str:
        return ""

    def select(self, level: Level) -> None:
        self.state.autonomy.selected = self.state.autonomy.effective = level


class FakePlanner(PlannerCore):
    """The planner manager's core without messages: one planning cycle in every tick."""

    def __init__(self, world: World) -> None:
        self.modes: list[PlannerMode] = []
        self._world = world
        super().__init__(
            world.state,
            PlannerRules(
                failures_until_reroute=3, failures_until_give_up=40, good_cycles_until_nominal=1
            ),
            health_fresh=lambda: True,
            trajectory_fresh=lambda: False,
            publish=self._note,
        )

    def pre_tick(self, now: float) -> None:
        super().pre_tick(now)
        self.take_health(self._world.planning_fails, False, self.state.planner.mode)

    def _note(self) -> None:
        mode = self.state.planner.mode
        if mode is not (self.modes[-1] if self.modes else PlannerMode.IDLE):
            self.modes.append(mode)


def _no_behavior(name: str, parameters: object) -> BehaviorCall:
    raise AssertionError(f"nobody runs {name} here")


def register_navigation_nodes(
    factory: BehaviorTreeFactory,
    world: World,
    action: ActionCore,
    change: MapChange,
    pool: EntityPool,
    planner: FakePlanner,
) -> None:
    """All nodes of the navigation."""
    register_action_nodes(factory, action)
    register_map_nodes(factory, change)
    register_behavior_nodes(factory, _no_behavior, lambda: world.time)
    pool.register_nodes(factory)
    register_planner_nodes(factory, planner)
    register_system_health_nodes(factory, FakeHealth(world))
    register_autonomy_level_nodes(factory, FakeAutonomy(world.state))


class NavigationBench:
    """A core that runs the real navigation trees in the fake world; it is its own manager."""

    def __init__(
        self,
        tree: str = "navigation_classic",
        rules: ActionRules | None = None,
        *,
        tile_loader: bool = True,
    ) -> None:
        self.state = NavigationState()
        self.state.autonomy.selected = self.state.autonomy.effective = Level.AUTONOMOUS
        self.world = World(self.state)
        self.world.bench = self
        self.action = ActionCore(self.state, self.world, rules or ActionRules())
        self.change = MapChange(self.state, self.world, enabled=tile_loader, load_timeout=5.0)
        self.pool = EntityPool(
            self.state, [Entity(name, module) for name, module in self.world.modules.items()]
        )
        self.planner = FakePlanner(self.world)
        self.factory = BehaviorTreeFactory(clock=lambda: self.world.time)
        register_navigation_nodes(
            self.factory, self.world, self.action, self.change, self.pool, self.planner
        )
        self.missions: list[Mission] = []
        self.core = ExecutorCore(
            catalogue=MissionCatalogue([TREES]),
            queue=MissionQueue(default_policy=Policy.REPLACE),
            load=self._load,
            digests=lambda entry: TreeDigests().of(entry.path),
            managers=[self],
            listener=self,
            now=lambda: self.world.time,
            wall=lambda: self.world.time,
            settings=Settings(tick_period=PERIOD, navigation_tree=tree),
            log=MissionLog(MissionJournal()),
        )

    # missions

    def go(self, x: float, y: float = 0.0, yaw: float = 0.0, frame: str = "map") -> Mission:
        goal = FramedPose(frame, Pose2D(x, y, yaw))
        return self.submit(Kind.NAVIGATE_TO_POSE, goal=goal)

    def submit(self, kind: Kind, **fields: object) -> Mission:
        request = MissionRequest(f"m{len(self.missions) + 1}", kind, **fields)
        mission = self.core.submit(request)
        self.missions.append(mission)
        return mission

    def control(self, kind: Kind) -> None:
        self.core.submit(MissionRequest("", kind))

    def tick(self) -> None:
        """One period: the world moves on, then everything is ticked."""
        self.world.step()
        before = len(self.world.maneuvers)
        self.core.tick()
        told = len(self.world.maneuvers) - before
        assert told <= 1
        assert not told or not (self.state.map.changing or self.state.action.paused)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.tick()

    def until(self, condition: Callable[[], object], limit: float = 60.0) -> float:
        """Tick until something is true; returns how long it took [s]."""
        begin = self.world.time
        while not condition():
            assert self.world.time - begin < limit, f"not within {limit} s: {self.told()}"
            self.tick()
        return self.world.time - begin

    def finish(self, mission: Mission, limit: float = 120.0) -> Code:
        self.until(lambda: mission.is_final, limit)
        return mission.code

    def told(self) -> str:
        mission = self.missions[-1] if self.missions else None
        return f"{mission}, {self.state}"

    # what the core calls

    def _load(self, entry: MissionEntry, values: dict) -> TreeRun:
        self.factory.clear_registered_behavior_trees()
        blackboard = Blackboard.create()
        for key, value in values.items():
            blackboard.set(key, value)
        tree = self.factory.create_tree_from_file(entry.path, blackboard)
        return TreeRun(tree, tree_id=entry.main_tree)

    def pre_tick(self, now: float) -> None:
        self.state.now = now
        self.planner.pre_tick(now)
        self.action.pre_tick(now)
        self.pool.update()

    def post_tick(self, now: float) -> None:
        pass

    def refusal(self, request: MissionRequest) -> str:
        return self.action.refusal(request)

    def mission_started(self, request: MissionRequest) -> None:
        self.planner.begin_action()
        self.action.mission_started(request)
        if request.kind is Kind.LOAD_MAP:
            self.change.request(TileRequest(request.map_id))
        self.change.mission_started()

    def settled(self) -> bool:
        return True

    def mission_paused(self) -> None:
        self.action.mission_paused()
        self.planner.set_mode(PlannerMode.IDLE, "paused")

    def mission_resumed(self) -> None:
        self.action.mission_resumed()

    def mission_ended(self, code: Code) -> None:
        self.action.mission_ended(code)
        self.change.mission_ended()
        self.planner.set_mode(PlannerMode.IDLE, "there is no mission")

    def failure(self) -> Cause | None:
        return self.action.failure()

    def mission_changed(self, mission: Mission) -> None:
        pass

    def tree_loaded(self, mission: Mission, run: TreeRun) -> None:
        self.run_now = run

    def tree_ticked(self, mission: Mission, run: TreeRun, duration: float) -> None:
        pass

    def problem(self, text: str) -> None:
        raise AssertionError(text)
