# SPDX-License-Identifier: Apache-2.0
"""What the viewer draws, without the drawing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Box:
    """An object as the page draws it."""

    position: tuple[float, float, float]
    """[m]."""
    wxyz: tuple[float, float, float, float]
    """Orientation, quaternion w x y z."""
    size: tuple[float, float, float]
    """[m]."""
    colour: tuple[int, int, int]
    """0..255."""
    label: str
