# SPDX-License-Identifier: Apache-2.0
"""Trees of a document as pictures in memory, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.blackboard.ports import RESERVED_ATTRIBUTES
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import resolve_type

_COLOURS = {
    NodeStatus.RUNNING: "33",
    NodeStatus.SUCCESS: "32",
    NodeStatus.FAILURE: "31",
    NodeStatus.SKIPPED: "34",
}


@dataclass
class Drawn:
    """One node of a picture."""

    type_id: str
    name: str
    """Empty if it bears none."""
    category: str
    """action, condition, control, decorator, subtree, or unknown."""
    attributes: dict[str, str]
    """Ports and conditions."""
    status: NodeStatus | None = None
    """None if nothing is known of it."""
    children: list[Drawn] = field(default_factory=list)

    @property
    def head(self) -> str:
        """Type and name."""
        kind = f"SubTree {self.type_id}" if self.category == "subtree" else self.type_id
        return f"{kind} '{self.name}'" if self.name else kind


def drawn_trees(
    root: Element,
    manifests: Mapping[str, TreeNodeManifest],
    statuses: Mapping[int, NodeStatus] | None = None,
) -> list[tuple[str, Drawn]]:
    """Each ``<BehaviorTree>`` with its title.

    Args:
        root: the ``<root>`` element
        manifests: node types, for their categories
        statuses: by ``_uid``
    """
    found = []
    for tree in root.children:
        if tree.tag == "BehaviorTree" and tree.children:
            title, path = tree.get("ID") or "(main tree)", tree.get("_fullpath")
            title = f"{title} ({path})" if path else title
            found.append((title, _drawn(tree.children[0], manifests, statuses)))
    return found


def _drawn(
    element: Element,
    manifests: Mapping[str, TreeNodeManifest],
    statuses: Mapping[int, NodeStatus] | None,
) -> Drawn:
    type_id = resolve_type(element) or element.tag
    manifest = manifests.get(type_id)
    if element.tag == "SubTree":
        category = NodeType.SUBTREE.name
    else:
        category = manifest.type.name if manifest is not None else "unknown"
    uid = element.get("_uid") or ""
    name = element.get("name") or ""
    kept = {
        key: text
        for key, text in element.attributes.items()
        if key not in ("ID", "name", "_uid", "_fullpath")
        and (not key.startswith("_") or key in RESERVED_ATTRIBUTES)
    }
    return Drawn(
        type_id,
        "" if name == type_id else name,
        category.lower(),
        kept,
        None if statuses is None else statuses.get(int(uid) if uid.isdecimal() else 0),
        [_drawn(child, manifests, statuses) for child in element.children],
    )


def text_lines(title: str, tree: Drawn, *, colour: bool = False) -> list[str]:
    """The tree with branches of box-drawing characters."""
    return [title, *_branch([tree], "", colour)]


def _branch(children: Iterable[Drawn], indent: str, colour: bool) -> list[str]:
    lines: list[str] = []
    nodes = list(children)
    for node in nodes:
        last = node is nodes[-1]
        attributes = " ".join(f'{key}="{value}"' for key, value in node.attributes.items())
        text = f"{node.head} {attributes}".rstrip()
        if node.status is not None:
            text = f"{text} [{node.status.name}]"
            if colour and node.status in _COLOURS:
                text = f"\x1b[{_COLOURS[node.status]}m{text}\x1b[0m"
        lines.append(f"{indent}{'└── ' if last else '├── '}{text}")
        lines += _branch(node.children, indent + ("    " if last else "│   "), colour)
    return lines
