# SPDX-License-Identifier: Apache-2.0
"""The scene at a moment from above and from the side, drawn from recorded objects and frames."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from behavior_recording.recording import Recording

_OBJECTS, _FRAMES, _FIXED = "/scene/objects", "/tf", "/tf_static"
_OLDEST = 5_000_000_000
"""[ns] before the moment; what is older says little of it."""
_BOX, _SPHERE, _CYLINDER = 1, 2, 3
"""`shape_msgs/SolidPrimitive`'s numbers."""
_STATES = {1: "stale", 2: "frozen", 3: "attached", 4: "lost"}
_MOST_OBJECTS, _MOST_FRAMES, _DEPTH = 200, 400, 60
_WIDTH, _MARGIN, _FARTHEST = 520.0, 46.0, 4.0
"""[px], [px], and [m] from the middle of the objects, beyond which nothing is drawn."""

Points = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """One drawing."""

    title: str
    svg: str


@dataclass(frozen=True)
class _Outline:
    name: str
    label: str
    color: str
    points: Points
    """Corners in the world (n, 3) [m]."""
    certain: bool


def scene_views(history: object, time: int) -> list[View]:
    """The scene as it was believed to be.

    Args:
        history: where it is; nothing but a `Recording` knows of one
        time: [ns]

    Returns:
        two drawings, or none where no objects are recorded shortly before
    """
    if not isinstance(history, Recording) or _OBJECTS not in history.topics:
        return []
    newest = next(history.messages(_OBJECTS, start=time - _OLDEST, end=time, reverse=True), None)
    if newest is None:
        return []
    outlines = [each for each in map(_outline, newest.value.objects[:_MOST_OBJECTS]) if each]
    if not outlines:
        return []
    names = {each.name for each in outlines}
    lines = list(_frame_lines(_frames(history, time), names, newest.value.header.frame_id))
    return [
        View("From above", _drawing(outlines, lines, (0, 1))),
        View("From the side", _drawing(outlines, lines, (0, 2))),
    ]


# -- what is there --------------------------------------------------------------------------------


def _outline(item: Any) -> _Outline | None:
    """Corners of an object; None where the message makes no sense."""
    position, turn = item.pose.position, item.pose.orientation
    place = np.array([position.x, position.y, position.z], dtype=float)
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w], dtype=float)
    shape = _shape_points(int(item.shape.type), [float(each) for each in item.shape.dimensions])
    if not np.isfinite([*place, *quaternion]).all() or not np.linalg.norm(quaternion) > 1e-6:
        return None
    red, green, blue = (_byte(each) for each in (item.color.r, item.color.g, item.color.b))
    state = _STATES.get(int(item.state), "")
    return _Outline(
        str(item.name),
        f"{item.name} ({state})" if state else str(item.name),
        f"rgb({red},{green},{blue})",
        Rotation.from_quat(quaternion).apply(shape) + place,
        int(item.state) not in (1, 4),
    )


def _byte(part: float) -> int:
    return round(255 * min(max(part, 0.0), 1.0)) if math.isfinite(part) else 128


def _shape_points(kind: int, sizes: list[float]) -> Points:
    """Points whose hull is the shape; of what is not known a small cube."""
    usable = all(math.isfinite(each) and 0.0 < each < 10.0 for each in sizes)
    if usable and kind == _BOX and len(sizes) == 3:
        return np.array(list(itertools.product(*((-each / 2, each / 2) for each in sizes))))
    circle = np.array([(math.cos(a), math.sin(a)) for a in np.linspace(0, 2 * math.pi, 24)])
    if usable and kind == _CYLINDER and len(sizes) == 2:
        height, radius = sizes
        return np.array(
            [(radius * x, radius * y, z) for x, y in circle for z in (-height / 2, height / 2)]
        )
    if usable and kind == _SPHERE and len(sizes) == 1:
        around = [(x * c, y * c, s) for x, y in circle for c, s in circle]
        return sizes[0] * np.array(around)
    return _shape_points(_BOX, [0.02, 0.02, 0.02])


