# SPDX-License-Identifier: Apache-2.0
"""What the specifications of pick and place have in common: filters, warnings, reading."""

from __future__ import annotations

import difflib
import itertools
import reprlib
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from behavior_ros.messages.sent_text import SentTextError, read_yaml, shown
from behavior_skills.orientations import DirectionConstraint, axis_filter, surprising
from behavior_skills.sentences import joined

MOST_WARNINGS = 20
"""Unknown keys that are spoken of."""
MOST_NAMES = 100
"""Things and parts that a specification names in one list."""

NotNegative = Annotated[FiniteFloat, Field(ge=0.0)]
Positive = Annotated[FiniteFloat, Field(gt=0.0)]
Length = Annotated[FiniteFloat, Field(ge=-10.0, le=10.0)]
"""[m]"""
Distance = Annotated[FiniteFloat, Field(ge=0.0, le=2.0)]
"""[m]"""
Weights = tuple[NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative]
"""Of rotation x y z and translation x y z."""
Name = Annotated[str, Field(min_length=1, max_length=256)]
NamePart = Annotated[
    str, Field(min_length=1, max_length=256, pattern=r"^\s*[^*?\[\]\s][^*?\[\]]*$")
]
"""Part of a name, no pattern: the empty one and ``*`` would be part of every name."""
Filter = Annotated[list[Any], Field(min_length=2, max_length=3)]
"""Direction and one or two angles [deg]."""
Seed = Annotated[int, Field(ge=0, lt=2**32)]


class SpecificationError(ValueError):
    """A specification cannot be used; the message lists everything that is wrong."""


class SkillSpecification(BaseModel):
    """Filters of the tool's orientation, and what is said about doubtful keys."""

    model_config = ConfigDict(extra="allow", frozen=True)

    skill: ClassVar[str]
    """Name of the skill, for messages."""
    without_effect: ClassVar[dict[str, str]] = {}
    """Keys that exist elsewhere but do nothing, with what to use instead."""

    filter_x_dir: Filter | None = None
    filter_y_dir: Filter | None = None
    filter_z_dir: Filter | None = None
    filter_convention: Literal["legacy", "cone"] = "legacy"
    """See `behavior_skills.orientations.axis_filter`."""

    def filters(self) -> list[tuple[str, list[Any]]]:
        """Axis of the tool and filter, where there is one."""
        given = {"x": self.filter_x_dir, "y": self.filter_y_dir, "z": self.filter_z_dir}
        return [(axis, value) for axis, value in given.items() if value is not None]

    def filter_problems(self) -> list[str]:
        """What is wrong with the filters."""
        problems = []
        for axis, value in self.filters():
            try:
                axis_filter(axis, value, self.filter_convention)
            except ValueError as error:
                problems.append(str(error))
        return problems

    def filter_constraints(self) -> list[DirectionConstraint]:
        """The filters as constraints on the tool's orientation in the base frame."""
        return [axis_filter(axis, value, self.filter_convention) for axis, value in self.filters()]

    def warnings(self) -> list[str]:
        """What is probably not meant: keys without effect and surprising angles."""
        unknown = itertools.islice(self.model_extra or {}, MOST_WARNINGS)
        found = [self._about_key(key) for key in unknown]
        surprises = (
            surprising(axis, value, self.filter_convention) for axis, value in self.filters()
        )
        return found + [warning for warning in surprises if warning]

    def _about_key(self, key: str) -> str:
        if key in self.without_effect:
            return f"'{key}' has no effect: {self.without_effect[key]}."
        near = difflib.get_close_matches(key, list(type(self).model_fields), 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        shown = reprlib.repr(key)
        return f"{shown} is not a key of the {self.skill} skill and has no effect.{hint}"


Specification = TypeVar("Specification", bound=SkillSpecification)


def read_specification(kind: type[Specification], text: str) -> Specification:
    """A specification from YAML text; raises `SpecificationError` with everything wrong in it."""
    try:
        return kind.model_validate(read_mapping(text))
    except ValidationError as error:
        raise SpecificationError(_sentence(error)) from error


def read_mapping(text: str) -> dict[str, Any]:
    """A mapping from YAML text that somebody has sent; raises `SpecificationError`."""
    try:
        values = read_yaml(text, "The specification")
    except SentTextError as error:
        raise SpecificationError(f"{error}.") from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise SpecificationError(
            f"The specification must be a mapping of keys to values, not {shown(values)}."
        )
    return values


def _sentence(error: ValidationError) -> str:
    parts = []
    for problem in error.errors():
        where = ".".join(str(step) for step in problem["loc"])
        what = problem["msg"].removeprefix("Value error, ").rstrip(".")
        got = reprlib.repr(problem["input"])
        parts.append(f"{where}: {what} (got {got})" if where else what)
    return f"The specification cannot be used: {joined(parts)}"
