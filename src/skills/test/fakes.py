# SPDX-License-Identifier: Apache-2.0
"""A kinematic world for the skills: an arm that follows exactly, fingers that stop on objects."""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import SkillContext, Workspace
from behavior_skills.arm.pick import PickRequest, PickSkill
from behavior_skills.arm.planning import Speeds
from behavior_skills.interfaces import (
    Done,
    FailureCode,
    JointState,
    ObjectView,
    SkillFailure,
)
from behavior_tree.cause import Cancelled

ROBOT_FILE = Path(__file__).parents[3] / "config" / "robots" / "panda.yaml"
EDGE = 0.0515
NEAR = Workspace(0.25, 0.84)
STEP = 0.02
FINGER_SPEED = 0.2


class FakeCommand:
    def __init__(self, world):
        self.world = world
        self.outcome = None
        self.cancelled = False

    def done(self):
        if self.world.controllers_lost:
            raise SkillFailure(FailureCode.SERVER_LOST, "The controller is gone.")
        return self.outcome

    def cancel(self):
        self.cancelled = True
        if self.outcome is None:
            self.outcome = Done(False, "cancelled")


class FakeWorld:
    """Implements GoalContext, Arm, Gripper and SceneView at once."""

    def __init__(self, robot):
        self.robot = robot
        self.time = 0.0
        self.q = np.array(robot.named["home"])
        self.width = 0.08
        self.poses = {}
        self.sizes = {}
        self.attached = {}
        self.held = None
        self.tool_T_held = None
        self.seen_at = {}
        self.hidden = set()
        self.phases = []
        self.cancel_in = None
        self.shielded = False
        self.controllers_lost = self.scene_lost = False
        self.arm_stuck = self.arm_fails = self.gripper_stuck = self.gripper_fails = False
        self.speed = 1.0
        self.events = []
        self._revision = 0
        self._arm_command = self._gripper_command = None
        self._trajectory = None
        self._passed = 0.0
        self._goal_width = self.width

    # ---- scene set-up

    def add(self, name, x, y, z=EDGE / 2, size=(EDGE,) * 3, rotation=None):
        pose = np.eye(4)
        pose[:3, 3] = (x, y, z)
        if rotation is not None:
            pose[:3, :3] = rotation.as_matrix()
        self.poses[name], self.sizes[name], self.seen_at[name] = pose, size, self.time

    def when(self, phase, action):
        """Call `action` once, at the first tick in `phase`."""
        self.events.append([phase, action])

    # ---- GoalContext

    def now(self):
        return self.time

    def tick(self):
        self.time += STEP
        self._move_arm()
        self._move_fingers()
        self._see()
        phase = self.phases[-1] if self.phases else ""
        for event in list(self.events):
            if event[0] == phase:
                self.events.remove(event)
                event[1]()
        self.check_cancelled()

    def check_cancelled(self):
        phase = self.phases[-1] if self.phases else ""
        if self.cancel_in == phase and not self.shielded:
            raise Cancelled

    def feedback(self, phase, progress, **more):
        assert 0.0 <= progress <= 1.0
        if not self.phases or self.phases[-1] != phase:
            self.phases.append(phase)

    def shield(self, on):
        self.shielded = on

    # ---- Arm, Gripper

    def state(self):
        if self.controllers_lost:
            raise SkillFailure(FailureCode.SERVER_LOST, "No joint states.")
        return JointState(self.q.copy(), np.zeros(7), self.width, self.time)

    def pace(self):
        return self.speed

    def execute(self, trajectory):
        assert np.abs(trajectory.positions[0] - self.q).max() < 0.02, "starts elsewhere"
        self._trajectory, self._passed = trajectory, 0.0
        self._arm_command = FakeCommand(self)
        if self.arm_fails:
            self._arm_command.outcome = Done(False, "path tolerance violated")
        return self._arm_command

    def move(self, width, effort):
        self._goal_width = width
        self._gripper_command = FakeCommand(self)
        if self.gripper_fails:
            self._gripper_command.outcome = Done(False, "drive fault")
        return self._gripper_command

    @property
    def arm_moves(self):
        return self._arm_command is not None and self._arm_command.outcome is None

    def _move_arm(self):
        if not self.arm_moves or self.arm_stuck:
            return
        self._passed += STEP * self.speed
        elapsed = self._passed
        self.q = self._trajectory.sample(min(elapsed, self._trajectory.duration))[0]
        if elapsed >= self._trajectory.duration:
            self._arm_command.outcome = Done(True)
        if self.held:
            self.poses[self.held] = self.robot.forward_kinematics(self.q) @ self.tool_T_held

    def _move_fingers(self):
        command = self._gripper_command
        if self.gripper_stuck or self.gripper_fails or command is None or command.cancelled:
            return
        way = np.clip(self._goal_width - self.width, -FINGER_SPEED * STEP, FINGER_SPEED * STEP)
        self.width += float(way)
        between = self._between()
        if between and way < 0 and self.width <= self.sizes[between][0]:
            self.width, self.held = self.sizes[between][0], between
            tool = self.robot.forward_kinematics(self.q)
            self.tool_T_held = np.linalg.inv(tool) @ self.poses[between]
            command.outcome = Done(True, stalled=True)
        elif abs(self._goal_width - self.width) < 1e-9:
            command.outcome = Done(True)
        if self.held and self.width > self.sizes[self.held][0] + 1e-4:
            self.held = None

    def _between(self):
        tool = self.robot.forward_kinematics(self.q)
        for name, pose in self.poses.items():
            at = np.linalg.inv(tool) @ pose
            if np.all(np.abs(at[:3, 3]) < (0.015, 0.014, 0.015)):
                return name
        return None

    # ---- SceneView

    def _see(self):
        if int(self.time / 0.1) != int((self.time - STEP) / 0.1):
            self._revision += 1
            for name in self.poses:
                if name not in self.hidden:
                    self.seen_at[name] = self.time

    def objects(self):
        if self.scene_lost:
            raise SkillFailure(FailureCode.SERVER_LOST, "The scene is silent.")
        views = {}
        for name, pose in self.poses.items():
            unseen = self.time - self.seen_at[name]
            state = ObjectState.LOST if unseen > 5.0 else ObjectState.TRACKED
            link = self.attached.get(name, "")
            if link:
                state = ObjectState.ATTACHED
            views[name] = ObjectView(
                name, state, pose.copy(), "box", self.sizes[name], self.seen_at[name], link
            )
        return views

    def revision(self):
        return self._revision

    def attach(self, name, link):
        self.attached[name] = link

    def detach(self, name):
        self.attached.pop(name, None)

    # ---- disturbances

    def move_object(self, name, x, y, z=EDGE / 2):
        self.poses[name][:3, 3] = (x, y, z)

    def steal(self, name):
        """Take an object out of the fingers and away."""
        self.held = None
        self.poses[name][:3, 3] = (0.6, 0.6, EDGE / 2)
        self.width = self._goal_width = 0.0


