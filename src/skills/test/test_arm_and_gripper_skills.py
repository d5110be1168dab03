# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fakes import EDGE, FINGER_SPEED, STEP, context_of, down, pick_up

from behavior_motion import Box, ErrorCode, Plan, Trajectory
from behavior_skills.arm.execution import stillness
from behavior_skills.arm.grip import Grip
from behavior_skills.arm.gripper import GripperMode, GripperRequest, GripperSkill
from behavior_skills.arm.move_arm import ArmMode, MoveArmRequest, MoveArmSkill
from behavior_skills.interfaces import (
    Done,
    FailureCode,
    HeldObject,
    JointState,
    SkillFailure,
)
from behavior_tree.cause import Cancelled


def move(rig, mode, **request):
    skill = MoveArmSkill(context_of(rig), MoveArmRequest(mode, **request))
    skill.run()
    return skill


def grip(rig, mode, **request):
    return GripperSkill(context_of(rig), GripperRequest(mode, **request)).run()


def failure_of(action, *args, **kwargs):
    with pytest.raises(SkillFailure) as caught:
        action(*args, **kwargs)
    assert not args[0][0].arm_moves
    assert str(caught.value).endswith(".")
    return caught.value.failure


def recorded(rig, end, duration=2.0):
    world = rig[0]
    times = np.linspace(0, duration, 11)
    part = times / duration
    positions = world.q + (end - world.q) * (3 * part**2 - 2 * part**3)[:, None]
    velocities = (end - world.q) * ((6 * part - 6 * part**2) / duration)[:, None]
    return Trajectory(
        world.robot.joint_names, times, positions, velocities, np.zeros_like(positions)
    )


def test_joints_and_named(rig):
    world = rig[0]
    goal = world.robot.named["ready"]
    move(rig, ArmMode.JOINTS, joints=tuple(goal))
    np.testing.assert_allclose(world.q, goal, atol=1e-6)
    move(rig, ArmMode.NAMED, named_target="home")
    np.testing.assert_allclose(world.q, world.robot.named["home"], atol=1e-6)


@pytest.mark.slow
def test_a_motion_that_the_driver_slows_down_and_holds_up_has_its_time(rig, monkeypatch):
    world, tick = rig[0], rig[0].tick

    def slowly():
        world.speed = 0.0 if 1.0 < world.time < 60.0 else 0.1
        tick()

    monkeypatch.setattr(world, "tick", slowly)
    goal = world.robot.named["ready"]
    move(rig, ArmMode.JOINTS, joints=tuple(goal))
    np.testing.assert_allclose(world.q, goal, atol=1e-6)
    assert world.time > 60.0
    world.arm_stuck = True
    assert failure_of(move, rig, ArmMode.NAMED, named_target="home") is FailureCode.TIMED_OUT


@pytest.mark.parametrize("shoves", [1, 99])
def test_an_arm_that_was_moved_while_its_motion_was_planned_starts_where_it_is(
    rig, monkeypatch, shoves
):
    """A door's leaf leans on it; its controller takes no motion that starts elsewhere."""
    world, planner, left, started = rig[0], rig[1].planner, shoves, []
    plan, execute = planner.plan_to_joints, rig[0].execute

    def shoved(*args, **kwargs):
        nonlocal left
        made = plan(*args, **kwargs)
        if left:
            left -= 1
            world.q = world.q + 0.06
        return made

    def begin(trajectory):
        started.append(float(np.abs(trajectory.positions[0] - world.q).max()))
        world.q = trajectory.positions[0].copy()  # as a controller that takes it
        return execute(trajectory)

    monkeypatch.setattr(planner, "plan_to_joints", shoved)
    monkeypatch.setattr(world, "execute", begin)
    move(rig, ArmMode.NAMED, named_target="ready")
    assert shoves - left == min(shoves, 3), "it ends, however often the arm is moved"
    assert started[0] == pytest.approx(0.0 if shoves == 1 else 0.06, abs=1e-6)
    np.testing.assert_allclose(world.q, world.robot.named["ready"], atol=1e-6)


