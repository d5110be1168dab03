# SPDX-License-Identifier: Apache-2.0
"""Messages of `behavior scene`, from its arguments and into tables and JSON."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from behavior_msgs.action import ManageScene
from behavior_msgs.msg import (
    ColorRange,
    SceneAnswer,
    SceneObject,
    SceneObjectArray,
    SceneQuestion,
    SceneShape,
    SceneTrackArray,
    Sighting,
)
from shape_msgs.msg import SolidPrimitive

from behavior_bringup.conversion import box_edges
from behavior_bringup.errors import BringupError, UsageError
from behavior_ros import seconds, to_time

_SHAPES = {
    "sphere": SceneShape.SPHERE,
    "box": SceneShape.BOX,
    "cylinder": SceneShape.CYLINDER,
    "capsule": SceneShape.CAPSULE,
}
_BY_BOUNDS_OR_RULE = (SceneQuestion.VISIBLE, SceneQuestion.STALE)
_SHAPE_NAMES = {
    SolidPrimitive.BOX: "box",
    SolidPrimitive.SPHERE: "sphere",
    SolidPrimitive.CYLINDER: "cylinder",
    SolidPrimitive.CONE: "cone",
}
_STATES = ("tracked", "stale", "frozen", "attached", "lost")

Row = dict[str, Any]


def question_from(options: argparse.Namespace, now: float) -> SceneQuestion:
    """The question that the arguments ask.

    Args:
        options: of `behavior scene ask`.
        now: time of the scene [s].

    Raises:
        UsageError: arguments that belong to other questions, or are missing.
    """
    kind = getattr(SceneQuestion, options.question.upper().replace("-", "_"))
    message = SceneQuestion(question=kind, object=options.object, reference=options.reference)
    _set_bounds(message, options)
    shape = next((name for name in _SHAPES if getattr(options, name)), None)
    shaped = kind in (SceneQuestion.CONTAINS_FRAME, SceneQuestion.CONTAINS_POINTS)
    if shaped != (shape is not None):
        wanted = "needs a shape: --sphere, --box, --cylinder or --capsule"
        raise UsageError(f"{options.question} {wanted if shaped else 'takes no shape'}")
    if shape is not None:
        message.shape = SceneShape(kind=_SHAPES[shape], dimensions=getattr(options, shape))
        place = message.shape_pose.position
        place.x, place.y, place.z = options.at
    colors = {name: getattr(options, name) for name in ("hue", "saturation", "value")}
    if any(colors.values()):
        if kind != SceneQuestion.CONTAINS_POINTS:
            raise UsageError(f"{options.question} takes no colour; contains-points does")
        message.check_color, message.color = True, _color(**colors)
    if options.ago is not None:
        if kind != SceneQuestion.MOVED:
            raise UsageError(f"{options.question} takes no --ago; moved does")
        message.since = to_time(max(now - options.ago, 0.0))
    return message


def _set_bounds(message: SceneQuestion, options: argparse.Namespace) -> None:
    """Bounds; without any, visible and stale go by the scene's own rule."""
    if options.min is None and options.max is None and message.question in _BY_BOUNDS_OR_RULE:
        return
    message.minimum = 0.0 if options.min is None else options.min
    message.maximum = math.inf if options.max is None else options.max
    if options.min is None and message.question == SceneQuestion.DISTANCE_Z:
        message.minimum = -math.inf


def _color(
    hue: Sequence[float] | None,
    saturation: Sequence[float] | None,
    value: Sequence[float] | None,
) -> ColorRange:
    hue, saturation, value = hue or (0.0, 360.0), saturation or (0.0, 1.0), value or (0.0, 1.0)
    return ColorRange(
        hue_min=hue[0],
        hue_max=hue[1],
        saturation_min=saturation[0],
        saturation_max=saturation[1],
        value_min=value[0],
        value_max=value[1],
    )


def goal_from(options: argparse.Namespace) -> ManageScene.Goal:
    """The change that the arguments ask for.

    Raises:
        BringupError: a file that cannot be read.
    """
    goal = ManageScene.Goal(
        operation=getattr(ManageScene.Goal, options.operation.upper()),
        names=getattr(options, "names", []),
        link=getattr(options, "link", ""),
        timeout=options.timeout or 0.0,
    )
    if options.operation in ("save", "restore"):
        goal.definition = options.memory
    if options.operation == "rename":
        goal.definition = json.dumps([options.new])
    if options.operation == "setup":
        goal.definition = _definition(options.definition)
        goal.minimum_history = options.history or 0
        if options.preview:
            goal.preview = True
            place = goal.nominal_pose.pose.position
            place.x, place.y, place.z = options.preview
    return goal


