# SPDX-License-Identifier: Apache-2.0
"""The drivers of robots' files against fake drivers over ROS.

Types that are not installed are skipped with their name; `test_drivers` has them all.
"""

from types import SimpleNamespace

import driver_types
import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")

from behavior_msgs.action import MoveBase
from control_msgs.action import GripperCommand
from driver_servers import FakeGripper, FakeTrajectoryController
from fakes import ROBOT_FILE
from lifecycle_msgs.msg import State
from std_msgs.msg import Bool, Float64

from behavior_motion import Trajectory, load_robot
from behavior_motion.robot.robot_file import DriverSection
from behavior_ros import QOS_LATCHED, QOS_SENSOR, GoalContext
from behavior_ros.messages.interfaces import load_interface
from behavior_ros.testing import ros, spinner, until  # noqa: F401
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node.controllers import ArmClient, DriverStates
from behavior_skills.node.drivers.driver import DriverParts, Role, make_driver


@pytest.fixture(scope="module")
def robot():
    return load_robot(ROBOT_FILE)


@pytest.fixture
def rig(spinner, robot):  # noqa: F811
    """Two nodes: that of the drivers' adapters, and that of the drivers."""
    spinner.start()
    made = SimpleNamespace(do=spinner.do, robot=robot, heard=[])
    made.ours, made.theirs = spinner.node("skills"), spinner.node("driver")
    parts = DriverParts(node=made.ours, robot=robot, heard=made.heard.append)

    def make(role, driver, **options):
        return spinner.do(make_driver, role, DriverSection(driver=driver, **options), parts)

    def publish(kind, topic, qos, **fields):
        publisher = spinner.do(made.theirs.create_publisher, kind, topic, qos)
        until(lambda: publisher.get_subscription_count(), what=f"a listener on {topic}")
        return lambda **fields: spinner.do(publisher.publish, kind(**fields))

    made.make, made.publisher = make, publish
    return made


def motion(robot, duration):
    home = robot.named["home"]
    q = np.stack([home, home + 0.1])
    return Trajectory(robot.joint_names, np.array([0.0, duration]), q, 0 * q, 0 * q)


@pytest.fixture
def arm(rig):
    """The arm with its controller, and an emergency stop."""
    joints = rig.robot.joint_names
    rig.controller = rig.do(FakeTrajectoryController, rig.theirs, "/arm_controller", joints)
    driver = rig.make(
        Role.ARM,
        "follow_joint_trajectory",
        action="/arm_controller/follow_joint_trajectory",
        goal_tolerance=0.02,
    )
    state = rig.make(Role.STATE, "stop_topic", topic="/estop", latched=True)
    rig.press = rig.publisher(Bool, "/estop", QOS_LATCHED)
    rig.press(data=False)
    until(state.heard)
    clock = rig.ours.get_clock()
    rig.states = DriverStates([state], lambda: 1e-9 * clock.now().nanoseconds)
    rig.arm = ArmClient(None, driver, rig.states)
    rig.execute = lambda duration: rig.arm.execute(motion(robot=rig.robot, duration=duration))
    return rig


def test_trajectories_succeed_are_replaced_refused_and_fail(arm):
    done = until(arm.execute(0.05).done)
    assert done.ok, done.message
    assert [t.position for t in arm.controller.goals[0].goal_tolerance] == [0.02] * 7

    first = arm.execute(60.0)
    until(lambda: len(arm.controller.goals) == 2)
    second = arm.execute(0.05)
    done = until(first.done)
    assert "preempted by new incoming action" in done.message
    assert "Stop the other program" in done.remedy
    assert until(second.done).ok

    for fault, says in (("path", "path tolerance"), ("goal_time", "goal_time_tolerance exceeding")):
        arm.controller.fault = fault
        done = until(arm.execute(0.05).done)
        assert not done.ok
        assert says in done.message
    arm.controller.fault = None

    cancelled = arm.execute(60.0)
    until(lambda: len(arm.controller.goals) == 6)
    cancelled.cancel()
    assert not until(cancelled.done).ok
    assert arm.controller.cancelled == 1

    running = arm.execute(60.0)
    until(lambda: len(arm.controller.goals) == 7)
    arm.do(arm.controller.deactivate)
    assert "deactivate transition" in until(running.done).message
    refused = until(arm.execute(0.05).done)
    assert "refused the goal" in refused.message
    assert "list_controllers" in refused.remedy


