# SPDX-License-Identifier: Apache-2.0
"""Questions about a scene, each a pure function of a snapshot, and of a cloud where points count.

A question is answered with yes when its value lies within the bounds asked for; which value that is
says :class:`Question`. Every answer tells in plain words what it rests on.
"""

from __future__ import annotations

import difflib
import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from behavior_motion.collision.convex import ConvexShape
from behavior_motion.object_state import ObjectState
from behavior_scene.clouds.cloud import Cloud
from behavior_scene.clouds.color import Hsv, HsvRange
from behavior_scene.clouds.points_in_shape import PlacedShape, PointCount, count_points
from behavior_scene.detections import Array
from behavior_scene.objects.scene import UnknownObjectError
from behavior_scene.objects.shapes import body_of, depth_within, gap_between
from behavior_scene.objects.snapshot import SceneObject, Snapshot
from behavior_tree.shown_text import named, visible

CONTACT_TOLERANCE = 0.015
"""[m] gap or overlap between two objects that are said to lie on each other."""


class Question(enum.IntEnum):
    """Values as in behavior_msgs/SceneQuestion."""

    DISTANCE = 0
    """Distance of the object from the reference [m]."""
    DISTANCE_XY = 1
    """Horizontal distance [m]."""
    DISTANCE_Z = 2
    """Height of the object above the reference [m], negative below."""
    VISIBLE = 3
    """Seconds since last seen. With bounds 0 and 0: seen within the scene's `stale_after`."""
    HELD = 4
    """1 where the object moves with the link `reference` (any, where that is empty), else 0."""
    ON_TOP_OF = 5
    """Gap between the object and the reference's surface below its centre [m]; NaN: not above it.
    Yes when they touch; bounds do not matter."""
    INSIDE = 6
    """Distance of the object's centre from the reference's surface [m], negative inside. Yes when
    it is inside; bounds do not matter."""
    REACHABLE = 7
    """Distance of the object from the base frame `reference` [m]; nothing is planned."""
    MOVED = 8
    """Metres moved since `since`."""
    CONTAINS_FRAME = 9
    """Distance of `reference` from the centre of the shape at `object` [m]. Yes when it is inside;
    bounds do not matter."""
    CONTAINS_POINTS = 10
    """Number of points in the shape at `object`."""
    STALE = 11
    """Seconds since last seen. With bounds 0 and 0: not seen within the scene's `stale_after`."""
    DISTANCE_Z_ABS = 12
    """Difference in height [m]."""


_OF_TWO = {
    Question.DISTANCE,
    Question.DISTANCE_XY,
    Question.DISTANCE_Z,
    Question.DISTANCE_Z_ABS,
    Question.ON_TOP_OF,
    Question.INSIDE,
    Question.REACHABLE,
    Question.CONTAINS_FRAME,
}
_OF_SHAPES = {Question.CONTAINS_FRAME, Question.CONTAINS_POINTS}


class BadQuestionError(ValueError):
    """A question that makes no sense; the text says what is wrong and what to give."""


