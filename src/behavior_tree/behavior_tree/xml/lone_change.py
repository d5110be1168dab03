# SPDX-License-Identifier: Apache-2.0
"""Changes of attributes that no other node has to be looked at for."""

from __future__ import annotations

from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.kernel.claims import PORT_IN_NAME
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.xml.document import Element


def is_lone_change(before: Element, after: Element, manifest: TreeNodeManifest) -> bool:
    """Whether two versions of a node differ in nothing that checks of other nodes look at.

    That are literals of its ports, if it plays no part among others and commands nothing by them.
    Names, conditions and what has to do with the blackboard are not.
    """
    one, other = before.attributes, after.attributes
    commanding = {port for each in manifest.commands for port in PORT_IN_NAME.findall(each)}
    return not manifest.role and all(
        name in manifest.ports
        and name not in commanding
        and _is_literal(one.get(name, manifest.default_texts.get(name, "")))
        and _is_literal(other.get(name, manifest.default_texts.get(name, "")))
        for name in one.keys() | other.keys()
        if one.get(name) != other.get(name)
    )


def _is_literal(text: str) -> bool:
    return "{" not in text and text != "="


class LoneBlackboard(Blackboard):
    """For a node that is made alone: knows whether anybody has looked at its entries, which would
    be others beside other nodes.
    """

    was_read = False

    def entry(self, key: str) -> Entry | None:
        """As in a tree."""
        found = super().entry(key)
        self.was_read |= found is not None
        return found
