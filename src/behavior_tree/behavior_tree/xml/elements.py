# SPDX-License-Identifier: Apache-2.0
"""How elements of a ``<BehaviorTree>`` are read: types, ports and SubTrees they name."""

from __future__ import annotations

from collections.abc import Iterator

from behavior_tree.blackboard.conversion import is_true
from behavior_tree.blackboard.ports import RESERVED_ATTRIBUTES, is_port_attribute
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element

EXPLICIT_TAGS = ("Action", "Condition", "Control", "Decorator")
PRECONDITIONS = ("_failureIf", "_successIf", "_skipIf", "_while")
"""In the order in which a node looks at them."""
CONDITION_ATTRIBUTES = (
    *PRECONDITIONS,
    *("_onHalted", "_onFailure", "_onSuccess", "_post"),
)
IS_CONDITION = frozenset(CONDITION_ATTRIBUTES)
_NAMED_BY_ID = frozenset((*EXPLICIT_TAGS, "SubTree"))


def resolve_type(element: Element) -> str | None:
    """Registration ID that an element names; None if the ID is missing."""
    tag = element.tag
    return (element.attributes.get("ID") or None) if tag in _NAMED_BY_ID else tag


def below(element: Element) -> Iterator[Element]:
    """All elements inside one, in the order of the document."""
    stack = list(reversed(element.children))
    while stack:
        each = stack.pop()
        yield each
        stack.extend(reversed(each.children))


def with_paths(element: Element, path: str) -> Iterator[tuple[Element, str]]:
    """An element of this path and all inside it, with their paths, in the order of the document."""
    stack = [(element, path)]
    while stack:
        element, path = stack.pop()
        yield element, path
        stack += [(child, node_path(path, child)) for child in reversed(element.children)]


def node_path(parent_path: str, element: Element) -> str:
    """Path of an element for messages."""
    label = element.get("name") or resolve_type(element) or element.tag
    return f"{parent_path}/{shorten(label)}"


def subtree_ports(element: Element, *, any_name: bool = False) -> dict[str, str]:
    """Attributes of a ``<SubTree>`` that are ports, ``{=}`` expanded; ``any_name``: see
    `is_port_attribute`.
    """
    return {
        name: f"{{{name}}}" if (text if any_name else text.strip(" ")) == "{=}" else text
        for name, text in element.attributes.items()
        if name not in RESERVED_ATTRIBUTES
        and not name.startswith("_")
        and (not any_name or is_port_attribute(name, any_name=True))
    }


def autoremaps(element: Element) -> bool:
    """True for a ``<SubTree>`` that connects entries of the same name by itself."""
    return is_true(element.get("_autoremap"))


Place = tuple[Element, "Place | None"]
"""An element and those around it."""


def subtree_uses(element: Element) -> Iterator[Place]:
    """SubTree elements below an element, with those around them."""
    stack: list[tuple[Element, Place | None]] = [(element, None)]
    while stack:
        each, above = stack.pop()
        for child in each.children:
            if child.tag == "SubTree":
                yield child, above
            if child.children:
                stack.append((child, (child, above)))


def path_of(place: Place | None, start: str) -> str:
    """Path from the tree called ``start`` to an element: few of them are ever wanted."""
    elements = []
    while place is not None:
        element, place = place
        elements.append(element)
    for element in reversed(elements):
        start = node_path(start, element)
    return start


def subtrees_below(element: Element) -> list[str]:
    """IDs of the trees that an element uses."""
    return [child.get("ID") or "" for child, _ in subtree_uses(element)]
