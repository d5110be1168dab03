# SPDX-License-Identifier: Apache-2.0
"""A stack for the time of one command: up, ready, and down again whatever happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.description import Readiness, Scalar
from behavior_bringup.stacks.environment import enter_domain
from behavior_bringup.stacks.readiness import wait_ready
from behavior_bringup.stacks.stack import Stack, start, stop


def bring_up(
    stack: Stack,
    *,
    world: str,
    arguments: Mapping[str, Scalar],
    namespace: str = "",
    respawn: bool = False,
    attached: bool = False,
    beside: Stack | None = None,
    patience: float = 0.0,
) -> None:
    """Start a stack, enter its ROS domain, and wait until it is ready.

    `beside` is that of `start`; `patience` [s] is a longer time limit than the stack's own.

    Raises:
        BringupError: it does not become ready; it is down again then.
    """
    ready = start(
        stack,
        world=world,
        arguments=arguments,
        namespace=namespace,
        respawn=respawn,
        attached=attached,
        beside=beside,
    )
    ready = ready.model_copy(update={"timeout": max(ready.timeout, patience)})
    try:
        with _ready_client(stack, ready):
            pass
    except BaseException:
        stop(stack)
        raise


@contextmanager
def temporary_stack(
    stack: Stack,
    *,
    world: str,
    arguments: Mapping[str, Scalar],
    namespace: str = "",
    respawn: bool = False,
) -> Iterator[tuple[StackClient, Readiness]]:
    """A ready stack and a client in its domain that hears it; afterwards the stack is down.

    Raises:
        BringupError: it does not become ready.
    """
    try:
        ready = start(
            stack,
            world=world,
            arguments=arguments,
            namespace=namespace,
            respawn=respawn,
            attached=True,
        )
        with _ready_client(stack, ready) as client:
            yield client, ready
    finally:
        stop(stack)


@contextmanager
def _ready_client(stack: Stack, ready: Readiness) -> Iterator[StackClient]:
    """A client in the domain of a stack that was started, that all of it is there for."""
    state = stack.state()
    if state is None:
        raise BringupError(f"The stack went down at once; its logs are in {stack.folder}")
    enter_domain(state.domain)
    with StackClient(state.namespace) as client:
        wait_ready(client, ready, stack.watch().check)
        yield client
