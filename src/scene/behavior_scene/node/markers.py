# SPDX-License-Identifier: Apache-2.0
"""The scene as markers: objects and their state, tracks, and shapes with what was found in them.

A marker belongs to a layer (its namespace, which RViz can hide) and has a key within it. Every
array shows all there is; :class:`MarkerLedger` numbers the markers and deletes what vanished.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from geometry_msgs.msg import Point, Pose, Vector3
from scipy.spatial import ConvexHull
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from behavior_motion.collision.convex import ConvexShape
from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from behavior_motion.object_state import ObjectState
from behavior_ros import matrix_to_pose
from behavior_scene.detections import Array
from behavior_scene.library import Color
from behavior_scene.objects.snapshot import SceneObject
from behavior_scene.questions.questions import Answer, Question
from behavior_scene.questions.shown_shapes import ShownShape
from behavior_scene.tracking.tracks import Track

REPEATED = 10
"""Arrays that delete a marker: a viewer that misses one gets the next."""
TEXT_HEIGHT = 0.02
"""[m]."""
AHEAD = 0.5
"""[s] of its motion that a track's arrow shows."""
SLOW = 0.02
"""[m/s] below which a track has no arrow."""

STATE_COLORS: dict[ObjectState, Color] = {
    ObjectState.STALE: (0.55, 0.55, 0.55, 0.6),
    ObjectState.FROZEN: (0.45, 0.75, 1.0, 0.9),
    ObjectState.ATTACHED: (1.0, 0.6, 0.1, 0.9),
    ObjectState.LOST: (0.6, 0.2, 0.2, 0.2),
}
"""Of objects; tracked ones have the colour that the library gives them."""
WHITE: Color = (1.0, 1.0, 1.0, 0.9)
STABLE: Color = (0.2, 0.9, 0.4, 0.6)
UNSTABLE: Color = (0.9, 0.8, 0.2, 0.4)
YES: Color = (0.2, 0.9, 0.3, 0.3)
NO: Color = (0.9, 0.2, 0.2, 0.3)
_KINDS = {
    "box": Marker.CUBE,
    "sphere": Marker.SPHERE,
    "cylinder": Marker.CYLINDER,
    "none": Marker.ARROW,
}
_ARROW = (0.12, 0.012, 0.012)
"""[m] along the x axis of a mere frame."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A marker and what tells it from the others."""

    layer: str
    key: str
    marker: Marker


