# SPDX-License-Identifier: Apache-2.0
"""Reaching for targets that move, in a kinematic world with its own clock."""

import itertools
from functools import partial

import numpy as np
import pytest
from fakes import FakeWorld, context_of

from behavior_motion import JointLimits, MotionError
from behavior_motion.servo.controller import difference
from behavior_skills.arm.planning import PlanningWorld
from behavior_skills.arm.reach import PERIOD, ReachSkill, with_tool_speed
from behavior_skills.arm.reach_request import ReachRequest, ReachTarget
from behavior_skills.arm.streaming import instant_of
from behavior_skills.interfaces import (
    REPLACED,
    FailureCode,
    Hand,
    JointState,
    SkillFailure,
    StreamedMotion,
)
from behavior_tree.cause import Cancelled


def down(x, y, z):
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] = x, y, z
    return pose


class World(FakeWorld):
    """An arm that follows what it is sent, at every hundredth of a second."""

    lead = 0.03
    name = "/arm/joint_trajectory"

    def __init__(self, robot):
        super().__init__(robot)
        self.last = None
        self.follows = True
        self.sampled, self.times = [self.q.copy()], [0.0]
        self.target = down(0.45, -0.2, 0.3)
        self.told = []
        self.at = []
        self.cancel_at = None
        self.reason = "cancelled by the client"

    def send(self, motion, now):
        assert motion.times[0] <= now <= motion.times[-1]
        self.last = motion

    def check(self):
        pass

    def state(self):
        qd = np.zeros(7)
        if self.last is not None and self.follows:
            there = instant_of(self.last, self.time)
            qd = there.qd if np.abs(there.q - self.q).max() < 0.1 else qd
        return JointState(super().state().q, qd, self.width, self.time)

    def tick(self):
        began = self.time
        try:
            super().tick()
        finally:
            self._follow(began)

    def _follow(self, began):
        if self.last is not None and self.follows:
            for share in (0.5, 1.0):
                time = began + share * (self.time - began)
                q = instant_of(self.last, time).q
                if np.abs(q - self.q).max() < 0.1:  # as a controller refuses a jump
                    self.q = q
                    self.sampled.append(self.q.copy())
                    self.times.append(time)
        for event in list(self.at):
            if event[0] <= self.time:
                self.at.remove(event)
                event[1]()

    def check_cancelled(self):
        if self.cancel_at is not None and self.time >= self.cancel_at and not self.shielded:
            raise Cancelled(self.reason)

    def feedback(self, phase, progress, **more):
        super().feedback(phase, progress)
        self.told.append((phase, more))

    def tool(self):
        return self.robot.forward_kinematics(self.q)

    def keeps_limits(self, velocity=0.8, acceleration=0.5):
        """Whether velocity, acceleration and jerk are kept at every sample."""
        limits = JointLimits.of(self.robot, velocity, acceleration)
        q = np.array(self.sampled)
        assert np.all((q >= self.robot.lower) & (q <= self.robot.upper))
        for order, limit in (
            (1, limits.velocity),
            (2, limits.acceleration),
            (3, limits.jerk),
        ):
            rate = np.abs(np.diff(q, order, axis=0)) / PERIOD**order
            assert np.all(rate <= limit * 1.01 + 1e-6), order


def rig_of(planner):
    """World, planning world and hand."""
    planner.scene.clear()
    return World(planner.robot), PlanningWorld(planner, 0.0), Hand()


@pytest.fixture
def rig(planner):
    return rig_of(planner)


def skill_of(rig, **wanted):
    world = rig[0]
    request = ReachRequest(target=lambda: ReachTarget(world.target, np.eye(3)), **wanted)
    return ReachSkill(context_of(rig), request, world)


@pytest.mark.slow
def test_it_arrives_within_all_limits(rig):
    world = rig[0]
    skill = skill_of(rig)
    skill.run()
    assert skill.distance < 0.005
    assert skill.angle < 0.03
    assert skill.plans == 0
    assert world.phases == ["step"]
    world.keeps_limits()


