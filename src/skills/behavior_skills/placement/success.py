# SPDX-License-Identifier: Apache-2.0
"""Whether a place has succeeded, by the specification's modes.

Each mode is a function of the state after the place. It returns None for success or a sentence
that says what is not so, with the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from behavior_skills.interfaces import Array
from behavior_skills.placement.boxes import OrientedBox, containment, intersection_over_union

XY_MARGIN = 0.015
"""[m] from the container's sides, mode xybbox."""
HEIGHT_BELOW_TOOL = 0.4
"""[m] that the object's origin must be below the tool's place pose, mode height."""
ROUNDING = 1e-9
"""[m] a thing nearer to a bound than this is not within it."""
CUP_RISE = 0.05
"""[m] of the object's lowest point above the container's, mode cup."""


@dataclass(frozen=True, slots=True)
class PlacedState:
    """What is looked at; everything in the world frame unless said otherwise."""

    object_box: OrientedBox
    container_box: OrientedBox
    object_origin: Array
    """[m], shape (3,)."""
    object_height_in_base: float
    """z of the object's origin in the arm's base frame [m]."""
    tool_height_in_base: float
    """z of the tool's place pose in the arm's base frame [m]."""
    threshold: float
    """[m] of left and right."""
    success_th: float
    """Of 3diou, flower, cup and contained."""


def placed(mode: str, state: PlacedState, bbox: str = "obb") -> str | None:
    """None if the object is placed by `mode`, else why not.

    Args:
        mode: one of `MODES`.
        state: after the place.
        bbox: `obb` takes the boxes as they are turned, `aabb` the axis-aligned boxes around them.

    Raises:
        ValueError: unknown mode.
    """
    if mode not in MODES:
        raise ValueError(f"success_mode '{mode}' is not one of {', '.join(MODES)}.")
    return MODES[mode](state, bbox)


def _boxes(state: PlacedState, bbox: str) -> tuple[OrientedBox, OrientedBox]:
    if bbox == "aabb":
        return state.object_box.aligned(), state.container_box.aligned()
    return state.object_box, state.container_box


def _overlap_problem(state: PlacedState, bbox: str) -> str | None:
    overlap = intersection_over_union(*_boxes(state, bbox))
    if overlap > state.success_th:
        return None
    return f"the overlap (IoU) with the container is {overlap:.3f}, not above {state.success_th:g}"


def _inside_problem(state: PlacedState, bbox: str, margin: float) -> str | None:
    """Whether the object's origin is within the container's sides, seen from above."""
    container = _boxes(state, bbox)[1]
    upright = container.upright_axis
    at = container.pose[:3, :3].T @ (state.object_origin - container.pose[:3, 3])
    for axis in {0, 1, 2} - {upright}:
        most = container.half_extents[axis] - margin
        if not abs(at[axis]) < most - ROUNDING:
            return (
                f"its centre is {abs(at[axis]):.3f} m from the container's middle along the "
                f"container's {'xyz'[axis]}, not within {most:.3f}"
            )
    return None


def _xybbox(state: PlacedState, bbox: str) -> str | None:
    return _inside_problem(state, bbox, XY_MARGIN)


def _height(state: PlacedState, bbox: str) -> str | None:
    limit = state.tool_height_in_base - HEIGHT_BELOW_TOOL
    if state.object_height_in_base < limit:
        return None
    height = state.object_height_in_base
    return f"its height in the base frame is {height:.3f} m, not below {limit:.3f}"


def _left(state: PlacedState, bbox: str) -> str | None:
    limit = state.container_box.bounds()[0][0] - state.threshold
    x = state.object_origin[0]
    return None if x < limit else f"its x is {x:.4f} m, not below {limit:.4f}"


def _right(state: PlacedState, bbox: str) -> str | None:
    limit = state.container_box.bounds()[1][0] + state.threshold
    x = state.object_origin[0]
    return None if x > limit else f"its x is {x:.4f} m, not above {limit:.4f}"


def _flower(state: PlacedState, bbox: str) -> str | None:
    return _inside_problem(state, bbox, 0.0) or _overlap_problem(state, bbox)


def _cup(state: PlacedState, bbox: str) -> str | None:
    lowest = state.object_box.bounds()[0][2]
    limit = state.container_box.bounds()[0][2] + CUP_RISE
    if not lowest > limit:
        return f"its lowest point is at {lowest:.3f} m, not above {limit:.3f}"
    return _overlap_problem(state, bbox)


def _contained(state: PlacedState, bbox: str) -> str | None:
    share = containment(*_boxes(state, bbox))
    if share > state.success_th:
        return None
    return (
        f"{100 * share:.0f} % of it is in the container, not above {100 * state.success_th:.0f} %"
    )


MODES: dict[str, Callable[[PlacedState, str], str | None]] = {
    "3diou": _overlap_problem,
    "xybbox": _xybbox,
    "height": _height,
    "left": _left,
    "right": _right,
    "flower": _flower,
    "cup": _cup,
    "contained": _contained,
}
"""Success modes by name; `contained` is ours (an overlap alone is also true of a thing that leans
on the container from outside)."""
