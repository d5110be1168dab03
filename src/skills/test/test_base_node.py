# SPDX-License-Identifier: Apache-2.0
"""The base's node with the simulated base: goals, wrong goals, cancel, block, loss."""

import math

import pytest

rclpy = pytest.importorskip("rclpy")

from behavior_msgs.action import MoveBase, Wait  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from ros_rig import RosRig  # noqa: E402

from behavior_ros import QOS_SENSOR  # noqa: E402

DRIVER = "behavior_sim.control.base_driver:BaseDriverNode"
PROCESSES = {
    "base": ["behavior_skills.base.base_node:BaseNode:=max_linear_velocity=1.0"],
    "wait": ["behavior_skills.node.wait_node:WaitNode"],
    "driver": [DRIVER],
}


class Rig(RosRig):
    """The base's processes, a client, and the odometry."""

    def __init__(self):
        super().__init__(PROCESSES, {"/move_base": MoveBase, "/wait": Wait})
        self.odometry = None
        self.peer.create_subscription(Odometry, "/odom", self._keep, QOS_SENSOR)

    def _keep(self, message):
        self.odometry = message

    def await_start(self):
        self.await_servers()
        self.until(lambda: self.odometry is not None)

    @property
    def remaining(self):
        return [feedback.distance_remaining for feedback in self.feedback]


@pytest.fixture(scope="module")
def rig():
    made = Rig()
    try:
        made.await_start()
        yield made
    finally:
        made.close()


def pose(x, y, yaw=0.0, frame="odom"):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = float(x), float(y)
    message.pose.orientation.z, message.pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return message


def to(x, y, yaw=0.0, frame="odom", **keys):
    return MoveBase.Goal(mode=MoveBase.Goal.POSE, target=pose(x, y, yaw, frame), **keys)


def test_to_a_pose_and_back_in_the_base_frame(rig):
    done = rig.run("/move_base", to(0.8, 0.3, 1.0))
    assert done.code == 0, done.message
    at = done.pose.pose.position
    assert math.hypot(at.x - 0.8, at.y - 0.3) < 0.05
    assert rig.remaining[0] > rig.remaining[-1]
    straight = MoveBase.Goal(mode=MoveBase.Goal.STRAIGHT, distance=-0.3)
    assert rig.run("/move_base", straight).code == 0
    turn = MoveBase.Goal(mode=MoveBase.Goal.TURN, angle=-1.0)
    assert rig.run("/move_base", turn).code == 0
    assert rig.run("/move_base", to(0.2, 0.0, frame="base_link", any_yaw=True)).code == 0


def test_along_a_path(rig):
    goal = MoveBase.Goal(mode=MoveBase.Goal.PATH, any_yaw=True)
    goal.path.poses = [pose(0.5, 0.0), pose(1.0, 0.2), pose(1.2, 0.6)]
    done = rig.run("/move_base", goal)
    assert done.code == 0, done.message
    assert done.pose.pose.position.y == pytest.approx(0.6, abs=0.05)


def test_wrong_goals_end_with_their_codes(rig):
    result = MoveBase.Result
    assert rig.run("/move_base", to(math.nan, 0)).code == result.INVALID_REQUEST
    assert rig.run("/move_base", to(1, 0, frame="nowhere")).code == result.UNKNOWN_FRAME
    assert rig.run("/move_base", to(1, 0, max_linear_velocity=-1.0)).code == result.INVALID_REQUEST
    assert rig.run("/move_base", MoveBase.Goal(mode=9)).code == result.INVALID_REQUEST
    assert rig.run("/move_base", MoveBase.Goal(mode=1)).code == result.INVALID_REQUEST
    slow = rig.run("/move_base", to(5, 5, timeout=0.3))
    assert slow.code == result.TIMED_OUT, slow.message
    assert rig.run("/wait", Wait.Goal(duration=-1.0)).code == Wait.Result.INVALID_REQUEST


def test_wait_and_cancel(rig):
    done = rig.run("/wait", Wait.Goal(duration=0.3))
    assert done.code == 0
    assert done.waited == pytest.approx(0.3, abs=0.15)
    handle = rig.start("/wait", Wait.Goal(duration=60.0))
    handle.cancel_goal_async()
    assert rig.result(handle).code == Wait.Result.CANCELED
    handle = rig.start("/move_base", to(8.0, 0.0))
    rig.until(lambda: rig.odometry.twist.twist.linear.x > 0.2)
    assert not rig.start("/move_base", to(0.0, 0.0)).accepted
    handle.cancel_goal_async()
    assert rig.result(handle).code == MoveBase.Result.CANCELED
    rig.until(lambda: abs(rig.odometry.twist.twist.linear.x) < 1e-3)


def test_a_lost_and_a_blocked_base(rig):
    handle = rig.start("/move_base", to(8.0, 0.0))
    rig.until(lambda: rig.odometry.twist.twist.linear.x > 0.2)
    rig.processes["driver"].kill()
    assert rig.result(handle).code == MoveBase.Result.SERVER_LOST
    rig.launch("driver", [f"{DRIVER}:=blocked=true"])
    result = MoveBase.Result(code=MoveBase.Result.SERVER_LOST)

    def heard_by_the_base():
        nonlocal result
        result = rig.run("/move_base", to(2.0, 0.0))
        return result.code != MoveBase.Result.SERVER_LOST

    rig.until(heard_by_the_base)
    assert result.code == MoveBase.Result.BLOCKED, result.message
