# SPDX-License-Identifier: Apache-2.0
"""/gripper on a robot with a suction cup, with a pump and a sensor that can fail."""

from dataclasses import replace

import numpy as np
import pytest
from fakes import EDGE, FakeCommand, context_of

from behavior_skills.arm.gripper import GripperMode, GripperRequest
from behavior_skills.arm.suction import SuctionSkill, at_the_lip
from behavior_skills.interfaces import Done, FailureCode, HeldObject, SkillFailure
from behavior_tree.cause import Cancelled

DELAY = 0.2
"""[s] from a running pump to a vacuum."""


class FakeCup:
    """A pump whose vacuum comes after a while where the lip is tight."""

    def __init__(self, world, *, tight=True):
        self.world, self.tight = world, tight
        self.on, self.since = False, 0.0
        self.silent = self.dead = self.stuck = False
        self.refuses = ""

    def switch(self, on):
        command = FakeCommand(self.world)
        if not self.dead:
            command.outcome = Done(not self.refuses, self.refuses)
        if not self.refuses and not self.dead:
            self.on, self.since = on, self.world.time
        return command

    def vacuum(self):
        if self.silent:
            raise SkillFailure(FailureCode.SERVER_LOST, "The vacuum's sensor is silent.")
        if self.stuck:
            return True
        return self.on and self.tight and self.world.time - self.since >= DELAY


@pytest.fixture
def cup(rig):
    world, _, _ = rig
    lip = world.robot.forward_kinematics(world.q)[:3, 3]
    # Its top at the lip, and another one beside it.
    world.add("part", *np.subtract(lip, [0, 0, EDGE / 2]))
    world.add("other", *np.subtract(lip, [0.1, 0, EDGE / 2]))
    return FakeCup(world)


def switch(rig, cup, mode, **request):
    return SuctionSkill(context_of(rig, cup=cup), GripperRequest(mode, **request), cup).run()


def failure_of(rig, cup, mode, **request):
    with pytest.raises(SkillFailure) as caught:
        switch(rig, cup, mode, **request)
    assert str(caught.value).endswith(".")
    return caught.value


def test_closing_takes_hold_and_opening_lets_go(rig, cup):
    world, _, hand = rig
    done = switch(rig, cup, GripperMode.CLOSE)
    assert done.holding
    assert world.attached == {"part": world.robot.gripper.link}
    assert hand.held.name == "part"
    np.testing.assert_allclose(hand.held.tool_T_object[:3, 3], [0, 0, EDGE / 2], atol=1e-9)
    done = switch(rig, cup, GripperMode.OPEN)
    assert not done.holding
    assert not cup.on
    assert not world.attached
    assert hand.held is None
    assert "let go when the pump was switched off" in hand.emptied


@pytest.mark.parametrize(("timeout", "least", "most"), [(0.0, 1.9, 2.2), (0.5, 0.4, 0.7)])
def test_without_a_vacuum_it_ends_in_time_with_the_pump_off(rig, cup, timeout, least, most):
    world, _, hand = rig
    cup.tight = False
    begun = world.time
    failure = failure_of(rig, cup, GripperMode.CLOSE, timeout=timeout)
    assert failure.failure is FailureCode.TIMED_OUT
    assert "No vacuum within" in str(failure)
    assert "flat onto a smooth face" in str(failure)
    assert least < world.time - begun < most
    assert not cup.on
    assert not world.attached
    assert hand.held is None


def test_what_the_scene_does_not_know_is_held_all_the_same(rig, cup):
    world, _, hand = rig
    world.poses.clear()
    assert switch(rig, cup, GripperMode.CLOSE).holding
    assert not world.attached
    assert hand.held is None


def test_a_silent_sensor_means_that_nobody_knows(rig, cup):
    cup.silent = True
    for mode in (GripperMode.CLOSE, GripperMode.OPEN):
        assert failure_of(rig, cup, mode).failure is FailureCode.SERVER_LOST
        assert not cup.on


def test_a_pump_that_does_not_answer_or_refuses_is_named(rig, cup):
    cup.refuses = "no air"
    failure = failure_of(rig, cup, GripperMode.CLOSE)
    assert failure.failure is FailureCode.EXECUTION_FAILED
    assert "no air" in str(failure)
    cup.refuses, cup.dead = "", True
    assert failure_of(rig, cup, GripperMode.CLOSE, timeout=0.3).failure is FailureCode.SERVER_LOST


