# SPDX-License-Identifier: Apache-2.0
"""Shapes that were asked about lately, with what was found in them: for whoever draws them."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_motion.collision.convex import ConvexShape
from behavior_scene.detections import Array
from behavior_scene.questions.questions import Answer, Question

SHOWN = 3.0
"""[s] a shape is shown after the last answer."""
MOST_SHOWN = 50
"""Shapes at a time; of more the newest."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownShape:
    """A shape with its newest answer."""

    key: str
    """Tells it from the other shapes that are asked about."""
    question: Question
    shape: ConvexShape
    world_T_shape: Array
    """4x4 [m]."""
    answer: Answer


class ShownShapes:
    """Remembers them for a while."""

    def __init__(self) -> None:
        self._shapes: dict[str, tuple[ShownShape, float]] = {}

    def show(self, shape: ShownShape, now: float) -> None:
        """Show a shape from now [s] on; it takes the place of the one with its key."""
        self._shapes.pop(shape.key, None)
        self._shapes[shape.key] = (shape, now)
        if len(self._shapes) > MOST_SHOWN:
            del self._shapes[next(iter(self._shapes))]

    def at(self, now: float) -> list[ShownShape]:
        """What is to be shown now [s]."""
        self._shapes = {
            key: entry for key, entry in self._shapes.items() if abs(now - entry[1]) <= SHOWN
        }
        return [shape for shape, _ in self._shapes.values()]
