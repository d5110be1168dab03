# SPDX-License-Identifier: Apache-2.0
"""A start state of a navigation world that was observed elsewhere.

Lengths in metres, angles in radians, everything in the frame `map`. People begin as the world's
description has them.
"""

from __future__ import annotations

from pydantic import FiniteFloat

from behavior_sim.worlds.state_file import StateFile

Planar = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
"""x, y [m] and yaw [rad]."""
Edges = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]
"""[m] x from, y from, x to, y to."""


class NavigationState(StateFile):
    """Where everything is, at rest."""

    robot: Planar
    tile: str
    """In force."""
    located: bool = True
    """Whether the localizer has found the robot."""
    obstacles: dict[str, Edges] = {}
    """What stands beside the walls, by name."""
    frames: dict[str, Planar] = {}
    """That stand elsewhere than the world's description says."""