def test_a_vacuum_that_stays_is_told(rig, cup):
    world, _, hand = rig
    world.attached["part"], hand.held = "gripper", HeldObject("part", np.eye(4), 0.0)
    cup.stuck = True
    failure = failure_of(rig, cup, GripperMode.OPEN, timeout=0.3)
    assert failure.failure is FailureCode.EXECUTION_FAILED
    assert world.attached, "it is still held"


def test_a_vacuum_lost_at_once_is_no_grasp(rig, cup):
    world, _, hand = rig
    attach = world.attach

    def attach_and_lose(name, link):
        attach(name, link)
        cup.tight = False

    world.attach = attach_and_lose
    failure = failure_of(rig, cup, GripperMode.CLOSE)
    assert failure.failure is FailureCode.EXECUTION_FAILED
    assert not world.attached
    assert hand.held is None


@pytest.mark.parametrize("mode", [GripperMode.WIDTH, GripperMode.GRIP, 9])
def test_a_cup_has_no_width(rig, cup, mode):
    failure = failure_of(rig, cup, mode)
    assert failure.failure is FailureCode.INVALID_REQUEST
    assert "OPEN=0 or CLOSE=1" in str(failure)


def test_cancelled_it_leaves_the_pump_off(rig, cup):
    world, _, _ = rig
    world.cancel_in = "pump"
    with pytest.raises(Cancelled):
        switch(rig, cup, GripperMode.CLOSE)
    assert not cup.on
    assert not world.attached


def test_cancelled_before_the_pump_has_answered_it_leaves_it_off(rig, cup, monkeypatch):
    world, _, _ = rig
    at_once = cup.switch

    def slow(on):
        command = at_once(on)
        if on:
            command.outcome = None
        return command

    monkeypatch.setattr(cup, "switch", slow)
    world.cancel_in = ""  # before any phase was told
    with pytest.raises(Cancelled):
        switch(rig, cup, GripperMode.CLOSE)
    assert not cup.on


def test_closing_again_and_cancelled_does_not_drop_what_is_held(rig, cup, monkeypatch):
    world, _, hand = rig
    switch(rig, cup, GripperMode.CLOSE)
    world.phases.clear()
    world.cancel_in = ""
    monkeypatch.setattr(cup, "switch", lambda on: FakeCommand(world))
    with pytest.raises(Cancelled):
        switch(rig, cup, GripperMode.CLOSE)
    assert cup.on
    assert hand.held.name == "part"
    assert world.attached == {"part": world.robot.gripper.link}


def test_what_stands_on_another_link_of_the_robot_stays_there(rig, cup):
    world, _, _ = rig
    switch(rig, cup, GripperMode.CLOSE)
    world.attached["other"] = world.robot.base_frame
    switch(rig, cup, GripperMode.OPEN)
    assert world.attached == {"other": world.robot.base_frame}


def test_the_thing_at_the_lip_is_the_one_whose_surface_is_there_or_that_it_is_in(rig, cup):
    world, _, _ = rig
    lip = world.robot.forward_kinematics(world.q)[:3, 3]
    assert at_the_lip(lip, world.objects().values()).name == "part"
    # An open box that the cup reaches into, on a floor that is near too.
    world.add("box", *np.add(lip, [0, 0, 0.05]), size=(0.2, 0.3, 0.13))
    world.add("floor", *np.subtract(lip, [0, 0, 0.5 + EDGE]), size=(2.0, 2.0, 1.0))
    assert at_the_lip(lip, world.objects().values()).name == "box"
    # A zone that somebody has drawn is none, and be its surface nearer.
    world.add("keep_out", *np.subtract(lip, [0, 0, 0.48]), size=(1.0, 1.0, 1.0))
    objects = world.objects()
    assert at_the_lip(lip, objects.values()).name == "keep_out"
    objects["keep_out"] = replace(objects["keep_out"], is_zone=True)
    assert at_the_lip(lip, objects.values()).name == "box"
    del world.poses["keep_out"]
    assert at_the_lip(np.add(lip, [0, 0, 0.6]), world.objects().values()) is None
    assert at_the_lip(lip, []) is None
