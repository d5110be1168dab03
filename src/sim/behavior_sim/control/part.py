# SPDX-License-Identifier: Apache-2.0
"""One group of the robot's joints with its controllers: an arm and its fingers, a torso, a head."""

import math

import numpy as np

from behavior_sim.control.gripper_controller import GripperController
from behavior_sim.control.joint_trajectory_controller import JointTrajectoryController
from behavior_sim.worlds.robot import SimulatedGroup
from behavior_sim.worlds.world import World

CONTROL_STEPS = 2
"""Physics steps between setpoints while something moves (250 Hz)."""


class Part:
    """Controllers of a group, in a world.

    Args:
        world: it is in.
        config: the group.
    """

    def __init__(self, world: World, config: SimulatedGroup) -> None:
        self.config = config
        self.joints = world.groups[config.name]
        self.fingers = world.fingers.get(config.name)
        limits = np.array([world.model.joint(j).range for j in config.arm.joints])
        self.arm = JointTrajectoryController(
            config.arm,
            limits[:, 0],
            limits[:, 1],
            period=CONTROL_STEPS * world.timestep,
            where=lambda: self.joints.positions,
        )
        self.gripper = None if config.gripper is None else GripperController(config.gripper)
        self._slack = False

    @property
    def moving(self) -> bool:
        """Whether it follows something."""
        return self.arm.moving or (self.gripper is not None and self.gripper.moving)

    def remaining(self, t: float) -> float:
        """Time before which nothing that it follows ends [s]; infinite: it follows nothing."""
        ends = [self.arm.remaining(t)] if self.arm.moving else []
        if self.gripper is not None and self.gripper.moving:
            ends.append(self.gripper.remaining(t))
        return min(ends, default=math.inf)

    def step(self, t: float) -> bool:
        """New setpoints at `t` [s]; whether it moves."""
        busy = self.arm.moving
        if busy:
            self.joints.command(*self.arm.step(t, self.joints.positions, self.joints.velocities))
        gripper, fingers = self.gripper, self.fingers
        if gripper is not None and fingers is not None and gripper.moving:
            busy = True
            setpoint = gripper.step(t, fingers.gap, fingers.gap_velocity)
            if not self._slack:
                fingers.command(*setpoint)
        return busy

    def give_way(self, on: bool) -> None:
        """Have the fingers come open whatever they are told, or do again what they are told."""
        self._slack = on
        if self.gripper is not None and self.fingers is not None:
            config = self.fingers.config
            self.fingers.command(*((config.open, config.force) if on else self.gripper.setpoint))

    def reset(self, *, held: bool) -> None:
        """Stand where the world is; fingers that hold something go on squeezing it."""
        self.arm.reset(self.joints.positions)
        if self.gripper is not None and self.fingers is not None:
            self.gripper.reset(0.0 if held else self.fingers.gap)