def test_pose_lines_and_waypoints(rig):
    world = rig[0]

    def at():
        return world.robot.forward_kinematics(world.q)[:3, 3]

    move(rig, ArmMode.POSE, base_T_tool=(down(0.5, 0.1, 0.4),))
    np.testing.assert_allclose(at(), (0.5, 0.1, 0.4), atol=1e-4)
    corners = (down(0.5, 0.1, 0.3), down(0.5, -0.1, 0.3))
    assert move(rig, ArmMode.CARTESIAN, base_T_tool=corners).fraction == 1.0
    np.testing.assert_allclose(at(), (0.5, -0.1, 0.3), atol=1e-4)
    move(rig, ArmMode.WAYPOINTS, base_T_tool=corners)
    np.testing.assert_allclose(at(), (0.5, -0.1, 0.3), atol=1e-4)


def test_recorded_trajectory_slowed_down_and_approached(rig):
    world = rig[0]
    way = recorded(rig, world.robot.named["ready"])
    begun = world.time
    move(rig, ArmMode.TRAJECTORY, trajectory=way, velocity_scaling=0.5)
    assert world.time - begun == pytest.approx(4.0, abs=0.2)
    move(rig, ArmMode.TRAJECTORY, trajectory=way)
    np.testing.assert_allclose(world.q, world.robot.named["ready"], atol=1e-6)


@pytest.mark.parametrize(
    ("mode", "request_"),
    [
        (9, {}),
        (ArmMode.JOINTS, {"joints": (0.0,)}),
        (ArmMode.JOINTS, {"joints": (math.nan,) * 7}),
        (ArmMode.NAMED, {"named_target": "nowhere"}),
        (ArmMode.POSE, {}),
        (ArmMode.TRAJECTORY, {}),
        (ArmMode.NAMED, {"named_target": "home", "velocity_scaling": -0.1}),
        (ArmMode.NAMED, {"named_target": "home", "acceleration_scaling": 1.1}),
        (ArmMode.JOINTS, {"joints": (9.0,) * 7}),
    ],
)
def test_invalid_requests(rig, mode, request_):
    assert failure_of(move, rig, mode, **request_) is FailureCode.INVALID_REQUEST


def test_unreachable_collision_and_lines_that_end(rig):
    far = (down(1.5, 0.0, 0.3),)
    assert failure_of(move, rig, ArmMode.POSE, base_T_tool=far) is FailureCode.UNREACHABLE
    assert failure_of(move, rig, ArmMode.CARTESIAN, base_T_tool=far) is FailureCode.UNREACHABLE
    rig[0].add("box", 0.5, 0.2, z=0.2, size=(0.2, 0.2, 0.4))
    inside = (down(0.5, 0.2, 0.2),)
    assert failure_of(move, rig, ArmMode.POSE, base_T_tool=inside) is FailureCode.GOAL_IN_COLLISION


def test_what_is_held_leaves_a_thing_that_is_believed_where_it_is(rig):
    """A thing that the arm hides may be taken for another one: the arm must not stay for that."""
    world = rig[0]
    world.add("red", 0.45, -0.3)
    pick_up(rig, "red")
    at = world.poses["red"][:3, 3]
    world.add("blue", at[0], at[1], z=at[2] - 0.045)
    world.add("wall", 0.45, 0.0, z=0.3, size=(0.3, 0.05, 0.3))
    inside = (down(0.45, 0.0, 0.3),)
    assert failure_of(move, rig, ArmMode.POSE, base_T_tool=inside) is FailureCode.GOAL_IN_COLLISION
    move(rig, ArmMode.POSE, base_T_tool=(down(0.5, -0.35, 0.4),))
    world.add("blue", 0.5, -0.35, z=0.2)  # under the hand, which has left it
    lower = (down(0.5, -0.35, 0.2),)
    assert failure_of(move, rig, ArmMode.POSE, base_T_tool=lower) is FailureCode.GOAL_IN_COLLISION


