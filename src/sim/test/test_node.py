# SPDX-License-Identifier: Apache-2.0
"""The node, in a ROS domain of its own: everything it offers, used as its clients do."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from behavior_msgs.msg import SceneObject, SceneObjectArray
from behavior_msgs.srv import DisturbWorld, ResetWorld
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance
from rclpy.action import ActionClient
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from vision_msgs.msg import Detection3DArray

from behavior_ros import QOS_LATCHED, seconds, to_duration, to_time
from behavior_ros.process.clock_follower import followed_topic
from behavior_ros.testing import Bench
from behavior_sim.node.simulation_node import SimulationNode
from behavior_sim.recordings.recording import Recording

WAIT = 90.0
START = {"world": "block_stacking", "speed": 0.0, "seed": 3}
HOME = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]
FIRST = "panda_joint1"
JOINTS = [f"panda_joint{k}" for k in range(1, 8)]
TOPICS = {
    "/clock": Clock,
    "/joint_states": JointState,
    "/detections": Detection3DArray,
    "/simulation/objects": SceneObjectArray,
}


class Rig(Bench):
    """The node of a world with an arm, and clients of all that it offers."""

    def __init__(self, recording: Path, **parameters) -> None:
        super().__init__()
        overrides = {
            "world": "block_stacking",
            "speed": 0.0,
            "seed": 3,
            "recording": str(recording),
            **parameters,
        }
        self.node = self.make(SimulationNode, **overrides)
        self.arm = ActionClient(
            self.peer, FollowJointTrajectory, "/panda_arm_controller/follow_joint_trajectory"
        )
        self.gripper = ActionClient(self.peer, GripperCommand, "/panda_hand_controller/gripper_cmd")
        self.received: dict[str, list] = {topic: [] for topic in TOPICS}
        for topic, message_type in TOPICS.items():
            self.peer.create_subscription(
                message_type, topic, self.received[topic].append, qos_profile_sensor_data
            )
        assert self.arm.wait_for_server(WAIT)
        assert self.gripper.wait_for_server(WAIT)

    def newest(self, topic: str):
        """The next message of a topic."""
        count = len(self.received[topic])
        self.until(lambda: len(self.received[topic]) > count)
        return self.received[topic][-1]

    def send(self, client: ActionClient, goal, feedback=None):
        handle = self.answer(client.send_goal_async(goal, feedback_callback=feedback))
        assert handle.accepted
        return handle

    def result(self, handle):
        answer = self.answer(handle.get_result_async())
        return answer.status, answer.result

    def set(self, name: str, value):
        return self.set_parameter(self.node, name, value)

    def reset(self, seed: int = 3, layout: str = ""):
        return self.call(ResetWorld, "/simulation/reset", seed=seed, layout=layout)


def trajectory(positions, duration: float) -> FollowJointTrajectory.Goal:
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = JOINTS
    goal.trajectory.points = [
        JointTrajectoryPoint(positions=positions, time_from_start=to_duration(duration))
    ]
    return goal


def grip(position: float, effort: float = 0.0) -> GripperCommand.Goal:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = position, effort
    return goal


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Rig]:
    made = Rig(tmp_path_factory.mktemp("node") / "motion.npz")
    yield made
    made.close()


@pytest.fixture
def bench(shared: Rig) -> Rig:
    shared.set("speed", 0.0)
    assert shared.reset().code == 0
    return shared


def test_streams(bench: Rig) -> None:
    assert bench.set("speed", 5.0).successful
    for messages in bench.received.values():
        messages.clear()
    bench.until(lambda: len(bench.received["/simulation/objects"]) >= 11)
    stamps = {
        "/clock": [seconds(m.clock) for m in bench.received["/clock"]],
        **{
            topic: [seconds(m.header.stamp) for m in bench.received[topic]]
            for topic in ("/joint_states", "/detections", "/simulation/objects")
        },
    }
    for topic, period in (
        ("/clock", 0.02),
        ("/joint_states", 0.02),
        ("/detections", 0.1),
        ("/simulation/objects", 0.1),
    ):
        steps = [b - a for a, b in zip(stamps[topic], stamps[topic][1:], strict=False)]
        assert min(steps) == pytest.approx(period, abs=1e-6), topic
    joints = bench.received["/joint_states"][-1]
    assert list(joints.name) == [*JOINTS, "panda_finger_joint1", "panda_finger_joint2"]
    assert list(joints.position) == pytest.approx([*HOME, 0.04, 0.04], abs=1e-3)
    assert len(joints.velocity) == len(joints.effort) == 9
    detections = bench.received["/detections"][-1]
    assert detections.header.frame_id == "world"
    assert {d.results[0].hypothesis.class_id for d in detections.detections} == {
        f"{color}_block" for color in ("red", "blue", "yellow", "green")
    }
    truth = {o.name: o for o in bench.received["/simulation/objects"][-1].objects}
    for detection in detections.detections:
        seen = detection.results[0].pose
        true = truth[detection.results[0].hypothesis.class_id]
        assert seen.pose.position.x == pytest.approx(true.pose.position.x, abs=0.006)
        assert seen.covariance[0] == pytest.approx(0.002**2)
        assert detection.bbox.size.x == pytest.approx(0.0515)
        assert true.state == SceneObject.TRACKED


def test_a_simulation_that_waits_for_the_scene_still_tells_its_joints(bench: Rig) -> None:
    """The skills took a world that waited for busy cameras for a robot whose driver was gone."""
    scene = bench.peer.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
    message = SceneObjectArray()
    message.header.stamp = bench.newest("/clock").clock

    def follow() -> None:
        scene.publish(message)
        bench.executor.spin_once(timeout_sec=0.05)

    def stands() -> bool:
        before = len(bench.received["/clock"])
        for _ in range(8):
            follow()
        return len(bench.received["/clock"]) == before

    try:
        bench.until(stands)

        def told_again() -> bool:
            follow()
            told = [seconds(m.header.stamp) for m in bench.received["/joint_states"]]
            return len(told) != len(set(told))

        bench.until(told_again)
    finally:
        message.header.stamp.sec += 1_000_000  # nobody is waited for any more
        follow()
        bench.until(lambda: not stands())
        bench.peer.destroy_publisher(scene)


def test_trajectory_is_followed(bench: Rig) -> None:
    feedback = []
    target = [0.4, -0.5, 0.1, -2.0, 0.1, 1.7, 1.0]
    handle = bench.send(bench.arm, trajectory(target, 2.0), feedback.append)
    status, result = bench.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
    assert list(bench.newest("/joint_states").position)[:7] == pytest.approx(target, abs=0.002)
    assert len(feedback) >= 5
    assert list(feedback[0].feedback.joint_names) == JOINTS


@pytest.mark.parametrize(("speed", "gap"), [(1.0, 0.02), (50.0, 0.1)])
def test_motions_that_are_watched_are_told_of_in_small_steps(
    bench: Rig, monkeypatch: pytest.MonkeyPatch, speed: float, gap: float
) -> None:
    """However long steps may be where nobody watches and programs are waited for."""
    told, publish = [], bench.node._publish_joints

    def noted(nanoseconds: int) -> None:  # what is received may lack some on a busy machine
        told.append(1e-9 * nanoseconds)
        publish(nanoseconds)

    bench.set("busy_speed", 10.0)
    bench.set("speed", speed)
    try:
        handle = bench.send(bench.arm, trajectory([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 1.0], 1.0))
        monkeypatch.setattr(bench.node, "_publish_joints", noted)
        assert bench.result(handle)[0] == GoalStatus.STATUS_SUCCEEDED
    finally:
        bench.set("busy_speed", 0.0)
    assert np.diff(told).max() == pytest.approx(gap, abs=0.01)


def test_trajectory_is_cancelled(bench: Rig) -> None:
    handle = bench.send(bench.arm, trajectory([1.0, *HOME[1:]], 200.0))
    assert bench.answer(handle.cancel_goal_async()).goals_canceling
    status, result = bench.result(handle)
    assert status == GoalStatus.STATUS_CANCELED
    assert result.error_string == "cancelled"
    bench.until(lambda: max(map(abs, bench.newest("/joint_states").velocity)) < 1e-3)


def test_new_goal_replaces(bench: Rig) -> None:
    first = bench.send(bench.arm, trajectory([1.0, *HOME[1:]], 200.0))
    second = bench.send(bench.arm, trajectory([0.1, *HOME[1:]], 1.0))
    status, result = bench.result(first)
    assert status == GoalStatus.STATUS_ABORTED
    assert "newer goal" in result.error_string
    assert bench.result(second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_refused_trajectories_say_why(bench: Rig) -> None:
    goal = trajectory([3.5, *HOME[1:]], 5.0)
    status, result = bench.result(bench.send(bench.arm, goal))
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == FollowJointTrajectory.Result.INVALID_GOAL
    assert "panda_joint1" in result.error_string
    goal = trajectory(HOME, 1.0)
    goal.trajectory.joint_names = ["a"]
    _, result = bench.result(bench.send(bench.arm, goal))
    assert result.error_code == FollowJointTrajectory.Result.INVALID_JOINTS
    _, result = bench.result(bench.send(bench.arm, FollowJointTrajectory.Goal()))
    assert result.error_code == FollowJointTrajectory.Result.INVALID_JOINTS


def test_tolerances_of_the_goal(bench: Rig) -> None:
    goal = trajectory([0.8, *HOME[1:]], 0.8)
    goal.path_tolerance = [JointTolerance(name="panda_joint1", position=1e-5)]
    status, result = bench.result(bench.send(bench.arm, goal))
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED


def test_start_stamp_in_the_future(bench: Rig) -> None:
    now = seconds(bench.newest("/clock").clock)
    goal = trajectory([0.1, *HOME[1:]], 1.0)
    goal.trajectory.header.stamp = to_time(now + 3.0)
    bench.result(bench.send(bench.arm, goal))
    # Messages of the clock may still be on their way.
    assert seconds(bench.newest("/clock").clock) >= now + 3.9


def test_who_streams_the_arms_motion_is_waited_for(bench: Rig) -> None:
    topic = "/panda_arm_controller/joint_trajectory"
    publisher = bench.peer.create_publisher(JointTrajectory, topic, 1)
    bench.until(publisher.get_subscription_count)
    bench.reset()
    # As fast as possible means 20 to 100 times real time: within 20 ms some 0.4 to 2 s. So what is
    # streamed begins when it arrives: stamped, it would be over by then on a fast machine.
    steps, before = [], seconds(bench.newest("/clock").clock)
    for _ in range(20):
        publisher.publish(trajectory(HOME, 1.0).trajectory)
        time.sleep(0.02)
        bench.until(lambda before=before: seconds(bench.newest("/clock").clock) > before)
        now = seconds(bench.received["/clock"][-1].clock)
        steps.append(now - before)
        before = now
    assert statistics.median(steps) < 0.09, steps
    # And for nobody who sends no more.
    bench.until(lambda: seconds(bench.newest("/clock").clock) > now + 2.0)


def test_trajectories_on_the_topic_replace_each_other_without_a_jump(bench: Rig) -> None:
    topic = "/panda_arm_controller/joint_trajectory"
    publisher = bench.peer.create_publisher(JointTrajectory, topic, 1)
    bench.until(publisher.get_subscription_count)
    bench.reset()

    def send(begin: float, *points: tuple[float, float, float]) -> None:
        message = trajectory(HOME, 1.0).trajectory
        message.points = [
            JointTrajectoryPoint(
                positions=[q, *HOME[1:]],
                velocities=[speed, *[0.0] * 6],
                time_from_start=to_duration(time),
            )
            for time, q, speed in points
        ]
        message.header.stamp = to_time(begin)
        publisher.publish(message)

    begin = seconds(bench.newest("/clock").clock)
    # A trajectory that began 2 s ago is joined under way, and so is one that replaces it.
    for angle in (0.3, 0.2):
        send(begin - 2.0, (0.0, 0.0, 0.0), (20.0, 0.0, 0.0), (22.0, angle, 0.0))
    bench.until(lambda: joint(bench, FIRST) == pytest.approx(0.2, abs=0.005))
    moved = next(
        stamp
        for m in bench.received["/joint_states"]
        if (stamp := seconds(m.header.stamp)) > begin + 0.5
        and m.position[list(m.name).index(FIRST)] > 0.1
    )
    assert begin + 18.0 < moved < begin + 20.5
    # One that is elsewhere by now is refused.
    now = seconds(bench.newest("/clock").clock)
    send(now - 10.0, (0.0, 1.0, 0.0), (300.0, 1.0, 0.0))
    bench.until(lambda: seconds(bench.newest("/clock").clock) > now + 1.0)
    assert joint(bench, FIRST) == pytest.approx(0.2, abs=0.005)


def joint(bench: Rig, name: str) -> float:
    message = bench.newest("/joint_states")
    return message.position[list(message.name).index(name)]


def test_gripper(bench: Rig) -> None:
    status, result = bench.result(bench.send(bench.gripper, grip(0.0)))
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert (result.reached_goal, result.stalled) == (True, False)
    assert result.position == pytest.approx(0.0, abs=0.001)
    status, result = bench.result(bench.send(bench.gripper, grip(0.5)))
    assert status == GoalStatus.STATUS_ABORTED
    assert not result.reached_goal
    handle = bench.send(bench.gripper, grip(0.08))
    bench.reset()
    assert bench.result(handle)[0] in (GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_SUCCEEDED)


def test_the_world_is_varied_from_the_next_reset_on(bench: Rig) -> None:
    def is_of_size(edge: float) -> bool:
        objects = {o.name: o for o in bench.newest("/simulation/objects").objects}
        return objects["blue_block"].shape.dimensions[0] == pytest.approx(edge)

    factors = '{"blue_block.size": 1.1, "mass": 2.0, "dropout": 0.0}'
    assert bench.set("variation", factors).successful
    assert bench.reset(1).code == 0
    bench.until(lambda: is_of_size(1.1 * 0.0515))
    assert bench.set("variation", '{"weight": 2.0}').successful
    response = bench.reset(1)
    assert response.code == 102
    assert "weight is no factor" in response.message
    assert bench.set("variation", "").successful
    assert bench.reset(1).code == 0
    bench.until(lambda: is_of_size(0.0515))


def test_reset_ends_goals_and_time_goes_on(bench: Rig) -> None:
    before = seconds(bench.newest("/clock").clock)
    handle = bench.send(bench.arm, trajectory([1.0, *HOME[1:]], 500.0))
    assert bench.reset(5, "wrong_tower").code == 0
    status, result = bench.result(handle)
    assert status == GoalStatus.STATUS_ABORTED
    assert "reset" in result.error_string
    response = bench.reset(5, "nonsense")
    assert response.code == 101
    assert "wrong_tower" in response.message
    assert seconds(bench.newest("/clock").clock) > before

    def blue():
        objects = bench.newest("/simulation/objects").objects
        return next(o for o in objects if o.name == "blue_block").pose.position

    bench.until(lambda: blue().z == pytest.approx(1.5 * 0.0515, abs=0.001))


def test_disturbances(bench: Rig) -> None:
    def disturb(kind: int, name: str = "red_block", **place: float):
        request = DisturbWorld.Request(kind=kind, object=name)
        for axis, value in place.items():
            setattr(request.pose.position, axis, value)
        request.impulse.y = 0.02
        return bench.call(DisturbWorld, "/simulation/disturb", request)

    def red():
        objects = bench.newest("/simulation/objects").objects
        return next(o for o in objects if o.name == "red_block").pose.position

    assert disturb(DisturbWorld.Request.MOVE, x=0.5, y=0.3).code == 0
    there = pytest.approx((0.5, 0.3), abs=0.002)
    bench.until(lambda: (red().x, red().y) == there)  # older messages may wait to be heard
    assert disturb(DisturbWorld.Request.PUSH).code == 0
    assert disturb(DisturbWorld.Request.DROP, x=0.5, y=0.1, z=0.3).code == 0
    bench.until(lambda: red().z < 0.03)
    assert disturb(DisturbWorld.Request.TAKE_AWAY).code == 0

    def detected() -> set[str]:
        return {d.id for d in bench.newest("/detections").detections}

    bench.until(lambda: "red_block" not in detected())  # older messages may wait to be heard
    assert disturb(DisturbWorld.Request.RELEASE, x=0.5).code == 102
    assert disturb(DisturbWorld.Request.MOVE, "cat").code == 101
    assert disturb(9).code == 102
    assert disturb(DisturbWorld.Request.MOVE, x=float("nan")).code == 102
    request = DisturbWorld.Request(object="red_block")
    request.pose.orientation.w = 0.0
    response = bench.call(DisturbWorld, "/simulation/disturb", request)
    assert response.code == 102
    assert "quaternion" in response.message


def test_it_waits_for_who_follows_its_time_but_no_longer_than_a_robot_would(bench):
    """A thousandth of real time here: a step of 0.02 s every 20 s, had nobody followed."""
    follower = bench.peer.create_publisher(Header, followed_topic(bench.peer), 10)
    simulation = bench.node._simulation
    bench.set("busy_speed", 0.001)
    try:
        bench.until(follower.get_subscription_count)
        end = simulation.time + 1.0

        def followed_to_the_end() -> bool:
            follower.publish(Header(frame_id="/skills", stamp=to_time(end)))
            return simulation.time >= end

        bench.until(followed_to_the_end)
        assert simulation.time < end + 0.1
    finally:
        bench.set("busy_speed", 0.0)
        bench.peer.destroy_publisher(follower)
    bench.until(lambda: seconds(bench.newest("/clock").clock) > end)  # it waits for nobody any more


def test_pause(bench: Rig) -> None:
    assert bench.call(SetBool, "/simulation/pause", data=True).success
    assert bench.reset(3).code == 0, "a paused world can be reset"
    before = bench.node._simulation.time
    assert bench.reset(3).code == 0
    assert bench.node._simulation.time == before
    assert bench.call(SetBool, "/simulation/pause", data=False).success
    bench.newest("/clock")


def test_parameters(bench: Rig) -> None:
    assert bench.set("detection_dropout", 1.0).successful
    bench.until(lambda: not bench.newest("/detections").detections)
    assert bench.set("detection_dropout", 0.0).successful
    assert not bench.set("speed", -1.0).successful
    assert not bench.set("detection_dropout", 1.5).successful


def test_recording_is_saved(bench: Rig) -> None:
    bench.newest("/simulation/objects")
    response = bench.call(Trigger, "/simulation/save_recording")
    assert response.success, response.message
    assert len(Recording.load(response.message).times) > 0


def test_state_for_cameras_while_somebody_listens(bench: Rig) -> None:
    publisher = bench.node._state_publisher
    assert publisher.get_subscription_count() == 0
    states: list[JointState] = []
    subscription = bench.peer.create_subscription(JointState, "/simulation/state", states.append, 1)
    bench.until(lambda: len(states) > 0)
    world = bench.node._simulation.world
    assert len(states[0].position) == world.model.nq
    assert list(states[0].name[:8]) == [*JOINTS, "panda_finger_joint1"]
    block = list(states[0].name).index("red_block/z")
    assert states[0].position[block] == pytest.approx(0.02575, abs=1e-3)
    bench.peer.destroy_subscription(subscription)


def test_cameras_and_a_detector_take_over(tmp_path: Path) -> None:
    """The node tells no detections then, and waits for those that others tell."""
    bench = Rig(tmp_path / "motion.npz", detections_by_cameras=True)
    try:
        told = bench.peer.create_publisher(Detection3DArray, "/detections", 1)
        bench.until(lambda: told.get_subscription_count() == 2)
        bench.until(lambda: bench.node._simulation.time > 5.0)
        assert not bench.received["/detections"]
        message = Detection3DArray()
        message.header.stamp = to_time(2.0)

        def waits() -> bool:
            told.publish(message)
            return bench.node._hold(2.5) > 0.0  # 0.1 s of that is the camera's latency

        bench.until(waits)
        assert bench.node._hold(2.2) == 0.0
    finally:
        bench.close()
