# SPDX-License-Identifier: Apache-2.0
"""The navigation world's nodes, used as an executor uses them, in a ROS domain of their own."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from behavior_msgs.action import LoadTile
from behavior_msgs.msg import (
    LocalizationResult,
    Maneuver,
    Metrics,
    PathPlannerHealth,
    PlannerOperationMode,
    Route,
    RouteRequest,
    SemanticRegionArray,
    TrajectoryStatus,
)
from behavior_msgs.srv import DisturbNavigation, ResetWorld
from geometry_msgs.msg import PoseArray, Twist
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.parameter import Parameter
from std_msgs.msg import Empty
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from behavior_ros import (
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    ParameterError,
)
from behavior_ros.testing import Bench, own_domain
from behavior_sim.navigation.node import NavigationSimulationNode
from behavior_sim.navigation.state import NavigationState
from behavior_sim.navigation.track import Track

WAIT = 90.0
EVENTS = {
    "/route": Route,
    "/path_planner/health": PathPlannerHealth,
    "/trajectory_planner/status": TrajectoryStatus,
    "/localization/result": LocalizationResult,
    "/simulation/truth": Odometry,
    "/simulation/people": PoseArray,
    "/behavior/metrics": Metrics,
    "/tf": TFMessage,
    "/deadman/heartbeat": Empty,
}
LATCHED = {"/map": OccupancyGrid, "/semantic_regions": SemanticRegionArray}
Request = DisturbNavigation.Request

pytestmark = pytest.mark.timeout(400)


class NavigationBench(Bench):
    """The nodes and a client in one executor; the client passes the velocity commands on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__()
        self.world = self.make(
            NavigationSimulationNode,
            world="warehouse",
            speed=10.0,
            loading_delay=0.5,
            recording=str(folder / "track.npz"),
        )
        self.newest: dict[str, list] = {name: [] for name in (*EVENTS, *LATCHED)}
        for topics, qos in ((EVENTS, QOS_EVENT_LOG), (LATCHED, QOS_LATCHED)):
            for topic, kind in topics.items():
                self.peer.create_subscription(kind, topic, self.newest[topic].append, qos)
        make = self.peer.create_publisher
        self.routes = make(RouteRequest, "/route_request", QOS_COMMAND)
        self.maneuvers = make(Maneuver, "/maneuver", QOS_COMMAND)
        self.modes = make(PlannerOperationMode, "/planner_operation_mode", QOS_LATCHED)
        command = make(Twist, "/cmd_vel", QOS_COMMAND)
        self.peer.create_subscription(Twist, "/cmd_vel_nav", command.publish, QOS_COMMAND)
        self.mode = PlannerOperationMode.IDLE
        self.peer.create_subscription(Odometry, "/simulation/truth", self._keep_up, QOS_EVENT_LOG)
        self.loader = ActionClient(self.peer, LoadTile, "/map_loader/load_tile")
        assert self.loader.wait_for_server(WAIT)

    def _keep_up(self, truth: Odometry) -> None:
        """As an executor does, tell mode and time: the world waits for who is slow."""
        message = PlannerOperationMode(header=truth.header, mode=self.mode)
        self.modes.publish(message)

    def set_mode(self, mode: int) -> None:
        self.mode = mode
        self.modes.publish(PlannerOperationMode(mode=mode))

    def next(self, topic: str, fits: Callable = lambda message: True):
        """The next message of a topic that fits."""
        received = self.newest[topic]
        received.clear()
        self.until(lambda: any(fits(m) for m in received), f"a message on {topic}")
        return next(m for m in received if fits(m))

    def disturb(self, kind: int, **fields):
        request = Request(kind=kind)
        for name, value in fields.items():
            if name == "at":
                request.pose.position.x, request.pose.position.y = value
                request.pose.orientation.w = 1.0
            else:
                setattr(request, name, value)
        return self.call(DisturbNavigation, "/simulation/disturb_navigation", request)

    def route(self, x: float, y: float, number: int, frame: str = "map", **fields) -> Route:
        request = RouteRequest(id=number, use_robot_pose=True, **fields)
        request.goal.header.frame_id = frame
        request.goal.pose.position.x, request.goal.pose.position.y = x, y
        request.goal.pose.orientation.w = 1.0
        self.routes.publish(request)
        return self.next("/route", lambda answer: answer.request_id == number)

    def drive(self, route: Route, mode: int = PlannerOperationMode.NOMINAL) -> None:
        maneuver = Maneuver(id=1, route_id=route.route_id, path=route.path, is_final=True)
        maneuver.goal = route.path.poses[-1]
        self.maneuvers.publish(maneuver)
        self.set_mode(mode)

    def switch(self, node: str, transition: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return self.call(ChangeState, f"/{node}/change_state", request).success

    def load(self, tile: str, number: int = 1):
        handle = self.answer(
            self.loader.send_goal_async(LoadTile.Goal(request_id=number, tile_id=tile))
        )
        assert handle.accepted
        return self.answer(handle.get_result_async())


def test_a_wrong_description_is_the_parameters_fault(tmp_path: Path):
    """So that whoever starts the node reads a sentence and no traceback."""
    file = tmp_path / "yard.yaml"
    file.write_text("name: yard\n")
    context = Context()
    rclpy.init(context=context, domain_id=own_domain())
    try:
        with pytest.raises(ParameterError, match=r"parameter world: .*yard\.yaml: size: Field req"):
            NavigationSimulationNode(
                context=context, parameter_overrides=[Parameter("world", value=str(file))]
            )
    finally:
        context.shutdown()


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NavigationBench]:
    bench = NavigationBench(tmp_path_factory.mktemp("bench"))
    yield bench
    bench.close()


