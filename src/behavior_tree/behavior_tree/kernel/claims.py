# SPDX-License-Identifier: Apache-2.0
"""Two leaves that would command the same at once: what only the run can tell.

What the text of a tree tells is refused at load (`behavior_tree.xml.resources`). A name such as
``"{side} arm"`` of a class's ``commands`` may come from the blackboard: then the leaf that begins
while another one commands the same fails, before it has done anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.cause import Cause, CauseKind
from behavior_tree.errors import PortError
from behavior_tree.shown_text import shorten

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

PORT_IN_NAME = re.compile(r"\{(\w+)\}")
"""In the name of what a node commands: stands for what that port holds."""
RUNNING = NodeStatus.RUNNING

Parts = Mapping[str, frozenset[str]]
"""What the names of ``commands`` stand for that are made of others, such as both arms."""
NO_PARTS: Parts = {}


def in_common(one: str, other: str, parts: Parts) -> str | None:
    """What both of two resources are, or have; None: they have nothing to do with each other."""
    if one == other:
        return one
    if not parts:
        return None
    shared = parts.get(one, frozenset((one,))) & parts.get(other, frozenset((other,)))
    return min(shared, default=None)


def claiming(
    patterns: tuple[str, ...], body: Callable[[Any], NodeStatus]
) -> Callable[[Any], NodeStatus]:
    """The ``tick()`` of a leaf that commands something: it fails instead of beginning while another
    leaf does that runs beside it.

    Args:
        patterns: ``commands`` of its class
        body: its ``tick()``
    """

    def tick(leaf: TreeNode) -> NodeStatus:
        commanding = leaf._rt.commanding
        if leaf.status is not RUNNING or leaf not in commanding:
            for other in [each for each in commanding if each.status is not RUNNING]:
                del commanding[other]
            wanted = frozenset(_names(leaf, patterns))
            for other, held in commanding.items():
                both = _both(wanted, held, leaf._rt.parts)
                if both and other is not leaf and _run_together(leaf, other):
                    leaf.set_failure_reason(_reason(both, other))
                    return NodeStatus.FAILURE
            commanding[leaf] = wanted
        return body(leaf)

    return tick


def _both(wanted: frozenset[str], held: frozenset[str], parts: Parts) -> str | None:
    """The first thing that both command."""
    if not parts:
        return min(wanted & held, default=None)
    found = (in_common(one, other, parts) for one in wanted for other in held)
    return min(filter(None, found), default=None)


def _names(leaf: TreeNode, patterns: tuple[str, ...]) -> Iterator[str]:
    """What a leaf commands now. A port without a value says nothing: that the leaf tells itself."""
    for pattern in patterns:
        name = pattern
        for port in PORT_IN_NAME.findall(pattern):
            try:
                name = name.replace(f"{{{port}}}", str(leaf.get_input(port)))
            except PortError:
                break
        else:
            yield name.strip()


def _run_together(one: TreeNode, other: TreeNode) -> bool:
    """Whether both go on side by side: another parent halts the one for which it begins the
    other.
    """
    above: set[TreeNode] = set()
    node = other._up
    while node is not None:
        above.add(node)
        node = node._up
    node = one._up
    while node is not None and node not in above:
        node = node._up
    return node is not None and node.children_at_once


def _reason(resource: str, other: TreeNode) -> Cause:
    return Cause(
        CauseKind.REJECTED,
        f"'{shorten(resource)}' is commanded by '{shorten(other.full_path())}', which runs",
        remedy="let one come after the other",
    )