@pytest.mark.slow
def test_a_target_that_moves_is_followed_within_50_ms_and_without_a_plan(planner):
    ways = []
    for moves in (False, True):
        world, *_ = rig = rig_of(planner)
        if moves:
            aside = down(0.55, -0.1, 0.3)  # by 0.14 m
            world.at.append((0.4, partial(setattr, world, "target", aside)))
        skill = skill_of(rig)
        skill.run()
        assert skill.plans == 0
        assert np.linalg.norm(difference(world.tool(), world.target)[0]) < 0.005
        world.keeps_limits()
        ways.append(np.array(world.sampled))
        times = world.times
    # The arm itself, not the messages, leaves the way that it would have gone.
    count = min(map(len, ways))
    apart = np.abs(ways[0][:count] - ways[1][:count]).max(axis=1) > 1e-4
    assert 0.4 < times[int(np.argmax(apart))] <= 0.4 + 0.05


@pytest.mark.slow
def test_a_goal_that_holds_follows_until_it_is_cancelled_and_rests_soon(rig):
    world = rig[0]
    world.at.append((2.0, lambda: setattr(world, "target", down(0.45, 0.2, 0.3))))
    speeds = []
    world.at.append((2.6, lambda: speeds.append(np.abs(world.state().qd).max())))
    world.cancel_at = 2.6
    with pytest.raises(Cancelled):
        skill_of(rig, hold=True).run()
    assert "hold" in world.phases
    assert speeds[0] > 0.5
    assert np.abs(world.state().qd).max() < 0.02
    assert world.time <= 2.6 + 0.2
    world.keeps_limits(acceleration=1.0)


@pytest.mark.slow
def test_a_newer_goal_goes_on_from_the_motion(rig):
    world = rig[0]
    world.cancel_at, world.reason = 0.4, REPLACED
    with pytest.raises(Cancelled):
        skill_of(rig).run()
    assert world.time < 0.45
    speed = np.abs(world.state().qd).max()
    assert speed > 0.1
    world.cancel_at, world.target = None, down(0.45, 0.2, 0.35)
    skill_of(rig).run()
    world.keeps_limits(acceleration=1.0)


def test_it_goes_on_when_the_clock_is_set_back(rig):
    world = rig[0]
    world.time = 1000.0
    world.at.append((1000.4, lambda: setattr(world, "time", 5.0)))
    skill = skill_of(rig)
    skill.run()
    assert skill.distance < 0.005
    assert 5.0 < world.time < 10.0


@pytest.mark.slow
def test_a_newer_goal_turns_the_arm_at_once(planner):
    ways = []
    for replaced in (False, True):
        world, *_ = rig = rig_of(planner)
        if replaced:
            world.cancel_at, world.reason = 0.4, REPLACED
            with pytest.raises(Cancelled):
                skill_of(rig).run()
            began = world.time
            world.cancel_at, world.target = None, down(0.55, -0.1, 0.3)
        skill_of(rig).run()
        world.keeps_limits(acceleration=1.0)
        ways.append(np.array(world.sampled))
        times = world.times
    count = min(map(len, ways))
    apart = np.abs(ways[0][:count] - ways[1][:count]).max(axis=1) > 1e-4
    # Where a target that moves waits for what has been told ahead, a new goal need not.
    assert began < times[int(np.argmax(apart))] <= began + 0.025


def beside_a_wall(rig):
    """The world, with the arm on one side of a wall and its target on the other."""
    world = rig[0]
    world.q = rig[1].planner.inverse_kinematics(down(0.5, 0.25, 0.2), seed=world.q).q
    world.sampled = [world.q.copy()]
    world.target = down(0.5, -0.25, 0.2)
    world.add("wall", 0.55, 0.0, 0.2, size=(0.5, 0.04, 0.4))
    return world


@pytest.mark.slow
def test_what_is_in_the_way_is_gone_about_by_a_planned_path(rig):
    world = beside_a_wall(rig)
    skill = skill_of(rig)
    skill.run()
    assert skill.plans >= 1
    assert {"step", "plan", "path"} <= set(world.phases)
    assert world.phases[-1] == "step"
    planner = rig[1].planner
    least = min(planner.distance(q).distance for q in world.sampled[::3])
    assert least > 0.0
    world.keeps_limits()
    places = np.array([world.robot.forward_kinematics(q)[:3, 3] for q in world.sampled])
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / PERIOD
    assert speeds.max() < 1.05 * skill.parameters.max_linear_velocity


