# SPDX-License-Identifier: Apache-2.0
"""`NodeTypes`: what kinds of nodes there are, and what their ports' texts mean."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.blackboard.conversion import TypeRegistry
from behavior_tree.blackboard.ports import (
    PortInfo,
    as_ports_list,
    model_name_mistake,
    model_name_works,
)
from behavior_tree.blackboard.queue_types import QUEUE_TYPES
from behavior_tree.errors import LogicError, NodeTypeTakenError
from behavior_tree.kernel.leaf import (
    SimpleActionNode,
    SimpleConditionNode,
    SimpleStatefulActionNode,
)
from behavior_tree.kernel.manifest import NodeBuilder, TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig, TreeNode
from behavior_tree.nodes.builtin_nodes import BUILTIN_NODES, builtin_manifests
from behavior_tree.nodes.decorators.base import SimpleDecoratorNode
from behavior_tree.nodes.decorators.loop import Loop
from behavior_tree.nodes.py_trees_node import BehaviourFactory, py_trees_registration
from behavior_tree.quirks import Quirks
from behavior_tree.xml.elements import EXPLICIT_TAGS

Ports = Mapping[str, PortInfo] | Iterable[PortInfo] | None
TickFunction = Callable[[TreeNode], NodeStatus]
Callback = TypeVar("Callback", bound=Callable[..., Any])


class NodeTypes:
    """The node types of a factory, its conversions between text and values, and its enums."""

    def __init__(self, quirks: Quirks, *, strict: bool) -> None:
        """Know the built-in ones.

        Args:
            quirks: what is as in BehaviorTree.CPP 4.8
            strict: refuse names that BehaviorTree.CPP 4.9 and later refuse
        """
        self._quirks = quirks
        self._strict = strict
        self._types = TypeRegistry(exact=quirks.exact_values)
        self._manifests = dict(builtin_manifests())
        self._builders: dict[str, NodeBuilder] = dict(BUILTIN_NODES)
        if quirks.loop_queues_typed:
            self._manifests |= _typed_loops(self._manifests)

    def register_builder(self, manifest: TreeNodeManifest, builder: NodeBuilder) -> None:
        """Register a node type whose nodes are made by ``builder(name, config)``.

        Raises:
            LogicError: the ID is taken or not allowed
        """
        type_id = manifest.registration_id
        checked = not self._quirks.names_unchecked
        mistake = model_name_mistake(type_id) if checked else None
        if mistake and not self._strict and model_name_works(type_id):
            mistake = None
        if checked and type_id in (
            *EXPLICIT_TAGS,
            "SubTree",
            "BehaviorTree",
            "TreeNodesModel",
            "include",
        ):
            mistake = f"'{type_id}' is an element of the XML format"
        if mistake:
            raise LogicError(mistake)
        if type_id in self._manifests:
            raise NodeTypeTakenError(type_id)
        self._manifests[type_id] = manifest
        self._builders[type_id] = builder

    def register_node_type(
        self, node_class: type[TreeNode], registration_id: str, *extra: Any
    ) -> None:
        """Register a node class.

        Args:
            node_class: its ``__init__`` takes ``name, config`` and then ``extra``
            registration_id: name in XML
            extra: further arguments for each node
        """
        if node_class.node_type is NodeType.UNDEFINED:
            raise LogicError(
                f"{node_class.__name__} is neither action, condition, control nor decorator: "
                f"derive it from "
                "StatefulActionNode, SyncActionNode, ConditionNode, ControlNode or DecoratorNode"
            )
        if inspect.isabstract(node_class):
            raise LogicError(f"{node_class.__name__} is abstract")

        def build(name: str, config: NodeConfig) -> TreeNode:
            return node_class(name, config, *extra)

        self.register_builder(
            TreeNodeManifest.of_class(node_class, registration_id), build if extra else node_class
        )

    def register_node_types(self, nodes: Mapping[str, type[TreeNode]]) -> None:
        """Register node classes that play a part of their own, by their names in XML; nothing
        happens for those that are known already.

        Raises:
            NodeTypeTakenError: another node type has the name of one of them
        """
        for type_id, node_class in nodes.items():
            if type_id not in self._manifests or not self._manifests[type_id].role:
                self.register_node_type(node_class, type_id)

    def unregister_node_type(self, registration_id: str) -> None:
        """Forget a node type; raises LogicError for built-in or unknown ones."""
        manifest = self._manifests.get(registration_id)
        if manifest is None:
            raise LogicError(f"ID [{registration_id}] is not registered")
        if manifest.builtin:
            raise LogicError(f"You can not remove the builtin registration ID [{registration_id}]")
        del self._manifests[registration_id], self._builders[registration_id]

    def register_simple_action(
        self, name: str, tick_function: TickFunction, ports: Ports = None
    ) -> None:
        """Register an action made of ``tick_function(node) -> NodeStatus``."""
        tick_function = self._guard(tick_function, "action")
        self._register_simple(
            name,
            NodeType.ACTION,
            ports,
            lambda n, config: SimpleActionNode(n, config, tick_function),
        )

    def register_simple_condition(
        self, name: str, tick_function: TickFunction, ports: Ports = None
    ) -> None:
        """Register a condition made of ``tick_function(node) -> NodeStatus``."""
        tick_function = self._guard(tick_function, "condition")
        self._register_simple(
            name,
            NodeType.CONDITION,
            ports,
            lambda n, config: SimpleConditionNode(n, config, tick_function),
        )

    def register_simple_decorator(
        self,
        name: str,
        tick_function: Callable[[NodeStatus, TreeNode], NodeStatus],
        ports: Ports = None,
    ) -> None:
        """Register a decorator made of ``tick_function(child_status, node) -> NodeStatus``."""
        tick_function = self._guard(tick_function, "decorator")
        self._register_simple(
            name,
            NodeType.DECORATOR,
            ports,
            lambda n, config: SimpleDecoratorNode(n, config, tick_function),
        )

    def register_simple_stateful_action(
        self,
        name: str,
        on_start: TickFunction,
        on_running: TickFunction,
        on_halted: Callable[[TreeNode], object] | None = None,
        ports: Ports = None,
    ) -> None:
        """Register an action made of functions that each take the node."""
        on_start = self._guard(on_start, "onStart")
        on_running = self._guard(on_running, "onRunning")
        if on_halted is not None:
            on_halted = self._guard(on_halted, "onHalted")
        self._register_simple(
            name,
            NodeType.ACTION,
            ports,
            lambda n, config: SimpleStatefulActionNode(n, config, on_start, on_running, on_halted),
        )

    def register_py_trees_behaviour(
        self,
        registration_id: str,
        behaviour: BehaviourFactory,
        ports: Ports = None,
        *,
        namespace: str = "/",
        setup_arguments: Mapping[str, Any] | None = None,
    ) -> None:
        """Register a py_trees behaviour, or whole py_trees subtree, as an action.

        Args:
            registration_id: name in XML
            behaviour: class, or function that makes a new behaviour at each call; gets ``name``
                and the literal inputs that are among its parameters
            ports: None takes the typed ports that the class declares (py_trees 2.5 on)
            namespace: py_trees blackboard namespace in which the behaviour reads the other inputs
                and writes the outputs
            setup_arguments: for the behaviours' ``setup(**arguments)`` before the first tick,
                unless a ``py_trees.trees.BehaviourTree`` has set them up

        Raises:
            LogicError: the ID is taken or not allowed, or ``behaviour`` is an instance
        """
        self.register_builder(
            *py_trees_registration(registration_id, behaviour, ports, namespace, setup_arguments)
        )

    def _guard(self, function: Callback, what: str) -> Callback:
        if not callable(function):
            raise TypeError(f"the {what} callback must be callable, it is {function!r}")
        if not self._quirks.callback_errors_fail:
            return function

        @functools.wraps(function)
        def guarded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception:
                name = arguments[-1].name()  # each callback takes its node last
                print(f"Python exception in {what} [{name}]:", file=sys.stderr)
                traceback.print_exc()
                return NodeStatus.FAILURE

        return cast("Callback", guarded)

    def _register_simple(
        self, name: str, node_type: NodeType, ports: Ports, builder: NodeBuilder
    ) -> None:
        children = 1 if node_type is NodeType.DECORATOR else 0
        manifest = TreeNodeManifest(
            name, node_type, as_ports_list(ports), min_children=children, max_children=children
        )
        self.register_builder(manifest, builder)

    def manifests(self) -> dict[str, TreeNodeManifest]:
        """All registered node types by ID."""
        return dict(self._manifests)

    def add_metadata_to_manifest(self, registration_id: str, metadata: Mapping[str, str]) -> None:
        """Replace what editors are told of a node type; raises LogicError for unknown ones."""
        manifest = self._manifests.get(registration_id)
        if manifest is None:
            raise LogicError(f"ID [{registration_id}] is not registered")
        self._manifests[registration_id] = replace(manifest, metadata=tuple(metadata.items()))

    def builtin_nodes(self) -> set[str]:
        """IDs of the node types that every factory knows."""
        return {type_id for type_id, manifest in self._manifests.items() if manifest.builtin}

    # -- types and names ------------------------------------------------------------------------

    @property
    def types(self) -> TypeRegistry:
        """Conversions between text and port types."""
        return self._types

    def register_converter(self, port_type: Any, converter: Callable[[str], Any]) -> None:
        """Make ``port_type`` from XML text by ``converter(text)``, for this factory only."""
        self._types.register(port_type, converter)

    def register_scripting_enum(self, name: str, value: int) -> None:
        """Let scripts, switches and numeric ports use ``name`` for ``value``; raises LogicError on
        a clash.
        """
        known = self._types.enums.get(name)
        if known is not None and known != value:
            raise LogicError(
                f"scripting enum [{name}] is registered as {known} already, it cannot become "
                f"{value}"
            )
        self._types.add_enum(name, int(value))

    def register_scripting_enums(self, enum_class: type[enum.Enum]) -> None:
        """`register_scripting_enum` for all members of an Enum with integer values."""
        for name, member in enum_class.__members__.items():
            self.register_scripting_enum(name, int(member.value))


def _typed_loops(manifests: Mapping[str, TreeNodeManifest]) -> dict[str, TreeNodeManifest]:
    """Quirk `loop_queues_typed`: the Loops among some node types, each with its type of queue."""
    typed = {}
    for type_id, node_class in BUILTIN_NODES.items():
        if issubclass(node_class, Loop):
            ports = manifests[type_id].ports
            queue = replace(ports["queue"], type=QUEUE_TYPES[node_class.item_type])
            typed[type_id] = replace(manifests[type_id], ports={**ports, "queue": queue})
    return typed
