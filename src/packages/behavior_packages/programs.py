# SPDX-License-Identifier: Apache-2.0
"""Programs that run in our Python, whoever starts them.

A package names one in its ``setup.py``, by this module and the function that is the program::

    "console_scripts": ["executor_node = behavior_packages.programs:behavior_executor.node.main"]

Nothing of that function's module is imported before the right Python runs: see `interpreter`.
"""

from __future__ import annotations

import importlib

from behavior_packages.interpreter import enter


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

    def __call__(self) -> object:
        """Run the function in the right Python and return what it returns."""
        enter()
        module, _, function = self._name.rpartition(".")
        return getattr(importlib.import_module(module), function)()


def __getattr__(name: str) -> Program:
    """Any name is the beginning of a program's."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Program(name)
