# SPDX-License-Identifier: Apache-2.0
"""The parts of a network written in Python: what becomes an element, with its code if it has any.

Conditions are scripts, as in XML, or functions of the network's context; functions become node
types of the network's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.node import TreeNode
from behavior_tree.nodes.decider import RLDS, Action, Case, Decider, Decision, Rd, Transition
from behavior_tree.nodes.decider.instant import Instant

Condition = str | Callable[[Any], object] | None
"""A script; a function of the context; None: nothing is asked."""
Port = str | float | bool | NodeStatus
"""Value of a port, or ``"{key}"``."""


@dataclass(frozen=True, eq=False)
class Part:
    """One node of a network, with all below it."""

    type_id: str
    """Name of its type in XML."""
    attributes: dict[str, str] = field(default_factory=dict)
    children: tuple[Part, ...] = ()
    node_class: type[TreeNode] | None = None
    """Its code, if that is the network's own."""
    of_functions: bool = False
    """True if the code was made of functions, so that its type is named after the network too."""


def node(
    kind: str | type[TreeNode], *children: Part, name: str | None = None, **ports: Port
) -> Part:
    """Any node.

    Args:
        kind: ID of a node type that the factory knows, or a class that becomes one of the name of
            the class; derive it from `Decider`, `Rd`, `Action` or the like
        children: below it
        name: of the node; None: that of the type
        ports: of the node
    """
    return _part(kind, name, children, ports)


def _part(
    kind: str | type[TreeNode],
    name: str | None,
    children: tuple[Part, ...],
    ports: dict[str, Port],
) -> Part:
    attributes = {} if name is None else {"name": name}
    attributes |= {key: _text(value) for key, value in ports.items()}
    if isinstance(kind, str):
        return Part(kind, attributes, children)
    return Part(kind.__name__, attributes, children, kind)


def decider(
    name: str,
    *cases: Part,
    decide: Callable[[Any], Decision | str | None] | None = None,
    **ports: Port,
) -> Part:
    """A Decider: the first of the cases that can be chosen, or the one that ``decide(context)``
    names.
    """
    made = _part("Decider", name, cases, ports)
    return made if decide is None else _with(made, Decider, decide=_of_context(decide))


def case(name: str, child: Part, when: Condition = None, **ports: Port) -> Part:
    """One alternative of a `decider`."""
    return _conditional(Case, name, (child,), ports, {"if": ("holds", when)})


def rlds(name: str, *steps: Part, goal: Condition = None, **ports: Port) -> Part:
    """An RLDS; the last step is the nearest to the goal."""
    return _conditional(RLDS, name, steps, ports, {"goal": ("at_goal", goal)})


def rd(
    name: str,
    child: Part,
    runnable: Condition = None,
    enterable: Condition = None,
    **ports: Port,
) -> Part:
    """One step of an `rlds`."""
    conditions = {
        "runnable": ("is_runnable", runnable),
        "enterable": ("is_enterable", enterable),
    }
    return _conditional(Rd, name, (child,), ports, conditions)


def action(
    name: str,
    step: Callable[[Any], NodeStatus | None],
    *,
    enter: Callable[[Any], object] | None = None,
    exit: Callable[[Any], object] | None = None,
) -> Part:
    """A leaf made of functions of the context; ``step`` returning None goes on."""
    methods = {
        key: _of_context(function)
        for key, function in (("step", step), ("enter", enter), ("exit", exit))
        if function is not None
    }
    return _with(node("Action", name=name), Action, **methods)


def call(name: str, function: Callable[[Any], object]) -> Part:
    """A leaf that calls a function of the context and succeeds: a monitor, or what writes down
    logical state.
    """
    return _with(node("Call", name=name), Instant, act=_of_context(function))


def atomic(child: Part, *, name: str | None = None, **ports: Port) -> Part:
    """What no decision interrupts."""
    return _part("Atomic", name, (child,), ports)


def lock(on: bool, of: str = "", **ports: Port) -> Part:
    """Set or release the lock of a node around this one."""
    named: dict[str, Port] = {"node": of} if of else {}
    return _part("Lock", None, (), {"set": on, **named, **ports})


def run_for(seconds: float, child: Part, *, name: str | None = None) -> Part:
    """A part that runs for a time [s]."""
    return node("RunFor", child, name=name, msec=round(seconds * 1000))


def wait(seconds: float) -> Part:
    """Nothing, for a time [s]."""
    return node("Sleep", msec=round(seconds * 1000))


def write_context(key: str, value: Port) -> Part:
    """Write an entry of the blackboard."""
    return node("WriteContext", key=key, value=value)


def sequence(*children: Part, name: str | None = None) -> Part:
    """One after the other."""
    return node("Sequence", *children, name=name)


def repeat(child: Part, *, name: str | None = None) -> Part:
    """Again and again, until it fails."""
    return node("Repeat", child, name=name, num_cycles=-1)


def state_machine(name: str, *states: Part, **ports: Port) -> Part:
    """Named states, the first one first."""
    return _part("StateMachine", name, states, ports)


def state(name: str, *children: Part, **ports: Port) -> Part:
    """One state: what runs in it, and its transitions."""
    return _part("State", name, children, ports)


def transition(to: str, when: Condition = None) -> Part:
    """Leave the state around for another one."""
    return _conditional(Transition, None, (), {"to": to}, {"if": ("holds", when)})


def _conditional(
    kind: type[TreeNode],
    name: str | None,
    children: tuple[Part, ...],
    ports: dict[str, Port],
    conditions: dict[str, tuple[str, Condition]],
) -> Part:
    """A part whose conditions are ports where they are scripts, methods where functions."""
    scripts = {port: text for port, (_, text) in conditions.items() if isinstance(text, str)}
    methods = {
        method: _test(function)
        for method, function in conditions.values()
        if function is not None and not isinstance(function, str)
    }
    made = _part(kind.__name__, name, children, {**ports, **scripts})
    return _with(made, kind, **methods) if methods else made


def _with(part: Part, base: type[TreeNode], **methods: Any) -> Part:
    """The part with code of its own; its type is named after it."""
    label = "".join(c for c in part.attributes.get("name", "").title() if c.isalnum())
    type_id = f"{part.type_id}{label}" if part.type_id in ("Case", "Rd") else label or part.type_id
    methods["__doc__"] = f"{part.type_id} '{part.attributes.get('name', '')}' of a Python network."
    made = type(type_id, (base,), methods)
    return replace(part, type_id=type_id, node_class=made, of_functions=True)


def _of_context(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: function(self.context)


def _test(function: Callable[[Any], object]) -> Callable[[Any], bool]:
    return lambda self: bool(function(self.context))


def _text(value: Port) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.name if isinstance(value, NodeStatus) else str(value)
