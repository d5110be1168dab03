# SPDX-License-Identifier: Apache-2.0
"""`ros2 bt ...`: the verbs of `behavior` as a command of ros2cli, where that exists.

This runs inside `ros2`, in a Python that need have no package beyond the distribution's: the
arguments are handed over to `behavior`.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from ros2cli.command import CommandExtension

from behavior_packages.interpreter import interpreter


class BtCommand(CommandExtension):  # type: ignore[misc] # ros2cli has no type information
    """Bring behavior stacks up and run missions."""

    def add_arguments(
        self, parser: argparse.ArgumentParser, cli_name: str, *, argv: Any = None
    ) -> None:
        """Take everything as it is, `--help` too; ros2cli calls it."""
        parser.prefix_chars = "\0"  # so nothing is an option of this parser
        parser.add_argument("words", nargs=argparse.REMAINDER)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Become `behavior` with these arguments; ros2cli calls it."""
        python = interpreter()
        os.execv(python, [python, "-m", "behavior_bringup", *args.words])
