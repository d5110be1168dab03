# SPDX-License-Identifier: Apache-2.0
"""The map manager with a real map loader: nominal, silent, late, refusing, twice, in disorder."""

import threading
from collections.abc import Iterator

import pytest
from behavior_msgs.action import LoadTile
from behavior_msgs.msg import LoadTileRequest
from navigation_rig import Rig, rig
from std_msgs.msg import Header

from behavior_executor.missions.mission import Code, Kind, MissionRequest, code_of
from behavior_navigation.managers.map import MapManager
from behavior_navigation.rules.state import MapPhase
from behavior_ros import QOS_COMMAND, GoalContext, WorkerActionServer, seconds, to_time
from behavior_ros.testing import until
from behavior_tree import NodeStatus

Map = Rig[MapManager]
USE = "use_tile_loader:=true"
CHANGE = """<guardMapChange><Sequence>
  <enterMapPhase phase="DISABLING"/> <loadTile/> <waitTileResult/> <republishMaps/>
  <enterMapPhase phase="WAIT_LOCALIZATION"/> <waitMapLocalized timeout="5.0"/>
  <enterMapPhase phase="ENABLING"/> <completeMapChange/>
</Sequence></guardMapChange>"""


class Loader:
    """Serves /map_loader/load_tile as the test says."""

    def __init__(self, world: Map) -> None:
        self.goals: list[tuple[int, str]] = []
        self.cancelled: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.code = LoadTile.Result.SUCCESS
        self.offset = 0
        self.server = world.do(
            lambda: WorkerActionServer(world.world, LoadTile, "/map_loader/load_tile", self._load)
        )

    def _load(self, context: GoalContext) -> LoadTile.Result:
        goal = context.goal
        self.goals.append((goal.request_id, goal.tile_id))
        try:
            while not self.gate.is_set():
                context.publish_feedback(LoadTile.Feedback(progress=0.5))
                context.check_cancelled()
                self.gate.wait(0.02)
        except Exception:
            self.cancelled.append(goal.tile_id)
            raise
        return LoadTile.Result(
            code=self.code,
            message="" if self.code == 0 else "the disk is full",
            request_id=goal.request_id + self.offset,
            tile_id=goal.tile_id,
            acquired=to_time(42.5),
        )


@pytest.fixture
def maps() -> Iterator[Map]:
    with rig(MapManager, USE, "server_timeout:=5.0") as made:
        made.state.localization.good, made.state.localization.reason = True, ""
        made.heard = made.world.hear(Header, "/map_republish", QOS_COMMAND)
        yield made


def ask(maps: Map, tile: str, number: int = 1) -> None:
    before = maps.manager.inputs["load_tile_request"].sequence
    maps.world.say("/map/load_tile_request", LoadTileRequest(id=number, tile_id=tile))
    cache = maps.manager.inputs["load_tile_request"]
    until(lambda: cache.sequence == before + 1, 90.0, "request")


def finish(maps: Map, tree: object) -> NodeStatus:
    def done() -> NodeStatus | None:
        status = maps.run(tree)
        return None if status is NodeStatus.RUNNING else status

    status = until(done, 90.0, f"the end, phase {maps.state.map.phase.name}")
    print(maps.state.map)  # shown when a test fails
    return status


def test_a_tile_is_loaded_and_published(maps: Map) -> None:
    loader = Loader(maps)
    until(lambda: maps.manager._publisher.get_subscription_count() > 0, 90.0, "listener")
    assert not maps.ask("tileLoadRequested")
    assert maps.ask("mapIsLoaded")
    ask(maps, "east", 4)
    ask(maps, "east", 4)  # twice
    assert maps.ask("tileLoadRequested")
    assert not maps.ask("mapIsLoaded")
    maps.state.localization.map_id = "east"
    assert finish(maps, maps.tree(CHANGE)) is NodeStatus.SUCCESS
    assert maps.ask("mapIsLoaded tile_id='east'")
    assert not maps.ask("mapIsLoaded tile_id='west'")
    assert [tile for _, tile in loader.goals] == ["east"]
    until(lambda: maps.heard, 90.0, "republish")
    assert seconds(maps.heard[0].stamp) == 42.5
    ask(maps, "east", 5)  # it is there
    assert not maps.ask("tileLoadRequested")
    assert maps.manager.change.changes == 1


def test_a_mission_asks_too(maps: Map) -> None:
    Loader(maps)
    maps.do(maps.manager.mission_started, MissionRequest("m", Kind.LOAD_MAP, map_id="east"))
    assert maps.ask("tileLoadRequested")
    assert finish(maps, maps.tree(CHANGE)) is NodeStatus.SUCCESS
    assert maps.state.map.tile_id == "east"