def test_a_path_is_slowed_down_to_the_speed_of_the_tool(planner):
    robot, start, end = planner.robot, World(planner.robot).q, np.array(FAR_WAYS[0][1])
    planner.scene.clear()
    still = planner.plan_to_joints(start, start).trajectory
    assert with_tool_speed(still, robot, 0.2).duration == 0.0
    planned = planner.plan_to_joints(start, end).trajectory
    assert with_tool_speed(planned, robot, 100.0).duration == planned.duration
    slow = with_tool_speed(planned, robot, 0.2)
    joints = slow.sample_many(np.arange(0.0, slow.duration, 0.001))[0]
    places = [robot.forward_kinematics(q)[:3, 3] for q in joints]
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / 0.001
    assert 0.18 < speeds.max() < 0.21


FAR_WAYS = [
    ([-2.15, -0.66, -1.54, -0.15, 0.18, 3.32, 0.3], [-1.64, 1.32, 2.21, -2.7, 1.54, 2.13, -1.86]),
    (
        [-2.57, -1.04, -1.76, -0.69, 0.71, 3.55, -1.82],
        [1.66, 0.62, -0.23, -0.92, -1.91, 2.76, -1.34],
    ),
]
FAR_APPROACHES = [
    ([2.16, -0.63, -2.7, -1.09, -0.46, 1.48, -2.34], [-1.67, 0.91, 2.59, -2.93, 0.51, 1.02, 0.7]),
    ([2.09, -0.8, -1.21, -2.65, -1.27, 2.63, -0.73], [0.64, 0.59, 0.57, -1.84, -0.01, 3.23, -0.84]),
    ([1.3, 0.0, 1.11, -2.4, 0.62, 0.84, 0.22], [-1.9, 1.12, 0.85, -1.36, 1.38, 2.89, -2.64]),
    ([0.96, 0.69, 1.29, -2.79, -2.4, 3.4, -2.7], [-0.87, -0.27, 2.86, -1.48, 2.68, 1.92, 2.28]),
]
"""Joints at the start, and some with which the target is reached [rad]."""


@pytest.mark.slow
@pytest.mark.parametrize(("start", "end"), FAR_WAYS)
def test_an_arm_that_creeps_along_at_the_limit_of_a_joint_is_not_left_to_it(rig, start, end):
    world = rig[0]
    world.q, world.target = np.array(start), world.robot.forward_kinematics(np.array(end))
    skill = skill_of(rig)
    skill.run()
    assert skill.plans == 1
    assert world.time < 13.0


@pytest.mark.slow
@pytest.mark.parametrize(("start", "end"), FAR_APPROACHES)
def test_a_planned_path_ends_in_a_posture_from_which_the_approach_leads_in(rig, start, end):
    """The one next to that in which the arm got stuck is often none."""
    world = rig[0]
    world.q, world.target = np.array(start), world.robot.forward_kinematics(np.array(end))
    skill = skill_of(rig, approach=(0.0, 0.0, 0.15), approach_along_tool=True)
    skill.run()
    assert 1 <= skill.plans <= 3
    assert skill.distance < 0.005


def test_a_joint_that_was_bent_beyond_its_range_does_not_jump_back(rig):
    world = rig[0]
    world.q[0] = world.robot.upper[0] + 0.05
    world.sampled = [world.q.copy()]
    skill = skill_of(rig)
    skill.run()
    assert skill.distance < 0.005
    moved = np.abs(np.diff(np.array(world.sampled), axis=0)).max(axis=0)
    assert moved[0] <= world.robot.velocity_limits[0] * PERIOD


