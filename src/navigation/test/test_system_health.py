# SPDX-License-Identifier: Apache-2.0
"""The system health manager with real messages: nominal, stale, late, twice and in disorder."""

import math

import pytest
from behavior_msgs.msg import LocalizationResult, Metrics
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped, TransformStamped
from navigation_rig import Rig, rig
from rclpy.parameter import Parameter
from std_srvs.srv import Empty, Trigger
from tf2_msgs.msg import TFMessage

from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers.system_health import SystemHealthManager
from behavior_ros import ERROR, QOS_COMMAND, QOS_EVENT_LOG, seconds, to_time
from behavior_ros.testing import until
from behavior_tree import NodeStatus

RESULT = "/localization/result"
GOOD, BAD = LocalizationResult.GOOD, LocalizationResult.BAD
Health = Rig[SystemHealthManager]
BY_POSE = (
    "system_health:reset_adapter:=initialpose",
    "system_health:tx_reset_localization:=/initialpose",
)


def tell(health: Health, stamp: float, status: int = GOOD, x: float = 1.0, score: float = 0.9):
    """Publish a result, and wait until it was taken in or left out."""
    cache = health.manager.inputs["localization_result"]

    def count() -> int:
        return cache.sequence + cache.late + cache.duplicates

    before = count()
    message = LocalizationResult(status=status, score=score, map_id="hall")
    message.header.stamp, message.header.frame_id = to_time(stamp), "map"
    message.pose.pose.position.x = x
    message.pose.pose.orientation.w = 1.0
    health.world.say(RESULT, message)
    until(lambda: count() == before + 1, 90.0, "result")
    health.tick()


def transform(health: Health, parent: str, child: str, stamp: float, x: float, yaw: float):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id, message.header.stamp = parent, to_time(stamp)
    message.transform.translation.x = x
    message.transform.rotation.z = math.sin(yaw / 2.0)
    message.transform.rotation.w = math.cos(yaw / 2.0)
    health.world.say("/tf", TFMessage(transforms=[message]))


def test_from_the_first_result_to_staleness() -> None:
    with rig(SystemHealthManager) as health:
        health.tick()
        assert not health.ask("localizationIsReady")
        assert health.manager.problem() == "no localization result yet"
        tell(health, 100.0)
        assert health.ask("localizationIsReady")
        assert health.ask("localizationIsFresh")
        assert health.state.localization.map_id == "hall"
        health.wait(1.0)
        assert health.ask("localizationIsReady"), "at the limit"
        health.wait(0.001)
        assert not health.ask("localizationIsFresh")
        assert not health.ask("systemIsHealthy")
        assert health.state.localization.failures == 1
        tell(health, health.now, BAD)
        assert health.ask("localizationIsFresh")
        assert not health.ask("localizationIsReady")
        assert health.state.localization.failures == 1, "it was bad already"


def test_late_doubled_and_disordered_results_change_nothing() -> None:
    with rig(SystemHealthManager) as health:
        tell(health, 99.9)
        for stamp in (99.5, 99.9, 99.8):
            tell(health, stamp, BAD)
            assert health.state.localization.good
        cache = health.manager.inputs["localization_result"]
        assert (cache.sequence, cache.late, cache.duplicates) == (1, 2, 1)
        figures = {metric.name: metric.value for metric in health.manager.metrics()}
        assert figures["localization_result_late"] == 2
        assert health.state.localization.failures == 0
        tell(health, 97.0 + 3.0)
        health.set_time(5.0)
        until(lambda: cache.newest() is None, 90.0, "a cache emptied by the jump")
        health.tick()
        assert not health.state.localization.good
        tell(health, 5.0)
        assert health.state.localization.good


def test_results_that_arrive_old_are_stale_at_once() -> None:
    with rig(SystemHealthManager, "system_health:localization_result.max_timeout:=0.5") as health:
        tell(health, 99.4)
        assert not health.ask("localizationIsFresh")
        tell(health, 99.5)
        assert health.ask("localizationIsReady")
        tell(health, 99.6, score=0.9)
        health.manager.manager_node.set_parameters([Parameter("min_score", value=0.95)])
        tell(health, 99.7, score=0.94)
        assert not health.ask("localizationIsReady")


def test_the_pose_follows_the_odometry_between_results() -> None:
    with rig(SystemHealthManager) as health:
        transform(health, "odom", "base_link", 99.0, x=10.0, yaw=0.0)
        transform(health, "odom", "base_link", 100.0, x=10.5, yaw=math.pi / 2)

        def pose_at(x: float) -> bool:
            health.tick()
            pose = health.state.localization.pose
            return pose is not None and abs(pose.x - x) < 1e-9

        tell(health, 99.0, x=3.0)
        until(lambda: pose_at(3.5), 90.0, "the pose of now")
        assert health.state.localization.pose.yaw == pytest.approx(math.pi / 2)
        assert health.manager.problem() == ""
        tell(health, 99.5, x=3.2)
        assert pose_at(3.2 + 0.25 * math.cos(math.pi / 4)), "half way turned half way"


