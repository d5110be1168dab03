# SPDX-License-Identifier: Apache-2.0
"""The robot's joints, put together from messages that each may tell of a part of them.

A hand's driver tells of its fingers and the arm's of the arm, on one topic and each at its pace.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from behavior_motion import RobotModel
from behavior_ros.messages.joint_state_wire import WireJointState
from behavior_ros.node.silence import Moment
from behavior_skills.interfaces import JointState

ARM, FINGERS = "arm", "fingers"
Places = NDArray[np.intp] | slice
Layout = tuple[Places, Places, list[str]]
"""Of a message: where the robot's joints stand in it and here, and the parts that it tells of."""
MOST_LAYOUTS = 20
"""Senders of joint states, each with the same names always."""


class Untaken:
    """The newest message of each sender, until somebody wants to know. All threads may use it.

    Fifty messages or more come each second, and of a robot that rests nobody looks at them.

    Args:
        take: takes in a message, and when it came; called by one thread at a time, in the order in
            which they came
    """

    def __init__(self, take: Callable[[WireJointState, Moment], None]) -> None:
        self._take = take
        self._waiting: dict[tuple[str, ...], tuple[WireJointState, Moment]] = {}
        """By the names of the joints, which tell who sent it."""
        self._lock = threading.RLock()

    def hear(self, message: WireJointState, when: Moment) -> None:
        """A message came."""
        with self._lock:
            if not message.whole or len(self._waiting) >= MOST_LAYOUTS:
                self.take()  # what is left out must not hide the one before
            self._waiting.pop(message.name, None)
            self._waiting[message.name] = message, when

    def take(self) -> None:
        """Take in all that has come; whoever returns from here finds it taken in."""
        if self._waiting:
            with self._lock:
                for message, when in self._waiting.values():
                    self._take(message, when)
                self._waiting.clear()


class JointStates:
    """What was told last of each joint."""

    def __init__(self, robot: RobotModel) -> None:
        self._gripper = robot.gripper
        self.parts: dict[str, tuple[str, ...]] = {
            part: tuple(names)
            for part, names in ((ARM, robot.joint_names), (FINGERS, robot.gripper.joint_names))
            if names
        }
        """Joints of the arm, and those of the fingers where there are any."""
        names = [name for joints in self.parts.values() for name in joints]
        self._slots = {name: i for i, name in enumerate(names)}
        self._count = len(robot.joint_names)
        values = np.full((3, len(names)), math.nan)
        values[1] = 0.0
        self._told = values, 0.0
        """Position, velocity and effort, and when the fingers were measured [s]. Replaced as a
        whole: other threads read it meanwhile."""
        self._complete = not names
        self._layouts: dict[tuple[str, ...], Layout] = {}

    @property
    def heard(self) -> bool:
        """Whether any joint was told of."""
        return bool(np.isfinite(self._told[0][0]).any())

    def missing(self) -> list[str]:
        """Joints that nobody has told of."""
        position = self._told[0][0]
        return [name for name, slot in self._slots.items() if math.isnan(position[slot])]

    @property
    def complete(self) -> bool:
        """Whether each joint was told of."""
        self._complete = self._complete or bool(np.isfinite(self._told[0][0]).all())
        return self._complete

    def take(self, message: WireJointState, now: float = 0.0) -> list[str]:
        """Take in a message; returns the parts that it tells of. One that is not finite is left.

        Args:
            message: from a driver.
            now: when it came [s], which counts for a message without a stamp.
        """
        layout = self._layouts.get(message.name)
        if layout is None:
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[message.name] = self._read(message.name)
        there, here, parts = layout
        if not parts or len(message.position) < len(message.name):
            return []
        position, velocity, effort = message.position[there], message.velocity, message.effort
        if not np.isfinite(position).all():
            return []
        told, measured = self._told
        values = told.copy()
        values[0, here] = position
        complete = len(velocity) == len(message.position)
        speed = velocity[there] if complete else 0.0
        # Drivers put NaN where they measure no speed.
        values[1, here] = speed if np.isfinite(speed).all() else np.nan_to_num(speed)
        complete = len(effort) == len(message.position)
        values[2, here] = effort[there] if complete else math.nan
        if FINGERS in parts:
            measured = 1e-9 * message.stamp if message.stamp else now
        self._told = values, measured
        return parts

    def state(self) -> JointState | None:
        """All of it; None: a joint is missing. Any thread may ask, while another takes in more."""
        if not self.complete:
            return None
        n, ((position, velocity, effort), measured) = self._count, self._told
        return JointState(
            position[:n].copy(),
            velocity[:n].copy(),
            self._gripper.width(position[n:]),
            measured,
            effort[:n].copy() if np.isfinite(effort[:n]).all() else None,
        )

    def _read(self, names: tuple[str, ...]) -> Layout:
        known = [(i, self._slots[name]) for i, name in enumerate(names) if name in self._slots]
        there, here = _places([i for i, _ in known]), _places([slot for _, slot in known])
        parts = [part for part, joints in self.parts.items() if not set(joints).isdisjoint(names)]
        return there, here, parts


def _places(indices: list[int]) -> Places:
    """Where to read or write: a slice where they follow each other, which is faster."""
    if indices and indices == list(range(indices[0], indices[-1] + 1)):
        return slice(indices[0], indices[-1] + 1)
    return np.array(indices, dtype=np.intp)


class OtherJoints:
    """Where the joints of a robot's other groups are, as far as was heard."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self.positions: dict[str, float] = {}
        """[rad or m] by joint."""

    def take(self, message: WireJointState) -> None:
        """Take in a message; what is not finite is left."""
        if self._names.isdisjoint(message.name) or len(message.position) < len(message.name):
            return
        heard = zip(message.name, message.position.tolist(), strict=False)
        # Replaced as a whole: workers read it meanwhile.
        self.positions = self.positions | {
            name: position
            for name, position in heard
            if name in self._names and math.isfinite(position)
        }
