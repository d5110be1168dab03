# SPDX-License-Identifier: Apache-2.0
"""The nodes that put Nav2 behind the managers' topics, against stand-ins of its servers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fake_nav2
import pytest
from behavior_msgs.action import LoadTile
from behavior_msgs.msg import (
    Maneuver,
    PathPlannerHealth,
    PlannerOperationMode,
    Route,
    RouteRequest,
    TrajectoryStatus,
)
from fake_nav2 import ABORTED, ACTIONS, CANCELED, Actions
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rclpy.action import ActionClient
from std_srvs.srv import Trigger

from behavior_navigation.nav2 import map_loader, path_planner, route_planner
from behavior_navigation.nav2.interfaces import error_name, nav2_interface
from behavior_navigation.nav2.map_loader import read_urls
from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, QOS_LATCHED, ParameterError
from behavior_ros.testing import Bench

WAIT = 60.0
PLAN, FOLLOW, ROUTE = "compute_path_to_pose", "follow_path", "compute_route"
Plan, Follow = ACTIONS["ComputePathToPose"], ACTIONS["FollowPath"]
NOMINAL, FALLBACK, IDLE = (
    PlannerOperationMode.NOMINAL,
    PlannerOperationMode.FALLBACK,
    PlannerOperationMode.IDLE,
)


class Nav2Bench(Bench):
    """One node of ours, a client, and Nav2's stand-ins."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_nav2.install(monkeypatch)
        self.actions = Actions()
        monkeypatch.setattr("behavior_ros.actions.remote_action.BurstActionClient", self.actions)
        super().__init__()

    def listen(self, kind: Any, topic: str) -> list[Any]:
        received: list[Any] = []
        self.peer.create_subscription(kind, topic, received.append, QOS_EVENT_LOG)
        return received

    def publisher(self, kind: Any, topic: str, qos: Any = QOS_COMMAND) -> Any:
        made = self.peer.create_publisher(kind, topic, qos)
        self.until(lambda: made.get_subscription_count() > 0, f"a listener of {topic}")
        return made


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Nav2Bench]:
    made = Nav2Bench(monkeypatch)
    yield made
    made.close()


def path(*places: tuple[float, float]) -> Path:
    message = Path()
    message.header.frame_id = "map"
    for x, y in places:
        pose = PoseStamped()
        pose.pose.position.x, pose.pose.position.y = x, y
        message.poses.append(pose)
    return message


def test_without_nav2_the_error_says_what_to_install(bench, monkeypatch):
    monkeypatch.delitem(sys.modules, "nav2_msgs.action")
    monkeypatch.setitem(sys.modules, "nav2_msgs", None)
    with pytest.raises(ParameterError, match="apt-get install ros-jazzy-navigation2"):
        nav2_interface("action", "FollowPath", "path_planner")


def test_an_interface_that_this_nav2_lacks_is_told(bench):
    with pytest.raises(ParameterError, match="no action/FlyToMoon"):
        nav2_interface("action", "FlyToMoon", "x")


def test_error_codes_are_known_by_name():
    assert error_name(Plan, 206) == "GOAL_OCCUPIED"
    assert error_name(Follow, 105) == "FAILED_TO_MAKE_PROGRESS"
    assert error_name(Plan, 999) == "error 999"


