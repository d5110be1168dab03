# SPDX-License-Identifier: Apache-2.0
"""Verbs of the `behavior` command that packages offer.

A package offers one in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    commands: {count-people: "my_jobs.count_command:COMMAND"}

which names a :class:`Command`. All of them are imported whenever the command runs: whatever takes
its time, such as ROS messages, is imported in `run`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

from rich.console import Console

from behavior_bringup.arguments.options import add_connection
from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.connection import enter
from behavior_bringup.terminal import say, sentence
from behavior_packages import packages


class Command(Protocol):
    """A verb; its class's docstring describes it."""

    help: str
    """One line."""
    node: str | None
    """Name of the node of the stack that it talks to; None: it runs without a stack."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Do it; returns whether that worked, and a sentence, which may be empty.

        Args:
            options: what was typed.
            stack: a client of the stack, with ``call(service type, name, request)``; see
                `behavior_bringup.client.StackClient`. None for what runs without a stack.
        """


def add_offered(subparsers: Any) -> None:
    """Add what packages offer; what is broken or taken is told, and left out."""
    warn = partial(say, console=Console(stderr=True))
    for offer, command in packages().load_all("commands", warn):
        if offer.name in subparsers.choices:
            warn(f"{offer.place}: the command '{offer.name}' of {offer.package} is taken")
            continue
        try:
            parser = subparsers.add_parser(
                offer.name, help=command.help, description=type(command).__doc__
            )
            command.add_arguments(parser)
        except Exception as error:  # a package's code may raise anything
            warn(str(offer.failure(error)))
            continue
        for leaf in _leaves(parser):
            if command.node is not None:
                add_connection(leaf)
            leaf.set_defaults(run=partial(_run, offer.name, command))


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers below which there is no other."""
    groups = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    if not groups:
        yield parser
    for group in groups:
        for below in group.choices.values():
            yield from _leaves(below)


def _run(name: str, command: Command, options: argparse.Namespace) -> int:
    try:
        done, words = _done(command, options)
    except ModuleNotFoundError as error:
        raise BringupError(
            f"'behavior {name}' needs the Python module {error.name}, which is not installed:"
            " docs/setup.md says where it comes from"
        ) from error
    if not done:
        raise BringupError(sentence(words))
    if words:
        say(sentence(words))
    return 0


def _done(command: Command, options: argparse.Namespace) -> tuple[bool, str]:
    if command.node is None:
        return command.run(options, None)
    from behavior_bringup.client import StackClient

    enter(options.stack, command.node)
    with StackClient(options.namespace) as client:
        return command.run(options, client)
