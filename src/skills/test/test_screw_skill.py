# SPDX-License-Identifier: Apache-2.0
"""The screw skill in a kinematic world: what is commanded, what stops it, what it refuses."""

import math

import numpy as np
import pytest
from fakes import context_of
from scipy.spatial.transform import Rotation

from behavior_skills.arm.screw import ScrewRequest, ScrewSkill
from behavior_skills.interfaces import FailureCode, JointState, SkillFailure
from behavior_tree.cause import Cancelled


def axis(position, direction=(1.0, 0.0, 0.0)):
    """base_T_axis with its x axis along `direction`."""
    pose = np.eye(4)
    pose[:3, 3] = position
    pose[:3, :3] = Rotation.align_vectors([direction], [[1.0, 0.0, 0.0]])[0].as_matrix()
    return pose


def lever(**changes):
    """45 degrees about an axis beside the tool of the home pose."""
    given = {
        "base_T_axis": axis((0.3, -0.08, 0.59), (0.0, 0.0, 1.0)),
        "rotation": math.radians(45.0),
        "max_linear": 0.15,
        "max_angular": 0.8,
    }
    return ScrewRequest(**{**given, **changes})


def skill_of(rig, request):
    return ScrewSkill(context_of(rig), request)


def failure_of(skill):
    with pytest.raises(SkillFailure) as caught:
        skill.run()
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"translation": 0.08},
        {"rotation": 0.0, "translation": -0.12},
        {"rotation": -0.6, "base_T_axis": axis((0.5, 0.3, 0.4), (0.3, -0.2, 1.0))},
        {"rotation": 0.7, "base_T_axis": None},  # about the tool itself: radius 0
        {"max_linear": 0.5, "max_angular": 3.0, "rotation": -1.4},
    ],
)
def test_the_tool_follows_the_closed_form_within_its_speeds(rig, changes):
    world = rig[0]
    request = lever(**changes)
    if request.base_T_axis is None:
        tool = world.robot.forward_kinematics(world.q)
        request = lever(rotation=0.7, base_T_axis=axis(tool[:3, 3], (0.0, 0.0, 1.0)))
    skill = skill_of(rig, request)
    skill.run()
    motion, trajectory = skill.motion, skill.trajectory
    assert skill.fraction == 1.0
    assert world.phases == ["plan", "move"]
    stretch = trajectory.duration / motion.duration
    assert stretch >= 1.0
    robot = world.robot
    for time, q in zip(trajectory.times, trajectory.positions, strict=True):
        wanted = motion.pose(motion.share(time / stretch)[0])
        assert np.abs(robot.forward_kinematics(q)[:3, 3] - wanted[:3, 3]).max() < 1e-9
    times = np.linspace(0.0, trajectory.duration, 600)
    qs, qds, _ = trajectory.sample_many(times)
    twists = np.array([robot.jacobian(q) @ qd for q, qd in zip(qs, qds, strict=True)])
    assert np.linalg.norm(twists[:, :3], axis=1).max() <= motion.max_linear * (1 + 1e-5)
    assert np.linalg.norm(twists[:, 3:], axis=1).max() <= motion.max_angular * (1 + 1e-5)
    assert np.all(np.abs(qds).max(axis=0) <= robot.velocity_limits * 1.0001)
    between = [motion.pose(motion.share(t / stretch)[0])[:3, 3] for t in times]
    tools = np.array([robot.forward_kinematics(q)[:3, 3] for q in qs])
    assert np.abs(tools - between).max() < 1e-4
    assert np.abs(world.q - trajectory.positions[-1]).max() < 1e-9


@pytest.mark.slow
def test_a_preview_tells_and_moves_nothing(rig):
    world = rig[0]
    before = world.q.copy()
    skill = skill_of(rig, lever(preview=True))
    skill.run()
    assert (skill.fraction, world.phases) == (1.0, ["plan"])
    assert np.array_equal(world.q, before)
    far = skill_of(rig, lever(preview=True, rotation=0.0, translation=0.9))
    failure = failure_of(far)
    assert failure.failure is FailureCode.UNREACHABLE
    assert 0.1 < far.fraction < 0.95
    assert np.array_equal(world.q, before)