class NoPointsError(LookupError):
    """There is no cloud to count points in."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question with all that belongs to it.

    Raises:
        BadQuestionError: something is missing or makes no sense.
    """

    question: Question
    name: str
    """Object (or frame) asked about."""
    reference: str = ""
    """Second object or frame."""
    minimum: float = 0.0
    maximum: float = 0.0
    since: float = 0.0
    """MOVED: time to compare with [s]."""
    shape: ConvexShape | None = None
    """CONTAINS_*."""
    name_T_shape: Array = field(default_factory=lambda: np.eye(4))
    """CONTAINS_*: pose of the shape in the frame `name`, 4x4 [m]."""
    color: HsvRange | None = None
    """CONTAINS_POINTS: what the mean colour must lie in; None: any."""

    def __post_init__(self) -> None:
        what = self.question.name
        if not self.name:
            raise BadQuestionError(f"{what}: object is empty; name an object or frame")
        if self.question in _OF_TWO and not self.reference:
            raise BadQuestionError(f"{what}: reference is empty; name a second object or frame")
        if self.question in _OF_SHAPES and self.shape is None:
            raise BadQuestionError(f"{what}: the shape is missing")
        if not self.minimum <= self.maximum:
            raise BadQuestionError(
                f"{what}: nothing lies between minimum {self.minimum:g} and maximum"
                f" {self.maximum:g}; give minimum <= maximum"
            )

    @property
    def needs_points(self) -> bool:
        """Whether a cloud is needed."""
        return self.question is Question.CONTAINS_POINTS


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether it is so, the number behind it, and both in words."""

    answer: bool
    value: float
    text: str = ""
    mean: Hsv | None = None
    """CONTAINS_POINTS: mean colour, None without points or colours."""


@dataclass(frozen=True, slots=True)
class PlacedCloud:
    """A cloud and where its frame was when it was taken."""

    cloud: Cloud
    world_T_cloud: Array
    """4x4 [m]."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a question is answered from."""

    snapshot: Snapshot
    frame_pose: Callable[[str], Array | None]
    """world_T_frame of a frame that is no object, or None."""
    pose_at: Callable[[str, float], Array]
    """Where an object was at a time [s]."""
    stale_after: float = 1.0
    """[s] unseen for longer: stale."""
    cloud: PlacedCloud | None = None
    """Where points are counted."""

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

    def unknown(self, name: str) -> str:
        """What to say when there is no object or frame of this name."""
        known = sorted(self.snapshot.objects)
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return (
            f"'{visible(name)}' is neither an object of the scene nor a known frame.{hint} The"
            f" objects are {named(known) if known else 'none'}; see that it is in view, or on /tf."
        )


def answer(context: Context, query: Query) -> Answer:
    """Answer one question.

    Raises:
        UnknownObjectError: an object or frame is not known.
        NoPointsError: there is no cloud.
    """
    if query.needs_points:
        (count,) = counts(context, [query])
        return judge_points(query, count)
    return _OF_SNAPSHOT.get(query.question, _distance)(context, query)


def counts(context: Context, queries: Sequence[Query]) -> list[PointCount]:
    """Points in the shapes of some questions, all counted in one pass over the cloud.

    Raises:
        UnknownObjectError: an object or frame is not known.
        NoPointsError: there is no cloud.
    """
    if context.cloud is None:
        raise NoPointsError("no point cloud yet")
    cloud_T_world = np.linalg.inv(context.cloud.world_T_cloud)
    placed = [
        PlacedShape(query.shape, cloud_T_world @ world_T_shape(context, query))
        for query in queries
        if query.shape is not None
    ]
    return count_points(context.cloud.cloud, placed)


def world_T_shape(context: Context, query: Query) -> Array:
    """Where the shape of a question is, 4x4 [m]; raises `UnknownObjectError`."""
    return np.asarray(context.pose(query.name) @ query.name_T_shape)


def judge_points(query: Query, found: PointCount) -> Answer:
    """Answer to a question about points, once they are counted."""
    enough = query.minimum <= found.count <= query.maximum
    text = f"{found.count} points in the {_kind(query)} at {query.name}: {_verdict(query, enough)}"
    if found.mean is not None:
        text += f"; mean {found.mean}"
    if query.color is None:
        return Answer(enough, float(found.count), text, found.mean)
    if found.mean is None:
        why = "no points" if found.count == 0 else "the cloud has no colours (field rgb)"
        return Answer(False, float(found.count), f"{text}; no colour: {why}", None)
    fits = query.color.contains(found.mean)
    text += f": {'within' if fits else 'not within'} {query.color}"
    return Answer(enough and fits, float(found.count), text, found.mean)


def _distance(context: Context, query: Query) -> Answer:
    offset = context.pose(query.name)[:3, 3] - context.pose(query.reference)[:3, 3]
    match query.question:
        case Question.DISTANCE_XY:
            value, how = float(np.hypot(offset[0], offset[1])), "horizontally from"
        case Question.DISTANCE_Z:
            value, how = float(offset[2]), "above"
        case Question.DISTANCE_Z_ABS:
            value, how = abs(float(offset[2])), "in height from"
        case _:
            value, how = float(np.linalg.norm(offset)), "from"
    yes = query.minimum <= value <= query.maximum
    text = f"{query.name} is {value:.3f} m {how} {query.reference}: {_verdict(query, yes)} m"
    if query.question is Question.REACHABLE:
        text += " (by distance; nothing was planned)"
    return Answer(yes, value, text + _doubts(context, query.name, query.reference))


