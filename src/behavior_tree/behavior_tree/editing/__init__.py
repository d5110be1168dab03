# SPDX-License-Identifier: Apache-2.0
"""Change of trees: `TreeEditor` of a built one between its ticks, `TreeFiles` of files.

What is done to files beyond single attributes and nodes: `rename_node`, `rename_tree`,
`rename_entry`, `duplicate`, `extract`, `inline`, `mirror`.
"""

from behavior_tree.editing.editor import NodeReference, TreeEditor
from behavior_tree.editing.extract import duplicate, extract, inline
from behavior_tree.editing.mirror import XZ_PLANE, MirrorPlane, mirror
from behavior_tree.editing.rename import rename_entry, rename_node, rename_tree
from behavior_tree.editing.tree_files import TreeFiles

__all__ = [
    "XZ_PLANE",
    "MirrorPlane",
    "NodeReference",
    "TreeEditor",
    "TreeFiles",
    "duplicate",
    "extract",
    "inline",
    "mirror",
    "rename_entry",
    "rename_node",
    "rename_tree",
]
