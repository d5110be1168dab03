# SPDX-License-Identifier: Apache-2.0
"""Declaration of ports, and the meaning of what stands in their XML attributes.

A node class declares its ports::

    ports = ports_list(
        InputPort("target", str, description="object to grasp"),
        InputPort("speed", float, default=0.5, description="fraction of the limit, 0..1"),
        OutputPort("grasp", Grasp, description="the pose that was chosen"),
    )

or, as in BehaviorTree.CPP, returns them from its class method ``provided_ports()``.

An input without ``default`` is mandatory; ``default=None`` makes it optional without a value.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from behavior_tree.basic_types import PortDirection
from behavior_tree.errors import LogicError

RESERVED_ATTRIBUTES = frozenset(
    {"ID", "name", "_autoremap", "_failureIf", "_successIf", "_skipIf", "_while"}
    | {"_onHalted", "_onFailure", "_onSuccess", "_post"}
)
_FORBIDDEN = re.compile(r"[\x00-\x20<>&\"'/\\:*?|.\x7f]")
_PORT_NAME = re.compile(r"[A-Za-z][^\x00-\x20<>&\"'/\\:*?|.\x7f]*")


class _Required:
    """Marker of an input that the XML must give."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()


@dataclass(frozen=True)
class PortInfo:
    """One port of a node type."""

    name: str
    direction: PortDirection
    type: Any = Any
    """``typing.Any`` or a class; see `behavior_tree.blackboard.conversion`."""
    default: Any = None
    """`REQUIRED`, None (no value), text as it would stand in the XML, or a value of the type."""
    description: str = ""

    @property
    def typed(self) -> bool:
        """False for a port that takes anything."""
        return self.type is not Any

    @property
    def required(self) -> bool:
        """True if the XML must give the port."""
        return self.default is REQUIRED

    @property
    def default_text(self) -> str | None:
        """The default as XML text; None if there is none or it cannot be written as text."""
        writable = isinstance(self.default, str | bool | int | float | enum.Enum | list | tuple)
        return value_to_text(self.default) if writable else None


PortsList = dict[str, PortInfo]


def InputPort(
    name: str, type: Any = Any, default: Any = REQUIRED, description: str = ""
) -> PortInfo:
    """Declare a port that the node reads."""
    return _port(name, PortDirection.INPUT, type, default, description)


def OutputPort(name: str, type: Any = Any, default: Any = None, description: str = "") -> PortInfo:
    """Declare a port that the node writes; a default must be a blackboard key ``"{key}"``."""
    if default is not None and not (isinstance(default, str) and is_pointer(default)):
        raise LogicError(
            f'default {default!r} of output port [{name}] must be a blackboard key: "{{key}}"'
        )
    return _port(name, PortDirection.OUTPUT, type, default, description)


def BidirectionalPort(
    name: str, type: Any = Any, default: Any = REQUIRED, description: str = ""
) -> PortInfo:
    """Declare a port that the node reads and writes."""
    return _port(name, PortDirection.INOUT, type, default, description)


def ports_list(*ports: PortInfo) -> PortsList:
    """Collect ports into the dictionary ``ports`` of a node class; refuses duplicates."""
    result: PortsList = {}
    for port in ports:
        if port.name in result:
            raise LogicError(f"port [{port.name}] is declared twice")
        result[port.name] = port
    return result


def as_ports_list(ports: Any) -> PortsList:
    """Accept a dictionary, an iterable of PortInfo or None."""
    if ports is None:
        return {}
    return ports_list(*(ports.values() if isinstance(ports, Mapping) else ports))


def _port(
    name: str, direction: PortDirection, port_type: Any, default: Any, description: str
) -> PortInfo:
    mistake = port_name_mistake(name)
    if mistake:
        raise LogicError(mistake)
    return PortInfo(name, direction, Any if port_type is None else port_type, default, description)


def port_name_mistake(name: str) -> str | None:
    """What is wrong with a port name; None if it is good."""
    if not name:
        return "Port name cannot be empty"
    if name in RESERVED_ATTRIBUTES:
        return f"Port name [{name}] is a reserved attribute name"
    if not (name[0].isascii() and name[0].isalpha()):
        return f"Port name [{name}] must start with an ASCII letter, not a digit or underscore"
    bad = forbidden_character(name)
    return f"Port name [{name}] contains forbidden character {bad!r}" if bad else None


def model_name_mistake(name: str) -> str | None:
    """What is wrong with a tree ID or node type name; None if it is good."""
    if not name:
        return "Model/Node type name cannot be empty"
    if name in ("Root", "root"):
        return f"'{name}' is a reserved name, it cannot be a tree ID or a node type"
    bad = forbidden_character(name)
    return f"Model name '{name}' contains forbidden character {bad!r}" if bad else None


def model_name_works(name: str) -> bool:
    """True if only BehaviorTree.CPP from 4.9 on minds the name of a tree or node type: it holds a
    blank, say. What paths and patterns are made of does harm here, too.
    """
    bad = [each for each in name if forbidden_character(each)]
    return bool(bad) and all(each.isprintable() and each not in "/*?" for each in bad)


def forbidden_character(name: str) -> str | None:
    """First character that names may not contain."""
    found = _FORBIDDEN.search(name)
    return found[0] if found else None


def is_port_attribute(name: str, *, any_name: bool = False) -> bool:
    """True if an XML attribute of this name can only be a port.

    Args:
        name: of the attribute
        any_name: all that counts is a letter in front, quirk `names_unchecked`
    """
    if name in RESERVED_ATTRIBUTES:
        return False
    if any_name:
        return name[:1].isascii() and name[:1].isalpha()
    return _PORT_NAME.fullmatch(name) is not None


def is_pointer(text: str) -> bool:
    """True if a port's text addresses the blackboard: ``{key}``, ``{=}``."""
    text = text.strip(" ")
    return len(text) >= 3 and text[0] == "{" and text[-1] == "}"


def pointer_key(text: str, port_name: str) -> str | None:
    """Blackboard key in a port's text, None for a literal. ``{=}`` and ``=`` mean the port's own
    name.
    """
    if "{" not in text:
        return port_name if text == "=" else None
    key = (_key if len(text) < _LONG else braced_key)(text)
    return port_name if key == "=" else key


def braced_key(text: str) -> str | None:
    """Key between braces as it stands there, None for a literal; ``=`` means nothing special."""
    text = text.strip(" ")
    return text[1:-1] if len(text) >= 3 and text[0] == "{" and text[-1] == "}" else None


_LONG = 100
"""Texts that are not worth remembering [characters]."""
_key = lru_cache(maxsize=4096)(braced_key)


def value_to_text(value: Any) -> str:
    """XML text of a default or literal value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, list | tuple):
        return ";".join(map(value_to_text, value))
    return str(value)
