# SPDX-License-Identifier: Apache-2.0
"""Which stack a verb talks to, and the way into its ROS domain. Nobody is waited for in vain."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.description import load_stack, stack_file
from behavior_bringup.stacks.environment import enter_domain
from behavior_bringup.stacks.stack import Stack, how_it_ended, not_up
from behavior_bringup.stacks.state import StackState, known_stacks
from behavior_bringup.terminal import sentence

if TYPE_CHECKING:
    from behavior_executor.client import MissionClient
    from behavior_executor.editing.live_editor import LiveEditor
    from behavior_executor.editing.tree_exchange import TreeNews

EXECUTOR = "behavior_executor"
SCENE = "scene"
SIMULATION = "simulation"
"""Names of nodes in the stack descriptions."""

_SUBNET = ("SUBNET", "SYSTEM_DEFAULT")


def enter(name: str, node: str = "") -> StackState | None:
    """Let this process work in the ROS domain of a stack.

    Args:
        name: of the stack.
        node: name of the node that is needed; empty: any.

    Returns:
        The stack's state; None for one that `behavior up` has not started, but a launch file.

    Raises:
        BringupError: the stack is not up, or the process of that node has ended.
    """
    state = Stack(name).state()
    if state is None:
        _require_somebody(name)
        enter_domain(None)
        return None
    _require_process(state, node)
    enter_domain(state.domain)
    return state


@contextmanager
def mission_client(name: str, namespace: str = "") -> Iterator[MissionClient]:
    """A client of the executor of a stack, or of the one in the environment's ROS domain.

    Args:
        name: of the stack.
        namespace: of the robot; empty: none.

    Raises:
        BringupError: there is none, or it does not answer.
    """
    enter(name, EXECUTOR)
    import rclpy

    from behavior_bringup.client import new_context
    from behavior_executor.client import MissionClient, MissionClientError

    context = new_context(namespace)
    try:
        with MissionClient(node_name=f"behavior_command_{os.getpid()}", context=context) as client:
            yield client
    except MissionClientError as error:
        raise BringupError(sentence(str(error))) from error
    finally:
        rclpy.shutdown(context=context)


@contextmanager
def live_editor(
    editor: str,
    name: str,
    namespace: str = "",
    on_news: Callable[[TreeNews], None] | None = None,
) -> Iterator[LiveEditor]:
    """An editor of trees of the executor of a stack; see `mission_client`.

    Args:
        editor: his name.
        name: of the stack.
        namespace: of the robot; empty: none.
        on_news: is called with what becomes of edits.

    Raises:
        BringupError: there is no executor, it does not answer, or it has no such tree.
    """
    enter(name, EXECUTOR)
    import rclpy

    from behavior_bringup.client import new_context
    from behavior_executor.editing.live_editor import LiveEditor, LiveEditorError

    context = new_context(namespace)
    node_name = f"behavior_command_{os.getpid()}"
    try:
        with LiveEditor(editor, node_name=node_name, context=context, on_news=on_news) as made:
            yield made
    except LiveEditorError as error:
        raise BringupError(sentence(str(error))) from error
    finally:
        rclpy.shutdown(context=context)


def _require_process(state: StackState, node: str) -> None:
    """Make sure that the process of a node has not ended for good."""
    if not node or state.respawn:
        return
    for name, process in state.processes.items():
        if not process.running and node in nodes_of(state, name):
            raise BringupError(
                f"The process '{name}' of the stack {how_it_ended(process.exit_code)}:"
                f" 'behavior logs {name}' says why, 'behavior down' and 'behavior up' start anew"
            )


def nodes_of(state: StackState, process: str) -> tuple[str, ...]:
    """Names of the nodes that run in a process of a stack."""
    try:
        entry = load_stack(stack_file(state.world)).processes.get(process)
    except BringupError:  # the file was changed meanwhile
        return ()
    return tuple(entry.nodes) if entry is not None else ()


def _require_somebody(name: str) -> None:
    """Make sure that a stack that nobody started with `behavior up` may be there all the same."""
    if name in known_stacks():
        return  # it is about to come up, or to go down
    default = os.environ.get("BEHAVIOR_STACK", "") or "default"
    if name != default or known_stacks() or not _domain_is_used():
        raise BringupError(not_up(name))


def _domain_is_used() -> bool:
    """Whether some program uses the environment's ROS domain; true where that cannot be known."""
    others = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST").upper() in _SUBNET
    if others or os.environ.get("ROS_STATIC_PEERS"):
        return True
    domain = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    if not domain.isdigit():
        return True
    from behavior_ros.process.domains import used_domains

    used = used_domains()
    return used is None or int(domain) in used