def _frames(history: Recording, time: int) -> dict[str, Any]:
    """The newest transform of each child frame."""
    found: dict[str, Any] = {}
    for topic, start in ((_FIXED, None), (_FRAMES, time - _OLDEST)):
        if topic not in history.topics:
            continue
        for message in history.messages(topic, start=start, end=time):
            for each in message.value.transforms:
                if each.child_frame_id in found or len(found) < _MOST_FRAMES:
                    found[each.child_frame_id] = each
    return found


def _frame_lines(frames: Mapping[str, Any], objects: set[str], root: str) -> Iterator[Points]:
    """From each frame of the robot to its parent, in the root's axes (2, 3) [m]."""
    for name, each in frames.items():
        if name in objects or each.header.frame_id in ("", root):
            continue
        ends = [_in_root(frames, frame, root) for frame in (each.header.frame_id, name)]
        if ends[0] is not None and ends[1] is not None:
            yield np.array(ends)


def _in_root(frames: Mapping[str, Any], frame: str, root: str) -> Points | None:
    """Where the origin of a frame lies; None where it does not hang on the root."""
    place = np.zeros(3)
    for _ in range(_DEPTH):
        if frame == root:
            return place if bool(np.isfinite(place).all()) else None
        if frame not in frames:
            return None
        shift, turn = frames[frame].transform.translation, frames[frame].transform.rotation
        quaternion = np.array([turn.x, turn.y, turn.z, turn.w], dtype=float)
        if not np.linalg.norm(quaternion) > 1e-6:
            return None
        place = Rotation.from_quat(quaternion).apply(place)
        place = place + np.array([shift.x, shift.y, shift.z])
        frame = frames[frame].header.frame_id
    return None


# -- how it is drawn ------------------------------------------------------------------------------


def _drawing(outlines: list[_Outline], lines: list[Points], axes: tuple[int, int]) -> str:
    middle = np.median([each.points.mean(axis=0) for each in outlines], axis=0)
    near = [each for each in outlines if _is_near(each.points, middle)]
    lines = [each for each in lines if _is_near(each, middle)]
    shown = np.vstack([*(each.points for each in near), *lines])[:, axes]
    low, high = shown.min(axis=0), shown.max(axis=0)
    scale = (_WIDTH - 2 * _MARGIN) / max(float((high - low).max()), 0.2)
    height = float(high[1] - low[1]) * scale + 2 * _MARGIN

    def place(points: Points) -> Points:
        x, y = ((points[:, axes] - low) * scale + _MARGIN).T
        return np.column_stack([x, height - y])

    parts = [f'<svg class="scene" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img">']
    for line in lines:
        (x1, y1), (x2, y2) = place(line)
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    for each in near:
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in _hull(place(each.points)))
        kind = "" if each.certain else ' class="uncertain"'
        parts.append(f'<polygon{kind} points="{corners}" style="fill:{each.color}"/>')
    for each in near:
        x, y = place(each.points).min(axis=0)
        parts.append(f'<text x="{x:.1f}" y="{y - 4:.1f}">{html.escape(each.label[:60])}</text>')
    parts.append(_ruler(scale, height))
    return "".join([*parts, "</svg>"])


def _is_near(points: Points, middle: Points) -> bool:
    return bool(np.abs(points - middle).max() < _FARTHEST)


def _hull(points: Points) -> Points:
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # of a flat shape seen from its edge
        return points


def _ruler(scale: float, height: float) -> str:
    """A line of a round length."""
    length = next(each for each in (5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.0) if each * scale < 140)
    y = height - 12
    text = f"{100 * length:g} cm" if length < 1 else f"{length:g} m"
    return (
        f'<line class="ruler" x1="12" y1="{y:.0f}" x2="{12 + length * scale:.0f}" y2="{y:.0f}"/>'
        f'<text class="ruler" x="12" y="{y - 5:.0f}">{text}</text>'
    )
