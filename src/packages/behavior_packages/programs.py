# SPDX-License-Identifier: Apache-2.0
"""Programs that run in our Python, whoever starts them.

A package names one in its ``setup.py``, by this module and the function that is the program::

    "console_scripts": ["executor_node = behavior_packages.programs:behavior_executor.node.main"]

Nothing of that function's module is imported before the right Python runs: see `interpreter`.
`python -m behavior_packages.programs PACKAGE.MODULE.FUNCTION` runs one too.
"""

from __future__ import annotations

import importlib
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
        return Program(f"{self._name}.{part}")

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


def __getattr__(name: str) -> Program:
    """Any name is the beginning of a program's."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Program(name)


if __name__ == "__main__":
    sys.exit(Program(sys.argv.pop(1))())
