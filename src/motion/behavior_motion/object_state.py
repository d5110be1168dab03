# SPDX-License-Identifier: Apache-2.0
"""How well the place of an object is known: said by the scene, asked for by the skills."""

from __future__ import annotations

import enum


class ObjectState(enum.IntEnum):
    """Values as in behavior_msgs/SceneObject."""

    TRACKED = 0
    """Follows its detections."""
    STALE = 1
    """Not seen for some time; keeps its last pose."""
    FROZEN = 2
    """Pose held on request."""
    ATTACHED = 3
    """Moves with a link of the robot."""
    LOST = 4
    """Not seen for so long that it must be expected elsewhere."""