def test_a_controller_of_more_joints_refuses_a_part_of_them(rig):
    joints = (*rig.robot.joint_names, "lift_joint")
    rig.do(FakeTrajectoryController, rig.theirs, "/body", joints)
    arm = rig.make(Role.ARM, "follow_joint_trajectory", action="/body/follow_joint_trajectory")
    done = until(arm.execute(motion(rig.robot, 0.05), lambda: None, lambda: None).done)
    assert "joints of the robot's file and no others" in done.remedy


def test_a_stop_ends_the_motion_refuses_others_and_is_over(arm):
    running = arm.execute(60.0)
    until(lambda: arm.controller.goals)
    arm.press(data=True)
    until(arm.states.trouble)
    with pytest.raises(SkillFailure, match="The emergency stop is pressed") as caught:
        running.done()
    assert caught.value.failure is FailureCode.EXECUTION_FAILED
    running.cancel()
    until(lambda: arm.controller.cancelled)
    assert not until(running.done).ok
    with pytest.raises(SkillFailure, match="The emergency stop is pressed"):
        arm.execute(0.05)
    assert len(arm.controller.goals) == 1
    arm.press(data=False)
    until(lambda: arm.states.trouble() is None)
    assert until(arm.execute(0.05).done).ok


def typed(name):
    """A type that is installed; else the test is skipped with its name."""
    if name in driver_types.missing():
        pytest.skip(f"{name} is not installed")
    return load_interface(name, name.split("/")[1])[0]


def test_gripper_command(rig):
    server = rig.do(FakeGripper, rig.theirs, GripperCommand, "/hand")
    hand = rig.make(Role.GRIPPER, "gripper_command", action="/hand")
    server.how, server.result = "abort", {"stalled": True}
    done = until(hand.move(0.03, 20.0).done)
    assert (done.ok, done.stalled) == (False, True)
    assert server.goals[0].command.max_effort == 20.0


def test_parallel_gripper_command(rig):
    kind = typed("control_msgs/action/ParallelGripperCommand")
    server = rig.do(FakeGripper, rig.theirs, kind, "/hand")
    hand = rig.make(Role.GRIPPER, "parallel_gripper_command", action="/hand")
    server.how, server.result = "abort", {"stalled": True}
    done = until(hand.move(0.03, 20.0).done)
    assert (done.ok, done.stalled) == (False, True)
    assert list(server.goals[0].command.position) == [pytest.approx(0.015)]


def test_grasp_and_move(rig):
    grasp, move = typed("franka_msgs/action/Grasp"), typed("franka_msgs/action/Move")
    grasping = rig.do(FakeGripper, rig.theirs, grasp, "/hand/grasp")
    moving = rig.do(FakeGripper, rig.theirs, move, "/hand/move")
    hand = rig.make(Role.GRIPPER, "grasp_and_move", grasp="/hand/grasp", move="/hand/move")
    moving.how, moving.result = "abort", {"success": False, "error": "Command aborted"}
    assert until(hand.move(0.08, 20.0).done).message == "Command aborted"
    grasping.result = {"success": True}
    assert until(hand.move(0.0, 20.0).done).stalled
    assert grasping.goals[0].epsilon.outer == pytest.approx(0.08)


