# SPDX-License-Identifier: Apache-2.0
"""Entries of trees, ports that lead to them, and how values of one type become another's."""

from behavior_tree.blackboard.blackboard import Blackboard, Entry

__all__ = ["Blackboard", "Entry"]
