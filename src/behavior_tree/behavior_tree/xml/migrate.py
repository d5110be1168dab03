# SPDX-License-Identifier: Apache-2.0
"""Files of BehaviorTree.CPP 3 to version 4, with comments and formatting kept."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_tree.blackboard.ports import model_name_mistake
from behavior_tree.errors import XmlProblem
from behavior_tree.xml.edit import TagRewrite, XmlEditor
from behavior_tree.xml.version3 import conversions


@dataclass(frozen=True)
class Migration:
    """A converted document."""

    data: bytes
    notes: tuple[XmlProblem, ...]
    """What could not be converted (errors), or may behave differently (warnings), with its place
    in the old document."""
    was_version_4: bool = False
    """True if there was nothing to do."""


def migrate(data: bytes, file: str = "<text>") -> Migration:
    """Convert a document that is of version 3, or does not say of which.

    Raises:
        LoadError: not well-formed, or not UTF-8
    """
    editor = XmlEditor(data, file)
    root = editor.root
    version = root.get("BTCPP_format")
    if version is not None and version != "3":
        return Migration(data, (), was_version_4=True)
    plan = conversions(root)
    editor.rewrite_tags(
        TagRewrite(each.element, each.tag, each.attributes, each.added) for each in plan
    )
    notes = [note for each in plan for note in each.notes] + [
        tree.problem(mistake, "rename the tree and its SubTrees", attribute="ID")
        for tree in root.children
        if tree.tag == "BehaviorTree" and (mistake := model_name_mistake(tree.get("ID") or "_"))
    ]
    return Migration(editor.data, tuple(sorted(notes, key=lambda each: (each.line, each.column))))
