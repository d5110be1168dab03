# SPDX-License-Identifier: Apache-2.0
"""A world with its controllers, detector and recorder, advanced together. No ROS."""

import numpy as np

from behavior_sim.config import WorldConfig
from behavior_sim.detection import Detector, DetectorConfig
from behavior_sim.gripper_controller import GripperController
from behavior_sim.joint_trajectory_controller import JointTrajectoryController
from behavior_sim.recording import MotionRecorder
from behavior_sim.visibility import Visibility
from behavior_sim.world import World

CONTROL_STEPS = 2
"""Physics steps between setpoints while something moves (250 Hz)."""


class Simulation:
    """Everything that is simulated.

    Args:
        config: the world.
        seed: of the start state and the noise.
        detector: how good the detector is.
    """

    def __init__(
        self, config: WorldConfig, *, seed: int = 0, detector: DetectorConfig | None = None
    ) -> None:
        self.config = config
        self.world = World(config, seed)
        model = self.world.model
        limits = np.array([model.joint(j).range for j in config.robot.arm.joints])
        self.arm = JointTrajectoryController(
            config.robot.arm,
            limits[:, 0],
            limits[:, 1],
            period=CONTROL_STEPS * config.timestep,
        )
        self.gripper = GripperController(config.robot.gripper)
        classes = {name: thing.class_id for name, thing in self.world.things.items()}
        self.detector = Detector(
            config.camera_field, detector or DetectorConfig(), seed, classes=classes
        )
        self._visibility = Visibility(self.world)
        self.recorder: MotionRecorder | None = None
        """Set one to record."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.world.time

    def reset(self, seed: int, layout: str = "") -> None:
        """Start state of `seed`; running goals end, time goes on, the recording starts anew.

        Raises:
            UnknownLayout: there is no such layout; nothing is changed.
        """
        self.world.reset(seed, layout)
        self.arm.reset(self.world.arm_positions)
        self.gripper.reset(self.world.gap)
        self.detector.reset(seed)
        if self.recorder is not None:
            self.recorder.clear()

    def take_picture(self) -> None:
        """Have the detector look at the world as it is now."""
        looks = self.detector.config.minimum_visible > 0.0
        visible = self._visibility.parts() if looks else None
        self.detector.capture(self.time, self.world.thing_poses(), visible)

    def advance(self, steps: int) -> None:
        """Advance by `steps` physics steps, with new setpoints every `CONTROL_STEPS`."""
        world, arm, gripper = self.world, self.arm, self.gripper
        while steps > 0:
            busy = False
            t = world.time
            if arm.moving:
                busy = True
                world.command_arm(*arm.step(t, world.arm_positions, world.arm_velocities))
            if gripper.moving:
                busy = True
                world.command_gripper(*gripper.step(t, world.gap, world.gap_velocity))
            count = min(CONTROL_STEPS, steps) if busy else steps
            world.step(count)
            steps -= count
        if self.recorder is not None:
            self.recorder.record(world.time, world.data.qpos)
