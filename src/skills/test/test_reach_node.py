# SPDX-License-Identifier: Apache-2.0
"""/reach as its clients see it, with the simulated arm in a process of its own."""

import itertools
import threading
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")
pytest.importorskip("control_msgs.action")

import numpy as np  # noqa: E402
from behavior_msgs.action import MoveArm, Reach  # noqa: E402
from fakes import ROBOT_FILE  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from ros_rig import RosRig  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from test_skills_node import processes  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from behavior_motion import load_robot  # noqa: E402
from behavior_ros import seconds  # noqa: E402
from behavior_skills.interfaces import REPLACED  # noqa: E402
from behavior_skills.node.reach_server import REACH  # noqa: E402
from behavior_skills.node.skills_node import SkillsNode  # noqa: E402
from behavior_tree.cause import Cancelled  # noqa: E402

STREAM = "/panda_arm_controller/joint_trajectory"
TARGETS = "/targets"


class Rig(RosRig):
    """The processes, a publisher of targets, and the arm's motion as it is told and done."""

    def __init__(self, robot=ROBOT_FILE):
        simulation = (
            "behavior_sim.node.simulation_node:SimulationNode:=world=block_stacking:=seed=1:=speed=0.5"
            ":=clock_rate=100.0:=joint_state_rate=100.0"
        )
        running = processes(robot) | {"simulation": [simulation]}
        super().__init__(running, {"/reach": Reach, "/move_arm": MoveArm})
        self.robot = load_robot(ROBOT_FILE)
        self.targets = self.peer.create_publisher(PoseStamped, TARGETS, 1)
        self.told, self.joints = [], None
        self.peer.create_subscription(JointTrajectory, STREAM, self.told.append, 10)
        self.peer.create_subscription(JointState, "/joint_states", self._keep, 10)

    def _keep(self, message):
        self.joints = message

    @property
    def now(self):
        """[s] simulated."""
        return seconds(self.joints.header.stamp)

    def tool(self):
        index = [list(self.joints.name).index(name) for name in self.robot.joint_names]
        return self.robot.forward_kinematics(np.array(self.joints.position)[index])[:3, 3]


@pytest.fixture(scope="module")
def rig():
    made = Rig()
    try:  # whatever fails, no process is left behind
        made.await_servers()
        made.until(lambda: made.joints is not None and made.targets.get_subscription_count() == 0)
        yield made
    finally:
        made.close()


def pose(x, y, z):
    made = PoseStamped()
    made.header.frame_id = "world"
    made.pose.position.x, made.pose.position.y, made.pose.position.z = x, y, z
    made.pose.orientation.x, made.pose.orientation.w = 1.0, 0.0
    return made


def place(message):
    point = message.pose.position
    return np.array([point.x, point.y, point.z])


def test_it_arrives_and_a_newer_goal_takes_over(rig):
    first = rig.start("/reach", Reach.Goal(pose=pose(0.45, -0.2, 0.35), hold=True))
    assert first.accepted
    rig.until(lambda: any(f.phase == "hold" for f in rig.feedback))
    second = rig.start("/reach", Reach.Goal(pose=pose(0.45, 0.2, 0.35)))
    assert second.accepted
    assert rig.result(first).code == Reach.Result.REPLACED
    done = rig.result(second)
    assert done.code == 0, done.message
    assert done.distance < 0.005
    assert done.plans == 0
    assert np.linalg.norm(rig.tool() - place(done.tool)) < 0.01


class StartedGoal:
    """What the node needs of a `GoalContext`."""

    def __init__(self):
        self.goal, self.reason = Reach.Goal(), None

    def cancel(self, reason):
        self.reason = reason

    def check_cancelled(self):
        if self.reason:
            raise Cancelled(self.reason)