def test_a_pump_and_its_switch_on_inputs_and_outputs(rig):
    set_io, states = typed("ur_msgs/srv/SetIO"), typed("ur_msgs/msg/IOStates")
    digital, asked = typed("ur_msgs/msg/Digital"), []

    def serve(request, response):
        asked.append((request.fun, request.pin, request.state))
        response.success = True
        return response

    rig.do(rig.theirs.create_service, set_io, "/io/set_io", serve)
    pump = rig.make(Role.PUMP, "set_io", service="/io/set_io", pin=16)
    until(lambda: pump._client.service_is_ready())
    assert until(pump.switch(True).done).ok
    assert asked == [(1, 16, 1.0)]
    rig.make(Role.VACUUM, "digital_input", topic="/io/io_states", pin=3)
    publish = rig.publisher(states, "/io/io_states", QOS_SENSOR)
    until(lambda: publish(digital_in_states=[digital(pin=3, state=True)]) or rig.heard)
    assert rig.heard[0] is True


def test_safety_modes(rig):
    safety, mode = (
        typed("ur_dashboard_msgs/msg/SafetyMode"),
        typed("ur_dashboard_msgs/msg/RobotMode"),
    )
    state = rig.make(Role.STATE, "safety_mode")
    place = "/io_and_status_controller"
    publish = rig.publisher(safety, f"{place}/safety_mode", QOS_LATCHED)
    rig.publisher(mode, f"{place}/robot_mode", QOS_LATCHED)(mode=mode.RUNNING)
    rig.publisher(Bool, f"{place}/robot_program_running", QOS_LATCHED)(data=True)
    publish(mode=safety.NORMAL)
    until(state.heard)
    assert state.trouble() is None
    publish(mode=safety.PROTECTIVE_STOP)
    assert "PROTECTIVE_STOP" in until(state.trouble)
    publish(mode=safety.SAFEGUARD_STOP)
    until(lambda: state.pace() == 0.0)
    assert state.trouble() is None
    publish(mode=safety.NORMAL)
    slower = rig.publisher(Float64, "/speed_scaling_state_broadcaster/speed_scaling", QOS_SENSOR)
    until(lambda: slower(data=40.0) or state.pace() == pytest.approx(0.4))


def test_robot_modes(rig):
    kind = typed("franka_msgs/msg/FrankaRobotState")
    state = rig.make(Role.STATE, "robot_mode")
    publish = rig.publisher(kind, "/franka_robot_state_broadcaster/robot_state", QOS_SENSOR)
    until(lambda: publish(robot_mode=kind.ROBOT_MODE_IDLE) or state.heard())
    assert state.trouble() is None
    reflex = kind(robot_mode=kind.ROBOT_MODE_REFLEX)
    reflex.current_errors.joint_reflex = True
    fields = {"robot_mode": reflex.robot_mode, "current_errors": reflex.current_errors}
    until(lambda: publish(**fields) or state.trouble())
    assert "(joint_reflex)" in state.trouble()


def test_controllers_that_are_not_active(rig):
    kind = typed("controller_manager_msgs/msg/ControllerManagerActivity")
    each = typed("controller_manager_msgs/msg/NamedLifecycleState")
    state = rig.make(Role.STATE, "controller_activity", controllers=["arm_controller"])
    publish = rig.publisher(kind, "/controller_manager/activity", QOS_LATCHED)
    publish(controllers=[each(name="arm_controller", state=State(label="inactive"))])
    until(state.heard)
    assert "'arm_controller' is inactive" in state.trouble()
    publish(controllers=[each(name="arm_controller", state=State(label="active"))])
    until(lambda: state.trouble() is None)


def test_nav2(rig):
    kind = typed("nav2_msgs/action/NavigateToPose")
    server = rig.do(FakeGripper, rig.theirs, kind, "/navigate_to_pose")
    nav2 = rig.make(Role.NAVIGATION, "nav2")
    until(lambda: nav2.serves(MoveBase.Goal.POSE))
    context = rig.do(GoalContext, rig.ours, MoveBase.Goal())
    context.publish_feedback = lambda message: None
    nav2.run(context, lambda: None)
    server.how, server.result = "abort", {"error_code": 208}
    with pytest.raises(SkillFailure, match="error 208 NO_VALID_PATH"):
        nav2.run(context, lambda: None)