@pytest.fixture
def bench(benches: NavigationBench) -> NavigationBench:
    """The bench with the world in its start state."""
    benches.set_mode(PlannerOperationMode.IDLE)
    answer = benches.call(ResetWorld, "/simulation/reset", ResetWorld.Request(seed=1))
    assert answer.code == 0
    return benches


def at(message: Odometry) -> tuple[float, float]:
    return message.pose.pose.position.x, message.pose.pose.position.y


def near(x: float, y: float, within: float = 0.2) -> Callable[[Odometry], bool]:
    return lambda message: math.dist(at(message), (x, y)) < within


def test_a_route_is_driven_to_its_goal_and_idle_stops(bench):
    route = bench.route(8.5, 5.5, 11)
    assert route.edges == ["w00-w01", "w01-w11"]
    assert route.path.header.frame_id == "map"
    bench.drive(route)
    nominal = PlannerOperationMode.NOMINAL
    health = bench.next("/path_planner/health", lambda m: m.mode_used == nominal)
    assert health.status == health.SUCCESS
    assert bench.next("/trajectory_planner/status").status == TrajectoryStatus.OK
    bench.next("/simulation/truth", near(8.5, 5.5))
    bench.set_mode(PlannerOperationMode.IDLE)
    bench.next("/path_planner/health", lambda m: m.mode_used == PlannerOperationMode.IDLE)
    bench.next("/simulation/truth", lambda m: abs(m.twist.twist.linear.x) < 1e-6)
    figures = {m.name: m.value for m in bench.next("/behavior/metrics").metrics}
    assert figures["collisions"] == 0
    assert figures["distance_driven"] > 8.0


def test_frames_form_a_tree_and_a_goal_may_be_in_a_moving_one(bench):
    pairs: set[tuple[str, str]] = set()
    wanted = {("map", "odom"), ("odom", "base_link"), ("map", "cart")}

    def seen() -> bool:
        for message in bench.newest["/tf"]:
            pairs.update((t.header.frame_id, t.child_frame_id) for t in message.transforms)
        return wanted <= pairs

    bench.until(seen, "all transforms")
    assert bench.disturb(Request.MOVE_FRAME, name="cart", at=(10.0, 5.5)).code == 0
    route = bench.route(0.5, 0.0, 12, frame="cart")
    end = route.path.poses[-1].pose.position
    assert (end.x, end.y) == pytest.approx((10.5, 5.5))