class TestRoutes:
    def test_a_request_becomes_a_plan_and_its_path_the_route(self, bench):
        bench.make(route_planner.Nav2RoutePlanner, planner_id="grid")
        answers = bench.listen(Route, "/route")
        requests = bench.publisher(RouteRequest, "/route_request")
        request = RouteRequest(id=7, use_robot_pose=True)
        request.goal.pose.position.x = 3.0
        requests.publish(request)
        goals = bench.actions.goals[PLAN]
        bench.until(lambda: goals, "a goal")
        goal = goals[0].goal
        assert (goal.goal.pose.position.x, goal.use_start, goal.planner_id) == (3.0, False, "grid")
        goals[0].end(Plan.Result(path=path((0.0, 0.0), (3.0, 0.0))))
        bench.until(lambda: answers, "a route")
        assert (answers[0].request_id, len(answers[0].path.poses)) == (7, 2)
        assert answers[0].header.frame_id == "map"

    def test_a_failure_is_an_empty_route_with_its_reason(self, bench):
        bench.make(route_planner.Nav2RoutePlanner)
        answers = bench.listen(Route, "/route")
        requests = bench.publisher(RouteRequest, "/route_request")
        requests.publish(RouteRequest(id=8))
        goals = bench.actions.goals[PLAN]
        bench.until(lambda: goals, "a goal")
        assert goals[0].goal.use_start
        goals[0].end(Plan.Result(error_code=208), ABORTED)
        bench.until(lambda: answers, "a route")
        assert not answers[0].path.poses
        assert "NO_VALID_PATH" in answers[0].text
        bench.actions.ready = False
        requests.publish(RouteRequest(id=9))
        bench.until(lambda: len(answers) == 2, "another answer")
        assert "nobody serves /compute_path_to_pose" in answers[1].text

    def test_the_newest_request_counts_and_a_reset_gives_it_up(self, bench):
        bench.make(route_planner.Nav2RoutePlanner)
        answers = bench.listen(Route, "/route")
        requests = bench.publisher(RouteRequest, "/route_request")
        goals = bench.actions.goals[PLAN]
        for number in (1, 2):
            requests.publish(RouteRequest(id=number))
            bench.until(lambda number=number: len(goals) == number, "a goal")
        assert goals[0].canceled
        goals[1].end(Plan.Result(path=path((0.0, 0.0), (1.0, 0.0))))
        bench.until(lambda: [a for a in answers if a.path.poses], "a route")
        assert [a.request_id for a in answers if a.path.poses] == [2]
        requests.publish(RouteRequest(id=3))
        bench.until(lambda: len(goals) == 3, "a goal")
        reset = bench.peer.create_client(Trigger, "/route_planner/reset")
        assert reset.wait_for_service(WAIT)
        future = reset.call_async(Trigger.Request())
        bench.until(future.done, "an answer")
        assert goals[2].canceled

    def test_a_question_that_is_repeated_does_not_begin_a_slow_plan_anew(self, bench):
        node = bench.make(route_planner.Nav2RoutePlanner)
        answers = bench.listen(Route, "/route")
        requests = bench.publisher(RouteRequest, "/route_request")
        goals = bench.actions.goals[PLAN]
        question = RouteRequest(id=1, use_robot_pose=True)
        question.goal.pose.position.x = 3.0
        requests.publish(question)
        bench.until(lambda: goals, "a goal")
        question.id, question.cause, question.goal.header.stamp.sec = 2, RouteRequest.RETRY, 4
        node._on_request(question)
        goals[0].end(Plan.Result(path=path((0.0, 0.0), (3.0, 0.0))))
        bench.until(lambda: answers, "a route")
        assert answers[0].request_id == 1
        assert len(goals) == 1
        requests.publish(question)
        bench.until(lambda: len(goals) == 2, "a goal for a question that was answered before")
        requests.publish(RouteRequest(id=3, cause=RouteRequest.RETRY))
        bench.until(lambda: len(goals) == 3, "a goal for another question")
        assert goals[1].canceled
        goals[1].end(Plan.Result(), CANCELED)
        goals[2].end(Plan.Result(), ABORTED)
        bench.until(lambda: len(answers) == 2, "an answer")
        assert answers[1].request_id == 3, "what was cancelled says nothing of a way"

    def test_over_a_graph_edges_to_avoid_are_closed_and_opened_again(self, bench, monkeypatch):
        changes: list[Any] = []

        def call(request: Any) -> fake_nav2.Future:
            changes.append((request.closed_edges, request.opened_edges))
            answer = fake_nav2.Future()
            answer.set_result(SimpleNamespace(success=True))
            return answer

        edges = SimpleNamespace(call_async=call, service_is_ready=lambda: True)
        monkeypatch.setattr(
            route_planner.Nav2RoutePlanner, "create_client", lambda self, kind, name: edges
        )
        bench.make(route_planner.Nav2RoutePlanner, planner="route")
        answers = bench.listen(Route, "/route")
        requests = bench.publisher(RouteRequest, "/route_request")
        goals = bench.actions.goals[ROUTE]
        requests.publish(RouteRequest(id=4, avoid_edges=["12", "5"]))
        bench.until(lambda: goals, "a goal")
        assert changes == [([5, 12], [])]
        assert goals[0].goal.use_poses
        way = SimpleNamespace(edges=[SimpleNamespace(edgeid=3), SimpleNamespace(edgeid=9)])
        result = ACTIONS["ComputeRoute"].Result(path=path((0.0, 0.0), (1.0, 0.0)), route=way)
        goals[0].end(result)
        bench.until(lambda: answers, "a route")
        assert answers[0].edges == ["3", "9"]
        requests.publish(RouteRequest(id=5, avoid_edges=["5"]))
        bench.until(lambda: len(goals) == 2, "a goal")
        assert changes[1] == ([], [12])

    def test_edges_stay_closed_for_no_request_that_was_replaced(self, bench, monkeypatch):
        changes: list[Any] = []
        pending: list[fake_nav2.Future] = []

        def call(request: Any) -> fake_nav2.Future:
            changes.append((request.closed_edges, request.opened_edges))
            pending.append(fake_nav2.Future())
            return pending[-1]

        ready = [True]
        edges = SimpleNamespace(
            call_async=call, service_is_ready=lambda: ready[0], srv_name="/adjust_edges"
        )
        monkeypatch.setattr(
            route_planner.Nav2RoutePlanner, "create_client", lambda self, kind, name: edges
        )
        bench.make(route_planner.Nav2RoutePlanner, planner="route")
        answers = bench.listen(Route, "/route")
        requests = bench.publisher(RouteRequest, "/route_request")
        requests.publish(RouteRequest(id=4, avoid_edges=["5"]))
        bench.until(lambda: len(changes) == 1, "edges")
        requests.publish(RouteRequest(id=5, avoid_edges=["6"]))
        bench.until(lambda: len(changes) == 2, "other edges")
        assert changes == [([5], []), ([6], [5])]
        for answer in pending:
            answer.set_result(SimpleNamespace(success=True))
        goals = bench.actions.goals[ROUTE]
        assert len(goals) == 1
        ready[0] = False
        requests.publish(RouteRequest(id=6))
        bench.until(lambda: answers, "a refusal")
        assert "nobody serves /adjust_edges" in answers[0].text


