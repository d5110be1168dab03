# SPDX-License-Identifier: Apache-2.0
"""Joints of a world's model that are driven together, and fingers."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from behavior_sim.worlds.robot import SimulatedGripper

Array = NDArray[np.float64]


class Places(NamedTuple):
    """Where numbers of joints are in MuJoCo's arrays."""

    positions: NDArray[np.intp]
    """In `qpos`."""
    velocities: NDArray[np.intp]
    """In `qvel`."""
    drives: NDArray[np.intp]
    """In `actuator_force`, that of what drives each."""


class JointGroup:
    """Servos of some joints: torque = stiffness * (ctrl - q) - damping * qd.

    Args:
        model: MuJoCo's model.
        data: its state.
        joints: each with an actuator of its name.
        stiffness: of each servo.
        damping: of each servo.
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        joints: Sequence[str],
        *,
        stiffness: Sequence[float],
        damping: Sequence[float],
    ) -> None:
        # Views of MuJoCo's own arrays: to ask for one costs as much as to read it.
        self._qpos, self._qvel, self._ctrl = data.qpos, data.qvel, data.ctrl
        self.places = Places(
            *_of_joints(model, joints), _array(model.actuator(j).id for j in joints)
        )
        self._q, self._v, self._u = map(_in_a_row, self.places)
        # This share of the wanted velocity, added to ctrl, makes the servo damp the error of the
        # velocity instead.
        self._lead = np.array(damping) / np.array(stiffness)

    @property
    def positions(self) -> Array:
        """[rad or m]"""
        return self._qpos[self._q].copy()  # type: ignore[no-any-return]

    @property
    def velocities(self) -> Array:
        """[rad/s or m/s]"""
        return self._qvel[self._v].copy()  # type: ignore[no-any-return]

    def put(self, positions: Array) -> None:
        """Have them stand somewhere at once, and stay there."""
        self._qpos[self._q] = positions
        self.command(positions, np.zeros_like(positions))

    def command(self, positions: Array, velocities: Array) -> None:
        """Setpoints of the servos [rad or m, and per second]."""
        self._ctrl[self._u] = positions + self._lead * velocities


def _array(indices: Iterable[int]) -> NDArray[np.intp]:
    return np.array(list(indices), dtype=np.intp)


def _of_joints(model: Any, joints: Iterable[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    found = [model.joint(name) for name in joints]
    return _array(j.qposadr[0] for j in found), _array(j.dofadr[0] for j in found)


def _in_a_row(indices: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """What picks these entries of an array; a slice, which is faster, where they lie in a row."""
    first, count = int(indices[0]), len(indices)
    if indices.tolist() == list(range(first, first + count)):
        return slice(first, first + count)
    return indices


class Fingers:
    """Fingers that move together, with one drive on the gap between them."""

    def __init__(self, model: Any, data: Any, gripper: SimulatedGripper) -> None:
        self._model, self._data = model, data
        self.config = gripper
        self._q, self._v = _of_joints(model, gripper.joints)
        self._share = np.array(gripper.share)
        self._offset = float(self._share @ np.array(gripper.zero))
        self._u = int(model.actuator(gripper.name).id)
        self.places = Places(self._q, self._v, np.full_like(self._q, self._u))
        self.bodies = [int(model.body(finger).id) for finger in gripper.fingers]
        """What must all touch an object for it to be held."""

    @property
    def positions(self) -> Array:
        """Of the joints [m or rad]."""
        return self._data.qpos[self._q]  # type: ignore[no-any-return]

    @property
    def velocities(self) -> Array:
        """Of the joints [m/s or rad/s]."""
        return self._data.qvel[self._v]  # type: ignore[no-any-return]

    @property
    def gap(self) -> float:
        """Between the fingers [m]."""
        return float(self._share @ self.positions) - self._offset

    @property
    def gap_velocity(self) -> float:
        """Positive when opening [m/s]."""
        return float(self._share @ self.velocities)

    @property
    def force(self) -> float:
        """Of the drive, positive when opening [N]."""
        return float(self._data.actuator_force[self._u])

    def put(self, gap: float) -> None:
        """Have them stand at a gap [m] at once."""
        config = self.config
        self._data.qpos[self._q] = np.array(config.zero) + gap * np.array(config.scale)
        self.command(gap, config.force)

    def command(self, gap: float, force: float) -> None:
        """Setpoint of the drive [m] and the most it may exert [N]."""
        self._data.ctrl[self._u] = gap + self._offset
        self._model.actuator_forcerange[self._u] = (-force, force)