def test_a_block_fails_the_planner_which_recommends_another_route(bench):
    route = bench.route(10.0, 1.5, 13)
    assert "w00-w10" in route.edges
    assert bench.disturb(Request.BLOCK, name="crate", at=(5.0, 1.6), size=[0.6, 3.0]).code == 0
    bench.drive(route)
    health = bench.next("/path_planner/health", lambda m: m.reroute_recommended)
    assert health.reason == PathPlannerHealth.NO_PATH
    assert health.text
    other = bench.route(10.0, 1.5, 14, avoid_edges=["w00-w10"])
    assert "w00-w10" not in other.edges
    assert bench.disturb(Request.UNBLOCK, name="crate").code == 0
    bench.next("/path_planner/health", lambda m: m.status == m.SUCCESS)


def test_localization_is_lost_and_reset(bench):
    assert bench.next("/localization/result").status == LocalizationResult.GOOD
    assert bench.disturb(Request.LOSE_LOCALIZATION).code == 0
    bench.next("/localization/result", lambda m: m.status == m.BAD and m.score < 0.3)
    assert bench.call(Trigger, "/localization/reset").success
    found = bench.next("/localization/result", lambda m: m.status == m.GOOD)
    assert found.map_id == "west"
    assert found.pose.covariance[0] < 0.01


def test_tiles_are_loaded_with_delay_failure_and_refusals(bench):
    assert bench.disturb(Request.FAIL_MAP, name="east", cause=1).code == 0
    failed = bench.load("east", 5)
    assert (failed.status, failed.result.code) == (GoalStatus.STATUS_ABORTED, 930)
    assert failed.result.request_id == 5
    loaded = bench.load("east", 6)
    assert (loaded.status, loaded.result.code) == (GoalStatus.STATUS_SUCCEEDED, 0)
    bench.until(lambda: bench.newest["/map"][-1].info.origin.position.x > 10.0, "the other map")
    bench.until(lambda: bench.newest["/semantic_regions"][-1].map_id == "east", "its regions")
    assert "charger" in {region.id for region in bench.newest["/semantic_regions"][-1].regions}
    assert bench.load("north").result.code == LoadTile.Result.UNKNOWN_TILE
    assert bench.load("").result.code == LoadTile.Result.INVALID_REQUEST


def test_a_loading_is_cancelled(bench):
    bench.call(SetBool, "/simulation/pause", data=True)
    handle = bench.answer(bench.loader.send_goal_async(LoadTile.Goal(request_id=9, tile_id="east")))
    bench.answer(handle.cancel_goal_async())
    ended = bench.answer(handle.get_result_async())
    bench.call(SetBool, "/simulation/pause", data=False)
    assert ended.status == GoalStatus.STATUS_CANCELED
    assert ended.result.code == LoadTile.Result.CANCELED


@pytest.mark.parametrize("name", ["localizer", "egm", "rpp", "sdm", "tp"])
def test_entities_are_lifecycle_nodes(bench, name):
    assert bench.switch(name, Transition.TRANSITION_DEACTIVATE)
    state = bench.call(GetState, f"/{name}/get_state").current_state
    assert state.id == State.PRIMARY_STATE_INACTIVE
    assert not bench.world._system.enabled[name]
    if name == "localizer":
        assert not bench.call(Trigger, "/localization/reset").success
    assert bench.switch(name, Transition.TRANSITION_ACTIVATE)
    assert bench.world._system.enabled[name]


def test_failures_on_command(bench):
    bench.drive(bench.route(2.0, 5.0, 15))
    assert bench.disturb(Request.FAIL_PLANNER, cause=4, duration=1000.0).code == 0
    bench.next("/path_planner/health", lambda m: m.reason == PathPlannerHealth.TIMEOUT)
    assert bench.disturb(Request.FAIL_TRAJECTORY, cause=6, duration=1000.0).code == 0
    bench.next("/trajectory_planner/status", lambda m: m.status == m.OUT_OF_MEMORY)
    for kind in (Request.FAIL_PLANNER, Request.FAIL_TRAJECTORY):
        refused = bench.disturb(kind, cause=99, duration=1.0)
        assert refused.code == 102
        assert "99 is none of" in refused.message