@pytest.mark.slow
def test_what_is_in_the_way_is_gone_about_by_a_skill_that_is_late_too(rig):
    """The clock goes on faster than the skill, as where a simulation runs as fast as it can."""
    world = beside_a_wall(rig)
    skip_now_and_then(world)
    skill = skill_of(rig)
    skill.run()
    assert skill.distance < 0.005
    assert world.time < 12.0


def skip_now_and_then(world):
    """Each fifth tick takes 0.1 s more than the motion is told ahead."""
    tick, count = world.tick, itertools.count(1)

    def late():
        for _ in range(7 if next(count) % 5 == 0 else 1):
            tick()

    world.tick = late


def shaking(world, noise, time=0.0):
    """The target jumps to and fro from now on, as what is detected does."""
    world.target = down(*np.array([0.5, -0.25, 0.2]) + noise.uniform(-0.005, 0.005, 3))
    world.at.append((time, partial(shaking, world, noise, time + 0.05)))


@pytest.mark.slow
@pytest.mark.parametrize("period", [100.0, 0.3])
def test_a_target_that_shakes_is_gone_to_by_a_planned_path_too(rig, period):
    """Followed, or told by goals one after the other of which none lasts long."""
    world = beside_a_wall(rig)
    shaking(world, np.random.default_rng(5))
    plans, arrived, world.reason = 0, False, REPLACED
    while not arrived:
        world.cancel_at = world.time + period
        skill = skill_of(rig, position_tolerance=0.015, max_linear_velocity=0.6)
        arrived = True
        try:
            skill.run()
        except Cancelled:
            arrived = False
        plans += skill.plans
        assert world.time < 4.0
    assert 1 <= plans <= 3
    world.keeps_limits()


@pytest.mark.slow
def test_obstacles_are_switched_while_it_moves(rig):
    world = beside_a_wall(rig)
    through = skill_of(rig, obstacles_off=("w*",))
    through.run()
    assert through.plans == 0
    world.target = down(0.5, 0.25, 0.2)
    blocked = skill_of(rig, obstacles_off=("w*",), obstacles_on=("wall",), local_only=True)
    with pytest.raises(SkillFailure) as caught:
        blocked.run()
    assert caught.value.failure is FailureCode.BLOCKED
    assert "wall" in str(caught.value)
    assert rig[1].planner.distance(world.q).distance > 0.005


@pytest.mark.slow
def test_what_is_lost_may_be_touched_and_switched_off_and_come_back(rig):
    """Held blocks are lost from sight now and then: that is no reason to refuse a goal."""
    world = rig[0]
    world.add("block", 0.7, 0.3, 0.03, size=(0.05, 0.05, 0.05))
    world.add("wall", 0.55, 0.0, 0.2, size=(0.5, 0.04, 0.4))
    world.q = rig[1].planner.inverse_kinematics(down(0.5, 0.25, 0.2), seed=world.q).q
    world.target = down(0.5, -0.25, 0.2)
    world.hidden |= {"block", "wall"}
    world.seen_at = dict.fromkeys(world.seen_at, -10.0)
    world.at.append((0.3, world.hidden.clear))
    skill = skill_of(rig, may_touch=("block",), obstacles_off=("wall",))
    skill.run()
    assert not world.at
    assert skill.plans == 0
    with pytest.raises(MotionError, match="no such name 'blok'; did you mean 'block'"):
        skill_of(rig, may_touch=("blok",)).run()


@pytest.mark.slow
def test_a_target_in_an_obstacle_or_out_of_reach_ends_with_its_code(rig):
    world = rig[0]
    world.add("crate", 0.5, 0.0, 0.1, size=(0.2, 0.2, 0.2))
    for target, failure in (
        (down(0.5, 0.0, 0.1), FailureCode.GOAL_IN_COLLISION),
        (down(1.2, 0.0, 0.3), FailureCode.UNREACHABLE),
    ):
        world.target = target
        with pytest.raises(SkillFailure) as caught:
            skill_of(rig).run()
        assert caught.value.failure is failure
        assert str(caught.value).endswith(".")
        assert np.abs(world.state().qd).max() < 0.02