def test_without_odometry_the_pose_stands_still_and_it_is_told() -> None:
    with rig(SystemHealthManager) as health:
        tell(health, 100.0, x=3.0)
        assert health.state.localization.pose.x == 3.0
        assert health.state.localization.good
        assert "the pose stands still" in health.manager.problem()
    with rig(SystemHealthManager, "system_health:static_frame:=''") as health:
        tell(health, 100.0, x=3.0)
        assert health.manager.problem() == ""


class Localizer:
    """Answers resets."""

    def __init__(self, health: Health, service_type: type = Trigger, success: bool = True) -> None:
        self.calls = 0
        self.success = success
        self.service = health.do(
            lambda: health.world.create_service(service_type, "/localization/reset", self.answer)
        )

    def answer(self, request: object, response: object) -> object:
        self.calls += 1
        if isinstance(response, Trigger.Response):
            response.success, response.message = self.success, "as you say"
        return response


@pytest.mark.parametrize(("adapter", "service"), [("trigger", Trigger), ("empty", Empty)])
def test_a_reset_runs_until_it_is_answered(adapter: str, service: type) -> None:
    with rig(SystemHealthManager, f"system_health:reset_adapter:={adapter}") as health:
        tell(health, 100.0)
        tree = health.tree('<resetLocalization message="{answer}"/>')
        assert health.run(tree) is NodeStatus.RUNNING, "the server is not there yet"
        assert not health.ask("localizationIsReady"), "what was known is worth nothing now"
        localizer = Localizer(health, service)
        until(lambda: health.run(tree) is NodeStatus.SUCCESS, 90.0, "answer")
        assert localizer.calls == 1
        assert health.manager.resets == 1
        assert health.state.localization.failures == 0
        assert not health.ask("localizationIsReady")
        tell(health, 100.5)
        assert health.ask("localizationIsReady")


def test_a_reset_that_is_refused_or_never_answered_fails_with_the_reason() -> None:
    with rig(SystemHealthManager, "system_health:reset_timeout:=3.0") as health:
        tree = health.tree("<resetLocalization/>")
        assert health.run(tree) is NodeStatus.RUNNING
        health.wait(3.0)
        assert health.run(tree) is NodeStatus.RUNNING, "at the limit"
        health.wait(0.01)
        assert health.run(tree) is NodeStatus.FAILURE
        assert "/localization/reset is not there after 3.0 s" in tree.root_node().failure_reason()
        Localizer(health, success=False)
        tree = health.tree("<resetLocalization/>")
        until(lambda: health.run(tree) is NodeStatus.FAILURE, 90.0, "refusal")
        assert "refused its reset: as you say" in tree.root_node().failure_reason()


def test_a_halted_reset_forgets_its_answer() -> None:
    with rig(SystemHealthManager) as health:
        localizer = Localizer(health)
        tree = health.tree("<resetLocalization/>")
        waits_for = health.manager.reset.waits_for
        until(lambda: health.do(waits_for).endswith("answers not"), 90.0, "the server")
        health.do(lambda: (tree.tick_exactly_once(), tree.halt_tree()))
        until(lambda: localizer.calls == 1, 90.0, "the call that was sent")
        assert health.do(health.manager.reset.answer) is None


def test_a_reset_by_a_pose_to_start_from() -> None:
    with rig(SystemHealthManager, *BY_POSE) as health:
        poses = health.world.hear(PoseWithCovarianceStamped, "/initialpose", QOS_COMMAND)
        tell(health, 100.0, x=4.0)
        until(lambda: health.manager.manager_node.count_subscribers("/initialpose"))
        tree = health.tree("<resetLocalization/>")
        assert health.run(tree) is NodeStatus.RUNNING
        until(lambda: poses, 90.0, "pose")
        assert (poses[0].pose.pose.position.x, poses[0].header.frame_id) == (4.0, "map")
        assert poses[0].pose.covariance[0] == pytest.approx(0.25)
        assert health.run(tree) is NodeStatus.RUNNING
        health.do(tree.halt_tree)  # as by a mission that ended meanwhile
        assert health.run(tree) is NodeStatus.RUNNING
        until(lambda: len(poses) == 2, 90.0, "the pose once more")
        assert poses[1].pose.pose.position.x == 4.0, "nothing else is known"
        tell(health, 100.1)
        assert health.run(tree) is NodeStatus.SUCCESS


