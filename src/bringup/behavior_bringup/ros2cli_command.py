# SPDX-License-Identifier: Apache-2.0
"""`ros2 bt ...`: the verbs of `behavior` as a command of ros2cli, where that exists."""

from __future__ import annotations

import argparse
from typing import Any

from ros2cli.command import CommandExtension

from behavior_bringup.cli import add_verbs, dispatch, guarded


class BtCommand(CommandExtension):  # type: ignore[misc] # ros2cli has no type information
    """Bring behavior stacks up and run missions."""

    def add_arguments(
        self, parser: argparse.ArgumentParser, cli_name: str, *, argv: Any = None
    ) -> None:
        """Add the verbs; ros2cli calls it."""
        add_verbs(parser)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Run the chosen verb; ros2cli calls it."""
        return guarded(lambda: dispatch(parser, args))