def test_recording_through_an_obstacle(rig):
    world = rig[0]
    way = recorded(rig, world.robot.named["ready"])
    world.add("box", 0.4, 0.0, z=0.5, size=(0.3, 0.3, 0.5))
    assert (
        failure_of(move, rig, ArmMode.TRAJECTORY, trajectory=way) is FailureCode.GOAL_IN_COLLISION
    )
    move(rig, ArmMode.TRAJECTORY, trajectory=way, avoid_collisions=False)


def test_controller_failure_and_cancel(rig):
    world = rig[0]
    world.arm_fails = True
    named = {"named_target": "ready"}
    assert failure_of(move, rig, ArmMode.NAMED, **named) is FailureCode.EXECUTION_FAILED
    world.arm_fails = False
    world.cancel_in = "move"
    with pytest.raises(Cancelled):
        move(rig, ArmMode.NAMED, **named)
    assert not world.arm_moves


def test_gripper_moves_and_reports(rig):
    world = rig[0]
    shut = grip(rig, GripperMode.CLOSE)
    assert shut.width == pytest.approx(0.0)
    assert not shut.holding
    assert grip(rig, GripperMode.WIDTH, width=0.03).width == pytest.approx(0.03)
    assert grip(rig, GripperMode.OPEN).width == pytest.approx(0.08)
    tool_at = world.robot.forward_kinematics(world.q)[:3, 3]
    world.add("blue", *tool_at)
    closed = grip(rig, GripperMode.CLOSE)
    assert closed.holding
    assert closed.width == pytest.approx(0.0515)


def test_opening_tells_the_scene(rig):
    world = rig[0]
    world.add("blue", *world.robot.forward_kinematics(world.q)[:3, 3])
    grip(rig, GripperMode.CLOSE)
    world.attach("blue", "gripper")
    grip(rig, GripperMode.OPEN)
    assert world.attached == {}


def test_opening_that_is_cancelled_tells_the_scene_too(rig, monkeypatch):
    world, _, hand = rig
    world.add("blue", 0.5, 0.0)
    pick_up(rig, "blue")
    detach = world.detach

    def asked(name):
        world.tick()  # the scene's answer takes its time
        detach(name)

    monkeypatch.setattr(world, "detach", asked)
    world.cancel_in = "move"
    with pytest.raises(Cancelled):
        grip(rig, GripperMode.OPEN)
    assert hand.held is None
    assert not world.attached


def test_what_the_scene_cannot_be_told_of_is_told_later(rig):
    world, _, hand = rig
    world.add("blue", 0.5, 0.0)
    pick_up(rig, "blue")
    world.when("move", lambda: setattr(world, "scene_lost", True))
    assert failure_of(grip, rig, GripperMode.OPEN) is FailureCode.SERVER_LOST
    assert hand.held is None
    world.scene_lost = False
    assert failure_of(lambda rig: Grip(context_of(rig)).held(), rig) is FailureCode.NOT_HELD
    assert not world.attached


def test_opening_leaves_what_stands_on_another_link(rig):
    world, _, _ = rig
    world.add("blue", 0.5, 0.0)
    world.add("box", -0.3, 0.0)
    pick_up(rig, "blue")
    world.attached["box"] = world.robot.base_frame
    assert Grip(context_of(rig)).held()[1].name == "blue"
    grip(rig, GripperMode.OPEN)
    assert world.attached == {"box": world.robot.base_frame}
    assert failure_of(lambda rig: Grip(context_of(rig)).held(), rig) is FailureCode.NOT_HELD


def test_fingers_that_stand_open_tell_the_scene_too(rig):
    world = rig[0]
    world.add("cube", 0.5, 0.0)
    world.attached["cube"] = "gripper"
    grip(rig, GripperMode.OPEN)
    assert world.attached == {}