@pytest.mark.slow
def test_a_goal_that_holds_says_why_it_cannot_get_there_and_goes_on(rig):
    world = rig[0]
    world.target = down(1.2, 0.0, 0.3)
    world.at.append((4.0, lambda: setattr(world, "target", down(0.5, 0.0, 0.4))))
    world.cancel_at = 8.0
    with pytest.raises(Cancelled):
        skill_of(rig, hold=True).run()
    assert any(more["detail"] for phase, more in world.told if phase == "step")
    assert np.linalg.norm(difference(world.tool(), world.target)[0]) < 0.005


@pytest.mark.slow
def test_lost_scene_and_silent_controller_end_with_codes(rig):
    world = rig[0]
    world.at.append((0.4, lambda: setattr(world, "scene_lost", True)))
    with pytest.raises(SkillFailure) as caught:
        skill_of(rig).run()
    assert caught.value.failure is FailureCode.SERVER_LOST
    assert np.abs(world.state().qd).max() < 0.02
    world.scene_lost, world.follows = False, False
    with pytest.raises(SkillFailure) as caught:
        skill_of(rig).run()
    assert caught.value.failure is FailureCode.EXECUTION_FAILED
    assert world.name in str(caught.value)


@pytest.mark.slow
def test_an_arm_that_lost_the_motion_is_gone_on_from_where_it_stands(rig):
    world = rig[0]
    world.at.append((0.3, lambda: setattr(world, "follows", False)))
    world.at.append((0.6, lambda: setattr(world, "follows", True)))
    skill = skill_of(rig)
    skill.run()
    assert skill.distance < 0.005
    assert world.time > 1.0


@pytest.mark.slow
def test_the_approach_comes_in_along_its_direction(rig):
    world = rig[0]
    world.target = down(0.5, 0.1, 0.1)
    skill_of(rig, approach=(0.0, 0.0, 0.1), approach_along_tool=True).run()
    points = np.array([world.robot.forward_kinematics(q)[:3, 3] for q in world.sampled])
    below = points[:, 2] < 0.15
    assert below.any()
    assert np.linalg.norm(points[below, :2] - [0.5, 0.1], axis=1).max() < 0.03


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"position_tolerance": -1.0}, "position_tolerance"),
        ({"min_distance": float("nan")}, "min_distance"),
        ({"velocity_scaling": 1.5}, "velocity_scaling"),
        ({"posture": (0.0,) * 6}, "posture has 6"),
        ({"approach": (2.0, 0.0, 0.0)}, "approach is 2 m"),
        ({"position_only": True, "approach_along_tool": True}, "approach_along_tool"),
        ({"may_touch": ("",)}, "may_touch"),
    ],
)
def test_what_cannot_be_is_refused(rig, wanted, text):
    with pytest.raises(SkillFailure, match=text) as caught:
        skill_of(rig, **wanted).run()
    assert caught.value.failure is FailureCode.INVALID_REQUEST


def test_how_an_earlier_goal_of_the_controller_ended_is_no_reason_to_give_up(rig, monkeypatch):
    world = rig[0]
    ended, send = ["refused"], world.send

    def check():
        if ended:
            raise SkillFailure(FailureCode.EXECUTION_FAILED, "The arm's controller refused.")

    def sent(motion, now):
        ended.clear()
        send(motion, now)

    monkeypatch.setattr(world, "check", check)
    monkeypatch.setattr(world, "send", sent)
    world.cancel_at = 0.2
    with pytest.raises(Cancelled):
        skill_of(rig).run()


def test_what_was_sent_before_the_clock_was_set_back_is_not_gone_on_from(rig, monkeypatch):
    world = rig[0]
    q, first, send = world.q.copy(), [], world.send
    world.last = StreamedMotion(
        np.array([1000.0, 1000.1]), np.array([q + 0.05, q + 0.06]), np.full((2, 7), 0.1)
    )
    world.follows = False

    def sent(motion, now):
        first.append(motion)
        send(motion, now)

    monkeypatch.setattr(world, "send", sent)
    world.cancel_at = 0.05
    with pytest.raises(Cancelled):
        skill_of(rig).run()
    np.testing.assert_allclose(first[0].positions[0], q, atol=1e-9)