class TestManeuvers:
    def drive(self, bench: Nav2Bench, mode: int, **parameters: Any) -> Any:
        """Have a maneuver driven in a mode; returns the publisher of modes."""
        self.node = bench.make(path_planner.Nav2PathPlanner, cycle_rate=50.0, **parameters)
        self.health = bench.listen(PathPlannerHealth, "/path_planner/health")
        self.status = bench.listen(TrajectoryStatus, "/trajectory_planner/status")
        modes = bench.publisher(PlannerOperationMode, "/planner_operation_mode", QOS_LATCHED)
        modes.publish(PlannerOperationMode(mode=mode))
        maneuvers = bench.publisher(Maneuver, "/maneuver")
        maneuver = Maneuver(id=1)
        maneuver.goal.pose.position.x = 4.0
        maneuvers.publish(maneuver)
        self.plans, self.follows = bench.actions.goals[PLAN], bench.actions.goals[FOLLOW]
        bench.until(lambda: self.plans, "a planning cycle")
        return modes

    def plan_ends(self, bench: Nav2Bench, code: int = 0) -> None:
        """The newest planning cycle ends, with an error code."""
        found = path((0.0, 0.0), (4.0, 0.0)) if code == 0 else Path()
        status = fake_nav2.SUCCEEDED if code == 0 else ABORTED
        self.plans[-1].end(Plan.Result(path=found, error_code=code), status)

    def test_in_idle_nothing_is_planned_and_every_cycle_is_told(self, bench):
        bench.make(path_planner.Nav2PathPlanner, cycle_rate=50.0)
        health = bench.listen(PathPlannerHealth, "/path_planner/health")
        bench.until(lambda: len(health) > 2, "health")
        assert {message.mode_used for message in health} == {IDLE}
        cycles = [message.cycle for message in health]
        assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))
        assert bench.actions.goals[PLAN] == []

    def test_a_maneuver_is_planned_and_followed_and_idle_stops_it(self, bench):
        modes = self.drive(bench, NOMINAL, controller_id="fast")
        assert self.plans[0].goal.goal.pose.position.x == 4.0
        self.plan_ends(bench)
        bench.until(lambda: self.follows, "a path to follow")
        assert self.follows[0].goal.controller_id == "fast"
        assert len(self.follows[0].goal.path.poses) == 2
        bench.until(lambda: [m for m in self.health if m.mode_used == NOMINAL], "health")
        modes.publish(PlannerOperationMode(mode=IDLE))
        bench.until(lambda: self.follows[-1].canceled, "the stop")
        count = len(self.plans)
        self.health.clear()
        bench.until(lambda: len(self.health) > 3, "cycles in idle")
        assert len(self.plans) == count

    def test_fallback_without_a_controller_stops_before_the_next_plan(self, bench):
        modes = self.drive(bench, NOMINAL)
        self.plan_ends(bench)
        bench.until(lambda: self.follows, "a path to follow")
        bench.until(lambda: len(self.plans) == 2, "a cycle that does not end")
        modes.publish(PlannerOperationMode(mode=FALLBACK))
        bench.until(lambda: self.follows[-1].canceled, "the stop")

    def test_a_plan_from_before_a_stop_is_not_followed(self, bench):
        modes = self.drive(bench, NOMINAL)
        modes.publish(PlannerOperationMode(mode=IDLE))
        bench.until(lambda: self.plans[0].canceled, "the stop")
        modes.publish(PlannerOperationMode(mode=NOMINAL))
        bench.until(lambda: self.node._mode == NOMINAL, "going on")
        self.plans[0].end(Plan.Result(path=path((0.0, 0.0), (4.0, 0.0))))  # it came first
        assert self.follows == []

    @pytest.mark.parametrize(("controller", "followed"), [("", 0), ("careful", 1)])
    def test_fallback_stands_or_follows_with_another_controller(self, bench, controller, followed):
        self.drive(bench, FALLBACK, fallback_controller_id=controller)
        self.plan_ends(bench)
        bench.until(lambda: len(self.plans) > 1, "the next cycle")
        assert len(self.follows) == followed
        if followed:
            assert self.follows[0].goal.controller_id == "careful"

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            (204, PathPlannerHealth.NO_MAP),
            (205, PathPlannerHealth.START_OCCUPIED),
            (206, PathPlannerHealth.GOAL_OCCUPIED),
            (207, PathPlannerHealth.TIMEOUT),
            (208, PathPlannerHealth.NO_PATH),
            (200, PathPlannerHealth.NO_PATH),
        ],
    )
    def test_planner_errors_become_reasons(self, bench, code, reason):
        self.drive(bench, NOMINAL, reroute_patience=0.0)
        self.plan_ends(bench, code)
        bench.until(lambda: [m for m in self.health if m.status == m.FAILURE], "a failure")
        failed = next(m for m in self.health if m.status == m.FAILURE)
        assert failed.reason == reason
        assert failed.reroute_recommended
        assert error_name(Plan, code) in failed.text

    @pytest.mark.parametrize(
        ("code", "status"),
        [
            (103, TrajectoryStatus.INVALID_TRAJECTORY),
            (104, TrajectoryStatus.CONSTRAINT_FAILED),
            (105, TrajectoryStatus.COST_FAILED),
            (106, TrajectoryStatus.LINE_SEARCH_FAILED),
        ],
    )
    def test_controller_errors_become_statuses(self, bench, code, status):
        self.drive(bench, NOMINAL)
        self.plan_ends(bench)
        bench.until(lambda: self.follows, "a path to follow")
        self.follows[-1].end(Follow.Result(error_code=code), ABORTED)
        bench.until(lambda: [m for m in self.status if m.status == status], "the status")

    def test_a_planner_that_is_not_there(self, bench):
        bench.actions.ready = False
        bench.make(path_planner.Nav2PathPlanner, cycle_rate=50.0)
        health = bench.listen(PathPlannerHealth, "/path_planner/health")
        modes = bench.publisher(PlannerOperationMode, "/planner_operation_mode", QOS_LATCHED)
        maneuvers = bench.publisher(Maneuver, "/maneuver")
        modes.publish(PlannerOperationMode(mode=NOMINAL))
        maneuvers.publish(Maneuver(id=1))
        bench.until(lambda: [m for m in health if m.status == m.FAILURE], "a failure")
        assert "planner server active" in health[-1].text

    def test_a_planner_that_dies_does_not_stop_the_cycles(self, bench):
        self.drive(bench, NOMINAL)
        bench.actions.alive = False
        bench.until(lambda: [m for m in self.health if m.status == m.FAILURE], "a failure")
        failed = next(m for m in self.health if m.status == m.FAILURE)
        assert failed.reason == PathPlannerHealth.NO_MAP
        assert "server lost" in failed.text
        bench.until(lambda: len(self.plans) > 1, "the next cycle")


