# SPDX-License-Identifier: Apache-2.0
"""A motion that somebody shows with the arm, from joint states, live or recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from behavior_motion import GripperConfig

PERIOD = 0.05
"""[s] between the states that are kept: speeds from ones that follow faster are mostly noise."""
STEP_BACK = 1.0
"""[s] by which stamps of several drivers may be apart."""


@dataclass(frozen=True)
class Shown:
    """A motion as it was recorded."""

    times: ArrayLike
    """(n,) [s], rising."""
    joints: ArrayLike
    """(n, joints) [rad], in the order of the arm's joints."""
    gaps: ArrayLike | None = None
    """(n,) [m] between the fingers; None: not recorded."""


class MotionWatch:
    """Collects joint states, which may come in parts, of several drivers.

    Args:
        arm: names of the arm's joints, in their order
        gripper: the gripper, whose joints may be missing
    """

    def __init__(self, arm: Sequence[str], gripper: GripperConfig) -> None:
        self._arm, self._gripper = tuple(arm), gripper
        self._known: dict[str, float] = {}
        self._times: list[float] = []
        self._joints: list[list[float]] = []
        self._gaps: list[float | None] = []

    def __len__(self) -> int:
        return len(self._times)

    @property
    def missing(self) -> list[str]:
        """Joints of the arm that nobody has told of yet."""
        return [joint for joint in self._arm if joint not in self._known]

    def add(self, time: float, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take a joint state in; one that is no newer than the last one only tells positions.

        Args:
            time: its stamp [s]
            names: of joints, any of the robot
            positions: of each [rad or m]

        Raises:
            ValueError: time stepped back, as when a world is reset
        """
        if self._times and time < self._times[-1] - STEP_BACK:
            raise ValueError(
                f"time steps back by {self._times[-1] - time:.1f} s after "
                f"{self._times[-1] - self._times[0]:.1f} s: show the motion in one piece, or name "
                "the piece by --start and --end"
            )
        self._known.update(zip(names, positions, strict=True))
        if self.missing or (self._times and time <= self._times[-1]):
            return
        if len(self._times) > 1 and self._times[-1] - self._times[-2] < PERIOD:
            for column in (self._times, self._joints, self._gaps):
                column.pop()
        self._times.append(time)
        self._joints.append([self._known[joint] for joint in self._arm])
        self._gaps.append(self._gap())

    def _gap(self) -> float | None:
        fingers = self._gripper.joint_names
        if not fingers or any(joint not in self._known for joint in fingers):
            return None
        width = self._gripper.width([self._known[joint] for joint in fingers])
        return min(max(width, 0.0), self._gripper.open_width)

    def shown(self) -> Shown:
        """What was seen so far.

        Raises:
            ValueError: fewer than two states of the whole arm
        """
        if len(self._times) < 2:
            unknown = ", ".join(self.missing)
            what = f"nobody told of {unknown}" if unknown else "one state is no motion"
            raise ValueError(f"no motion of the arm was seen: {what}")
        first = next((gap for gap in self._gaps if gap is not None), None)
        if first is None:
            return Shown(self._times, self._joints)
        gaps = [first if gap is None else gap for gap in self._gaps]
        return Shown(self._times, self._joints, gaps)