def test_what_the_hand_took_is_let_go_of_before_the_scene_shows_it(rig, monkeypatch):
    world, _, hand = rig
    world.width = world._goal_width = 0.0515
    hand.held = HeldObject("cube", np.eye(4), 0.0515)
    told = []
    monkeypatch.setattr(world, "detach", told.append)
    grip(rig, GripperMode.WIDTH, width=0.063)
    assert told == ["cube"]
    assert hand.held is None
    assert "'cube' was let go when the gripper opened." in hand.text


@pytest.mark.parametrize(
    ("mode", "request_"),
    [
        (7, {}),
        (GripperMode.WIDTH, {"width": 0.2}),
        (GripperMode.WIDTH, {"width": math.nan}),
        (GripperMode.CLOSE, {"max_effort": -1.0}),
    ],
)
def test_invalid_gripper_requests(rig, mode, request_):
    assert failure_of(grip, rig, mode, **request_) is FailureCode.INVALID_REQUEST


def test_fingers_that_stand_at_the_target_are_not_waited_for(rig):
    world = rig[0]
    grip(rig, GripperMode.WIDTH, width=0.06)
    assert world.time <= 0.02 / FINGER_SPEED + 1.5 * STEP


def test_fingers_of_which_nothing_new_is_heard_do_not_rest(rig, monkeypatch):
    """Ticks end at any news; on a busy machine joint states come late, and all at once."""
    world = rig[0]
    still = stillness(world, 0.06)
    old = world.state()
    monkeypatch.setattr(world, "state", lambda: old)
    for _ in range(20):
        assert not still()
        world.time += 0.01
    monkeypatch.undo()
    assert still()


def test_fingers_of_which_is_heard_late_rest_by_the_time_of_the_measurements(rig, monkeypatch):
    """A simulation at many times real time goes on while a joint state is under way."""
    world, told = rig[0], []
    monkeypatch.setattr(world, "state", lambda: told[-1])
    still = stillness(world, 0.06)
    for i in range(8):
        world.time += 0.1  # between two joint states that were measured 10 ms apart
        told.append(JointState(world.q, np.zeros(7), 0.08 - 5e-5 * i, 0.01 * i))
        assert still() == (i >= 6)
    told.append(JointState(world.q, np.zeros(7), 0.08, 0.0))
    assert not still(), "the driver's clock was set back"


def test_gripper_troubles(rig):
    world = rig[0]
    world.gripper_fails = True
    assert failure_of(grip, rig, GripperMode.CLOSE) is FailureCode.EXECUTION_FAILED
    world.gripper_fails, world.gripper_stuck = False, True
    assert failure_of(grip, rig, GripperMode.CLOSE) is FailureCode.TIMED_OUT
    world.controllers_lost = True
    assert failure_of(grip, rig, GripperMode.CLOSE) is FailureCode.SERVER_LOST


def test_a_named_grip(rig):
    assert grip(rig, GripperMode.GRIP, grip="half").width == pytest.approx(0.04, abs=1e-3)
    assert failure_of(grip, rig, GripperMode.GRIP, grip="hook") is FailureCode.INVALID_REQUEST


def test_fingers_that_stand_near_already_are_not_moved(rig):
    rig[0].width = 0.041
    begun = rig[0].time
    assert grip(rig, GripperMode.WIDTH, width=0.04, satisfied_within=0.002).width == 0.041
    assert rig[0].time == begun


def test_a_gap_out_of_tolerance(rig):
    rig[0].gripper_stuck = True
    rig[0].width = 0.08
    world = rig[0]
    move = world.move

    def lies(width, effort):
        command = move(width, effort)
        command.outcome = Done(True)
        return command

    world.move = lies
    wrong = failure_of(grip, rig, GripperMode.WIDTH, width=0.02, tolerance=0.003)
    assert wrong is FailureCode.OUT_OF_TOLERANCE


def test_a_short_patience_with_the_fingers(rig):
    rig[0].gripper_stuck = True
    begun = rig[0].time
    late = failure_of(grip, rig, GripperMode.WIDTH, width=0.02, timeout=0.5)
    assert late is FailureCode.TIMED_OUT
    assert rig[0].time - begun < 3.0


