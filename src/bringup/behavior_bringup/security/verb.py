# SPDX-License-Identifier: Apache-2.0
"""`behavior security generate`: the policies of a world's stack, read from a run of it."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.offers import world_or_default
from behavior_bringup.security.keystore import write_keystore
from behavior_bringup.security.outsiders import outsiders
from behavior_bringup.security.policy import Profile
from behavior_bringup.stacks.description import Process, Scalar, load_stack, resolve, stack_file
from behavior_bringup.stacks.environment import machine_kind
from behavior_bringup.stacks.stack import free_stack
from behavior_bringup.terminal import say

STEADY, DEADLINE = 2.0, 60.0
"""[s] that the graph must not change to count as whole, and within which it must not."""


def generate(options: argparse.Namespace) -> int:
    """Bring a stack up, read what its nodes use, and write policies and a keystore's folders."""
    from behavior_bringup.stacks.session import temporary_stack

    options.world = world_or_default(options.world)
    domain = _domain()
    description = load_stack(stack_file(options.world))
    arguments: dict[str, Scalar] = {
        name: True for name in ("headless", "console") if name in description.arguments
    }
    arguments |= {"world": options.world, **dict(options.arguments)}
    processes = resolve(description, environment=machine_kind(), arguments=arguments)
    say(f"Bringing up the stack of the world '{options.world}' to read what it uses ...")
    with temporary_stack(free_stack("security"), world=options.world, arguments=arguments):
        policies = collect(processes)
    try:
        write_keystore(options.output, policies, domain=domain, now=datetime.now(UTC))
    except OSError as error:
        raise BringupError(f"{options.output} cannot be written: {error.strerror}") from error
    say(
        f"{len(policies)} enclaves for ROS domain {domain} in {options.output}. Next, on a ROS 2"
        f" distribution: 'ros2 security generate_artifacts -k {options.output}/keystore"
        f" -p {options.output}/policy.xml'"
    )
    return 0


def collect(processes: list[Process]) -> dict[str, dict[str, Profile]]:
    """The profiles of a stack that is up in this process's ROS domain, and of those outside it.

    Raises:
        BringupError: the graph does not come to rest, or a process is not found in it.
    """
    found = _steady_graph(processes)
    return {**found, **outsiders(found)}


def _steady_graph(processes: list[Process]) -> dict[str, dict[str, Profile]]:
    import rclpy
    from rclpy.node import Node

    from behavior_bringup.client import new_context
    from behavior_bringup.security.graph import profiles

    context = new_context()
    observer = Node(f"behavior_security_{os.getpid()}", context=context, enable_rosout=False)
    end = time.monotonic() + DEADLINE
    before: Mapping[str, dict[str, Profile]] = {}
    since = time.monotonic()
    try:
        while True:
            found = profiles(observer, processes)
            if found != before:
                before, since = found, time.monotonic()
            missing = sorted({process.name for process in processes} - found.keys())
            if not missing and time.monotonic() - since >= STEADY:
                return found
            if time.monotonic() > end:
                what = f"nothing is seen of {', '.join(missing)}" if missing else "it changes on"
                raise BringupError(f"The stack's graph does not come to rest: {what}")
            time.sleep(0.2)
    finally:
        observer.destroy_node()
        rclpy.shutdown(context=context)


def _domain() -> int:
    text = os.environ.get("ROS_DOMAIN_ID", "0")
    if not text.isdigit() or int(text) > 232:
        raise UsageError(f"ROS_DOMAIN_ID must be a number of 0 to 232, not '{text}'")
    return int(text)
