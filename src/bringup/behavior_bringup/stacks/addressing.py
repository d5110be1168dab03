# SPDX-License-Identifier: Apache-2.0
"""Which stack, and which robot's namespace, the words of a command line mean. Needs no ROS."""

from __future__ import annotations

import argparse

from behavior_bringup.errors import UsageError
from behavior_bringup.stacks.stack import Stack
from behavior_bringup.stacks.state import DEFAULT_STACK, known_stacks


def address(options: argparse.Namespace) -> None:
    """Fill in `stack` where only the namespace was given, and for verbs that talk to a robot
    (`or_launched`) `namespace` where only the stack was given.

    Verbs that have no `or_launched` talk to no single stack and are left alone.

    Raises:
        UsageError: several stacks have that namespace.
    """
    if getattr(options, "or_launched", None) is None:
        return
    options.stack = options.stack or stack_of(options.namespace, options.or_launched)
    if options.or_launched and not options.namespace:
        state = Stack(options.stack).state()
        options.namespace = state.namespace if state is not None else ""


def stack_of(namespace: str, or_launched: bool = False) -> str:
    """Name of the stack whose nodes are in a namespace; without one the default stack.

    Args:
        namespace: like /left; empty: none.
        or_launched: where no such stack is up, take the default one, which a launch file may have
            brought up, with several robots; else the one that `behavior up` would make.

    Raises:
        UsageError: several stacks have that namespace.
    """
    if not namespace:
        return DEFAULT_STACK
    states = {name: Stack(name).state() for name in known_stacks()}
    found = [name for name, state in states.items() if state and state.namespace == namespace]
    if len(found) > 1:
        raise UsageError(
            f"The stacks {', '.join(found)} all have the namespace {namespace}: choose one with"
            " --name or BEHAVIOR_STACK"
        )
    if found:
        return found[0]
    return DEFAULT_STACK if or_launched else namespace.strip("/").replace("/", "-")
