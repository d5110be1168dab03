# SPDX-License-Identifier: Apache-2.0
"""Objects as they are kept in the memory: text in, text out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from behavior_motion.object_state import ObjectState
from behavior_scene.detections import Array, frozen
from behavior_scene.library import SHAPE_SIZES, Color, Shape
from behavior_scene.objects.definitions import Definition, DefinitionError, definitions_from
from behavior_scene.objects.records import ObjectRecord


class SavedObjectError(ValueError):
    """What was saved cannot be read; the message tells which object and why."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedObject:
    """What is kept of an object. Attachments are not: the hand may hold something else by then."""

    name: str
    definition: Definition | None
    class_id: str
    world_T_object: Array
    frozen: bool
    shape: Shape
    color: Color
    confidence: float
    last_seen: float
    followed: str = ""
    """Track that an automatic object follows; empty: the one of its name."""

    @classmethod
    def of(cls, record: ObjectRecord, world_T_object: Array, state: ObjectState) -> SavedObject:
        """An object as it is."""
        return cls(
            name=record.name,
            definition=record.definition,
            class_id=record.class_id,
            world_T_object=world_T_object,
            frozen=state is ObjectState.FROZEN,
            shape=record.shape,
            color=record.color,
            confidence=record.mean_confidence(),
            last_seen=record.last_seen,
            followed=record.followed if record.definition is None else "",
        )

    def record(self, text: str) -> ObjectRecord:
        """The object again, not seen since; `text` is what is to be said of it."""
        pose = frozen(self.world_T_object)
        return ObjectRecord(
            name=self.name,
            definition=self.definition,
            world_T_object=pose,
            class_id=self.class_id,
            shape=self.shape,
            color=self.color,
            confidence=self.confidence,
            last_seen=self.last_seen,
            frozen_pose=pose if self.frozen else None,
            restored=text,
            sources=(self.followed,) if self.followed else (),
        )

    def text(self) -> str:
        """JSON."""
        definition = self.definition
        dumped = None if definition is None else definition.model_dump(mode="json", by_alias=True)
        return json.dumps(
            {
                "name": self.name,
                "definition": dumped,
                "class": self.class_id,
                "pose": self.world_T_object.tolist(),
                "frozen": self.frozen,
                "shape": [self.shape.kind, *self.shape.size],
                "color": list(self.color),
                "confidence": self.confidence,
                "last_seen": self.last_seen,
                "followed": self.followed,
            }
        )


def saved_object(text: str) -> SavedObject:
    """An object from JSON; raises `SavedObjectError`."""
    try:
        data: dict[str, Any] = json.loads(text)
        name, definition = str(data["name"]), None
        if data["definition"] is not None:
            definition = definitions_from({name: data["definition"]}, "memory")[name]
        kind, *size = data["shape"]
        red, green, blue, alpha = (float(part) for part in data["color"])
        return SavedObject(
            name=name,
            definition=definition,
            class_id=str(data["class"]),
            world_T_object=_pose(data["pose"]),
            frozen=bool(data["frozen"]),
            shape=_shape(kind, size),
            color=(red, green, blue, alpha),
            confidence=float(data["confidence"]),
            last_seen=float(data["last_seen"]),
            followed=str(data.get("followed", "")),  # those of before were called like their tracks
        )
    except (ValueError, KeyError, TypeError, DefinitionError) as error:
        raise SavedObjectError(f"a saved object is damaged ({error}): {text[:120]}") from error


def _pose(numbers: Any) -> Array:
    pose = np.array(numbers, dtype=np.float64)
    turn = pose[:3, :3] if pose.shape == (4, 4) else np.zeros((3, 3))
    if not np.all(np.isfinite(pose)) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-6):
        raise ValueError("its pose is none")
    return frozen(pose)


def _shape(kind: str, size: list[float]) -> Shape:
    if len(size) != {**SHAPE_SIZES, "none": 0}[kind]:
        raise ValueError(f"a {kind} with {len(size)} dimensions")
    return Shape(kind, tuple(float(edge) for edge in size))
