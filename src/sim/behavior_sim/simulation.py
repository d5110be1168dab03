# SPDX-License-Identifier: Apache-2.0
"""A world with its controllers, detector and recorder, advanced together. No ROS."""

from collections.abc import Callable
from functools import partial

import numpy as np

from behavior_sim.config import WorldConfig
from behavior_sim.detection import Detector, DetectorConfig
from behavior_sim.faults import Faults
from behavior_sim.gripper_controller import GripperController
from behavior_sim.joint_trajectory_controller import JointTrajectoryController
from behavior_sim.recording import MotionRecorder
from behavior_sim.spawner import Spawner
from behavior_sim.visibility import Visibility
from behavior_sim.world import World
from behavior_sim.world_state import WorldState, WorldStateError

CONTROL_STEPS = 2
"""Physics steps between setpoints while something moves (250 Hz)."""
DETECTOR, PUMP, VACUUM = "detector", "pump", "vacuum"
"""Names of faults: nothing is detected; the pump does nothing; the vacuum's sensor is silent. Belts
jam under the names of their fixtures."""


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
        fingers = config.robot.gripper
        self.gripper = GripperController(fingers) if fingers else None
        """Of fingers; a suction cup is switched by its pump, see `World.cup`."""
        self.spawner = Spawner(self.world, config.spawner, seed) if config.spawner else None
        """Brings objects, where the world has them come."""
        classes = {name: obj.class_id for name, obj in self.world.visible_objects.items()}
        self.detector = Detector(
            config.camera_field, detector or DetectorConfig(), seed, classes=classes
        )
        self._visibility = Visibility(self.world)
        self.recorder: MotionRecorder | None = None
        """Set one to record."""
        self.faults = Faults(self._switches())
        """What can be made to fail."""
        self._blind = False

    def _switches(self) -> dict[str, Callable[[bool], None]]:
        """How each fault is switched."""
        world = self.world
        switches: dict[str, Callable[[bool], None]] = {
            DETECTOR: lambda on: setattr(self, "_blind", on)
        }
        switches |= {belt: partial(world.jam, belt) for belt in world.belts}
        if world.cup is not None:
            switches[PUMP] = lambda on: setattr(world.cup, "broken", on)
            switches[VACUUM] = lambda on: setattr(world.cup, "silent", on)
        return switches

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.world.time

    @property
    def working(self) -> bool:
        """Whether arm or fingers follow a goal; else all that goes on may be that others think."""
        return self.arm.moving or (self.gripper is not None and self.gripper.moving)

    def reset(self, seed: int, layout: str = "") -> None:
        """Start state of `seed`; running goals end, time goes on, the recording starts anew.

        Raises:
            UnknownLayout: there is no such layout; nothing is changed.
        """
        self.world.reset(seed, layout)
        if self.spawner is not None:
            self.spawner.reset(seed)
        self._begin_anew(seed, self.world.gap)

    def restore(self, state: WorldState, seed: int) -> dict[str, float]:
        """Everything where a state has it; as with `reset` otherwise.

        Args:
            state: see `World.restore`.
            seed: of the noise.

        Returns:
            How far each object came to rest from where it was to be [m].

        Raises:
            UnknownObject, WorldStateError: it cannot be; nothing is changed.
        """
        if self.spawner is not None:
            raise WorldStateError(
                f"objects come into the world {self.config.name} by themselves; which come next"
                " is not known, so it cannot be put into a state"
            )
        if state.held and self.world.cup is not None:
            raise WorldStateError(
                f"a suction cup holds {state.held}; a world cannot be put into that state yet"
            )
        shifts = self.world.restore(state)
        self._begin_anew(seed, 0.0 if state.held else self.world.gap)
        return shifts

    def _begin_anew(self, seed: int, gap: float) -> None:
        """Controllers stand where the world is, the fingers' at a gap [m]; no fault is left."""
        self.faults.clear()
        self.arm.reset(self.world.arm_positions)
        if self.gripper is not None:
            self.gripper.reset(gap)
        self.detector.reset(seed)
        if self.recorder is not None:
            self.recorder.clear()

    def take_picture(self) -> None:
        """Have the detector look at the world as it is now, unless it has failed."""
        if self._blind:
            return
        looks = self.detector.config.minimum_visible > 0.0
        visible = self._visibility.parts() if looks else None
        self.detector.capture(self.time, self.world.visible_poses(), visible)

    def advance(self, steps: int) -> None:
        """Advance by `steps` physics steps, with new setpoints every `CONTROL_STEPS`."""
        world, arm, gripper = self.world, self.arm, self.gripper
        while steps > 0:
            t = world.time
            busy = world.cup is not None and world.cup.pump
            if arm.moving:
                busy = True
                world.command_arm(*arm.step(t, world.arm_positions, world.arm_velocities))
            if gripper is not None and gripper.moving:
                busy = True
                world.command_gripper(*gripper.step(t, world.gap, world.gap_velocity))
            if world.cup is not None:
                world.cup.step(t)
            if self.spawner is not None:
                self.spawner.step()
            count = min(CONTROL_STEPS, steps) if busy else steps
            world.step(count)
            steps -= count
        if self.recorder is not None:
            self.recorder.record(world.time, world.data.qpos)
