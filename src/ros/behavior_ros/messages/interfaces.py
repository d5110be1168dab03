# SPDX-License-Identifier: Apache-2.0
"""What an interface type consists of: fields with types, defaults, descriptions and constants.

Types and defaults come from the generated classes, descriptions and which constants belong to which
field from the installed definition (``share/<package>/action/Pick.action``), as far as it is there.
A comment behind a field describes it; otherwise the lines right above it do. Constants belong to
the next field of the same type.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

_SECTIONS = {"action": ("Goal", "Result", "Feedback"), "srv": ("Request", "Response"), "msg": ("",)}
_LINE = re.compile(r"(?P<type>[\w/]+(?:<=\d+)?(?:\[[^\]]*\])?)\s+(?P<name>\w+)\s*(?P<rest>.*)")

_NESTED = re.compile(r"\w+/\w+")


class InterfaceError(ValueError):
    """There is no such interface; the message says what there is."""


class NotInstalledError(InterfaceError):
    """The package of the interface is not installed, or its version lacks the type."""


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    name: str
    """Name in the message."""
    type: str
    """Type as rclpy names it: double, sequence<geometry_msgs/Pose>, uint8[4]."""
    description: str = ""
    """The definition's comment."""
    constants: dict[str, int] = field(default_factory=dict)
    """Integers that have a name, if the field is an enumeration."""
    within: tuple[str, ...] = ()
    """Fields of the message that lead to the one which holds this field; empty: itself."""
    port: str = ""
    """Name of its port; empty: its own."""

    def holder(self, message: Any) -> Any:
        """Return the message that holds this field: the given one, or one within it."""
        return reduce(getattr, self.within, message)


@dataclass(frozen=True)
class Section:
    """One message of an interface: a goal, a response, or the message itself."""

    message: Any
    """Generated class."""
    fields: tuple[Field, ...]
    """Fields in the order of the definition."""


def split_name(name: str, kind: str) -> tuple[str, str]:
    """Return package and type of ``package/kind/Type`` (or ``package/Type``).

    Raises:
        InterfaceError: if the name has another form or is of another kind
    """
    parts = name.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    if len(parts) != 3 or not all(parts) or parts[1] != kind:
        raise InterfaceError(f"{name!r} is no {kind} type: write package/{kind}/Type")
    return parts[0], parts[2]


@cache
def load_interface(name: str, kind: str) -> tuple[Any, tuple[Section, ...]]:
    """Import an interface.

    Args:
        name: like ``behavior_msgs/action/Pick``
        kind: action, srv or msg

    Returns:
        the generated class, and its messages: goal, result and feedback; request and response; or
        the message alone

    Raises:
        NotInstalledError: unknown package or type
        InterfaceError: the name is no name of a type
    """
    package, type_name = split_name(name, kind)
    try:
        module = importlib.import_module(f"{package}.{kind}")
    except ImportError as error:
        raise NotInstalledError(
            f"{name}: {error}; build package {package} and activate the environment"
        ) from error
    made = getattr(module, type_name, None)
    if made is None:
        known = [entry for entry in dir(module) if entry[0].isupper()]
        near = difflib.get_close_matches(type_name, known, n=3, cutoff=0.4) or known[:10]
        raise NotInstalledError(f"{name}: no such type; {package} has {', '.join(near)}")
    texts = _definition(package, kind, type_name)
    messages = [getattr(made, part) if part else made for part in _SECTIONS[kind]]
    return made, tuple(
        Section(message, _fields(message, texts[index] if index < len(texts) else ""))
        for index, message in enumerate(messages)
    )


def inlined(sections: Sequence[Section], names: Sequence[str]) -> tuple[Section, ...]:
    """Put the fields of nested messages in the place of the fields that hold them.

    Args:
        sections: of an interface
        names: fields to be replaced, in any section; fields of nested messages may be among them

    Raises:
        InterfaceError: a name that no section has, that holds no message, or two fields of one name
    """
    missing = set(names)
    done = tuple(
        Section(section.message, tuple(_inline(section.fields, names, missing)))
        for section in sections
    )
    if missing:
        known = sorted({entry.name for section in sections for entry in section.fields})
        raise InterfaceError(
            f"inline: no message in field {', '.join(sorted(missing))}; the fields are "
            f"{', '.join(known)}"
        )
    for section in done:
        ports = [entry.name for entry in section.fields]
        twice = sorted({name for name in ports if ports.count(name) > 1})
        if twice:
            raise InterfaceError(f"inline: field {', '.join(twice)} comes twice; leave one nested")
    return done


