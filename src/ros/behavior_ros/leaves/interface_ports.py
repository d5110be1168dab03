# SPDX-License-Identifier: Apache-2.0
"""Ports of a tree node made from an interface's fields, one per top-level field.

A port is called like its field. Where that name is taken (a result field like a goal field) or
impossible (``name``, which XML uses itself), the message's role stands in front: ``result_pose``,
``feedback_pose``, ``goal_name``.
"""

from __future__ import annotations

import enum
import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from behavior_ros.messages.field_values import (
    fit,
    item_type,
    message_from_text,
    messages_from_text,
    plain,
)
from behavior_ros.messages.interfaces import Field, Section, load_message
from behavior_tree import InputPort, OutputPort, PortInfo, TreeNode, Unsigned, register_converter
from behavior_tree.blackboard.frames import frame_keys, with_frames

_RESERVED = ("ID", "name")


@dataclass(frozen=True)
class FieldPort:
    """A port and the field it stands for."""

    port: str
    """Name of the port."""
    field: Field
    """Field of the message."""
    info: PortInfo
    """Declaration of the port."""


class FieldPorts:
    """Ports of a message."""

    ports: list[FieldPort]

    def infos(self) -> dict[str, PortInfo]:
        """Return the declarations by name."""
        return {entry.port: entry.info for entry in self.ports}

    def names(self) -> set[str]:
        """Return the names of the ports."""
        return set(self.infos())


class InputPorts(FieldPorts):
    """Fills a message from a node's input ports.

    Args:
        section: the message
        role: what the message is to the node: goal, request, message
        defaults: by port name: values for ports that the XML does not give
        required: names of ports that the XML must give
    """

    def __init__(
        self,
        section: Section,
        role: str,
        defaults: Mapping[str, Any],
        required: Sequence[str] = (),
    ) -> None:
        self._message = section.message
        self.ports = [
            _input(
                field, _free_name(field.port or field.name, role, ()), section, defaults, required
            )
            for field in section.fields
        ]
        known = [entry.port for entry in self.ports]
        for name in (*defaults, *required):
            if name not in known:
                raise ValueError(f"no port {name!r}: the ports are {', '.join(known) or 'none'}")

    def read(self, node: TreeNode) -> Any:
        """Return the message that the node's ports describe.

        Raises:
            ValueError: a value that does not fit its field
            PortError: from the tree, a value that is missing or of the wrong type
        """
        message = self._message()
        for entry in self.ports:
            # A port that is given must have a value: a key that nobody wrote is no default.
            if node.raw_port(entry.port) is None and not entry.info.required:
                continue
            try:
                value = _value(node, entry)
                holder = entry.field.holder(message)
                setattr(holder, entry.field.name, fit(value, entry.field.type))
            except ValueError as error:
                raise ValueError(f"port [{entry.port}]: {error}") from None
        return message


class OutputPorts(FieldPorts):
    """Writes a message's fields to a node's output ports.

    Args:
        section: the message
        role: what the message is to the node: result, response, feedback, message
        taken: names of ports that exist already
    """

    def __init__(self, section: Section, role: str, taken: set[str]) -> None:
        self.ports = []
        for field in section.fields:
            name = _free_name(field.port or field.name, role, taken)
            info = OutputPort(name, _port_type(field), description=field.description)
            self.ports.append(FieldPort(name, field, info))

    def write(self, node: TreeNode, message: Any) -> None:
        """Write every field whose port is connected."""
        for entry in self.ports:
            value = getattr(entry.field.holder(message), entry.field.name)
            node.set_output(entry.port, plain(value))


def _value(node: TreeNode, entry: FieldPort) -> Any:
    """What an input port says; poses in their frames' names, see `behavior_tree.blackboard.frames`.

    Raises:
        ValueError: a frame's name that nobody has written, or that is no text
        PortError: a value that is missing or of the wrong type
    """
    text = node.raw_port(entry.port)
    if entry.info.type in _TEXTS or text is None or not frame_keys(text):
        return node.get_input(entry.port)
    board = node.config().blackboard

    def frame(key: str) -> str:
        found = board.entry(key)
        if found is None or not isinstance(found.value, str):
            raise ValueError(f"{{{key}}} in '{text}' is no name of a frame: write one to '{key}'")
        return found.value

    return board.types.from_text(with_frames(text, frame), entry.info.type)


_TEXTS = (str, Any)
"""Types of ports whose text means what it says."""


def _free_name(name: str, role: str, taken: Sequence[str] | set[str]) -> str:
    return f"{role}_{name}" if name in taken or name in _RESERVED else name


def _input(
    field: Field,
    name: str,
    section: Section,
    defaults: Mapping[str, Any],
    required: Sequence[str],
) -> FieldPort:
    holder = field.holder(section.message())
    port_type = _enumeration(field, type(holder)) or _input_type(field)
    if name in required:
        info = InputPort(name, port_type, description=field.description)
    elif name in defaults:
        info = InputPort(name, port_type, _as_text(defaults[name]), field.description)
    else:
        own = getattr(holder, field.name)
        shown = (
            own if isinstance(own, (bool, int, float)) or (own and isinstance(own, str)) else None
        )
        default = port_type(shown) if isinstance(port_type, enum.EnumMeta) else shown
        info = InputPort(name, port_type, default, field.description)
    return FieldPort(name, field, info)


def _as_text(value: Any) -> str:
    """Return a default of a YAML file as it would stand in XML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) or (
        isinstance(value, list) and value and isinstance(value[0], dict)
    ):
        return f"json:{json.dumps(value)}"
    if isinstance(value, list):
        return ";".join(_as_text(item) for item in value)
    return str(value)


def _enumeration(field: Field, message: Any) -> Any:
    """Return an enumeration of the field's constants, None if they are none."""
    default = getattr(message(), field.name)
    if len(field.constants) < 2 or default not in field.constants.values():
        return None
    return enum.IntEnum(
        field.name,
        field.constants,
        module=message.__module__.split(".")[0],
        qualname=f"{message.__name__}.{field.name}",
    )


def _input_type(field: Field) -> Any:
    """As `_port_type`, but a list of texts may be a single one, as that of an object's name."""
    port_type = _port_type(field)
    return Any if port_type == list[str] else port_type


def _port_type(field: Field) -> Any:
    array = item_type(field.type)
    if array is None:
        return _scalar_type(field.type)
    item = _scalar_type(array[0])
    port_type = types.GenericAlias(list, (item,))
    if hasattr(item, "get_fields_and_field_types"):
        register_converter(port_type, lambda text: messages_from_text(item, text))
    return port_type


def _scalar_type(type_text: str) -> Any:
    if type_text == "boolean":
        return bool
    if type_text.startswith("uint") or type_text == "octet":
        return Unsigned
    if type_text.startswith("int"):
        return int
    if type_text.startswith(("float", "double")):
        return float
    if type_text.startswith(("string", "wstring")):
        return str
    message = load_message(type_text)
    register_converter(message, lambda text: message_from_text(message, text))
    return message
