# SPDX-License-Identifier: Apache-2.0
"""A world with its controllers, detector and recorder, advanced together. No ROS."""

import math
from collections.abc import Callable
from functools import partial

from behavior_sim.cameras.visibility import Visibility
from behavior_sim.control.base_controller import BaseController
from behavior_sim.control.part import CONTROL_STEPS, Part
from behavior_sim.faults import Faults
from behavior_sim.recordings.recording import MotionRecorder
from behavior_sim.worlds.config import WorldConfig
from behavior_sim.worlds.detection import Detector, DetectorConfig
from behavior_sim.worlds.spawner import Spawner
from behavior_sim.worlds.variation import Factors, varied_detector
from behavior_sim.worlds.world import World
from behavior_sim.worlds.world_state import WorldState

DETECTOR, PUMP, VACUUM = "detector", "pump", "vacuum"
"""Names of faults: nothing is detected; the pump does nothing; the vacuum's sensor is silent. Belts
jam under the names of their fixtures."""
GRIP, LATCH = "grip", "latch"
"""Behind a group's or a door's name: fingers come open; a door's lever does not draw the bolt."""


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
        self.parts = {group.name: Part(self.world, group) for group in config.robot.groups}
        """Controllers of the robot's groups, by their names."""
        first = next(iter(self.parts.values()))
        self.arm, self.gripper = first.arm, first.gripper
        """Of the only group, or the first; a suction cup is switched by its pump, see
        `World.cup`."""
        base = config.robot.base
        self.base = BaseController(base) if base is not None else None
        """Of a robot that drives."""
        if self.base is not None and self.world.base is not None:
            self.base.reset(self.world.base.positions)
        self.spawner = Spawner(self.world, config.spawner, seed) if config.spawner else None
        """Brings objects, where the world has them come."""
        classes = {name: obj.class_id for name, obj in self.world.visible_objects.items()}
        self.detector = Detector(
            config.camera_field, detector or DetectorConfig(), seed, classes=classes
        )
        self._usual_detector = self.detector.config
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
        switches |= {f"{door}_{LATCH}": partial(world.unhook, door) for door in self.config.doors}
        parts = [part for part in self.parts.values() if part.fingers is not None]
        switches |= {f"{part.config.name}_{GRIP}".lstrip("_"): part.give_way for part in parts}
        if world.cup is not None:
            switches[PUMP] = lambda on: setattr(world.cup, "broken", on)
            switches[VACUUM] = lambda on: setattr(world.cup, "silent", on)
        return switches

    def vary(self, factors: Factors, detector: DetectorConfig | None = None) -> None:
        """Be a little different from the next `reset` on; no factors: as in the world's file.

        Args:
            factors: see :mod:`behavior_sim.worlds.variation`.
            detector: how good it is where no factor says otherwise; None: as at the start.

        Raises:
            WorldError: it cannot be; nothing is changed.
        """
        config = varied_detector(detector or self._usual_detector, factors)
        self.world.vary(factors)
        self.config = self.world.config
        self.detector.config = config
        self._visibility = Visibility(self.world)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.world.time

    @property
    def moving(self) -> bool:
        """Whether an arm, fingers or the base do."""
        drives = self.base is not None and self.base.moving
        return drives or any(part.moving for part in self.parts.values())

    @property
    def driven(self) -> bool:
        """Whether the base is told to drive."""
        return self.base is not None and self.base.driven

    def under_way(self) -> float:
        """How long [s] nothing will happen but that base, arms and fingers go on as they were told
        to; 0: something else may, or none of them moves.
        """
        remaining = min(part.remaining(self.time) for part in self.parts.values())
        cup = self.world.cup
        if cup is not None and cup.pump and not cup.held:
            return 0.0
        if self.base is not None and self.base.moving:
            return min(remaining, self.base.remaining(self.time))
        return 0.0 if math.isinf(remaining) else remaining

    def reset(self, seed: int, layout: str = "") -> None:
        """Start state of `seed`; running goals end, time goes on, the recording starts anew.

        Raises:
            UnknownLayout: there is no such layout; nothing is changed.
        """
        self.world.reset(seed, layout)
        if self.spawner is not None:
            self.spawner.reset(seed)
        self._begin_anew(seed)

    def restore(self, state: WorldState, seed: int) -> dict[str, float]:
        """Everything where a state has it; as with `reset` otherwise.

        Args:
            state: see `World.restore`.
            seed: of the noise, and of what comes by itself: the state's objects have come.

        Returns:
            How far each object came to rest from where it was to be [m].

        Raises:
            UnknownObject, StateError: it cannot be; nothing is changed.
        """
        shifts = self.world.restore(state)
        if self.spawner is not None:
            self.spawner.resume(seed, state.objects)
        self._begin_anew(seed, held=bool(state.held))
        return shifts

    def _begin_anew(self, seed: int, *, held: bool = False) -> None:
        """Controllers stand where the world is, fingers that hold something squeeze it; no fault
        is left.
        """
        self.faults.clear()
        for part in self.parts.values():
            part.reset(held=held)
        if self.base is not None and self.world.base is not None:
            self.base.reset(self.world.base.positions)
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

    def _drives(self) -> bool:
        """New setpoints of a base that drives, or that is pushed."""
        base, joints = self.base, self.world.base
        if base is None or joints is None or not (base.moving or base.yields(joints.positions)):
            return False
        joints.command(*base.step(self.world.time, joints.positions))
        return True

    def advance(self, steps: int) -> None:
        """Advance by `steps` physics steps, with new setpoints every `CONTROL_STEPS`."""
        world = self.world
        while steps > 0:
            t = world.time
            busy = world.cup is not None and world.cup.pump
            for part in self.parts.values():
                busy = part.step(t) or busy
            if self._drives():
                busy = True
            if world.cup is not None:
                world.cup.step(t)
            if self.spawner is not None:
                self.spawner.step()
            count = min(CONTROL_STEPS, steps) if busy else steps
            world.step(count)
            steps -= count
        if self.recorder is not None:
            self.recorder.record(world.time, world.data.qpos)