def test_of_two_goals_at_once_the_older_takes_no_place():
    """Threads come to the arm in any order, above all where both waited for first messages."""
    node = SimpleNamespace(
        _busy=list,
        _newest=None,
        _newest_lock=threading.Lock(),
        _arm_lock=threading.Lock(),
        _accepted={},
        _places=itertools.count(),
    )
    older, newer, newest = (StartedGoal() for _ in range(3))
    for context in (older, newer, newest):
        assert SkillsNode._refusal(node, REACH, context.goal) is None
    with SkillsNode._occupied(node, REACH, newer):
        with pytest.raises(Cancelled, match=REPLACED), SkillsNode._occupied(node, REACH, older):
            pytest.fail("it is not the newest")
        assert newer.reason is None
    with SkillsNode._occupied(node, REACH, newest):
        assert newer.reason == REPLACED
    assert newest.reason is None


def test_a_target_that_moves_is_followed_without_a_plan(rig):
    goal = Reach.Goal(pose=pose(0.5, -0.25, 0.35), target_topic=TARGETS, hold=True)
    handle = rig.start("/reach", goal)
    start = rig.now
    rig.until(rig.targets.get_subscription_count)
    rig.until(lambda: rig.now > start + 0.3)
    moved = pose(0.4, -0.15, 0.35)  # by 0.14 m
    rig.targets.publish(moved)
    rig.until(lambda: np.linalg.norm(rig.tool() - place(moved)) < 0.005)
    assert not any(f.planned for f in rig.feedback)
    handle.cancel_goal_async()
    assert rig.result(handle).code == Reach.Result.CANCELED


def test_wrong_goals_and_targets_end_with_their_codes(rig):
    both = Reach.Goal(pose=pose(0.5, 0.0, 0.4))
    both.position.header.frame_id = "world"
    assert rig.run("/reach", both).code == Reach.Result.INVALID_REQUEST
    lost = Reach.Goal(pose=pose(0.5, 0.0, 0.4))
    lost.pose.header.frame_id = "nowhere"
    assert rig.run("/reach", lost).code == Reach.Result.UNKNOWN_FRAME
    silent = Reach.Goal(pose=pose(0.5, 0.0, 0.4), target_topic="/nobody", hold=True)
    assert rig.run("/reach", silent).code == Reach.Result.TARGET_LOST
    handle = rig.start(
        "/reach", Reach.Goal(pose=pose(0.5, 0.0, 0.4), target_topic=TARGETS, hold=True)
    )
    rig.until(rig.targets.get_subscription_count)
    bad = pose(0.5, 0.0, 0.4)
    bad.pose.orientation.x = 0.2
    rig.targets.publish(bad)
    answer = rig.result(handle)
    assert answer.code == Reach.Result.INVALID_REQUEST
    assert TARGETS in answer.message
    # A wrong goal leaves the one that runs alone.
    handle = rig.start("/reach", Reach.Goal(pose=pose(0.5, 0.1, 0.4), hold=True))
    assert rig.run("/reach", both).code == Reach.Result.INVALID_REQUEST
    assert not rig.start("/move_arm", MoveArm.Goal(mode=MoveArm.Goal.NAMED)).accepted
    rig.until(lambda: any(f.phase == "hold" for f in rig.feedback))
    handle.cancel_goal_async()
    assert rig.result(handle).code == Reach.Result.CANCELED


def test_an_arm_with_an_action_alone_is_told_by_goals_that_replace_each_other(tmp_path):
    robot = tmp_path / "panda.yaml"
    lines = ROBOT_FILE.read_text().splitlines(keepends=True)
    robot.write_text("".join(line for line in lines if "stream:" not in line))
    rig = Rig(robot)
    try:
        rig.await_servers()
        done = rig.run("/reach", Reach.Goal(pose=pose(0.45, 0.2, 0.35)))
        assert done.code == 0, done.message
        assert not rig.told
        rig.until(lambda: rig.joints is not None)
        assert np.linalg.norm(rig.tool() - place(pose(0.45, 0.2, 0.35))) < 0.01
    finally:
        rig.close()
