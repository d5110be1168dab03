# SPDX-License-Identifier: Apache-2.0
"""The action manager with real messages: nominal, stale, late, twice and in disorder."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from behavior_msgs.msg import (
    LoadTileRequest,
    Maneuver,
    Metrics,
    Route,
    RouteRequest,
    SemanticRegion,
    SemanticRegionArray,
)
from geometry_msgs.msg import Point32, TransformStamped
from navigation_rig import Rig, rig
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from behavior_executor.missions.mission import Code, Kind, MissionRequest, code_of
from behavior_executor.missions.report import Report
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_navigation.managers.action import ActionManager
from behavior_navigation.managers.action_messages import broken_regions, region_index
from behavior_navigation.rules.state import ActionPhase, Level, MapPhase
from behavior_ros import (
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    ParameterError,
    to_time,
    upright_pose,
)
from behavior_ros.testing import until
from behavior_tree import CauseKind, NodeStatus

Action = Rig[ActionManager]


@pytest.fixture
def action() -> Iterator[Action]:
    with rig(ActionManager, "tx_reset_route_planner:=''", "goal_frame_timeout:=2.0") as made:
        prepare(made)
        yield made


def prepare(action: Action) -> None:
    state = action.state
    state.autonomy.effective = Level.AUTONOMOUS
    state.localization.good, state.localization.reason = True, ""
    state.localization.pose = Pose2D()
    action.requests = action.world.hear(RouteRequest, "/route_request", QOS_COMMAND)
    action.maneuvers = action.world.hear(Maneuver, "/maneuver", QOS_COMMAND)
    publishers = (action.manager._requests, action.manager._maneuvers)
    until(lambda: all(p.get_subscription_count() > 0 for p in publishers), 90.0, "listeners")


def start(action: Action, x: float = 10.0, frame: str = "map", **fields: object) -> None:
    goal = FramedPose(frame, Pose2D(x, 0.0, 0.5))
    request = MissionRequest("m1", Kind.NAVIGATE_TO_POSE, goal=goal, **fields)
    action.do(action.manager.mission_started, request)
    assert action.ask("newActionAvailable")
    assert action.run(action.tree("<acceptAction/>")) is NodeStatus.SUCCESS


def asked(action: Action, count: int = 1) -> RouteRequest:
    """Wait for a route; the request that was published."""
    action.waiting = action.tree("<requestNewRouteOnBoard/>")
    assert action.run(action.waiting) is NodeStatus.RUNNING
    until(lambda: len(action.requests) >= count, 90.0, "request")
    return action.requests[-1]


def answer(action: Action, request_id: int, *, stamp: float | None = None, **fields: object):
    """Publish a route, and wait until the manager has it."""
    before = action.manager.inputs["route"].sequence
    message = Route(request_id=request_id, **{"route_id": f"r{request_id}", **fields})
    message.header.stamp = to_time(action.now if stamp is None else stamp)
    message.header.frame_id = message.path.header.frame_id = "map"
    if "text" not in fields:
        message.path.poses = [upright_pose("map", x, 0.0) for x in (0.0, 5.0, 10.0)]
    action.world.say("/route", message)
    until(lambda: action.manager.inputs["route"].sequence == before + 1, 90.0, "route")
    action.tick()


def test_from_goal_to_maneuver(action: Action) -> None:
    action.tick()
    assert not action.ask("newActionAvailable")
    start(action)
    request = asked(action)
    assert request.use_robot_pose
    assert request.cause == RouteRequest.NEW_ACTION
    assert request.goal.header.frame_id == request.header.frame_id == "map"
    assert request.goal.pose.position.x == 10.0
    assert action.run(action.waiting) is NodeStatus.RUNNING
    answer(action, request.id, edges=["a-b"])
    assert action.ask("newRouteAvailable")
    assert action.run(action.waiting) is NodeStatus.SUCCESS
    action.state.localization.pose = Pose2D(2.0, 0.5)
    assert action.run(action.tree("<generateManeuver/>")) is NodeStatus.SUCCESS
    until(lambda: action.maneuvers, 90.0, "maneuver")
    told = action.maneuvers[-1]
    assert (told.id, told.route_id, told.is_final) == (1, f"r{request.id}", True)
    assert told.s_robot == pytest.approx(2.0)
    assert told.lateral_offset == pytest.approx(0.5)
    assert told.path.header.frame_id == "map"
    assert [pose.pose.position.x for pose in told.path.poses] == pytest.approx([1.0, 5.0, 10.0])
    assert told.goal.pose.orientation.z == pytest.approx(math.sin(0.25))
    report = Report()
    action.do(action.manager.describe, report)
    assert report.distance_remaining == pytest.approx(8.0)
    assert (report.reroutes, report.detail) == (0, "navigating")


def test_routes_that_are_not_for_us(action: Action) -> None:
    """Before the question, to other numbers, too old, empty, twice, and after the action."""
    action.tick()
    answer(action, 1)
    start(action)
    request = asked(action)
    for other in (request.id - 1, request.id + 1, 1):
        answer(action, other)
        assert not action.ask("newRouteAvailable")
    answer(action, request.id, stamp=action.now - 10.5)
    assert not action.ask("newRouteAvailable")
    assert action.manager.stale_routes == 1
    answer(action, request.id, text="the goal is in a wall")
    assert not action.ask("newRouteAvailable")
    assert "in a wall" in action.manager.problem()
    answer(action, 0, stamp=action.now - 0.5)
    assert not action.ask("newRouteAvailable"), "a planner without numbers, before we asked"
    answer(action, request.id)
    assert action.state.action.route_id == f"r{request.id}"
    answer(action, request.id, route_id="again")
    assert action.state.action.route_id == f"r{request.id}"
    action.do(action.manager.mission_ended, Code.CANCELED_BY_CLIENT)
    assert action.ask("actionIsCanceled")
    answer(action, request.id)
    assert not action.ask("newRouteAvailable")


def test_routes_of_planners_without_numbers(action: Action) -> None:
    action.tick()
    start(action)
    asked(action)
    action.wait(1.0)
    answer(action, 0, route_id="")
    assert action.ask("newRouteAvailable")
    assert action.state.action.route_id == "route 0"


def test_routes_in_frames_that_are_not_known(action: Action) -> None:
    action.tick()
    start(action)
    request = asked(action)
    message = Route(request_id=request.id)
    message.header.frame_id = "moon"
    message.header.stamp = to_time(action.now)
    message.path.poses = [upright_pose("moon", 1.0, 0.0)]
    action.world.say("/route", message)
    until(lambda: action.manager.inputs["route"].sequence == 1, 90.0, "route")
    action.tick()
    assert "'moon'" in action.manager.problem()


def test_the_wait_at_its_limits(action: Action) -> None:
    action.tick()
    start(action)
    asked(action)
    action.wait(19.9)
    assert not action.ask("routeWaitExpired")
    assert action.run(action.waiting) is NodeStatus.RUNNING
    action.wait(0.2)
    assert action.ask("routeWaitExpired")
    assert action.run(action.waiting) is NodeStatus.FAILURE
    assert action.run(action.tree("<failAction/>")) is NodeStatus.FAILURE
    why = action.manager.failure()
    assert code_of(why) is Code.NO_ROUTE
    assert why.kind is CauseKind.TIMED_OUT
    assert "20.1 s" in why


def test_no_maneuver_in_a_pause_or_while_the_map_changes(action: Action) -> None:
    action.tick()
    start(action)
    answer(action, asked(action).id)
    tree = action.tree("<generateManeuver/>")
    assert action.run(tree) is NodeStatus.SUCCESS
    for phase in MapPhase:
        action.state.map.phase = phase
        expected = NodeStatus.SUCCESS if phase is MapPhase.IDLE else NodeStatus.FAILURE
        assert action.run(tree) is expected
    action.state.map.phase = MapPhase.IDLE
    action.do(action.manager.mission_paused)
    assert action.run(tree) is NodeStatus.FAILURE
    assert action.ask("actionIsPaused")
    action.do(action.manager.mission_resumed)
    assert action.run(tree) is NodeStatus.SUCCESS
    assert action.manager.core.maneuvers == 3
    until(lambda: len(action.maneuvers) == 3, 90.0, "maneuvers")


def move_frame(action: Action, x: float, stamp: float | None = None) -> None:
    message = TransformStamped(child_frame_id="cart")
    message.header.frame_id = "map"
    message.header.stamp = to_time(action.now if stamp is None else stamp)
    message.transform.translation.x = x
    message.transform.rotation.w = 1.0
    action.world.say("/tf", TFMessage(transforms=[message]))

    def there() -> bool:
        found = action.manager.frame_in_map("cart")
        return found is not None and abs(found.x - x) < 1e-9

    until(there, 90.0, "transform")


def test_a_goal_in_a_frame_that_moves_and_is_lost(action: Action) -> None:
    action.tick()
    move_frame(action, 5.0)
    start(action, x=1.0, frame="cart")
    assert action.state.action.goal_in_map.x == pytest.approx(6.0)
    answer(action, asked(action).id)
    action.wait(2.0)
    move_frame(action, 8.0)
    for _ in range(3):
        action.tick()
    assert action.ask("goalHasChanged")
    action.run(action.tree("<updateGoal/>"))
    moved = action.tree("<requestNewRouteOnBoard cause='GOAL_MOVED' wait='false'/>")
    assert action.run(moved) is NodeStatus.SUCCESS
    until(lambda: len(action.requests) == 2, 90.0, "request")
    assert action.requests[-1].cause == RouteRequest.GOAL_MOVED
    assert action.requests[-1].goal.pose.position.x == pytest.approx(9.0)
    assert action.ask("newRouteAvailable"), "the old one serves meanwhile"
    action.wait(1.0)
    assert action.ask("goalFrameIsKnown")
    action.wait(1.5)  # its transform is too old now, but not for long
    assert action.ask("goalFrameIsKnown")
    action.wait(2.0)
    assert not action.ask("goalFrameIsKnown")
    why = action.manager.failure()
    assert code_of(why) is Code.GOAL_FRAME_LOST
    assert "'cart'" in why


@pytest.mark.parametrize("x", [math.nan, math.inf, 1e300])
def test_routes_on_no_map_are_not_driven(action: Action, x: float) -> None:
    action.tick()
    start(action)
    message = Route(request_id=asked(action).id)
    message.header.frame_id, message.header.stamp = "map", to_time(action.now)
    message.path.poses = [upright_pose("map", at, 0.0) for at in (0.0, x, 10.0)]
    action.world.say("/route", message)
    until(lambda: action.manager.inputs["route"].sequence == 1, 90.0, "route")
    assert not action.ask("newRouteAvailable")
    assert "on no map" in action.manager.problem()


def test_a_region_with_a_corner_that_is_no_number_stays_closed() -> None:
    message = SemanticRegionArray()
    for name, corners in (
        ("lab", [(4.0, -1.0), (6.0, -1.0), (math.nan, 0.0), (6.0, 1.0), (4.0, 1.0)]),
        ("whole", [(8.0, -1.0), (9.0, -1.0), (9.0, 1.0)]),
        ("line", [(8.0, -1.0), (9.0, -1.0)]),
    ):
        region = SemanticRegion(id=name, type=2)
        region.polygon.points = [Point32(x=x, y=y) for x, y in corners]
        message.regions.append(region)
    assert broken_regions(message) == ["lab", "line"]
    index = region_index(message, lambda frame: Pose2D())
    way_in = np.array([[5.5, 0.0], [7.0, 0.0]])
    assert [region.id for region in index.touched_by(way_in[:1])] == ["lab"]
    assert [region.id for region in index.touched_by(way_in[::-1])] == ["lab"]


def test_regions_come_with_the_maneuver(action: Action) -> None:
    action.tick()
    message = SemanticRegionArray(map_id="hall")
    message.header.frame_id = "map"
    for name, kind, x in (("slow", 3, 4.0), ("lab", 2, 30.0)):
        region = SemanticRegion(id=name, type=kind, speed_limit=0.5)
        for dx, y in ((0.0, -1.0), (1.0, -1.0), (1.0, 1.0), (0.0, 1.0)):
            region.polygon.points.append(Point32(x=x + dx, y=y))
        message.regions.append(region)
    action.world.say("/semantic_regions", message, QOS_LATCHED)
    until(lambda: action.manager.inputs["semantic_regions"].sequence == 1, 90.0, "regions")
    start(action)
    answer(action, asked(action).id)
    assert action.run(action.tree("<generateManeuver/>")) is NodeStatus.SUCCESS
    until(lambda: action.maneuvers, 90.0, "maneuver")
    regions = action.maneuvers[-1].regions
    assert [(region.id, region.type) for region in regions] == [("slow", 3)]
    assert regions[0].speed_limit == 0.5
    assert action.ask("regionsAreAllowed")
    assert not action.ask("regionsAreAllowed forbidden='SPEED_ZONE'")


def test_tiles_are_asked_for_once() -> None:
    tiles = "tiles:=['west;-5;-5;6;5', 'east;3;-5;15;5']"
    with rig(ActionManager, tiles, "use_tile_loader:=true") as action:
        prepare(action)
        wanted = action.world.hear(LoadTileRequest, "/map/load_tile_request", QOS_COMMAND)
        until(lambda: action.manager._tiles.get_subscription_count() > 0, 90.0, "listener")
        action.state.localization.map_id = "west"
        start(action)
        answer(action, asked(action).id)
        assert not action.ask("actionNeedsTile")
        action.state.localization.pose = Pose2D(5.5)
        action.tick()
        assert action.ask("actionNeedsTile")
        tree = action.tree("<requestTileLoad/>")
        for _ in range(3):
            assert action.run(tree) is NodeStatus.SUCCESS
        until(lambda: wanted, 90.0, "tile request")
        assert [message.tile_id for message in wanted] == ["east"]
        assert action.state.action.phase is ActionPhase.TILE_LOADING


def test_without_a_tile_loader_there_is_one_map() -> None:
    with rig(ActionManager, "tiles:=['west;-5;-5;6;5', 'east;3;-5;15;5']") as action:
        prepare(action)
        action.state.localization.map_id = "west"
        start(action)
        answer(action, asked(action).id)
        action.state.localization.pose = Pose2D(5.5)
        assert not action.ask("actionNeedsTile")


def test_the_route_planner_is_reset_by_its_service() -> None:
    with rig(ActionManager) as action:
        prepare(action)
        calls: list[int] = []
        tree = action.tree("<resetRoutePlanner timeout='5.0'/>")
        assert action.run(tree) is NodeStatus.RUNNING  # nobody is there yet
        action.wait(5.1)
        assert action.run(tree) is NodeStatus.FAILURE
        assert "no answer within 5 s" in tree.failure_reason().text

        def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            calls.append(1)
            response.success, response.message = len(calls) > 1, "not now"
            return response

        action.do(lambda: action.world.create_service(Trigger, "/route_planner/reset", serve))
        action.run(tree)
        until(lambda: action.run(tree) is NodeStatus.FAILURE, 90.0, "answer")
        assert "not now" in tree.failure_reason().text
        until(lambda: action.run(tree) is NodeStatus.SUCCESS, 90.0, "answer")
        assert len(calls) == 2


def test_counters_are_published(action: Action) -> None:
    heard = action.world.hear(Metrics, "/behavior/metrics", QOS_EVENT_LOG)
    action.tick()
    start(action)
    answer(action, asked(action).id)
    action.run(action.tree("<generateManeuver/>"))
    assert action.run(action.tree("<completeAction/>")) is NodeStatus.SUCCESS
    assert action.run(action.tree("<completeAction/>")) is NodeStatus.FAILURE  # counts once

    def counted() -> bool:
        values = {m.name: m.value for each in heard for m in each.metrics}
        return (
            values.get("actions_executed") == values.get("actions_completed") == 1.0
            and values.get("route_requests") == 1.0
        )

    until(counted, 90.0, "metrics")


@pytest.mark.parametrize(
    "parameter", ["tiles:=['west;0;0']", "maneuver_front_horizon:=-1.0", "goal_ticks:=0"]
)
def test_parameters_that_cannot_be_are_refused(parameter: str) -> None:
    with (
        pytest.raises(ParameterError, match=parameter.split(":", maxsplit=1)[0]),
        rig(ActionManager, parameter),
    ):
        pass
