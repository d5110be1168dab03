# SPDX-License-Identifier: Apache-2.0
"""How parts of a description become dataclasses, with errors that name file and field."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

_T = TypeVar("_T")
Vector = tuple[float, ...]


class WorldError(ValueError):
    """A world's description is wrong; the message names file, field and remedy."""


def build(cls: type[_T], data: Any, where: str, **given: Any) -> _T:
    """`cls` of the mapping `data` with the members `given` already built.

    Raises:
        WorldError: names what is missing or unknown.
    """
    if not isinstance(data, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {data!r}")
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(str(key) for key in set(data) - set(fields))
    if unknown:
        raise WorldError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(fields)}")
    required = [
        f.name
        for f in fields.values()
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in required if name not in data and name not in given]
    if missing:
        raise WorldError(f"{where}: {', '.join(missing)} missing")
    return cls(**{**{key: _tuples(value) for key, value in data.items()}, **given})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
