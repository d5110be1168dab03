# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m behavior_tree``: check, show, models, run, profile."""

from behavior_tree.cli.command import main

__all__ = ["main"]
