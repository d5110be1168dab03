# SPDX-License-Identifier: Apache-2.0
"""Managers: what connects trees with one side of the world.

A manager brings tree nodes, keeps its inputs in message caches, and takes part in every tick:
before it, so that all nodes see one consistent state, and after it, to publish. A manager uses the
executor's node, or a node of its own in the same process (:class:`ManagerNode`).

A package offers a manager in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    managers: {scene: "my_package.scene:SceneManager"}

and the executor's parameter ``managers`` names it, or names the class as ``module:Class``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rclpy.node import Node

from behavior_executor.missions.mission import Code, MissionRequest
from behavior_executor.missions.report import Report
from behavior_executor.missions.statistics import Metric
from behavior_packages import PackageError, packages
from behavior_ros import Need
from behavior_ros.node.node_parts import node_parts
from behavior_tree import BehaviorTreeFactory, Cause

Shared = TypeVar("Shared")


class ManagerError(Exception):
    """A manager cannot be loaded; the message names it and says why."""


class BehaviorManager:
    """Base class; every method may be overridden, none has to be."""

    name = ""
    """Prefix of the manager's parameters and metrics."""
    wake_tree: Callable[[], None] = staticmethod(lambda: None)
    """Has the tree ticked at once; call it, in any thread, where trees shall see news without
    delay. Set by the executor."""
    ticks_idle = True
    """Whether this one does something in ticks while there is no mission: where all managers say
    no, such ticks are rare."""

    def __init__(self, node: Node) -> None:
        """Declare parameters and subscribe.

        Args:
            node: the executor's node.
        """
        self.node = node

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the manager's tree nodes."""

    def barriers(self) -> Mapping[str, Callable[[Any], bool]]:
        """Whether trees see the effect of an action already, told by its result.

        By the name of the barrier; see ``behavior_ros.register_ros_nodes``.
        """
        return {}

    def needs(self) -> Mapping[str, Sequence[Need]]:
        """What the manager's tree nodes need of other nodes of ROS, by the name of the node type.

        A mission whose trees use such a node waits for that before it starts, and fails if it does
        not come. What nodes can do without is no need.
        """
        return {}

    def settled(self) -> bool:
        """Whether a tree that was just loaded would see as much now as a little later.

        It is ticked for the first time when all managers say so; none may say no for long.
        """
        return True

    def pre_tick(self, now: float) -> None:
        """Before every tick, whether a tree runs or not; ``now`` is node time in seconds."""

    def post_tick(self, now: float) -> None:
        """After every tick."""

    def refusal(self, request: MissionRequest) -> str:
        """Why a mission, or a step of one, can never be carried out; empty: it may be.

        Asked before it is accepted; whatever happens to it later is no reason.
        """
        return ""

    def mission_started(self, request: MissionRequest) -> None:
        """A mission, or the next step of a sequence, starts; its tree is ticked from now on."""

    def mission_paused(self) -> None:
        """The running mission was paused; its tree was halted."""

    def mission_resumed(self) -> None:
        """The paused mission goes on; its tree starts at the root."""

    def mission_ended(self, code: Code) -> None:
        """The mission, or a step of a sequence, has ended; its tree was halted."""

    def failure(self) -> Cause | None:
        """Why the running mission failed, if this manager knows better than the tree.

        :func:`behavior_executor.missions.mission.failed` makes a cause with the code for clients.
        """
        return None

    def describe(self, report: Report) -> None:
        """Add to what clients are told of the running mission."""

    def metrics(self) -> list[Metric]:
        """What the manager measures about itself."""
        return []

    def problem(self) -> str:
        """What is wrong with the manager's inputs now, for diagnostics; empty: nothing."""
        return ""


def shared(node: Node, kind: type[Shared]) -> Shared:
    """The one object of a class that all managers of an executor share.

    Args:
        node: the executor's node.
        kind: the class; whoever asks first has the object made.
    """
    return node_parts(node).shared(kind, kind)


def load_manager_class(name: str) -> type[BehaviorManager]:
    """The class behind an entry of the parameter ``managers``.

    Args:
        name: of a manager that a package offers, or ``module:Class``.

    Raises:
        ManagerError: there is none, it cannot be imported, or it is no manager.
    """
    try:
        if ":" in name:
            module, _, attribute = name.partition(":")
            found = getattr(importlib.import_module(module), attribute)
        else:
            found = packages().find("managers", name).load()
    except (ImportError, AttributeError) as error:
        raise ManagerError(f"manager '{name}' cannot be imported: {error}") from error
    except PackageError as error:
        raise ManagerError(f"{error}; or write module:Class") from error
    if not (isinstance(found, type) and issubclass(found, BehaviorManager)):
        raise ManagerError(f"manager '{name}' is no subclass of BehaviorManager")
    return found
