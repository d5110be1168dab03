# SPDX-License-Identifier: Apache-2.0
"""Change of a built tree between its ticks."""

from behavior_tree.editing.editor import NodeReference, TreeEditor

__all__ = ["NodeReference", "TreeEditor"]
