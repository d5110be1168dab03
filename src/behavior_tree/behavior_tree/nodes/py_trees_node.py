# SPDX-License-Identifier: Apache-2.0
"""`PyTreesNode`: any py_trees behaviour, or a whole py_trees subtree, as one node of our trees.

Made by `BehaviorTreeFactory.register_py_trees_behaviour`. Ports reach the behaviour in three ways:

* an input that is a parameter of the class or function goes to the constructor, so
  ``<TickCounter duration="3"/>`` works with the plain class; it must be a literal
* every other input is written to the py_trees blackboard under its own name before each tick, and
  every output that the tick wrote there is copied to the blackboard of the tree after it
* behaviours with typed ports (py_trees 2.5 on) get a blackboard namespace of their own, so that two
  nodes of the same type never see each other's values

py_trees knows no halt: an interrupted behaviour gets ``stop(INVALID)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.blackboard import Blackboard as PyTreesBlackboard
from py_trees.common import Status as PyTreesStatus

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.blackboard.ports import (
    InputPort,
    OutputPort,
    PortInfo,
    as_ports_list,
    pointer_key,
)
from behavior_tree.errors import LogicError, PortError
from behavior_tree.kernel.leaf import ActionNodeBase
from behavior_tree.kernel.manifest import NodeBuilder, TreeNodeManifest
from behavior_tree.kernel.node import FAILURE, RUNNING, SUCCESS, NodeConfig

BehaviourFactory = Callable[..., Behaviour]
"""A behaviour class, or a function that makes a new behaviour at each call."""

_RESULTS = {
    PyTreesStatus.RUNNING: RUNNING,
    PyTreesStatus.SUCCESS: SUCCESS,
    PyTreesStatus.FAILURE: FAILURE,
}
_ABSENT = object()


class PyTreesNode(ActionNodeBase):
    """Leaf that ticks a py_trees behaviour. ``children`` holds that behaviour, for py_trees'
    display and visitors only; the engine takes the node as a leaf.
    """

    def __init__(
        self,
        name: str,
        config: NodeConfig,
        make: BehaviourFactory,
        namespace: str = "/",
        setup_arguments: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, config)
        self.ticked_behaviours: list[Behaviour] = []
        self._setup_arguments = dict(setup_arguments or {})
        self._is_set_up = False
        self._emitted: dict[str, Any] = {}
        arguments = self._arguments(make)
        self.behaviour = _made(make, arguments, config.registration_id)
        self.behaviour.parent = self
        self.children = [self.behaviour]
        private = self._open_typed_ports()
        self._namespace = private or namespace
        self._fixed = frozenset(arguments)
        ports = [port for port in config.ports.values() if port.name not in arguments]
        self._inputs = _names(ports, PortDirection.OUTPUT)
        self._outputs = _names(ports, PortDirection.INPUT)
        self._seeds = {  # defaults of typed outputs; in a shared namespace it is another's value
            name: _look(self._key(name)) if private else _ABSENT for name in self._outputs
        }

    def _arguments(self, make: BehaviourFactory) -> dict[str, Any]:
        """What the constructor takes from the XML."""
        parameters = _parameters(make)
        arguments: dict[str, Any] = {"name": str(self.name)} if "name" in parameters else {}
        for port in self._config.ports.values():
            if port.name == "name" or port.name not in parameters:
                continue
            text = self.raw_port(port.name)
            if text is None and not port.required and port.default is None:
                continue  # the constructor has its own default
            if text is not None and pointer_key(text, port.name) is not None:
                raise PortError(
                    f"port [{port.name}] of '{self._config.path}' is an argument of the "
                    f"constructor of {self._config.registration_id}, which runs before the first "
                    f'tick: give a literal instead of "{text}"'
                )
            arguments[port.name] = self.get_input(port.name)
        return arguments

    def _open_typed_ports(self) -> str:
        """Connect the typed ports that nobody connected yet; their namespace, empty if none."""
        behaviours = [each for each in self.behaviour.iterate() if hasattr(each, "setup_ports")]
        namespace = f"/behavior_tree_{self.id.hex}"
        closed = [each for each in behaviours if each._blackboard_client is None]
        for each in closed:
            names = {name: name for name in (*each.input_ports(), *each.output_ports())}
            each.setup_ports(names, namespace)
        return namespace if closed else ""

    def set_port(self, name: str, text: str) -> None:
        if name in self._fixed:
            raise PortError(
                f"port [{name}] of '{self._config.path}' was an argument of the constructor: "
                f"replace the node to change it"
            )
        super().set_port(name, text)

    # -- ticking --------------------------------------------------------------------------------

    def setup(self, **arguments: Any) -> None:
        """Called by py_trees, which sets up the behaviours itself, so nothing is left to do."""
        self._is_set_up = True

    def tick(self) -> NodeStatus:
        if not self._is_set_up:
            for each in self.behaviour.iterate():
                each.setup(**self._setup_arguments)
            self._is_set_up = True  # not if one has raised: the next tick tries again
        if self.status is not RUNNING:
            self._emitted.clear()
        before = self._write_inputs()
        self.ticked_behaviours = list(self.behaviour.tick())
        self._read_outputs(before)
        status = self.behaviour.status
        self._reason = self._feedback()
        if status == PyTreesStatus.FAILURE:
            self.set_failure_reason(self._reason)  # into the record
        try:
            return _RESULTS[PyTreesStatus(status.name)]
        except KeyError:
            raise LogicError(
                f"the py_trees behaviour '{self.behaviour.name}' returned {status.name}: update() "
                f"must return RUNNING, SUCCESS or FAILURE"
            ) from None

    def halt(self) -> None:
        if self.behaviour.status == PyTreesStatus.RUNNING:
            self.behaviour.stop(PyTreesStatus.INVALID)
        self.reset_status()

    def _feedback(self) -> str:
        tip = self.behaviour.tip()
        return str((tip.feedback_message if tip else "") or self.behaviour.feedback_message)

    def _write_inputs(self) -> dict[str, Any]:
        """Give the inputs; the values under all output keys before the tick."""
        before: dict[str, Any] = {}
        for name in self._outputs:
            _put(self._key(name), self._emitted.get(name, self._seeds[name]))
        for name in self._inputs:
            value = self.get_input(name, None)
            _put(self._key(name), _ABSENT if value is None else value)
            if name in self._outputs:
                before[name] = value
        return before

    def _read_outputs(self, before: dict[str, Any]) -> None:
        for name in self._outputs:
            value = _look(self._key(name))
            last = before[name] if name in before else self._emitted.get(name, _ABSENT)
            if value is not _ABSENT and value is not last:
                self.set_output(name, value)
                self._emitted[name] = value

    def _key(self, port: str) -> str:
        return f"{self._namespace.rstrip('/')}/{port}"


def py_trees_registration(
    registration_id: str,
    make: BehaviourFactory,
    ports: Mapping[str, PortInfo] | Iterable[PortInfo] | None,
    namespace: str,
    setup_arguments: Mapping[str, Any] | None,
) -> tuple[TreeNodeManifest, NodeBuilder]:
    """Manifest and builder of a behaviour; see
    `BehaviorTreeFactory.register_py_trees_behaviour`.
    """
    if not callable(make) or isinstance(make, Behaviour):
        raise LogicError(
            f"[{registration_id}]: give a behaviour class or a function that makes a new "
            f"behaviour, not {make!r}: each node needs its own"
        )
    declared = typed_ports(make) if ports is None else as_ports_list(ports)
    doc = " ".join((inspect.getdoc(make) or "").split("\n\n")[0].split())
    manifest = TreeNodeManifest(registration_id, NodeType.ACTION, declared, description=doc)

    def build(name: str, config: NodeConfig) -> PyTreesNode:
        return PyTreesNode(name, config, make, namespace, setup_arguments)

    return manifest, build


def typed_ports(make: BehaviourFactory) -> dict[str, PortInfo]:
    """Ports that a class declares by typed ports (py_trees 2.5 on); empty for all others."""
    inputs = make.input_ports() if hasattr(make, "input_ports") else {}
    outputs = make.output_ports() if hasattr(make, "output_ports") else {}
    found = [_input(name, info) for name, info in inputs.items()]
    found += [
        OutputPort(name, _plain(info.data_type), description=info.description)
        for name, info in outputs.items()
    ]
    return as_ports_list(found)


def _input(name: str, info: Any) -> PortInfo:
    kind = _plain(info.data_type)
    default = getattr(info, "default_value", None)  # since py_trees 2.6
    if info.required and default is None:
        return InputPort(name, kind, description=info.description)
    return InputPort(name, kind, default, info.description)


def _plain(data_type: Any) -> Any:
    return data_type if isinstance(data_type, type) else Any


def _parameters(make: BehaviourFactory) -> set[str]:
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # written in C
        return {"name"}
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return names | {"name"} if takes_any else names


def _made(make: BehaviourFactory, arguments: dict[str, Any], type_id: str) -> Behaviour:
    behaviour = make(**arguments)
    if not isinstance(behaviour, Behaviour):
        raise LogicError(f"the function behind [{type_id}] returned {behaviour!r}, no Behaviour")
    if behaviour.parent is not None:
        raise LogicError(
            f"the function behind [{type_id}] returned '{behaviour.name}', which has a parent: it "
            f"must make a new behaviour at each call"
        )
    return behaviour


def _names(ports: Iterable[PortInfo], other: PortDirection) -> list[str]:
    return [port.name for port in ports if port.direction is not other]


def _look(key: str) -> Any:
    return PyTreesBlackboard.storage.get(key, _ABSENT)


def _put(key: str, value: Any) -> None:
    if value is _ABSENT:
        PyTreesBlackboard.unset(key)
    else:
        PyTreesBlackboard.set(key, value)
