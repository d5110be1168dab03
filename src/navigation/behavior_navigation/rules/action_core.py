# SPDX-License-Identifier: Apache-2.0
"""The life of one navigation action.

::

    IDLE -> ACCEPTED -> (TILE_LOADING) -> WAIT_ROUTE -> NAVIGATING -> COMPLETED | FAILED | CANCELED

The tree decides when; this decides how, and refuses what must not be. It is ticked before the tree
with all that has arrived since, so that the nodes of one tick agree.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from behavior_executor.missions.mission import Code, Kind, MissionRequest, failed
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_navigation.rules.calls import Call
from behavior_navigation.rules.detours import Detours
from behavior_navigation.rules.given_route import GivenRoute
from behavior_navigation.rules.goal_check import GoalCheck, GoalRule, SpeedEstimate
from behavior_navigation.rules.goal_watch import GoalFrameRule, GoalWatch
from behavior_navigation.rules.maneuver import (
    Horizons,
    Maneuver,
    RouteFollower,
    route_polyline,
)
from behavior_navigation.rules.polyline import Polyline
from behavior_navigation.rules.regions import RegionIndex
from behavior_navigation.rules.route_exchange import (
    RouteAnswer,
    RouteCause,
    RouteExchange,
    RouteQuestion,
    RouteRule,
)
from behavior_navigation.rules.route_progress import Odometer
from behavior_navigation.rules.state import (
    ActionPhase,
    ActionState,
    MapPhase,
    NavigationState,
    PlannerMode,
)
from behavior_navigation.rules.tiles import TileRule
from behavior_tree.cause import Cause, CauseKind

NAVIGATION_KINDS = frozenset({Kind.NAVIGATE_TO_POSE, Kind.FOLLOW_ROUTE, Kind.LOAD_MAP})
"""Kinds of missions that are actions of this state machine."""
LARGEST = 1e6
"""[m] of a coordinate on a map; centimetres of greater ones are lost in sums."""
_CANCELED = frozenset({Code.CANCELED_BY_CLIENT, Code.REPLACED, Code.SHUTDOWN})


@dataclass(frozen=True, slots=True)
class ActionRules:
    """Parameters."""

    horizons: Horizons = field(default_factory=lambda: Horizons(front=10.0, rear=1.0))
    goal: GoalRule = field(default_factory=GoalRule)
    frame: GoalFrameRule = field(default_factory=GoalFrameRule)
    route: RouteRule = field(default_factory=RouteRule)
    tiles: TileRule = field(default_factory=TileRule)
    robot_frame: str = "base_link"
    """Goals given in it are meant as seen when the action begins: they do not move with it."""
    map_frame: str = "map"
    """Frame of routes."""
    reroute_cooldown: float = 5.0
    """[s] between two routes that are asked for because the way is blocked."""
    reroute_lookahead: float = 3.0
    """[m] of the way ahead that counts as blocked then."""


class Outside(Protocol):
    """What the action needs of the world."""

    def frame_in_map(self, frame: str) -> Pose2D | None:
        """Where a frame is in the frame of routes now; None: unknown."""

    def request_route(self, question: RouteQuestion) -> None:
        """Publish a route request."""

    def publish_maneuver(self, maneuver: Maneuver) -> None:
        """Publish a maneuver."""

    def request_tile(self, tile: str) -> None:
        """Ask the map manager for a tile."""

    def reset_route_planner(self) -> Call | None:
        """Have the route planner forget everything; None: there is nothing to reset."""


class ActionCore:
    """One action at a time."""

    def __init__(
        self,
        state: NavigationState,
        outside: Outside,
        rules: ActionRules,
        *,
        first_request_id: int = 1,
    ) -> None:
        """Start without an action.

        Args:
            state: shared by all managers; the action's section is written here.
            outside: what the action needs of the world.
            rules: parameters.
            first_request_id: number of the first route request.
        """
        self.state = state
        self.outside = outside
        self.rules = rules
        self.regions = RegionIndex(())
        self.exchange = RouteExchange(rules.route, outside.request_route, first_request_id)
        self.executed = 0
        """Actions started (``actions_executed``)."""
        self.completed = 0
        """Actions ended with success (``actions_completed``)."""
        self.maneuvers = 0
        """Maneuvers published."""
        self.pending: MissionRequest | None = None
        """The new action, until it is accepted."""
        self.displaced = ""
        """Why the tile that the action asked for is not in force, where another one is."""
        self._request: MissionRequest | None = None
        self._answers: list[RouteAnswer] = []
        self._follower: RouteFollower | None = None
        self._given: GivenRoute | None = None
        self._way = Odometer()
        self._way_when_asked = 0.0
        self._detours = Detours(rules.reroute_cooldown)
        self._watch: GoalWatch | None = None
        self._check = GoalCheck(rules.goal)
        self._speed = SpeedEstimate()
        self._final_published = False
        self._behind = self._progress = 0.0
        self._had_route = False
        self._tile_asked = ""
        self._asked_goal: Pose2D | None = None
        self._route_goal: Pose2D | None = None

    @property
    def action(self) -> ActionState:
        """The section of the state that is written here."""
        return self.state.action

    # -- what happens from outside -----------------------------------------------------------------

    def take_route(self, answer: RouteAnswer) -> None:
        """A route arrived; it counts from the next tick on."""
        self._answers.append(answer)

    def mission_started(self, request: MissionRequest) -> None:
        """A mission starts; if it is a navigation, it is the new action and pre-empts the old."""
        self._give_up(ActionPhase.CANCELED)
        self.pending = request if request.kind in NAVIGATION_KINDS else None
        self.action.paused = False
        if self.pending is not None:
            self._reset(self.pending, ActionPhase.IDLE)
        else:
            self._request, self._watch = None, None
            self.state.action = ActionState()

    def mission_paused(self) -> None:
        """Stand still; nothing is waited for meanwhile."""
        self.action.paused = True

    def mission_resumed(self) -> None:
        """Go on."""
        self.action.paused = False
        self._check.reset()

    def mission_ended(self, code: Code) -> None:
        """The action is over, whatever it was doing."""
        ends = {Code.SUCCESS: ActionPhase.COMPLETED} | dict.fromkeys(
            _CANCELED, ActionPhase.CANCELED
        )
        self._give_up(ends.get(code, ActionPhase.FAILED))
        self.pending = None
        self.action.paused = False

    def pre_tick(self, now: float) -> None:
        """Bring everything to now."""
        self.state.now = now
        answers, self._answers = self._answers, []
        if not self.action.active:
            return
        if self.state.map.changing:
            self.action.phase = ActionPhase.TILE_LOADING
        self._ask_on(now)
        self._follow_goal(now)
        for answer in answers:
            if self.exchange.answer(answer):
                self._adopt(answer.route_id, answer.points, answer.edges)
        self.action.waiting_since = self.exchange.asked if self.exchange.pending else -math.inf
        self._measure(now)

    # -- what nodes ask ----------------------------------------------------------------------------

    @property
    def route_available(self) -> bool:
        """Whether there is a route to drive on; an old one counts while a new one is asked for."""
        return self._follower is not None

    @property
    def goal_changed(self) -> bool:
        """Whether the goal moved so far that it is worth a new route."""
        return self.action.active and self._watch is not None and self._watch.changed

    @property
    def route_expired(self) -> bool:
        """Whether a route has been waited for in vain."""
        return self.exchange.expired(self.state.now)

    @property
    def needed_tile(self) -> str | None:
        """The tile that must be loaded before the robot drives on; None: none."""
        robot = self.state.localization.pose
        if not self.action.active or robot is None or self._loads_map:
            return None
        here = (robot.x, robot.y)
        return self.rules.tiles.needed(self._tile, here, self._ahead(here))

    # -- what nodes do -----------------------------------------------------------------------------

    def accept(self) -> bool:
        """Begin the new action; False: there is none."""
        request, self.pending = self.pending, None
        if request is None:
            return False
        request = replace(
            request,
            goal=request.goal and self._held_fast(request.goal),
            route=tuple(map(self._held_fast, request.route)),
        )
        self._reset(request, ActionPhase.ACCEPTED)
        self.executed += 1
        if request.kind is Kind.LOAD_MAP:
            self.action.phase = ActionPhase.TILE_LOADING
            return True
        assert self.action.goal is not None
        self._watch = GoalWatch(self.rules.frame, self.state.now)
        self._follow_goal(self.state.now)
        return True

    def update_goal(self) -> None:
        """Pursue the goal where it is now; the old route serves until the new one is there."""
        if self._watch is None:
            return
        self.action.goal_in_map = self._watch.accept()
        self._check.reset()
        self.action.goal_reached = self._final_published = False

    def request_route(self, cause: RouteCause) -> bool:
        """See to it that a route is under way; False: the goal's place is not known yet.

        A FOLLOW_ROUTE action brings its own route; then the planner is asked only for ways to it,
        or around what blocks it. One question is open at a time; only a goal that moved replaces
        it.
        """
        goal, now = self.action.goal_in_map, self.state.now
        if goal is None:
            return False
        if self._given is not None and cause is not RouteCause.REROUTE:
            if not self._place_given(self._given):
                return False
            if self._set_out(self._given):
                return True
        if self.exchange.pending and cause is not RouteCause.GOAL_MOVED:
            return True
        if cause is RouteCause.REROUTE and not self._detours.give_up_way(
            now, self._place, self.rules.reroute_lookahead
        ):
            return True
        self._ask(goal, cause)
        return True

    def avoid_regions(self, types: Collection[int]) -> bool:
        """Ask for a route around the regions of these types that the way ahead touches.

        False: no edge of the graph ahead touches one, or all that do are avoided already.
        """
        follower, goal = self._follower, self.action.goal_in_map
        if follower is None or goal is None:
            return False
        touching = [
            piece.edge
            for piece in self._detours.ahead(self._place, follower.route.length)
            if any(
                region.type in types
                for region in self.regions.touched_by(follower.route.slice(piece.start, piece.end))
            )
        ]
        if not self._detours.avoid(touching):
            return False
        self._ask(goal, RouteCause.REROUTE)
        return True

    def reset_planner(self) -> Call | None:
        """Drop the route and have the route planner forget everything."""
        self.drop_route()
        return self.outside.reset_route_planner()

    def drop_route(self) -> None:
        """The route is void, as after a reset of the route planner."""
        self._leave_route()
        self._detours.drop_route()
        self._final_published = False
        self.exchange.forget()
        self.action.route_id, self.action.route_length = "", 0.0
        self.action.distance_remaining = -1.0
        if self.action.active and not self._loads_map:
            self.action.phase = ActionPhase.ACCEPTED

    def generate(self) -> str:
        """Publish the maneuver of this tick; returns why not, empty if it was published."""
        state, action = self.state, self.action
        robot, goal, follower = state.localization.pose, self._route_goal, self._follower
        if not action.active:
            return "there is no action"
        if action.paused:
            return "the action is paused"
        if state.map.changing:
            return f"the map is being changed ({state.map.phase.name})"
        if follower is None or goal is None:
            return "there is no route"
        if robot is None or not state.localization.good:
            return "the robot does not know where it is"
        tile = self.rules.tiles.find(self._tile)
        odometer = state.localization.driven
        maneuver = follower.maneuver(robot, goal, self.regions, tile, odometer=odometer)
        self.outside.publish_maneuver(maneuver)
        self.maneuvers += 1
        self._final_published = maneuver.is_final
        action.phase = ActionPhase.NAVIGATING
        return ""

    def request_tile(self) -> str:
        """Ask for the tile that is needed, once; returns its name, empty: none."""
        tile = self.needed_tile
        if tile is None:
            self._tile_asked = ""
            return ""
        if tile != self._tile_asked:
            self.outside.request_tile(tile)
            self._tile_asked = tile
            self.action.phase = ActionPhase.TILE_LOADING
        return tile

    def complete(self) -> bool:
        """End the action with success; False: there is none, or it is not done. Counts once."""
        if not self.action.active or (self._loads_map and not self._map_is_there()):
            return False
        self.completed += 1
        left_out = self._given.left_out if self._given is not None else 0.0
        text = f"done, but for {left_out:.1f} m of the route that were blocked" if left_out else ""
        self._end(ActionPhase.COMPLETED, text)
        self.action.distance_remaining = 0.0
        return True

    def fail(self) -> str:
        """End the action without success; returns why."""
        why = self.failure() or ""
        if self.action.active:
            self._end(ActionPhase.FAILED, why)
        return why

    def failure(self) -> Cause | None:
        """Why the action fails or failed, the nearest cause first; None: not for a known one."""
        state, action = self.state, self.action
        if self._request is None:
            return None
        if action.phase is ActionPhase.FAILED and action.text:
            return Cause.of(action.text)
        if state.map.phase is MapPhase.FAILED:
            return state.map.failure(state.map.text)
        if state.map.refused and (self._loads_map or self.tile_refused):
            return state.map.failure(state.map.refusal)
        if self.displaced:
            return state.map.failure(self.displaced)
        if self._watch is not None and self._watch.lost and action.goal is not None:
            sentence = (
                f"the frame '{action.goal.frame}' of the goal has not been known for "
                f"{self.rules.frame.max_timeout:g} s: is it published on /tf?"
            )
            return failed(Code.GOAL_FRAME_LOST, sentence)
        if state.planner.failed:
            why = Cause.of(state.planner.why_failed).at("the path planner gave up")
            return failed(Code.PLANNER_FAILED, why)
        if not state.localization.good and not self._loads_map:
            reason = state.localization.reason
            return failed(Code.LOCALIZATION_LOST, f"the robot does not know where it is: {reason}")
        if self.route_expired:
            waited = state.now - self.exchange.asked
            refusal = self.exchange.refusal or "it did not answer; does it run?"
            sentence = f"no route within {waited:.1f} s: the route planner: {refusal}"
            return failed(Code.NO_ROUTE, Cause(CauseKind.TIMED_OUT, sentence))
        return None

    @property
    def tile_refused(self) -> bool:
        """Whether the tile that the way leads to was asked for in vain."""
        return bool(self._tile_asked) and self.state.map.refused == self._tile_asked

    def refusal(self, request: MissionRequest) -> str:
        """Why a mission can never be carried out; empty: it may be."""
        tiles = self.rules.tiles
        if request.kind is Kind.LOAD_MAP and tiles.unknown(request.map_id):
            return f"no tile '{request.map_id}': choose among {', '.join(tiles.names)}"
        places = [(request.goal, "the goal")] if request.goal is not None else []
        places += [(p, f"pose {i} of the route") for i, p in enumerate(request.route, 1)]
        for place, what in places:
            found = self._in_map(place) or place.pose
            x, y = found.x, found.y
            if not max(abs(x), abs(y)) <= LARGEST:
                return f"{what} is on no map: coordinates reach {LARGEST:g} m"
            if self._in_map(place) is not None and tiles.outside(x, y):
                return f"{what} ({x:.2f}, {y:.2f}) lies outside of the map: {tiles.extents}"
        return ""

    def forbidden_ahead(self, types: Collection[int]) -> tuple[str, ...]:
        """Identifiers of the regions of these types that the robot is in, or is about to enter."""
        follower, robot = self._follower, self.state.localization.pose
        if robot is None:
            return ()
        ahead = np.array([[robot.x, robot.y]])
        if follower is not None:
            ahead = follower.route.slice(follower.s, follower.s + self.rules.horizons.front)
        return tuple(r.id for r in self.regions.touched_by(ahead) if r.type in types)

    @property
    def goal_lost(self) -> bool:
        """Whether the goal's frame has been unknown for too long."""
        return self.action.active and self._watch is not None and self._watch.lost

    @property
    def progress(self) -> float:
        """Part of the way that is behind, 0..1, never less than before; -1: not known."""
        if self.action.phase is ActionPhase.COMPLETED:
            return 1.0
        return -1.0 if self._follower is None else self._progress

    # -- inside ------------------------------------------------------------------------------------

    @property
    def _tile(self) -> str:
        """Name of the tile in force."""
        return self.state.map.tile_id or self.state.localization.map_id

    @property
    def _place(self) -> float:
        """Arc length of the robot on its route [m]; 0 without one."""
        return self._follower.s if self._follower is not None else 0.0

    @property
    def _loads_map(self) -> bool:
        return self._request is not None and self._request.kind is Kind.LOAD_MAP

    def _map_is_there(self) -> bool:
        """Whether the tile that the action asks for is in force."""
        assert self._request is not None
        wanted, there = self._request.map_id, self.state.map.tile_id
        if wanted not in ("", there):
            self.displaced = (
                f"tile '{there}' is in force, not '{wanted}': a newer request took its place"
            )
        return not self.state.map.refused and not self.displaced

    def _reset(self, request: MissionRequest, phase: ActionPhase) -> None:
        self.exchange.forget()
        self._request = request
        self._follower, self._detours = None, Detours(self.rules.reroute_cooldown)
        route_id = f"route of {request.action_id}"
        self._given = GivenRoute(route_id, self.rules.horizons) if request.route else None
        self._watch, self._final_published = None, False
        self._check.reset()
        self._speed.reset()
        self._behind = self._progress = 0.0
        self._had_route, self._tile_asked, self.displaced = False, "", ""
        self._asked_goal = self._route_goal = None
        goal = request.goal or (request.route[-1] if request.route else None)
        self.state.action = ActionState(phase=phase, action_id=request.action_id, goal=goal)

    def _give_up(self, phase: ActionPhase) -> None:
        if self.action.active:
            self._end(phase, (self.failure() if phase is ActionPhase.FAILED else None) or "")

    def _end(self, phase: ActionPhase, text: str) -> None:
        self.drop_route()
        self.action.phase, self.action.text = phase, text
        self.action.goal_reached = phase is ActionPhase.COMPLETED

    def _ask_on(self, now: float) -> None:
        """Keep the open question going; while the robot may not drive nobody waits for a route."""
        state = self.state
        hindered = (
            self.action.paused
            or state.map.changing
            or not state.localization.good
            or not state.autonomy.may_drive
        )
        optional = self.exchange.cause is RouteCause.REROUTE and self.route_available
        if hindered:
            self.exchange.restart(now)
        elif optional and self.route_expired and state.planner.mode is PlannerMode.NOMINAL:
            self.exchange.forget()  # the way is free again
        self.exchange.update(now)

    def _follow_goal(self, now: float) -> None:
        if self._watch is None or self.action.goal is None:
            return
        self._watch.update(now, self._in_map(self.action.goal))
        if self.action.goal_in_map is None:
            self.action.goal_in_map = self._watch.pursued

    def _held_fast(self, place: FramedPose) -> FramedPose:
        """A place as seen from the robot, where it is in the map now; any other as it is."""
        found = self._in_map(place) if place.frame == self.rules.robot_frame else None
        return place if found is None else FramedPose(self.rules.map_frame, found)

    def _in_map(self, place: FramedPose) -> Pose2D | None:
        frame = self.outside.frame_in_map(place.frame)
        return None if frame is None else frame @ place.pose

    def _adopt(
        self, route_id: str, points: Sequence[tuple[float, float]], edges: tuple[str, ...]
    ) -> None:
        """Drive on this route from now on."""
        robot = self.state.localization.pose
        array = np.array(points, dtype=np.float64)
        line: Polyline | None
        if self._given is not None:
            line = self._given.spliced(array)
        else:
            line = Polyline(array) if robot is None else route_polyline(array, robot)
        if line is None:
            return
        driven = self._way.total - self._way_when_asked
        self._detours.take_route(array, edges)
        self._follow(RouteFollower(route_id, line, self.rules.horizons, driven=driven))

    def _follow(self, follower: RouteFollower) -> None:
        self._leave_route()
        self._follower = follower
        # The planner leads to a place of the given route; that one leads to the goal.
        asked = self._asked_goal if self._given is None else None
        self._route_goal = asked or self.action.goal_in_map
        self._final_published, self._had_route = False, True
        self.action.route_id, self.action.route_length = follower.route_id, follower.route.length
        self.action.phase = ActionPhase.NAVIGATING

    def _leave_route(self) -> None:
        if self._follower is not None:
            self._behind += self._follower.covered
        self._follower = None

    def _measure(self, now: float) -> None:
        """Place on the route, and whether the goal is reached."""
        robot, goal = self.state.localization.pose, self.action.goal_in_map
        if robot is None:
            return
        self._way.update(robot.x, robot.y)
        follower, given = self._follower, self._given
        if follower is not None:
            follower.update(robot, self.state.localization.driven)
            self.action.distance_remaining = follower.remaining
            if given is not None:
                given.driven(follower.s)
            behind = self._behind + follower.covered
            if behind > 0.0:
                self._progress = max(self._progress, behind / (behind + follower.remaining))
        speed = self._speed.update(now, robot)
        # A way that the planner found is but a way: who is at the goal is there.
        remaining = 0.0
        if given is not None:
            remaining = follower.remaining if follower is not None else math.inf
        self.action.goal_reached = (
            goal is not None
            and not (self._watch is not None and self._watch.moved)
            and self.state.localization.good
            and not self.action.paused
            and self._check.update(robot, goal, speed, self._final_published, remaining=remaining)
        )

    def _place_given(self, given: GivenRoute) -> bool:
        """Find where the given route is in the map now; False: that is not known."""
        assert self._request is not None
        places = [self._in_map(place) for place in self._request.route]
        points = [(place.x, place.y) for place in places if place is not None]
        if len(points) < len(places) or self.state.localization.pose is None:
            return False
        given.place(np.array(points, dtype=np.float64))
        return True

    def _set_out(self, given: GivenRoute) -> bool:
        """Drive on along the given route; False: the robot is not there."""
        localization = self.state.localization
        assert localization.pose is not None
        follower = given.set_out(localization.pose, localization.driven)
        if follower is None:
            return False
        self.exchange.forget()
        self._detours.drop_route()
        self._follow(follower)
        return True

    def _ask(self, goal: Pose2D, cause: RouteCause) -> None:
        robot, given = self.state.localization.pose, self._given
        if given is not None and cause is RouteCause.REROUTE and robot is not None:
            goal = given.led_past(robot, self.rules.reroute_lookahead)
        elif given is not None:
            goal = given.led_to()
        self.action.reroutes += self._had_route
        self._asked_goal, self._way_when_asked = goal, self._way.total
        self.exchange.ask(self.state.now, goal, cause, self._detours.avoided)
        self.action.waiting_since = self.state.now
        if not self.route_available:
            self.action.phase = ActionPhase.WAIT_ROUTE

    def _ahead(self, here: tuple[float, float]) -> tuple[float, float]:
        follower = self._follower
        if follower is None or follower.place is None:
            return here
        return follower.route.point(follower.s + self.rules.tiles.lookahead)
