# SPDX-License-Identifier: Apache-2.0
"""Steps of a mission, as a person writes them down::

steps:
- load_map: hall
- navigate: {x: 1.0, y: 2.0, yaw: 1.57}
- route: [[3.0, 2.0], [4.0, 2.0, 0.0]]
- run: tidy_up
with: {max_failures: 5}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from behavior_bringup.errors import UsageError
from behavior_packages.bounded_yaml import read_yaml
from behavior_packages.validation import faults

_Point = Annotated[tuple[FiniteFloat, ...], Field(min_length=2, max_length=3)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Place(_Strict):
    """Where to."""

    x: FiniteFloat
    """[m]"""
    y: FiniteFloat
    """[m]"""
    yaw: FiniteFloat = 0.0
    """[rad]"""
    frame: str = Field(default="map", min_length=1)


class Step(_Strict):
    """One of the four."""

    navigate: Place | None = None
    route: tuple[_Point, ...] | None = Field(default=None, min_length=1)
    """x and y [m], and yaw [rad] where it matters."""
    frame: str = Field(default="map", min_length=1)
    """Of the route."""
    load_map: str | None = Field(default=None, min_length=1)
    run: str | None = Field(default=None, min_length=1)
    """Name of a mission of the catalogue."""
    parameters: dict[str, str | int | float | bool] = Field(default={}, validation_alias="with")
    """For the blackboard of its tree."""

    @model_validator(mode="after")
    def _one_of_the_four(self) -> Step:
        given = [self.navigate, self.route, self.load_map, self.run]
        if sum(each is not None for each in given) != 1:
            raise ValueError("a step is one of navigate, route, load_map and run")
        return self

    @property
    def texts(self) -> dict[str, str]:
        """The parameters as text."""
        return {
            key: str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in self.parameters.items()
        }


class _File(_Strict):
    steps: list[Step] = Field(min_length=1)


def read_steps(file: Path) -> list[Step]:
    """The steps in a file.

    Raises:
        UsageError: the file cannot be read, or something in it is wrong; all of that at once.
    """
    try:
        return _File.model_validate(read_yaml(file.read_text(encoding="utf-8"))).steps
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{file}: {'; '.join(faults(error, 'the file'))}") from error
