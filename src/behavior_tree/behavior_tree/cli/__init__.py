# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m behavior_tree``, also ``behavior tree``: check, show, models, xsd,
edit, migrate, run, replay, profile.
"""

from behavior_tree.cli.command import add_commands, main
from behavior_tree.stand_ins import Extend, make_factory

__all__ = ["Extend", "add_commands", "main", "make_factory"]