@pytest.mark.parametrize("name", ["satisfied_within", "tolerance", "timeout", "max_effort"])
def test_numbers_of_the_gripper_that_make_no_sense(rig, name):
    wrong = failure_of(grip, rig, GripperMode.OPEN, **{name: math.nan})
    assert wrong is FailureCode.INVALID_REQUEST


def test_waypoints_are_passed_without_a_stop(rig):
    world = rig[0]
    speeds = []
    tick = world.tick

    def watched():
        before = world.q.copy()
        tick()
        speeds.append(float(np.abs(world.q - before).max()))

    world.tick = watched
    poses = (
        down(0.4, -0.2, 0.4),
        down(0.45, 0.0, 0.45),
        down(0.4, 0.2, 0.4),
    )
    move(rig, ArmMode.WAYPOINTS, base_T_tool=poses)
    moving = np.flatnonzero(np.array(speeds) > 1e-4)
    between = np.array(speeds)[moving[3] : moving[-3]]
    assert between.min() > 1e-3  # [rad] in 20 ms
    end = rig[1].planner.robot.forward_kinematics(world.q)
    assert np.allclose(end[:3, 3], poses[-1][:3, 3], atol=2e-3)


def test_an_arm_that_does_not_come_to_its_end(rig):
    world = rig[0]
    state = world.state

    def off():
        now = state()
        return JointState(now.q + 0.01, now.qd, now.width, now.measured)

    goal = world.q + 0.2
    world.state = off
    world.q = world.q - 0.01
    wrong = failure_of(move, rig, ArmMode.JOINTS, joints=tuple(goal), joint_tolerance=0.002)
    assert wrong is FailureCode.OUT_OF_TOLERANCE


def test_a_motion_that_may_not_take_so_long(rig):
    goal = tuple(rig[0].q + 0.5)
    late = failure_of(move, rig, ArmMode.JOINTS, joints=goal, velocity_scaling=0.02, timeout=0.4)
    assert late is FailureCode.TIMED_OUT


def test_a_recording_is_checked_with_the_fingers_as_they_hold(rig):
    """What they would touch wide open is not in their way."""
    world, planning, _ = rig
    world.add("blue", 0.45, -0.3, size=(0.02, 0.02, EDGE))
    pick_up(rig, "blue")
    beside = world.robot.forward_kinematics(world.q) @ np.array([0.0, 0.05, 0.0, 1.0])
    world.add("thin", *beside[:3], size=(0.002, 0.002, 0.002))
    planning.sync(world.objects(), rig[2].held)
    assert planning.planner.check_state(world.q, gripper_width=world.width).ok
    assert not planning.planner.check_state(world.q).ok
    end = world.q.copy()
    end[3] += 0.02
    move(rig, ArmMode.TRAJECTORY, trajectory=recorded(rig, end))
    np.testing.assert_allclose(world.q, end)


def test_a_planner_out_of_time(rig, monkeypatch):
    planner = rig[1].planner
    late = Plan(ErrorCode.TIMED_OUT, "no path within 2 s", np.empty((0, 7)))
    monkeypatch.setattr(planner, "plan_to_joints", lambda *_, **__: late)
    wrong = failure_of(move, rig, ArmMode.NAMED, named_target="ready")
    assert wrong is FailureCode.PLANNING_TIMED_OUT


def test_a_thing_of_another_shape_under_the_same_name_is_planned_around_as_it_is(rig):
    world, planning, _ = rig
    world.add("zone", 0.5, 0.3)
    planning.sync(world.objects(), None)
    before = planning.planner.scene.snapshot().structure
    world.sizes["zone"] = (EDGE + 4e-3, EDGE - 4e-3, EDGE)  # as measured anew
    planning.sync(world.objects(), None)
    assert planning.planner.scene.snapshot().structure == before
    world.sizes["zone"] = (0.3, 0.2, 0.1)
    planning.sync(world.objects(), None)
    assert planning.planner.scene.object_shape("zone") == Box((0.3, 0.2, 0.1))
