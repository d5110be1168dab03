# SPDX-License-Identifier: Apache-2.0
"""Programs that run in our Python, whoever starts them.

A package names one with nodes in its ``setup.py``, by this module and the function that it is::

    "console_scripts": [
        "executor_node = behavior_packages.programs:behavior_executor.node.executor_node.main"
    ]

Nothing of that function's module is imported before the right Python runs: see `interpreter`.
`python -m behavior_packages.programs PACKAGE.MODULE.FUNCTION` runs any function,
`python -m behavior_packages.node_program PACKAGE.MODULE.FUNCTION` one with nodes.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import Any

from behavior_packages.interpreter import enter, lacks_environment


class Program:
    """A function by its dotted name, imported when it is called."""

    def __init__(self, name: str) -> None:
        """Take the name."""
        self._name = name

    def __getattr__(self, part: str) -> Program:
        """The name with a part more."""
        if part.startswith("__"):
            raise AttributeError(part)
        return type(self)(f"{self._name}.{part}")

    def __call__(self) -> Any:
        """Run the function in the right Python and return what it returns, an exit code."""
        enter()
        module, _, function = self._name.rpartition(".")
        try:
            program = getattr(importlib.import_module(module), function)
        except ImportError as error:
            if lacks_environment():
                sys.exit(
                    f"{module} needs what the ROS 2 distribution lacks ({error}):"
                    " 'make environment' in the suite's checkout brings it (docs/setup.md)"
                )
            raise
        return program()


class NodeProgram(Program):
    """One that runs until it is stopped: it ends well too when that comes before its nodes are.

    Importing what nodes need takes seconds in which Python's own answer to Ctrl-C is a traceback.
    """

    def __call__(self) -> Any:
        """Run the function, which has signal handlers of its own, and return its exit code."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(0))
        return super().__call__()


def __getattr__(name: str) -> NodeProgram:
    """Any name is the beginning of a program's."""
    if name.startswith("__"):
        raise AttributeError(name)
    return NodeProgram(name)


if __name__ == "__main__":
    sys.exit(Program(sys.argv.pop(1))())
