# SPDX-License-Identifier: Apache-2.0
"""Trees of `tree_tick.py`, each as XML for both engines and as the same tree of py_trees.

A `Part` is a tree fragment in both forms, so that the two cannot drift. Where py_trees has no such
node, the leanest behaviour that does the same stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import py_trees
from py_trees.behaviour import Behaviour
from py_trees.common import Access, ParallelPolicy, Status

__all__ = ["FAMILIES", "Case", "register_leaves"]

_names = count()


@dataclass(frozen=True)
class Part:
    """A tree fragment."""

    xml: str
    nodes: int
    make: Callable[[], Behaviour]
    """A new py_trees fragment."""
    trees: str = ""
    """Definitions of the SubTrees that it needs."""


@dataclass(frozen=True)
class Case:
    """One tree."""

    name: str
    xml: str
    nodes: int
    make: Callable[[], Behaviour]
    result: str
    """Status that each tick gives."""
    chains: bool = False
    """True if it consists of nodes with one child, which cost Python more than C++."""
    gain: float = 20.0
    """How many times longer py_trees takes, at least."""

    def of_functions(self) -> Case:
        """The same tree, its leaves functions of Python instead of nodes built in."""
        xml = self.xml.replace("<AlwaysSuccess", "<Work").replace("<AlwaysFailure", "<Fail")
        return replace(self, xml=xml)


def register_leaves(module: Any, factory: Any) -> None:
    """Give ``Work``, ``Fail``, ``Check`` and ``Move`` to a factory of this engine or of
    behaviortreepy.
    """
    success, running = module.NodeStatus.SUCCESS, module.NodeStatus.RUNNING
    failure = module.NodeStatus.FAILURE
    factory.register_simple_action("Work", lambda node: success)
    factory.register_simple_action("Fail", lambda node: failure)
    factory.register_simple_condition("Check", lambda node: success)
    factory.register_simple_stateful_action(
        "Move", lambda node: running, lambda node: running, lambda node: None
    )


# -- py_trees' side -------------------------------------------------------------------------------


class _Function(Behaviour):  # type: ignore[misc]
    """Leaf whose update is one function of a blackboard client that knows the key x."""

    def __init__(self, function: Callable[[Any], Status]) -> None:
        super().__init__(f"function {next(_names)}")
        self.board = self.attach_blackboard_client(self.name)
        self.board.register_key("x", Access.WRITE)
        self.board.x = 1.5
        self._function = function

    def update(self) -> Status:
        return self._function(self.board)


class _Work(Behaviour):  # type: ignore[misc]
    def update(self) -> Status:
        return Status.SUCCESS


class _Move(Behaviour):  # type: ignore[misc]
    def update(self) -> Status:
        return Status.RUNNING


def _add(board: Any) -> Status:
    board.x = board.x + 1
    return Status.SUCCESS


def _compare(board: Any) -> Status:
    x = board.x
    return Status.SUCCESS if x > 0 and x != -1 else Status.FAILURE


def _guarded(board: Any) -> Status:
    if board.x < 0:
        return Status.FAILURE
    board.x = board.x
    return Status.SUCCESS


# -- parts ----------------------------------------------------------------------------------------


def _leaf(xml: str, make: Callable[[], Behaviour]) -> Part:
    return Part(xml, 1, make)


_SUCCESS = _leaf("<AlwaysSuccess/>", lambda: py_trees.behaviours.Success("s"))
_FAILURE = _leaf("<AlwaysFailure/>", lambda: py_trees.behaviours.Failure("f"))
_WORK = _leaf("<Work/>", lambda: _Work("work"))
_CHECK = _leaf("<Check/>", lambda: _Work("check"))
_MOVE = _leaf("<Move/>", lambda: _Move("move"))
_INIT = _leaf('<Script code="x := 1.5"/>', lambda: _Work("init"))
_ADD = _leaf('<Script code="x := x + 1"/>', lambda: _Function(_add))
_MIX = _leaf('<Script code="x = (x * 0.5 + 3) / 2 - 1"/>', lambda: _Function(_add))
_COMPARE = _leaf(
    '<ScriptCondition code="x &gt; 0 &amp;&amp; x != -1"/>', lambda: _Function(_compare)
)
_GUARDED = _leaf(
    '<AlwaysSuccess _skipIf="x &lt; 0" _onSuccess="y := x"/>', lambda: _Function(_guarded)
)


def _composite(tag: str, parts: list[Part], make: Callable[[list[Behaviour]], Behaviour]) -> Part:
    return Part(
        f"<{tag}>{''.join(part.xml for part in parts)}</{tag.split(maxsplit=1)[0]}>",
        1 + sum(part.nodes for part in parts),
        lambda: make([part.make() for part in parts]),
        next((part.trees for part in parts if part.trees), ""),
    )


def _sequence(parts: list[Part]) -> Part:
    return _composite("Sequence", parts, lambda made: py_trees.composites.Sequence("s", True, made))


def _fallback(parts: list[Part]) -> Part:
    return _composite("Fallback", parts, lambda made: py_trees.composites.Selector("f", True, made))


def _reactive_sequence(parts: list[Part]) -> Part:
    return _composite(
        "ReactiveSequence", parts, lambda made: py_trees.composites.Sequence("r", False, made)
    )


def _reactive_fallback(parts: list[Part]) -> Part:
    return _composite(
        "ReactiveFallback", parts, lambda made: py_trees.composites.Selector("r", False, made)
    )


def _parallel(parts: list[Part]) -> Part:
    policy = ParallelPolicy.SuccessOnAll(synchronise=False)
    return _composite(
        "Parallel", parts, lambda made: py_trees.composites.Parallel("p", policy, made)
    )


def _inverter(part: Part) -> Part:
    return _composite("Inverter", [part], lambda made: py_trees.decorators.Inverter("i", made[0]))


def _force_failure(part: Part) -> Part:
    return _composite(
        "ForceFailure", [part], lambda made: py_trees.decorators.SuccessIsFailure("f", made[0])
    )


def _repeat_once(part: Part) -> Part:
    return _composite(
        'Repeat num_cycles="1"',
        [part],
        lambda made: py_trees.decorators.Repeat("r", made[0], num_success=1),
    )


def _subtree(part: Part) -> Part:
    return Part(
        '<SubTree ID="Inner" x="{x}" limit="7"/>',
        1 + part.nodes,
        part.make,
        f'<BehaviorTree ID="Inner">{part.xml}</BehaviorTree>',
    )


# -- families -------------------------------------------------------------------------------------


def _rows(nodes: int, row: Callable[[int], Part], width: int) -> list[Part]:
    """Rows of about ``width`` nodes that together have about ``nodes``."""
    first = row(min(width, nodes))
    return [first] * max(1, nodes // first.nodes)


def _wide(nodes: int) -> Part:
    return _sequence([_SUCCESS] * (nodes - 1))


def _deep(nodes: int) -> Part:
    def chain(depth: int) -> Part:
        return _SUCCESS if depth == 1 else _sequence([chain(depth - 1)])

    return _sequence(_rows(nodes, chain, 100))


def _running_chain(nodes: int) -> Part:
    """An action that goes on, below 60 to 200 Sequences."""

    def chain(depth: int) -> Part:
        return _MOVE if depth == 1 else _sequence([chain(depth - 1)])

    return chain(min(max(nodes, 60), 200))


def _binary(nodes: int) -> Part:
    return _SUCCESS if nodes < 3 else _sequence([_binary(nodes // 2)] * 2)


def _alternating(nodes: int) -> Part:
    """Every second level fails once before it succeeds; all nodes are ticked."""

    def level(depth: int) -> Part:
        if depth == 0:
            return _SUCCESS
        if depth % 2:
            return _sequence([level(depth - 1)] * 2)
        return _fallback([_FAILURE, level(depth - 1)])

    return _sequence(_rows(nodes, lambda _: level(6), 30))


def _half_ticked(nodes: int) -> Part:
    """Sequence and Fallback in turn over two equal branches: most nodes are never reached."""

    def level(nodes: int, sequence: bool) -> Part:
        if nodes < 3:
            return _SUCCESS
        return (_sequence if sequence else _fallback)([level(nodes // 2, not sequence)] * 2)

    return level(nodes, True)


def _scripts(nodes: int) -> Part:
    return _sequence([_INIT, *[_ADD, _COMPARE, _MIX, _COMPARE] * (nodes // 4)])


def _conditions(nodes: int) -> Part:
    return _sequence([_INIT, *[_GUARDED] * nodes])


def _reactive(nodes: int) -> Part:
    rows = _rows(nodes, lambda width: _reactive_sequence([_CHECK] * (width - 2) + [_WORK]), 20)
    return _reactive_sequence(rows)


def _reactive_scripts(nodes: int) -> Part:
    rows = _rows(nodes, lambda width: _reactive_sequence([_COMPARE] * (width - 2) + [_ADD]), 20)
    return _reactive_sequence([_INIT, *rows])


def _reactive_running(nodes: int) -> Part:
    """Conditions that hold, then an action that goes on: what a robot's tree does most."""
    row = _reactive_sequence([_CHECK] * 3 + [_reactive_fallback([_FAILURE, _CHECK])])
    return _reactive_sequence([row] * (nodes // row.nodes) + [_MOVE])


def _decorated(nodes: int) -> Part:
    return _sequence([_inverter(_force_failure(_SUCCESS))] * (nodes // 3))


def _decorator_chains(nodes: int) -> Part:
    def chain(depth: int) -> Part:
        if depth <= 1:
            return _SUCCESS
        wrap = (_inverter, _inverter, _repeat_once)[depth % 3]
        return wrap(chain(depth - 1))

    return _sequence(_rows(nodes, lambda width: chain(61), 61))


def _parallel_wide(nodes: int) -> Part:
    return _parallel([_SUCCESS] * (nodes - 1))


def _parallel_running(nodes: int) -> Part:
    return _parallel([_MOVE] * (nodes - 1))


def _callbacks(nodes: int) -> Part:
    rows = _rows(nodes, lambda width: _sequence([_CHECK, _WORK] * (width // 2)), 20)
    return _sequence(rows)


def _subtrees(nodes: int) -> Part:
    inner = _sequence([_ADD, _COMPARE, _SUCCESS])
    return _sequence([_INIT, *[_subtree(inner)] * (nodes // 5)])


class _Switch(Behaviour):  # type: ignore[misc]
    """Ticks the child that a value chooses."""

    def __init__(self, children: list[Behaviour]) -> None:
        super().__init__("switch")
        self.children = children
        self._chosen = children[1]

    def update(self) -> Status:
        self._chosen.tick_once()
        return self._chosen.status


class _Loop(Behaviour):  # type: ignore[misc]
    def __init__(self, children: list[Behaviour]) -> None:
        super().__init__("loop")
        self.children = children
        self._item = 0

    def update(self) -> Status:
        self._item += 1
        self.children[0].tick_once()
        return Status.RUNNING


def _switches(nodes: int) -> Part:
    cases = 'variable="{x}" case_1="1" case_2="1.5" case_3="b"'
    one = _composite(f"Switch3 {cases}", [_SUCCESS] * 4, _Switch)
    return _sequence([_INIT, *[one] * (nodes // one.nodes)])


def _loops(nodes: int) -> Part:
    queue = ";".join(["7"] * 1000)
    one = _composite(f'LoopInt queue="{queue}" value="{{y}}"', [_SUCCESS], _Loop)
    return _parallel([one] * (nodes // one.nodes))


def _other_chains(nodes: int) -> Part:
    def chain(depth: int) -> Part:
        if depth <= 1:
            return _SUCCESS
        wrap = (
            lambda part: _parallel([part]),
            _repeat_once,
            lambda part: _composite(
                "SequenceWithMemory",
                [part],
                lambda made: py_trees.composites.Sequence("m", True, made),
            ),
        )[depth % 3]
        return wrap(chain(depth - 1))

    return _sequence(_rows(nodes, lambda width: chain(61), 61))


@dataclass(frozen=True)
class Family:
    """Trees of one kind in any size."""

    name: str
    make: Callable[[int], Part]
    """A tree of about so many nodes."""
    result: str = "SUCCESS"
    chains: bool = False
    gain: float = 20.0

    def case(self, nodes: int) -> Case:
        """The tree of about so many nodes."""
        part = self.make(nodes)
        main = f'<BehaviorTree ID="Main">{part.xml}</BehaviorTree>'
        xml = f'<root BTCPP_format="4" main_tree_to_execute="Main">{main}{part.trees}</root>'
        return Case(
            f"{self.name} {nodes}", xml, part.nodes, part.make, self.result, self.chains, self.gain
        )


FAMILIES = [
    Family("wide", _wide),
    Family("deep", _deep, chains=True),
    Family("running chain", _running_chain, "RUNNING", chains=True, gain=10),
    Family("binary", _binary),
    Family("alternating", _alternating),
    Family("half ticked", _half_ticked, gain=15),
    Family("scripts", _scripts, gain=15),
    Family("conditions", _conditions, gain=12),
    Family("reactive", _reactive),
    Family("reactive scripts", _reactive_scripts),
    Family("reactive running", _reactive_running, "RUNNING", gain=15),
    Family("decorated", _decorated),
    Family("decorator chains", _decorator_chains, chains=True, gain=10),
    Family("other chains", _other_chains, chains=True, gain=5),
    Family("switches", _switches, gain=3),
    Family("loops", _loops, "RUNNING", chains=True, gain=1),
    Family("parallel", _parallel_wide),
    Family("parallel running", _parallel_running, "RUNNING", gain=5),
    Family("callbacks", _callbacks, gain=15),
    Family("subtrees", _subtrees, gain=12),
]
