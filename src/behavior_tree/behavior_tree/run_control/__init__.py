# SPDX-License-Identifier: Apache-2.0
"""How a run of a tree is controlled by an operator: `RunControl`. See ``docs/run_control.md``."""

from behavior_tree.run_control.breakpoint_file import (
    breakpoint_file,
    read_breakpoints,
    write_breakpoints,
)
from behavior_tree.run_control.commands import RunCommands
from behavior_tree.run_control.control import RunControl

__all__ = [
    "RunCommands",
    "RunControl",
    "breakpoint_file",
    "read_breakpoints",
    "write_breakpoints",
]