def test_a_refusal_is_told_and_may_be_tried_again(maps: Map) -> None:
    loader = Loader(maps)
    loader.code = LoadTile.Result.LOADING_FAILED
    ask(maps, "east")
    maps.do(maps.manager.mission_started, MissionRequest("m0", Kind.NAVIGATE_TO_POSE))
    assert finish(maps, maps.tree(CHANGE)) is NodeStatus.FAILURE
    assert maps.state.map.phase is MapPhase.FAILED
    why = maps.manager.failure()
    assert code_of(why) is Code.MAP_FAILED
    assert "the disk is full" in why
    assert "the disk is full" in maps.manager.problem()
    loader.code = LoadTile.Result.SUCCESS
    maps.do(maps.manager.mission_started, MissionRequest("m", Kind.NAVIGATE_TO_POSE))
    assert finish(maps, maps.tree(CHANGE)) is NodeStatus.SUCCESS
    assert maps.manager.failure() is None


def test_other_missions_do_not_fail_for_the_map(maps: Map) -> None:
    loader = Loader(maps)
    loader.code = LoadTile.Result.LOADING_FAILED
    ask(maps, "east")
    assert finish(maps, maps.tree(CHANGE)) is NodeStatus.FAILURE
    maps.do(maps.manager.mission_started, MissionRequest("m", Kind.RUN_BEHAVIOR, name="stack"))
    assert maps.manager.failure() is None


def test_answers_to_other_requests_are_refused(maps: Map) -> None:
    loader = Loader(maps)
    loader.offset = 1
    ask(maps, "east")
    assert finish(maps, maps.tree(CHANGE)) is NodeStatus.FAILURE
    assert "instead" in maps.state.map.text


def test_a_loader_that_is_not_there_is_waited_for(maps: Map) -> None:
    ask(maps, "east")
    tree = maps.tree(CHANGE)
    for _ in range(3):
        assert maps.run(tree) is NodeStatus.RUNNING
    assert maps.state.map.phase is MapPhase.LOADING
    Loader(maps)
    assert finish(maps, tree) is NodeStatus.SUCCESS


def test_a_loader_that_never_comes_is_given_up(maps: Map) -> None:
    ask(maps, "east")
    tree = maps.tree(CHANGE)
    assert maps.run(tree) is NodeStatus.RUNNING
    maps.set_time(maps.now + 20.1)
    assert maps.run(tree) is NodeStatus.FAILURE
    assert "did not answer within 20 s" in maps.state.map.text


def test_a_loader_that_takes_too_long_is_cancelled_and_its_late_answer_ignored(maps: Map) -> None:
    loader = Loader(maps)
    loader.gate.clear()
    ask(maps, "east")
    tree = maps.tree(CHANGE)
    until(lambda: maps.run(tree) and loader.goals, 90.0, "goal")
    maps.set_time(maps.now + 20.1)
    assert maps.run(tree) is NodeStatus.FAILURE
    until(lambda: loader.cancelled == ["east"], 90.0, "cancellation")
    for _ in range(3):
        maps.tick()
    assert maps.state.map.phase is MapPhase.FAILED


def test_the_newest_request_counts_while_loading(maps: Map) -> None:
    loader = Loader(maps)
    loader.gate.clear()
    ask(maps, "east", 1)
    tree = maps.tree(CHANGE)
    until(lambda: maps.run(tree) and loader.goals, 90.0, "goal")
    ask(maps, "north", 2)
    ask(maps, "south", 3)
    until(lambda: maps.run(tree) and len(loader.goals) == 2, 90.0, "second goal")
    assert loader.goals[-1][1] == "south"
    assert loader.cancelled == ["east"]
    loader.gate.set()
    assert finish(maps, tree) is NodeStatus.SUCCESS
    assert maps.state.map.tile_id == "south"


def test_halting_cancels_the_load(maps: Map) -> None:
    loader = Loader(maps)
    loader.gate.clear()
    ask(maps, "east")
    tree = maps.tree(CHANGE)
    until(lambda: maps.run(tree) and loader.goals, 90.0, "goal")
    maps.do(tree.halt_tree)
    until(lambda: loader.cancelled == ["east"], 90.0, "cancellation")
    assert maps.state.map.changing
    maps.do(maps.manager.mission_ended, Code.CANCELED_BY_CLIENT)
    assert maps.state.map.phase is MapPhase.FAILED


def test_a_localization_in_the_old_map_does_not_count(maps: Map) -> None:
    Loader(maps)
    maps.state.localization.map_id = "west"
    ask(maps, "east")
    tree = maps.tree(CHANGE)
    until(
        lambda: maps.run(tree) and maps.state.map.phase is MapPhase.WAIT_LOCALIZATION,
        20.0,
        "loading",
    )
    maps.set_time(maps.now + 5.1)
    assert maps.run(tree) is NodeStatus.FAILURE
    assert "still uses map 'west'" in maps.state.map.text


def test_without_a_tile_loader() -> None:
    with rig(MapManager) as maps:
        ask(maps, "east")
        assert not maps.ask("tileLoadRequested")
        assert finish(maps, maps.tree("<loadTile/>")) is NodeStatus.FAILURE


@pytest.mark.parametrize("request_", [LoadTileRequest(id=1), LoadTileRequest(id=2, tile_id="")])
def test_requests_without_a_name_are_ignored(maps: Map, request_: LoadTileRequest) -> None:
    maps.world.say("/map/load_tile_request", request_)
    until(lambda: maps.manager.inputs["load_tile_request"].sequence == 1, 90.0, "request")
    assert not maps.ask("tileLoadRequested")