class MarkerLedger:
    """Gives markers their numbers, and deletes those that are drawn no more."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], int] = {}
        self._gone: dict[tuple[str, str], int] = {}
        self._next = 0

    def array(self, drawn: Iterable[Drawn], header: Header) -> MarkerArray:
        """Everything that is drawn now, and the deletion of what was drawn before."""
        markers, here = [], set()
        for each in drawn:
            name = (each.layer, each.key)
            here.add(name)
            self._gone.pop(name, None)
            if name not in self._ids:
                self._ids[name], self._next = self._next, self._next + 1
            each.marker.header, each.marker.ns = header, each.layer
            each.marker.id = self._ids[name]
            markers.append(each.marker)
        for name in self._ids.keys() - here:
            self._gone.setdefault(name, REPEATED)
        for name in list(self._gone):
            markers.append(self._deletion(name, header))
        return MarkerArray(markers=markers)

    def _deletion(self, name: tuple[str, str], header: Header) -> Marker:
        marker = Marker(header=header, ns=name[0], id=self._ids[name], action=Marker.DELETE)
        self._gone[name] -= 1
        if self._gone[name] == 0:
            del self._gone[name], self._ids[name]
        return marker


def object_markers(obj: SceneObject) -> list[Drawn]:
    """An object in the colour of its state, with its name and state above it."""
    state = obj.state.name.lower()
    tracked = obj.state is ObjectState.TRACKED
    size = _ARROW if obj.shape.kind == "none" else _doubled(obj.shape.half_extents)
    body = _marker(
        _KINDS.get(obj.shape.kind, Marker.CUBE),
        matrix_to_pose(obj.world_T_object),
        size,
        STATE_COLORS.get(obj.state, obj.color),
    )
    label = _label(
        obj.name if tracked else f"{obj.name} ({state})",
        obj.world_T_object,
        max(obj.shape.half_extents),
        _opaque(STATE_COLORS.get(obj.state, WHITE)),
    )
    return [Drawn("objects", obj.name, body), Drawn("object labels", obj.name, label)]


def track_markers(track: Track) -> list[Drawn]:
    """A track as a ball, with its numbers, and an arrow to where it will be soon."""
    color = STABLE if track.confirmed else UNSTABLE
    pose = track.world_T_object
    ball = _marker(Marker.SPHERE, matrix_to_pose(pose), (0.03, 0.03, 0.03), color)
    text = f"{track.name} {track.confidence:.2f}"
    drawn = [
        Drawn("tracks", track.name, ball),
        Drawn("track labels", track.name, _label(text, pose, 0.03, WHITE)),
    ]
    if float(np.linalg.norm(track.velocity)) > SLOW:
        arrow = _marker(Marker.ARROW, Pose(), (0.006, 0.014, 0.0), _opaque(color))
        arrow.points = [_point(pose[:3, 3]), _point(pose[:3, 3] + AHEAD * track.velocity)]
        drawn.append(Drawn("tracks", f"{track.name} motion", arrow))
    return drawn


def shape_markers(shown: ShownShape) -> list[Drawn]:
    """A shape that was asked about: green for yes, red for no, with what was found."""
    color = YES if shown.answer.answer else NO
    parts = _parts(shown.shape, shown.world_T_shape, color)
    drawn = [Drawn("shapes", f"{shown.key} {index}", part) for index, part in enumerate(parts)]
    label = _label(_found(shown.question, shown.answer), shown.world_T_shape, 0.0, _opaque(color))
    return [*drawn, Drawn("shape labels", shown.key, label)]


def _found(question: Question, answer: Answer) -> str:
    if question is not Question.CONTAINS_POINTS:
        return f"{answer.value:.3f} m"
    if answer.mean is None:
        return f"{answer.value:.0f} points"
    hue = "" if math.isnan(answer.mean.hue) else f"\nhue {answer.mean.hue:.0f}"
    saturation, value = answer.mean.saturation, answer.mean.value
    return f"{answer.value:.0f} points{hue} sat {saturation:.2f} val {value:.2f}"


def _parts(shape: ConvexShape, world_T_shape: Array, color: Color) -> list[Marker]:
    pose = matrix_to_pose(world_T_shape)
    match shape:
        case Sphere(radius=radius):
            return [_marker(Marker.SPHERE, pose, _doubled((radius, radius, radius)), color)]
        case Box(size=size):
            return [_marker(Marker.CUBE, pose, size, color)]
        case Cylinder(radius=radius, height=height):
            return [_marker(Marker.CYLINDER, pose, (2 * radius, 2 * radius, height), color)]
        case Capsule(radius=radius, height=height):
            parts = [_marker(Marker.CYLINDER, pose, (2 * radius, 2 * radius, height), color)]
            for end in (-0.5 * height, 0.5 * height):
                cap = world_T_shape.copy()
                cap[:3, 3] += end * world_T_shape[:3, 2]
                size = _doubled((radius, radius, radius))
                parts.append(_marker(Marker.SPHERE, matrix_to_pose(cap), size, color))
            return parts
    return [_hull(shape, pose, color)]


def _hull(mesh: Mesh, pose: Pose, color: Color) -> Marker:
    corners = np.asarray(mesh.vertices) * mesh.scale
    marker = _marker(Marker.TRIANGLE_LIST, pose, (1.0, 1.0, 1.0), color)
    marker.points = [_point(corners[i]) for i in ConvexHull(corners).simplices.ravel()]
    return marker


def _marker(kind: int, pose: Pose, size: tuple[float, ...], color: Color) -> Marker:
    x, y, z = (float(edge) for edge in size)
    return Marker(type=kind, pose=pose, scale=Vector3(x=x, y=y, z=z), color=_color(color))


def _label(text: str, world_T_object: Array, half_height: float, color: Color) -> Marker:
    """Text above a thing."""
    pose = Pose()
    x, y, z = (float(part) for part in world_T_object[:3, 3])
    pose.position = Point(x=x, y=y, z=z + half_height + TEXT_HEIGHT)
    marker = _marker(Marker.TEXT_VIEW_FACING, pose, (0.0, 0.0, TEXT_HEIGHT), color)
    marker.text = text
    return marker


def _doubled(half: tuple[float, float, float]) -> tuple[float, float, float]:
    return 2.0 * half[0], 2.0 * half[1], 2.0 * half[2]


def _opaque(color: Color) -> Color:
    return (*color[:3], 0.9)


def _color(color: Color) -> ColorRGBA:
    red, green, blue, alpha = color
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)


def _point(at: Array) -> Point:
    x, y, z = (float(part) for part in at)
    return Point(x=x, y=y, z=z)
