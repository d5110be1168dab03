# SPDX-License-Identifier: Apache-2.0
"""Whether a pick went as a sane pick does: nothing was ever faster than it can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from behavior_skills.interfaces import JointState, ObjectView

JOINT_LIMIT = 5.0
"""[rad/s]"""
OBJECT_LIMIT = 5.0
"""[m/s]"""


@dataclass(slots=True)
class ProcessWatch:
    """Greatest speeds during a pick."""

    joint_speed: float = 0.0
    """[rad/s]"""
    object_speed: float = 0.0
    """[m/s] between two sightings."""
    _last: ObjectView | None = None

    def see(self, state: JointState, obj: ObjectView | None) -> None:
        """Take in a joint state and the object as it is seen now."""
        self.joint_speed = max(self.joint_speed, float(np.abs(state.qd).max(initial=0.0)))
        last, self._last = self._last, obj or self._last
        if last is None or obj is None or obj.last_seen <= last.last_seen:
            return
        way = float(np.linalg.norm(obj.base_T_object[:3, 3] - last.base_T_object[:3, 3]))
        self.object_speed = max(self.object_speed, way / (obj.last_seen - last.last_seen))

    def problem(self) -> str | None:
        """What was too fast, or None."""
        if self.joint_speed > JOINT_LIMIT:
            return f"a joint moved at {self.joint_speed:.1f} rad/s (at most {JOINT_LIMIT:g})"
        if self.object_speed > OBJECT_LIMIT:
            return f"the object moved at {self.object_speed:.1f} m/s (at most {OBJECT_LIMIT:g})"
        return None