def test_a_robot_that_never_knew_its_place_is_told_none() -> None:
    with rig(SystemHealthManager, *BY_POSE) as health:
        poses = health.world.hear(PoseWithCovarianceStamped, "/initialpose", QOS_COMMAND)
        until(lambda: health.manager.manager_node.count_subscribers("/initialpose"))
        tell(health, 99.0, BAD, x=7.0)
        tree = health.tree("<resetLocalization/>")
        assert health.run(tree) is NodeStatus.FAILURE
        assert "a pose to start from" in tree.root_node().failure_reason()
        tell(health, 100.0, x=4.0)
        assert health.run(tree) is NodeStatus.RUNNING
        until(lambda: poses, 90.0, "pose")
        assert [each.pose.pose.position.x for each in poses] == [4.0]


def test_a_reset_begins_where_the_robot_was_trusted_last_and_drove_since() -> None:
    with rig(SystemHealthManager, *BY_POSE) as health:
        poses = health.world.hear(PoseWithCovarianceStamped, "/initialpose", QOS_COMMAND)
        until(lambda: health.manager.manager_node.count_subscribers("/initialpose"))
        transform(health, "odom", "base_link", 100.0, 1.0, 0.0)
        tell(health, 100.0, x=4.0)
        until(lambda: (health.tick(), health.manager.problem())[1] == "", 90.0, "odometry")
        transform(health, "odom", "base_link", 100.2, 1.5, 0.0)
        tell(health, 100.1, BAD, x=20.0)
        until(lambda: (health.tick(), health.state.localization.driven == 0.5)[1], 90.0, "odometry")
        assert health.run(health.tree("<resetLocalization/>")) is NodeStatus.RUNNING
        until(lambda: poses, 90.0, "pose")
        assert poses[0].pose.pose.position.x == pytest.approx(4.5)


def test_a_pose_that_is_no_number_is_no_place() -> None:
    with rig(SystemHealthManager, "system_health:static_frame:=''") as health:
        tell(health, 99.0, BAD, x=math.nan)
        assert health.state.localization.pose is None
        tell(health, 99.1, x=3.0)
        tell(health, 99.2, BAD, x=math.nan)
        assert not health.state.localization.good
        assert health.state.localization.pose.x == 3.0
        tell(health, 99.3, x=3.5)
        assert health.state.localization.good
        assert health.state.localization.pose.x == 3.5


def test_poses_of_amcl_are_as_good_as_their_covariance() -> None:
    parameters = (
        "system_health:localization_result.message:=pose",
        "system_health:localization_result.rx_message:=/amcl_pose",
    )
    with rig(SystemHealthManager, *parameters) as health:
        cache = health.manager.inputs["localization_result"]

        def newest_stamp() -> float | None:
            newest = cache.newest()
            return None if newest is None else seconds(newest.header.stamp)

        for stamp, variance, good in ((99.0, 0.2, True), (99.1, 0.3, False), (99.2, 0.1, True)):
            message = PoseWithCovarianceStamped()
            message.header.stamp, message.header.frame_id = to_time(stamp), "map"
            message.pose.pose.orientation.w = 1.0
            message.pose.covariance[0] = variance
            health.world.say("/amcl_pose", message)
            until(lambda s=stamp: newest_stamp() == s, 90.0, "the pose")
            assert health.ask("localizationIsReady") == good
        assert health.state.localization.failures == 1


class Broken(NavigationManager):
    name = "broken"

    def health(self) -> tuple[bytes, str]:
        return ERROR, "the motor burns"


def test_the_system_is_as_healthy_as_its_managers() -> None:
    with rig(SystemHealthManager, "system_health:static_frame:=''") as health:
        tell(health, 100.0)
        assert health.ask("systemIsHealthy")
        health.do(Broken, health.host)
        tree = health.tree("<systemIsHealthy/>")
        assert health.run(tree) is NodeStatus.FAILURE
        assert tree.root_node().failure_reason() == "the motor burns"
        health.state.planner.reset_wanted = True
        assert health.ask("localizationResetIsWanted")


def test_metrics_and_diagnostics_come_by_themselves() -> None:
    with rig(SystemHealthManager) as health:
        metrics = health.world.hear(Metrics, "/behavior/metrics", QOS_EVENT_LOG)
        diagnostics = health.world.hear(DiagnosticArray, "/diagnostics", QOS_COMMAND)
        tell(health, 100.0)

        def told() -> bool:
            own = [m for m in metrics if m.component == "system_health"]
            figures = {m.name: m.value for m in own[-1].metrics} if own else {}
            return figures.get("localization_result_messages") == 1.0

        until(told, 90.0, "metrics")
        names = {status.name for array in diagnostics for status in array.status}
        assert "system_health: manager" in names
