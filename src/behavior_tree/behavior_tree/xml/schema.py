# SPDX-License-Identifier: Apache-2.0
"""XML Schema (XSD 1.0) of the tree files that a factory can load, for editors and validators.

Unlike BehaviorTree.CPP's, it knows the explicit syntax and SubTree models, wants only what is
really mandatory, and counts children.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Protocol

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.blackboard.conversion import TypeRegistry, Unsigned
from behavior_tree.blackboard.ports import PortInfo, is_pointer
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.xml.elements import CONDITION_ATTRIBUTES, EXPLICIT_TAGS
from behavior_tree.xml.escape import escape


class NodeTypes(Protocol):
    """A `BehaviorTreeFactory`, as far as a schema shows it."""

    @property
    def types(self) -> TypeRegistry: ...

    def manifests(self) -> Mapping[str, TreeNodeManifest]: ...


_POINTER = r"\s*\{.+\}\s*|="
_LITERALS = {
    bool: "0|1|true|TRUE|True|false|FALSE|False",
    int: r"\s*-?[0-9]+\s*",
    Unsigned: r"\s*[0-9]+\s*",
    float: r"\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?\s*"
    r"|\s*-?([iI][nN][fF]|[nN][aA][nN])\s*",
}
_NAMES = {bool: "boolean", int: "integer", Unsigned: "unsigned", float: "number"}
_EDITOR_ATTRIBUTES = ("_uid", "_fullpath", "_description", "_color", "_collapsed")
_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">"""
_ROOT = """\
  <xs:element name="root">
    <xs:complexType>
      <xs:sequence>
        <xs:group ref="document" minOccurs="0" maxOccurs="unbounded"/>
        <xs:sequence minOccurs="0">
          <xs:element name="TreeNodesModel" type="modelType"/>
          <xs:group ref="document" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence>
      </xs:sequence>
      <xs:attribute name="BTCPP_format" use="required" fixed="4"/>
      <xs:attribute name="main_tree_to_execute" type="xs:string"/>
      <xs:attribute name="project_name" type="xs:string"/>
      <xs:anyAttribute namespace="##other" processContents="skip"/>
    </xs:complexType>
  </xs:element>
  <xs:group name="document">
    <xs:choice>
      <xs:element name="include">
        <xs:complexType>
          <xs:attribute name="path" type="xs:string" use="required"/>
          <xs:attribute name="ros_pkg" type="xs:string"/>
        </xs:complexType>
      </xs:element>
      <xs:element name="BehaviorTree">
        <xs:complexType>
          <xs:group ref="node"/>
          <xs:attribute name="ID" type="idType"/>
          <xs:attributeGroup ref="editor"/>
        </xs:complexType>
      </xs:element>
    </xs:choice>
  </xs:group>
  <xs:complexType name="modelType">
    <xs:sequence>
      <xs:any minOccurs="0" maxOccurs="unbounded" processContents="skip"/>
    </xs:sequence>
    <xs:anyAttribute processContents="skip"/>
  </xs:complexType>
  <xs:complexType name="SubTreeType">
    <xs:attribute name="ID" type="idType" use="required"/>
    <xs:attribute name="name" type="xs:string"/>
    <xs:anyAttribute processContents="skip"/>
  </xs:complexType>
  <xs:simpleType name="idType">
    <xs:restriction base="xs:string">
      <xs:pattern value="[^\\s&lt;&gt;&amp;&quot;'/\\\\:*?|.]+"/>
    </xs:restriction>
  </xs:simpleType>"""


def write_tree_xsd(factory: NodeTypes) -> str:
    """An XSD document for the trees that a factory can load, its node types sorted by ID."""
    types = _Types(factory.types.enums)
    known = sorted(factory.manifests().values(), key=lambda each: each.registration_id)
    bodies = [line for manifest in known for line in _node_type(manifest, types)]
    lines = [_HEAD, _ROOT, *_attribute_groups(), *_node_group(known), *_explicit(known), *bodies]
    return "\n".join([*lines, *types.lines(), "</xs:schema>", ""])


class _Types:
    """Simple types of ports, each defined once, those that are used."""

    def __init__(self, enums: Mapping[str, int]) -> None:
        self._enums = enums
        self._used: dict[str, list[str]] = {}

    def name(self, port_type: Any) -> str:
        """Name of the type of a port's attribute."""
        if port_type in (bool, int, Unsigned, float):
            pattern = "|".join(
                [_LITERALS[port_type], _POINTER, *map(_literally, self._numbers(port_type))]
            )
            return self._define(f"{_NAMES[port_type]}OrKey", _pattern(pattern))
        if isinstance(port_type, type) and issubclass(port_type, enum.Enum):
            numbers = "" if port_type is NodeStatus else "|-?[0-9]+"
            names = "|".join(map(_literally, [*port_type.__members__, *self._numbers(port_type)]))
            return self._define(
                f"{port_type.__name__}OrKey", _pattern(f"{names}{numbers}|{_POINTER}")
            )
        return "xs:string"

    def key(self) -> str:
        """Name of the type of attributes that must name a blackboard entry."""
        return self._define("Key", _pattern(_POINTER))

    def _numbers(self, port_type: Any) -> list[str]:
        return [] if port_type in (bool, NodeStatus) else sorted(self._enums)

    def _define(self, name: str, body: str) -> str:
        kept = self._used.setdefault(name, [])
        if body not in kept:  # enums of the same name from different modules
            kept.append(body)
        number = kept.index(body)
        return f"{name}{number + 1}" if number else name

    def lines(self) -> list[str]:
        """Definitions."""
        found = []
        for name, bodies in sorted(self._used.items()):
            for number, body in enumerate(bodies):
                label = f"{name}{number + 1}" if number else name
                found += [f'  <xs:simpleType name="{label}">', body, "  </xs:simpleType>"]
        return found