def test_what_is_in_the_way_is_told_before_anything_moves(rig):
    world = rig[0]
    tool = world.robot.forward_kinematics(world.q)
    x, y, z = tool[:3, 3] + [0.0, 0.15, 0.0]
    world.add("post", x, y, z, size=(0.04, 0.04, 0.4))
    sideways = {"base_T_axis": axis((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))}
    skill = skill_of(rig, lever(rotation=0.0, translation=0.15, **sideways))
    failure = failure_of(skill)
    assert failure.failure is FailureCode.PLANNING_FAILED
    assert "post" in str(failure)
    assert 0.0 < skill.fraction < 1.0
    assert world.phases == ["plan"]
    for names in (("post",), ("*",)):
        free = skill_of(rig, lever(rotation=0.0, translation=0.15, may_touch=names, **sideways))
        free.request = lever(
            rotation=0.0, translation=0.15, may_touch=names, preview=True, **sideways
        )
        free.run()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rotation": 0.0}, "both 0"),
        ({"max_linear": -0.1}, "max_linear is -0.1"),
        ({"rotation": 45.0}, "degrees?"),
        ({"timeout": math.inf}, "timeout"),
        ({"max_force": 10.0}, "no joint efforts"),
    ],
)
def test_wrong_requests_are_refused(rig, changes, words):
    failure = failure_of(skill_of(rig, lever(**changes)))
    assert failure.failure is FailureCode.INVALID_REQUEST
    assert words in str(failure)
    assert rig[0].phases == ["plan"]


def test_cancelling_stops_the_arm(rig):
    world = rig[0]
    world.cancel_in = "move"
    with pytest.raises(Cancelled):
        skill_of(rig, lever()).run()
    assert not world.arm_moves


def test_fingers_that_shut_stop_the_arm(rig):
    world = rig[0]
    world.width = world._goal_width = 0.03

    def slip():
        world._goal_width = 0.0
        world.move(0.0, 40.0)

    world.when("move", slip)
    skill = skill_of(rig, lever(keep_grip=True))
    failure = failure_of(skill)
    assert failure.failure is FailureCode.GRIP_LOST
    assert skill.fraction < 1.0
    assert not world.arm_moves


def test_an_arm_that_is_held_back_is_stopped(rig):
    world = rig[0]
    world.when("move", lambda: setattr(world, "arm_stuck", True))
    failure = failure_of(skill_of(rig, lever(max_tracking_error=0.03)))
    assert failure.failure is FailureCode.TRACKING_LOST
    assert not world.arm_moves


def test_force_at_the_tool_stops_the_arm(rig, monkeypatch):
    world = rig[0]
    plain = world.state

    def state():
        now = plain()
        pushing = 30.0 if world.phases[-1] == "move" else 0.0
        torques = world.robot.jacobian(now.q).T @ [0.0, pushing, 0.0, 0.0, 0.0, 0.0]
        return JointState(now.q, now.qd, now.width, now.measured, torques)

    monkeypatch.setattr(world, "state", state)
    skill_of(rig, lever(max_force=40.0)).run()
    failure = failure_of(skill_of(rig, lever(rotation=-0.5, max_force=20.0)))
    assert failure.failure is FailureCode.FORCE_EXCEEDED
    assert "30 N" in str(failure)


def test_an_end_beyond_the_tolerance_is_told(rig, monkeypatch):
    world = rig[0]
    execute = world.execute

    def short(trajectory):
        command = execute(trajectory)
        world._trajectory = trajectory.scaled(1.1)
        world._begun = world.time
        original = command.done
        monkeypatch.setattr(
            command,
            "done",
            lambda: original() or _ended(command, world, trajectory.duration),
        )
        return command

    monkeypatch.setattr(world, "execute", short)
    failure = failure_of(skill_of(rig, lever(position_tolerance=1e-4, timeout=0.5)))
    assert failure.failure is FailureCode.OUT_OF_TOLERANCE


def _ended(command, world, duration):
    """A controller that says that it is done before the arm is there."""
    if world.time - world._begun < duration:
        return None
    command.cancel()
    command.outcome = type(command.outcome)(True)
    return command.outcome