def _seen(context: Context, query: Query) -> Answer:
    """VISIBLE and STALE."""
    unseen = context.snapshot.stamp - context.object(query.name).last_seen
    if query.minimum == query.maximum == 0.0:
        fresh = unseen <= context.stale_after
        yes = fresh is (query.question is Question.VISIBLE)
        limit = f"{'within' if fresh else 'beyond'} stale_after {context.stale_after:g}"
    else:
        yes = query.minimum <= unseen <= query.maximum
        limit = _verdict(query, yes)
    return Answer(yes, unseen, f"{query.name} was last seen {unseen:.2f} s ago: {limit} s")


def _held(context: Context, query: Query) -> Answer:
    obj = context.object(query.name)
    attached = obj.state is ObjectState.ATTACHED
    yes = attached and query.reference in ("", obj.attached_link)
    how = f"held by {obj.attached_link}" if attached else f"not held, but {obj.state.name}"
    return Answer(yes, float(yes), f"{query.name} is {how}")


def _on_top_of(context: Context, query: Query) -> Answer:
    upper, lower = context.object(query.name), context.object(query.reference)
    gap = gap_between(upper, lower)
    if gap is None:
        text = f"the centre of {query.name} is not above {query.reference}"
        return Answer(False, math.nan, text)
    yes = abs(gap) <= CONTACT_TOLERANCE
    how = "touches" if yes else "hovers over" if gap > 0.0 else "reaches into"
    text = f"{query.name} {how} {query.reference}, gap {gap:.3f} m"
    return Answer(yes, gap, text + _doubts(context, query.name, query.reference))


def _inside(context: Context, query: Query) -> Answer:
    outer = context.object(query.reference)
    value = depth_within(
        body_of(outer.shape), outer.world_T_object, context.pose(query.name)[:3, 3]
    )
    yes = value <= 0.0
    text = (
        f"the centre of {query.name} is {abs(value):.3f} m {'inside' if yes else 'outside'}"
        f" {query.reference}"
    )
    return Answer(yes, value, text + _doubts(context, query.name, query.reference))


def _moved(context: Context, query: Query) -> Answer:
    now = context.object(query.name).world_T_object
    value = float(np.linalg.norm(now[:3, 3] - context.pose_at(query.name, query.since)[:3, 3]))
    yes = query.minimum <= value <= query.maximum
    return Answer(yes, value, f"{query.name} has moved {value:.3f} m: {_verdict(query, yes)} m")


def _contains_frame(context: Context, query: Query) -> Answer:
    pose, position = world_T_shape(context, query), context.pose(query.reference)[:3, 3]
    assert query.shape is not None
    depth = depth_within(query.shape, pose, position)
    value = float(np.linalg.norm(position - pose[:3, 3]))
    yes = depth <= 0.0
    text = (
        f"{query.reference} is {abs(depth):.3f} m {'inside' if yes else 'outside'} the"
        f" {_kind(query)} at {query.name}, {value:.3f} m from its centre"
    )
    return Answer(yes, value, text + _doubts(context, query.name, query.reference))


_OF_SNAPSHOT: dict[Question, Callable[[Context, Query], Answer]] = {
    Question.VISIBLE: _seen,
    Question.STALE: _seen,
    Question.HELD: _held,
    Question.ON_TOP_OF: _on_top_of,
    Question.INSIDE: _inside,
    Question.MOVED: _moved,
    Question.CONTAINS_FRAME: _contains_frame,
}


def _verdict(query: Query, yes: bool) -> str:
    return f"{'within' if yes else 'not within'} {query.minimum:g}..{query.maximum:g}"


def _kind(query: Query) -> str:
    kind = type(query.shape).__name__.lower()
    return "convex mesh" if kind == "mesh" else kind


def _doubts(context: Context, *names: str) -> str:
    """What makes an answer less sure: objects that are remembered rather than seen."""
    doubtful = [
        f"{name} is {obj.state.name.lower()}"
        for name in names
        if (obj := context.snapshot.objects.get(name)) is not None
        and obj.state in (ObjectState.STALE, ObjectState.LOST)
    ]
    return f" ({', '.join(doubtful)})" if doubtful else ""