def _pattern(pattern: str) -> str:
    return (
        '    <xs:restriction base="xs:string">\n'
        f'      <xs:pattern value="{_text(pattern)}"/>\n'
        "    </xs:restriction>"
    )


def _literally(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else f"\\{c}" for c in name)


def _attribute_groups() -> list[str]:
    lines = ['  <xs:attributeGroup name="editor">']
    lines += [f'    <xs:attribute name="{name}" type="xs:string"/>' for name in _EDITOR_ATTRIBUTES]
    lines += ['    <xs:anyAttribute namespace="##other" processContents="skip"/>']
    lines += ["  </xs:attributeGroup>", '  <xs:attributeGroup name="common">']
    lines += [
        f'    <xs:attribute name="{name}" type="xs:string"/>'
        for name in ("name", *CONDITION_ATTRIBUTES)
    ]
    return [*lines, '    <xs:attributeGroup ref="editor"/>', "  </xs:attributeGroup>"]


def _node_group(manifests: list[TreeNodeManifest]) -> list[str]:
    lines = ['  <xs:group name="node">', "    <xs:choice>"]
    lines += ['      <xs:element name="SubTree" type="SubTreeType"/>']
    lines += [f'      <xs:element name="{tag}" type="{tag}_explicit"/>' for tag in EXPLICIT_TAGS]
    lines += [
        f'      <xs:element name="{each.registration_id}" type="{each.registration_id}Type"/>'
        for each in manifests
    ]
    return [*lines, "    </xs:choice>", "  </xs:group>"]


def _explicit(manifests: list[TreeNodeManifest]) -> list[str]:
    """``<Action ID="...">`` and the like: the ID is checked, ports cannot be in XSD 1.0."""
    lines: list[str] = []
    for tag in EXPLICIT_TAGS:
        kind = NodeType[tag.upper()]
        low, high = {"Control": (1, None), "Decorator": (1, 1)}.get(tag, (0, 0))
        lines += [f'  <xs:complexType name="{tag}_explicit">', *_children(low, high)]
        ids = [each.registration_id for each in manifests if each.type is kind]
        lines += ['    <xs:attribute name="ID" use="required">', "      <xs:simpleType>"]
        lines += ['        <xs:restriction base="xs:string">']
        lines += [f'          <xs:enumeration value="{_text(each)}"/>' for each in ids]
        lines += ["        </xs:restriction>", "      </xs:simpleType>", "    </xs:attribute>"]
        lines += ['    <xs:anyAttribute processContents="skip"/>', "  </xs:complexType>"]
    return lines


def _node_type(manifest: TreeNodeManifest, types: _Types) -> list[str]:
    lines = [f'  <xs:complexType name="{manifest.registration_id}Type">']
    if manifest.description:
        text = escape(manifest.description)
        lines.append(
            f"    <xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation>"
        )
    lines += _children(manifest.min_children, manifest.max_children)
    lines += [_attribute(port, types) for port in manifest.ports.values()]
    return [*lines, '    <xs:attributeGroup ref="common"/>', "  </xs:complexType>"]


def _children(low: int, high: int | None) -> list[str]:
    if high == 0:
        return []
    most = "unbounded" if high is None else str(high)
    return [
        "    <xs:sequence>",
        f'      <xs:group ref="node" minOccurs="{low}" maxOccurs="{most}"/>',
        "    </xs:sequence>",
    ]


def _attribute(port: PortInfo, types: _Types) -> str:
    kind = types.name(port.type)
    if port.direction is PortDirection.OUTPUT:
        kind = types.key()
    text = f'    <xs:attribute name="{port.name}" type="{kind}"'
    default = port.default_text
    if port.required:
        text += ' use="required"'
    elif default is not None and (kind == "xs:string" or not is_pointer(default)):
        text += f' default="{_text(default)}"'
    if not port.description:
        return f"{text}/>"
    note = f"<xs:annotation><xs:documentation>{escape(port.description)}</xs:documentation>"
    return f"{text}>{note}</xs:annotation></xs:attribute>"


def _text(value: str) -> str:
    return escape(value, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
