# SPDX-License-Identifier: Apache-2.0
"""Values of port types as JSON and back: plain ones by themselves, classes once registered.

An object is written with its fields and ``"__type"``, the name it is registered under, so that
what is read back is of the same class. A dataclass needs no functions for that.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from behavior_tree.errors import ConversionError, LogicError

TYPE_KEY = "__type"


@dataclass(frozen=True)
class _Definition:
    name: str
    to_json: Callable[[Any], Mapping[str, Any]]
    from_json: Callable[[dict[str, Any]], Any]


class JsonTypes:
    """Classes with a JSON form; those of `register_json_type` are always among them."""

    def __init__(self) -> None:
        self._by_type: dict[type[Any], _Definition] = {}
        self._by_name: dict[str, type[Any]] = {}

    def register(
        self,
        value_type: type[Any],
        to_json: Callable[[Any], Mapping[str, Any]] | None = None,
        from_json: Callable[[dict[str, Any]], Any] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Give a class a JSON form.

        Args:
            value_type: the class
            to_json: gives the fields of a value; None takes those of a dataclass
            from_json: makes a value of the fields; None calls the class with them as keywords
            name: the ``"__type"``; None takes the name of the class

        Raises:
            LogicError: no ``to_json`` for a class that is no dataclass, or the name is another's
        """
        if to_json is None and not dataclasses.is_dataclass(value_type):
            raise LogicError(f"{value_type.__name__} is no dataclass: give to_json and from_json")
        name = name or value_type.__name__
        if self._by_name.get(name, value_type) is not value_type:
            raise LogicError(f'JSON type name "{name}" is taken by {self._by_name[name]}')
        self._by_name[name] = value_type
        self._by_type[value_type] = _Definition(
            name, to_json or _fields, from_json or (lambda fields: value_type(**fields))
        )

    def knows(self, value_type: Any) -> bool:
        """True if values of exactly this class have a JSON form by registration."""
        return self._definition(value_type) is not None

    def to_json(self, value: Any) -> Any:
        """JSON form of a value: what `json.dumps` takes. Numbers that are not finite become None.

        Raises:
            ConversionError: it has none
        """
        if value is None or isinstance(value, str) or type(value) is bool:
            return value
        definition = self._definition(type(value))
        if definition is not None:
            fields = {key: self.to_json(item) for key, item in definition.to_json(value).items()}
            return {TYPE_KEY: definition.name, **fields}
        if isinstance(value, enum.Enum):
            return value.name
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if isinstance(value, list | tuple | deque):
            return [self.to_json(item) for item in list(value)]
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {key: self.to_json(item) for key, item in list(value.items())}
        raise ConversionError(
            f"[{type(value).__name__}] has no JSON form: register it with register_json_type"
        )

    def from_json(self, data: Any, value_type: Any = None) -> Any:
        """Value of what `to_json` gave.

        Args:
            data: as `json.loads` gives it
            value_type: class of an object without ``"__type"``

        Raises:
            ConversionError: the ``"__type"`` is unknown, or the fields do not fit
        """
        if isinstance(data, list):
            return [self.from_json(item) for item in data]
        if not isinstance(data, dict):
            return data
        if TYPE_KEY in data:
            name = data[TYPE_KEY]
            if not isinstance(name, str):
                raise ConversionError(f'"{TYPE_KEY}" is the name of a JSON type, not {name!r:.60}')
            value_type = self._by_name.get(name) or _SHARED._by_name.get(name)
            if value_type is None:
                raise ConversionError(
                    f'JSON type "{name}" is unknown: register it with register_json_type'
                )
        definition = self._definition(value_type)
        fields = {key: self.from_json(item) for key, item in data.items() if key != TYPE_KEY}
        if definition is None:
            return fields
        try:
            return definition.from_json(fields)
        except ConversionError:
            raise
        except Exception as error:
            raise ConversionError(f"{data} is no {definition.name}: {error}") from error

    def _definition(self, value_type: Any) -> _Definition | None:
        try:
            return self._by_type.get(value_type) or _SHARED._by_type.get(value_type)
        except TypeError:  # unhashable annotations
            return None


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


_SHARED = JsonTypes()

register_json_type = _SHARED.register
"""`JsonTypes.register` for every factory, present and future."""
