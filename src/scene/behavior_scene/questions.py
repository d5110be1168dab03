# SPDX-License-Identifier: Apache-2.0
"""Questions about a scene, each a pure function of a snapshot.

Numeric questions are true when the value lies within the asked bounds; `ON_TOP_OF` and `INSIDE`
judge by the shapes and report a distance beside it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from behavior_scene.detections import Array
from behavior_scene.objects import ObjectState, SceneObject, Snapshot
from behavior_scene.scene import UnknownObjectError

CONTACT_TOLERANCE = 0.015
"""[m] gap or overlap between two objects that are said to lie on each other."""


class Question(enum.IntEnum):
    """Values as in behavior_msgs/QueryScene."""

    DISTANCE = 0
    DISTANCE_XY = 1
    DISTANCE_Z = 2
    VISIBLE = 3
    HELD = 4
    ON_TOP_OF = 5
    INSIDE = 6
    MOVED = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether it is so, and the number behind it."""

    answer: bool
    value: float


@dataclass(frozen=True, slots=True)
class Context:
    """What a question is answered from."""

    snapshot: Snapshot
    frame_pose: Callable[[str], Array | None]
    """world_T_frame of a frame that is no object, or None."""
    pose_at: Callable[[str, float], Array]
    """Where an object was at a time [s]."""

    def pose(self, name: str) -> Array:
        """Pose of an object or frame; raises `UnknownObjectError`."""
        known = self.snapshot.objects.get(name)
        pose = known.world_T_object if known else self.frame_pose(name)
        if pose is None:
            raise UnknownObjectError(name)
        return pose

    def object(self, name: str) -> SceneObject:
        """An object; raises `UnknownObjectError`."""
        try:
            return self.snapshot.objects[name]
        except KeyError:
            raise UnknownObjectError(name) from None


def answer(
    context: Context,
    question: Question,
    name: str,
    *,
    reference: str = "",
    minimum: float = 0.0,
    maximum: float = 0.0,
    since: float = 0.0,
) -> Answer:
    """Answer one question.

    Args:
        context: the scene.
        question: which one.
        name: object (or, for distances, frame) asked about.
        reference: second object or frame; for HELD the link, empty: any.
        minimum: lower bound of the value.
        maximum: upper bound of the value.
        since: MOVED: time to compare with [s].

    Raises:
        UnknownObjectError: `name` or `reference` is not known.
    """
    match question:
        case Question.HELD:
            held = context.object(name)
            is_held = held.state is ObjectState.ATTACHED and reference in ("", held.attached_link)
            return Answer(is_held, float(is_held))
        case Question.ON_TOP_OF:
            return _on_top_of(context.object(name), context.object(reference))
        case Question.INSIDE:
            return _inside(context.object(name), context.object(reference))
        case Question.VISIBLE:
            value = context.snapshot.stamp - context.object(name).last_seen
        case Question.MOVED:
            now = context.object(name).world_T_object
            value = float(np.linalg.norm(now[:3, 3] - context.pose_at(name, since)[:3, 3]))
        case _:
            value = _distance(question, context.pose(name), context.pose(reference))
    return Answer(minimum <= value <= maximum, value)


def _distance(question: Question, first: Array, second: Array) -> float:
    offset = first[:3, 3] - second[:3, 3]
    if question is Question.DISTANCE_XY:
        return float(np.linalg.norm(offset[:2]))
    if question is Question.DISTANCE_Z:
        return float(offset[2])
    return float(np.linalg.norm(offset))


def _on_top_of(upper: SceneObject, lower: SceneObject) -> Answer:
    """Centre above the other's footprint, undersides and topsides in contact; value: xy offset."""
    offset = upper.world_T_object[:3, 3] - lower.world_T_object[:3, 3]
    apart = float(np.linalg.norm(offset[:2]))
    rest = _half_height(upper) + _half_height(lower)
    reach = min(lower.shape.half_extents[:2])
    return Answer(abs(offset[2] - rest) <= CONTACT_TOLERANCE and apart <= reach, apart)


def _half_height(thing: SceneObject) -> float:
    """Half the vertical extent of the box around an object, however it is turned [m]."""
    return float(np.abs(thing.world_T_object[2, :3]) @ np.array(thing.shape.half_extents))


def _inside(inner: SceneObject, outer: SceneObject) -> Answer:
    """Centre of one within the box around the other; value: distance of the centres [m]."""
    local = np.linalg.solve(outer.world_T_object, inner.world_T_object)[:3, 3]
    inside = bool(np.all(np.abs(local) <= np.array(outer.shape.half_extents)))
    return Answer(inside, float(np.linalg.norm(local)))
