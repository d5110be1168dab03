# SPDX-License-Identifier: Apache-2.0
"""What the scene's YAML files are read with: strict models, and errors that say what to mend."""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError
from scipy.spatial.transform import Rotation

from behavior_ros.messages.sent_text import shown
from behavior_scene.detections import Array
from behavior_scene.request_checks import GREATEST
from behavior_tree.shown_text import MOST_PROBLEMS

Number = Annotated[FiniteFloat, Field(ge=-GREATEST, le=GREATEST)]
Length = Annotated[FiniteFloat, Field(gt=0.0, le=GREATEST)]
"""[m], [rad] or [s], more than 0."""
NotNegative = Annotated[FiniteFloat, Field(ge=0.0, le=GREATEST)]
Count = Annotated[int, Field(ge=1, le=int(GREATEST))]
Unit = Annotated[FiniteFloat, Field(ge=0.0, le=1.0)]
Vector = tuple[Number, Number, Number]


class StrictModel(BaseModel):
    """Frozen, and nothing but the known keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class FixedPose(StrictModel):
    """A pose that does not change."""

    position: Vector = (0.0, 0.0, 0.0)
    """[m]"""
    rpy: Vector = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw: turns about the fixed x, y, z axes in this order [rad]."""

    def matrix(self) -> Array:
        """4x4, read-only."""
        return _matrix(self.position, self.rpy)


@functools.lru_cache(maxsize=1024)
def _matrix(position: Vector, rpy: Vector) -> Array:
    """See `FixedPose.matrix`.

    Every snapshot asks for that of every zone, and SciPy takes long over one rotation. Kept by its
    numbers, not in the model: that is compared by its fields, and may be copied with others.
    """
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()
    pose[:3, 3] = position
    pose.flags.writeable = False
    return pose


M = TypeVar("M")


def validated(model: type[M], data: Any, where: str) -> M:
    """A model, or dataclass, from parsed YAML.

    Args:
        model: what is expected.
        data: what was read.
        where: file and place in it, for the error.

    Raises:
        ValueError: one line per problem, each with `where`, the key, and what to write.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{where}: write a mapping of keys and values, not {shown(data)}")
    try:
        return TypeAdapter(model).validate_python(data)
    except ValidationError as error:
        raise ValueError("\n".join(_problems(model, error, where))) from error


def _problems(model: type[Any], error: ValidationError, where: str) -> Iterator[str]:
    found = error.errors(include_url=False)
    for problem in found[:MOST_PROBLEMS]:
        path = ".".join(str(part) for part in problem["loc"])
        if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            yield f"{where}: unknown key {shown(path)}{_remedy(model, problem['loc'])}"
        elif problem["type"] in ("missing", "missing_argument"):
            yield f"{where}: the key {path!r} is missing"
        else:
            said = problem["msg"].removeprefix("Value error, ")
            yield f"{where}: {path or 'all'}: {said}, not {shown(problem['input'])}"
    if len(found) > MOST_PROBLEMS:
        yield f"{where}: and {len(found) - MOST_PROBLEMS} more problems"


def _remedy(model: type[Any], path: tuple[int | str, ...]) -> str:
    """Which key may have been meant; known for the outermost ones only."""
    if len(path) != 1:
        return ""
    if dataclasses.is_dataclass(model):
        known = sorted(entry.name for entry in dataclasses.fields(model))
    else:
        known = sorted(getattr(model, "model_fields", {}))
    near = difflib.get_close_matches(str(path[0]), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