def with_ports(sections: Sequence[Section], ports: Mapping[str, str]) -> tuple[Section, ...]:
    """Name the ports of fields otherwise than the fields.

    Args:
        sections: of an interface
        ports: by the name of a field, in any section, or of one section: ``result.path``

    Raises:
        InterfaceError: a name that no section has
    """
    roles = {2: _SECTIONS["srv"], 3: _SECTIONS["action"]}[len(sections)]
    known = {entry.name for section in sections for entry in section.fields}
    missing = set(ports) - known
    named = []
    for role, section in zip(roles, sections, strict=True):
        own = {entry.name: f"{role.lower()}.{entry.name}" for entry in section.fields}
        missing -= set(own.values())
        fields = (
            replace(each, port=ports.get(own[each.name], ports.get(each.name, "")))
            for each in section.fields
        )
        named.append(replace(section, fields=tuple(fields)))
    if missing:
        raise InterfaceError(
            f"ports: no field {', '.join(sorted(missing))}; the fields are "
            f"{', '.join(sorted(known))}"
        )
    return tuple(named)


def _inline(fields: Sequence[Field], names: Sequence[str], missing: set[str]) -> list[Field]:
    made: list[Field] = []
    for entry in fields:
        if entry.name not in names or not _NESTED.fullmatch(entry.type):
            made.append(entry)
            continue
        missing.discard(entry.name)
        package, name = entry.type.split("/")
        _, (section,) = load_interface(f"{package}/msg/{name}", "msg")
        within = (*entry.within, entry.name)
        inner = [replace(each, within=within) for each in section.fields]
        made += _inline(inner, [other for other in names if other != entry.name], missing)
    return made


def check_condition(section: Section, paths: Iterable[str]) -> None:
    """Check that the fields of a condition are there, which is looked at when messages come.

    Args:
        section: the message
        paths: names of fields, nested with dots

    Raises:
        InterfaceError: there is no such field
    """
    for path in paths:
        part: Any = section.message()
        for name in str(path).split("."):
            fields: dict[str, str] = getattr(part, "get_fields_and_field_types", dict)()
            if name not in fields:
                known = ", ".join(fields) or "none"
                raise InterfaceError(f"condition: no field {path}; the fields are {known}")
            part = getattr(part, name)


def load_message(type_text: str) -> Any:
    """Return the class of a field's type like ``geometry_msgs/Pose``."""
    package, name = type_text.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def constant_name(message: Any, value: int) -> str | None:
    """Return the name of an integer constant of a message class, None if it has none."""
    for name in dir(message):
        if name.isupper() and name != "SLOT_TYPES" and getattr(message, name) == value:
            return name
    return None


def code_text(message: Any, code: int) -> str:
    """A result's code in words: the name of its constant; without one `code 7`."""
    return constant_name(message, code) or f"code {code}"


def _definition(package: str, kind: str, name: str) -> list[str]:
    try:
        share = Path(get_package_share_directory(package))
        text = (share / kind / f"{name}.{kind}").read_text(encoding="utf-8")
    except (PackageNotFoundError, OSError):
        return []
    return re.split(r"^---.*$", text, flags=re.MULTILINE)


def _fields(message: Any, text: str) -> tuple[Field, ...]:
    notes = _notes(text)
    made = []
    for name, type_text in message.get_fields_and_field_types().items():
        description, constants = notes.get(name, ("", {}))
        made.append(Field(name, type_text, description, constants))
    return tuple(made)


def _notes(text: str) -> dict[str, tuple[str, dict[str, int]]]:
    """Return description and constants by field name."""
    notes: dict[str, tuple[str, dict[str, int]]] = {}
    above: list[str] = []
    constants: dict[str, tuple[str, int]] = {}
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        match = _LINE.match(code.strip())
        if match is None:
            above = [*above, comment.strip()] if comment.strip() else []
            continue
        type_text, name, rest = match["type"], match["name"], match["rest"]
        if rest.startswith("="):
            if re.fullmatch(r"=\s*-?\d+\s*", rest):
                constants[name] = (type_text, int(rest[1:]))
        else:
            own = {key: value for key, (of, value) in constants.items() if of == type_text}
            notes[name] = (comment.strip() or " ".join(above), own)
            constants = {}
        above = []
    return notes