def _definition(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except OSError as error:
        raise BringupError(f"{text[1:]} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BringupError(f"{text[1:]} cannot be read: it is no text") from error


def object_row(item: SceneObject, now: float | None = None, frame: str = "") -> Row:
    """An object in plain values; lengths in metres, times in seconds, None where not known."""
    state = _STATES[item.state] if item.state < len(_STATES) else f"state {item.state}"
    return {
        "name": item.name,
        "class": item.class_id,
        "state": state,
        "position": _position(item.pose),
        "orientation": _orientation(item.pose),
        "frame": frame,
        "shape": _SHAPE_NAMES.get(item.shape.type, "unknown shape"),
        "dimensions": list(item.shape.dimensions),
        **_extents(item),
        "confidence": round(float(item.confidence), 3),
        "age": None if now is None else round(now - seconds(item.last_seen), 3),
        "held_by": item.attached_link,
        "kind": item.kind,
        "sources": list(item.sources),
        "text": item.text,
    }


def object_rows(message: SceneObjectArray, names: Sequence[str] = ()) -> list[Row]:
    """The objects of a snapshot, or those with these names."""
    now, frame = seconds(message.header.stamp), message.header.frame_id
    return [
        object_row(item, now, frame) for item in message.objects if not names or item.name in names
    ]


def targets_on(support: Row, rows: Mapping[str, Row]) -> dict[str, str]:
    """Where the centres of other objects rest when they are placed on one, as trees write it:
    `frame;x;y;z` [m]. They are taken to stand as they do now.

    Args:
        support: what they are placed on.
        rows: all objects, by name.
    """
    x, y, _ = support["position"]
    return {
        name: f"{support['frame']};{x:g};{y:g};{support['top'] + row['height'] / 2:.4g}"
        for name, row in rows.items()
        if name != support["name"] and row["height"] and support["top"] is not None
    }


def _extents(item: SceneObject) -> Row:
    """Edges of the object's box [m], and how high it reaches as it stands [m]; None: not known."""
    edges = box_edges(item)
    if edges is None:
        return {"size": None, "height": None, "bottom": None, "top": None}
    turn, z = item.pose.orientation, item.pose.position.z
    if item.shape.type == SolidPrimitive.SPHERE:
        half = edges[0] / 2
    else:  # the third row of the rotation matrix: how far each own axis reaches upwards
        upwards = (
            2 * (turn.x * turn.z - turn.w * turn.y),
            2 * (turn.y * turn.z + turn.w * turn.x),
            1 - 2 * (turn.x**2 + turn.y**2),
        )
        half = sum(abs(part) * edge for part, edge in zip(upwards, edges, strict=True)) / 2
    return {
        "size": [round(edge, 4) for edge in edges],
        "height": round(2 * half, 4),
        "bottom": round(z - half, 4),
        "top": round(z + half, 4),
    }


def track_rows(message: SceneTrackArray) -> list[Row]:
    """Tracks in plain values."""
    now = seconds(message.header.stamp)
    return [
        {
            "name": track.id,
            "class": track.class_id,
            "state": "stable" if track.stable else "unsure",
            "position": _position(track.pose),
            "confidence": round(float(track.confidence), 3),
            "age": round(now - seconds(track.last_seen), 3),
            "detections": track.history,
            "frequency": round(float(track.frequency), 2),
        }
        for track in message.tracks
    ]


def sighting_row(item: Sighting) -> Row:
    """A sighting in plain values."""
    return {
        "name": item.name,
        "class": item.class_id,
        "time": seconds(item.pose.header.stamp),
        "frame": item.pose.header.frame_id,
        "position": _position(item.pose.pose),
        "orientation": _orientation(item.pose.pose),
        "confidence": round(float(item.confidence), 3),
    }


def answer_row(answer: SceneAnswer) -> Row:
    """An answer in plain values; what is not finite is null in JSON."""
    mean = [_finite(round(float(part), 4)) for part in answer.mean_hsv]
    return {
        "answer": answer.answer,
        "value": _finite(answer.value),
        "mean_hsv": mean if any(part is not None for part in mean) else None,
        "revision": answer.revision,
        "time": seconds(answer.stamp),
        "text": answer.text,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _position(pose: Any) -> list[float]:
    return [round(part, 4) for part in (pose.position.x, pose.position.y, pose.position.z)]


def _orientation(pose: Any) -> list[float]:
    turn = pose.orientation
    return [round(part, 4) for part in (turn.x, turn.y, turn.z, turn.w)]