class TestTiles:
    def load(self, bench: Nav2Bench, monkeypatch: Any, answer: int | None, **goal: Any) -> Any:
        """Have a tile loaded by a map server that answers; None: there is none."""

        def call(request: Any) -> fake_nav2.Future:
            self.asked = request.map_url
            future = fake_nav2.Future()
            future.set_result(SimpleNamespace(result=answer))
            return future

        server = SimpleNamespace(
            service_name="/map_server/load_map",
            service_is_ready=lambda: answer is not None,
            call_async=call,
        )
        monkeypatch.setattr(
            map_loader.Nav2MapLoader, "create_client", lambda self, kind, name: server
        )
        node = bench.make(map_loader.Nav2MapLoader, tile_urls=["west=/maps/west.yaml"])
        handle = SimpleNamespace(request=LoadTile.Goal(request_id=3, **goal))
        result = asyncio.run(node.execute(handle))
        assert result.request_id == 3
        return result

    def test_a_tile_is_loaded_from_where_it_lies(self, bench, monkeypatch):
        result = self.load(bench, monkeypatch, 0, tile_id="west")
        assert (result.code, self.asked) == (0, "/maps/west.yaml")
        assert result.acquired.sec > 0

    def test_a_request_may_bring_its_own_url(self, bench, monkeypatch):
        self.load(bench, monkeypatch, 0, tile_id="x", map_url="/elsewhere.yaml")
        assert self.asked == "/elsewhere.yaml"

    @pytest.mark.parametrize(
        ("answer", "goal", "code", "words"),
        [
            (1, {"tile_id": "west"}, 930, "no such map file"),
            (255, {"tile_id": "west"}, 930, "error 255"),
            (None, {"tile_id": "west"}, 930, "map server active"),
            (0, {"tile_id": "north"}, 902, "nobody knows where tile 'north' lies"),
        ],
    )
    def test_failures_say_why(self, bench, monkeypatch, answer, goal, code, words):
        result = self.load(bench, monkeypatch, answer, **goal)
        assert result.code == code
        assert words in result.message

    def test_a_map_server_that_never_answers_is_left(self, bench, monkeypatch):
        """Else the goal would never close, and none be sent after it."""
        server = SimpleNamespace(
            service_name="/map_server/load_map",
            service_is_ready=lambda: True,
            call_async=lambda request: fake_nav2.Future(),
        )
        monkeypatch.setattr(
            map_loader.Nav2MapLoader, "create_client", lambda self, kind, name: server
        )
        node = bench.make(map_loader.Nav2MapLoader, tile_urls=["west=/maps/west.yaml"])
        client = ActionClient(bench.peer, LoadTile, "/map_loader/load_tile")
        bench.until(client.server_is_ready, "the map loader")
        sent = client.send_goal_async(LoadTile.Goal(request_id=3, tile_id="west"))
        bench.until(sent.done, "acceptance")
        ended = sent.result().get_result_async()
        bench.until(lambda: node._awaited, "the call")
        sent.result().cancel_goal_async()
        bench.until(ended.done, "the end")
        assert ended.result().status == CANCELED
        assert ended.result().result.code == LoadTile.Result.CANCELED
        assert node._awaited == {}

    def test_tiles_written_wrongly(self, bench):
        assert read_urls(["a=b", ""]) == {"a": "b"}
        with pytest.raises(ParameterError, match=r"tile_urls: 'west' must look like"):
            bench.make(map_loader.Nav2MapLoader, tile_urls=["west"])
