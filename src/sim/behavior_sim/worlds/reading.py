# SPDX-License-Identifier: Apache-2.0
"""How parts of a description become dataclasses, with errors that name file and field."""

import dataclasses
import math
from collections.abc import Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
Vector = tuple[float, ...]
Pair = Annotated[Vector, 2]
"""Two numbers, as x and y or the ends of an interval."""
Triple = Annotated[Vector, 3]
"""Three numbers; none, where that is the member's default."""
_SCALARS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class WorldError(ValueError):
    """A world's description is wrong; the message names file, field and remedy."""


def build(cls: type[_T], data: Any, where: str, **given: Any) -> _T:
    """`cls` of the mapping `data` with the members `given` already built.

    Raises:
        WorldError: names what is missing, unknown, or no such thing as is wanted there.
    """
    data = mapping(data, where)
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
    kinds = _kinds(cls)  # type: ignore[arg-type]
    for key, value in data.items():
        if key in given or (isinstance(value, list) and tuple(value) == fields[key].default):
            continue
        if wanted := _wanted(value, kinds[key]):
            raise WorldError(f"{where}.{key}: {value!r}; give {wanted}{_hint(value)}")
    return cls(**{**{key: _tuples(value) for key, value in data.items()}, **given})


def mapping(data: Any, where: str) -> Mapping[str, Any]:
    """The mapping that must stand at a place.

    Raises:
        WorldError: it is none, or a key of it is no text.
    """
    if not isinstance(data, Mapping):
        raise WorldError(f"{where}: expected a mapping, got {data!r}")
    for key in data:
        if not isinstance(key, str):
            raise WorldError(f"{where}: the key {key!r} is no text; put it into quotes")
    return data


@lru_cache(maxsize=64)
def _kinds(cls: type[Any]) -> dict[str, Any]:
    """What each member of a dataclass is."""
    return get_type_hints(cls, include_extras=True)


def _wanted(value: Any, kind: Any) -> str:
    """What is wanted instead of a value, in plain words; empty: it will do."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        words = [_wanted(value, part) for part in parts]
        return " or ".join(filter(None, words)) if all(words) else ""
    if kind == tuple[str, ...]:
        texts = isinstance(value, list | tuple) and all(type(each) is str for each in value)
        return "" if texts else "a list of texts"
    if kind in _SCALARS:
        return "" if _is_scalar(value, kind) else _SCALARS[kind]
    if kind is NoneType:
        return "" if value is None else "null"
    if origin is Mapping:
        return _wanted_mapping(value, parts[1])
    length = parts[1] if origin is Annotated else None
    if kind == Vector or length is not None:
        numbers = isinstance(value, list | tuple) and all(
            _is_scalar(each, float) and abs(each) < math.inf for each in value
        )
        if numbers and length in (None, len(value)):
            return ""
        return f"a list of {length or ''} numbers".replace("  ", " ")
    return ""  # built or checked elsewhere


def _wanted_mapping(value: Any, kind: Any) -> str:
    if not isinstance(value, Mapping):
        return "a mapping"
    wrong = ((key, _wanted(each, kind)) for key, each in value.items())
    return next((f"for {key} {words}" for key, words in wrong if words), "")


def _is_scalar(value: Any, kind: type) -> bool:
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and not _is_nan(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _is_nan(value: float) -> bool:
    """Whether a number is none, or a whole one beyond what a float holds."""
    try:
        return math.isnan(value)
    except OverflowError:
        return True


def _hint(value: Any) -> str:
    """For numbers that YAML takes for texts."""
    texts = [each for each in (value if isinstance(value, list) else [value]) if type(each) is str]
    try:
        numbers = [float(each) for each in texts]
    except ValueError:
        return ""
    return ", without quotes, an exponent as in 1.0e-3" if numbers else ""


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