def test_a_silent_route_planner_answers_again_later(bench):
    assert bench.disturb(Request.FAIL_ROUTE, duration=2.0).code == 0
    request = RouteRequest(id=21, use_robot_pose=True)
    request.goal.pose.position.x, request.goal.pose.position.y = 2.0, 5.0
    answers = bench.newest["/route"]
    answers.clear()
    now = bench.world._system.now
    bench.routes.publish(request)
    bench.until(lambda: bench.world._system.now > now + 2.5, "two seconds")
    assert not [answer for answer in answers if answer.request_id == 21]
    assert bench.route(2.0, 5.0, 22).edges
    assert bench.call(Trigger, "/route_planner/reset").success


def test_people_come_and_go(bench):
    before = len(bench.next("/simulation/people").poses)
    assert bench.disturb(Request.ADD_PERSON, name="ann", at=(5.0, 14.0), speed=0.5).code == 0
    bench.next("/simulation/people", lambda m: len(m.poses) == before + 1)
    assert bench.disturb(Request.REMOVE_PERSON, name="ann").code == 0
    bench.next("/simulation/people", lambda m: len(m.poses) == before)


@pytest.mark.parametrize(
    ("kind", "fields", "code", "words"),
    [
        (Request.UNBLOCK, {"name": "x"}, 101, "no obstacle 'x'"),
        (Request.REMOVE_PERSON, {"name": "x"}, 101, "no person 'x'"),
        (Request.MOVE_FRAME, {"name": "x"}, 101, "no frame 'x': choose among cart"),
        (Request.FAIL_MAP, {"name": "x"}, 101, "no tile 'x': choose among east, west"),
        (Request.BLOCK, {"at": (1.0, 1.0), "size": [1.0, 1.0]}, 102, "give a name"),
        (Request.BLOCK, {"name": "b", "at": (1.0, math.nan), "size": [1.0, 1.0]}, 102, "no number"),
        (Request.BLOCK, {"name": "b", "at": (1.0, 1.0)}, 102, "give its edges"),
        (Request.FAIL_ROUTE, {"duration": -1.0}, 102, "negative"),
        (77, {}, 102, "77 is no kind"),
    ],
)
def test_wrong_disturbances_are_refused_with_a_reason(bench, kind, fields, code, words):
    answer = bench.disturb(kind, **fields)
    assert answer.code == code
    assert words in answer.message


def test_the_operator_holds_and_lets_go(bench):
    bench.next("/deadman/heartbeat")
    assert bench.call(SetBool, "/operator/hold", data=False).success
    bench.newest["/deadman/heartbeat"].clear()
    for _ in range(10):  # about a second, in which there were twenty beats
        bench.next("/behavior/metrics")
    assert len(bench.newest["/deadman/heartbeat"]) <= 2  # what was under way
    assert bench.call(SetBool, "/operator/hold", data=True).success
    bench.next("/deadman/heartbeat")


def test_a_world_has_one_layout(bench):
    refused = bench.call(ResetWorld, "/simulation/reset", layout="moon")
    assert refused.code == 101


def test_a_world_is_put_into_an_observed_state_and_its_robot_s_way_is_kept(bench):
    file = bench.folder / "state.json"
    NavigationState(robot=(25.5, 8.0, 0.0), tile="east", frames={"cart": (25.0, 3.0, 0.0)}).save(
        file
    )
    reset = bench.call(ResetWorld, "/simulation/reset", layout=str(file))
    assert reset.code == 0, reset.message
    bench.next("/simulation/truth", near(25.5, 8.0, 0.05))
    saved = bench.call(Trigger, "/simulation/save_recording")
    assert saved.success, saved.message
    places = Track.load(bench.folder / "track.npz").places
    assert len(places) > 0
    assert np.abs(places - [25.5, 8.0]).max() < 0.05
    file.write_text("{}", encoding="utf-8")
    refused = bench.call(ResetWorld, "/simulation/reset", layout=str(file))
    assert (refused.code, "holds no state" in refused.message) == (102, True)
