# SPDX-License-Identifier: Apache-2.0
"""The feedback collector and the local action generator with real messages."""

from behavior_msgs.msg import MissionAction, MissionFeedback, Route
from navigation_rig import Rig, rig

from behavior_executor.conversion import request_from
from behavior_executor.missions.mission import Code, Kind, MissionRequest, State
from behavior_executor.missions.report import Report
from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers.feedback import FeedbackCollector
from behavior_navigation.managers.local_action import LocalActionGenerator
from behavior_ros import QOS_COMMAND, QOS_EVENT_LOG, to_time, upright_pose
from behavior_ros.testing import until


class Teller(NavigationManager):
    """A manager that has something to tell."""

    name = "teller"
    distance = 5.0
    mode = 1

    def describe(self, report: Report) -> None:
        report.distance_remaining, report.planner_mode = self.distance, self.mode


def test_feedback_on_every_change_and_once_per_period() -> None:
    with rig(FeedbackCollector, "feedback_period:=1.0") as feedback:
        heard = feedback.world.hear(MissionFeedback, "/behavior/action_feedback", QOS_EVENT_LOG)
        manager = feedback.manager
        until(lambda: manager._publisher.get_subscription_count() > 0, 90.0, "listener")
        teller = feedback.do(lambda: Teller(feedback.host))

        def tick() -> None:
            feedback.tick()
            feedback.do(manager.post_tick, feedback.now)

        tick()
        assert manager.published == 0  # nothing to tell of
        request = MissionRequest("m1", Kind.NAVIGATE_TO_POSE, name="there")
        feedback.do(manager.mission_started, request)
        tick()
        tick()
        assert manager.published == 1
        teller.distance = 4.0  # no change that is worth a message of its own
        tick()
        assert manager.published == 1
        teller.mode = 2
        tick()
        assert manager.published == 2
        feedback.set_time(feedback.now + 0.99)
        tick()
        assert manager.published == 2
        feedback.set_time(feedback.now + 0.02)
        tick()
        assert manager.published == 3
        feedback.set_time(50.0)  # the clock is set back
        tick()
        assert manager.published == 4
        feedback.do(manager.mission_paused)
        feedback.do(manager.mission_resumed)
        feedback.do(manager.mission_ended, Code.NO_ROUTE)
        until(lambda: len(heard) == 7, 90.0, "messages")
        states = [State(message.state) for message in heard[-4:]]
        assert states == [State.RUNNING, State.PAUSED, State.RUNNING, State.FAILED]
        last = heard[-1]
        assert (last.action_id, last.name, last.code) == ("m1", "there", int(Code.NO_ROUTE))
        assert last.distance_remaining == 4.0
        assert last.planner_mode == 2
        assert heard[1].planner_mode == 2
        tick()
        assert manager.published == 7


def route(local: Rig, name: str, stamp: float, **fields: object) -> None:
    """Publish a route, and wait until the generator has seen it."""
    manager = local.manager
    before = manager.generated + manager.ignored
    message = Route(route_id=name, **fields)
    message.header.frame_id, message.header.stamp = "map", to_time(stamp)
    if name != "empty":
        message.path.poses = [upright_pose("map", x, 1.0) for x in (0.0, 4.0)]
    local.world.say("/local_route", message)
    until(lambda: manager.generated + manager.ignored == before + 1, 90.0, "route")


def test_local_routes_become_actions() -> None:
    with rig(LocalActionGenerator) as local:
        heard = local.world.hear(MissionAction, "/mission/action", QOS_COMMAND)
        until(lambda: local.manager._actions.get_subscription_count() > 0, 90.0, "listener")
        route(local, "a", 99.0)
        until(lambda: heard, 90.0, "action")
        request = request_from(heard[0])
        assert request.kind is Kind.FOLLOW_ROUTE
        assert [place.pose.x for place in request.route] == [0.0, 4.0]
        assert {place.frame for place in request.route} == {"map"}
        assert request.policy.name == "REPLACE"
        for name, stamp, fields in (
            ("a", 99.5, {}),  # twice
            ("b", 98.0, {}),  # in disorder
            ("c", 94.9, {}),  # stale
            ("d", 99.6, {"request_id": 3}),  # an answer to a request
            ("empty", 99.7, {}),
        ):
            route(local, name, stamp, **fields)
        assert (local.manager.generated, local.manager.ignored) == (1, 5)
        route(local, "e", 99.8)
        until(lambda: len(heard) == 2, 90.0, "action")
        assert heard[0].action_id != heard[1].action_id


def test_a_simulation_that_starts_anew_has_its_local_routes_driven() -> None:
    with rig(LocalActionGenerator) as local:
        route(local, "a", 99.0)
        local.set_time(5.0)
        route(local, "a", 4.5)
        assert (local.manager.generated, local.manager.ignored) == (2, 0)
        route(local, "b", 4.4)
        assert (local.manager.generated, local.manager.ignored) == (2, 1)