def replaced(parameters, **changes):
    return dataclasses.replace(parameters, **changes)


def context_of(rig, **changes):
    """What a skill works with in the world of a test."""
    world, planning, hand = rig
    given = {
        "goal_context": world,
        "arm": world,
        "gripper": world,
        "scene": world,
        "world": planning,
        "hand": hand,
        "speeds": Speeds(0.8, 0.5, approach=0.25),
        "workspace": NEAR,
    }
    return SkillContext(**given | changes)


def refused(failure, act, rig=None):
    """The sentence with which something fails so; the arm of the rig has not moved."""
    with pytest.raises(SkillFailure) as caught:
        act()
    assert caught.value.failure is failure
    assert rig is None or not rig[0].arm_moves
    assert str(caught.value).endswith(".")
    return str(caught.value)


def down(x=0.0, y=0.0, z=0.0):
    """A tool pose that points straight down."""
    pose = np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] = x, y, z
    return pose


_PICKED = {}
_OF_THE_PICK = ("robot", "events", "phases", "_arm_command", "_gripper_command", "_trajectory")


def pick_up(rig, name):
    """Leave the rig as picking leaves it. It is done once for each scene: it takes its time."""
    world, _, hand = rig
    scene = (name, *((each, pose.tobytes()) for each, pose in world.poses.items()))
    if scene not in _PICKED:
        PickSkill(context_of(rig), PickRequest(name)).run()
        kept = {key: value for key, value in vars(world).items() if key not in _OF_THE_PICK}
        _PICKED[scene] = copy.deepcopy((kept, hand.held))
        world.phases.clear()
        world._arm_command = world._gripper_command = world._trajectory = None
    kept, hand.held = copy.deepcopy(_PICKED[scene])
    vars(world).update(kept)
