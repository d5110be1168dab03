# SPDX-License-Identifier: Apache-2.0
"""Random trees, run on this engine and on BehaviorTree.CPP 4.8.2, and what differs.

A case is made from a seed alone (`conformance_trees`): XML, results of every leaf by name and call,
and what is done with the tree (ticks, halts, blackboard writes). Each engine runs it and leaves a
trace: results of the ticks, calls of the leaves in order, status transitions (of BehaviorTree.CPP
from its ``.btlog``), blackboards of all scopes, what is halted when the tree is destroyed.
"""

from __future__ import annotations

import gc
import os
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import behaviortreepy as upstream
from conformance_trees import GETTERS, Case, Generator

import behavior_tree as ours

__all__ = ["Case", "Generator", "Trace", "difference", "ours", "run", "silence", "upstream"]

STATUS = ("IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED")
STEP_S = 0.03


@dataclass
class Trace:
    """What an engine did with a case."""

    built: bool = False
    events: list[Any] = field(default_factory=list)
    transitions: list[list[tuple[int, str]]] = field(default_factory=list)
    """By instance of the tree."""
    blackboards: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    """By the leaf that sees it, ``""`` for the root's."""
    error: str = ""
    parent: Any = None
    """Blackboard above the external one."""


@contextmanager
def silence() -> Iterator[None]:
    """Keep what C++ prints off the terminal."""
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(nowhere)


class _Leaves:
    """Leaves of one run: they follow the case's results and write down each call."""

    def __init__(self, module: ModuleType, case: Case, trace: Trace) -> None:
        self.module, self.case, self.events = module, case, trace.events
        self.calls: Counter[str] = Counter()
        self.boards: dict[str, Any] = {}
        self.trees: list[Any] = []

    def register(self, factory: Any) -> None:
        factory.register_simple_action("Act", lambda node: self.result(node, "tick"))
        factory.register_simple_condition("Cond", lambda node: self.result(node, "tick"))
        factory.register_simple_stateful_action(
            "State",
            lambda node: self.result(node, "start"),
            lambda node: self.result(node, "running"),
            self.halted,
        )
        factory.register_simple_stateful_action(
            "Bare", lambda node: self.result(node, "start"), lambda node: self.result(node, "more")
        )
        factory.register_simple_decorator(
            "Deco", lambda status, node: self.result(node, status.name, status)
        )

    def result(self, node: Any, what: str, child: Any = None) -> Any:
        name = node.name()
        results = self.case.results.get(name, ["child" if child is not None else "SUCCESS"])
        result = results[self.calls[name] % len(results)]
        self.calls[name] += 1
        self.events.append((what, name, node.status().name))
        if name not in self.boards:
            place = node.full_path(), node.uid(), node.type().name, node.is_halted()
            self.events.append((*place, node.get_input_int("x")))
            self.boards[name] = node.config().blackboard
        for write in self.case.writes.get(name, ()):
            use(self.boards[name], self.events, *write)
        if result == "output":
            node.set_output_int("x", 1)
        if result == "halt":
            node.halt_node()
            result = "SUCCESS"
        if result == "halt tree":
            for tree in self.trees:
                tree.halt_tree()
            result = "RUNNING" if what == "running" else "SUCCESS"
        return child if result == "child" else self.value(result)

    def halted(self, node: Any) -> None:
        name = node.name()
        self.events.append(("halt", name, node.status().name))
        for write in self.case.writes.get(name, ()):
            use(node.config().blackboard, self.events, *write)
        if "raise" in self.case.results[name]:
            raise ValueError("a leaf that raises when it is halted")

    def value(self, result: str) -> Any:
        if result == "raise":
            raise ValueError("a leaf that raises")
        odd = {"name": "SUCCESS", "True": True, "False": False, "int": 3, "bad": "bad"}
        if result in odd:
            return odd[result]
        if result in {"object", "None"}:
            return [] if result == "object" else None
        return getattr(self.module.NodeStatus, result)


def use(board: Any, events: list[Any], method: str, key: str, value: Any) -> None:
    """Do something with a blackboard, and write down what comes of it."""
    try:
        result = (
            getattr(board, method)(key) if value is None else getattr(board, method)(key, value)
        )
    except Exception:
        events.append((method, key, "raised"))
    else:
        events.append((method, key, repr(result)))


def run(
    case: Case, module: ModuleType, *, transitions: bool = False, settle: float = 0.002
) -> Trace:
    """Run a case on ``behavior_tree`` or ``behaviortreepy``.

    Upstream's timer thread acknowledges a cancelled timer late, even after the timer was started
    again: a Sleep halted and ticked at once ends too early in a third of the runs. ``settle``
    is the time it is given before each tick [s].
    """
    trace = Trace()
    now = [0.0]
    factory = (
        module.BehaviorTreeFactory(clock=lambda: now[0], compat="4.8")
        if module is ours
        else upstream.BehaviorTreeFactory()
    )
    leaves = _Leaves(module, case, trace)
    leaves.register(factory)
    trees = leaves.trees
    board = None if case.board is None else _board(case, case.board, module, trace)
    try:
        for number in range(case.instances):
            trees.append(_create(case, factory, board, first=number == 0))
    except Exception as error:
        trace.error = str(error)
        return trace
    trace.built = True
    logs = [_watch(tree, module, trace) for tree in trees] if transitions else []
    pause = 0.0
    if module is upstream and (case.timed or has_timers(case)):
        pause = max(STEP_S, settle) if case.timed else settle

    def wait() -> None:
        now[0] += STEP_S
        if pause:
            time.sleep(pause)

    for what, argument in case.steps:
        if what != "write":
            wait()
        for tree in trees:
            _step(tree, trace, what, argument)
    _dump("", trees[0].root_blackboard(), trace)
    for name, board in leaves.boards.items():
        _dump(name, board, trace)
    for log in logs:
        log()
    logs.clear()
    trace.events.append("destroyed")
    tree = None  # upstream's destructor halts the tree
    while trees:
        trees.pop()
        if transitions:
            gc.collect()  # our logger, which refers to the tree, is part of a cycle
    return trace


def _board(case: Case, writes: list[tuple[str, str, Any]], module: ModuleType, trace: Trace) -> Any:
    parent = module.Blackboard.create()
    for write in writes:
        use(parent, trace.events, *write)
    if not case.parent:
        return parent
    trace.parent = parent  # upstream's child does not keep it
    return module.Blackboard.create(parent)


def _create(case: Case, factory: Any, board: Any, *, first: bool) -> Any:
    if case.main is None:
        return factory.create_tree_from_text(case.xml, board)
    if first:
        factory.register_behavior_tree_from_text(case.xml)
    return factory.create_tree(case.main, board)


def _step(tree: Any, trace: Trace, what: str, argument: Any) -> None:
    actions: dict[str, Callable[[], Any]] = {
        "tick": lambda: tree.tick_exactly_once().name,
        "tick_once": lambda: tree.tick_once().name,
        "run": lambda: tree.tick_while_running(0).name,
        "halt": tree.halt_tree,
        "halt_root": lambda: tree.root_node().halt_node(),
        "execute_root": lambda: tree.root_node().execute_tick().name,
    }
    if what == "write":
        use(tree.root_blackboard(), trace.events, *argument)
        return
    try:
        result = actions[what]()
    except Exception as error:
        result = "raised"
        trace.error = str(error)
    trace.events.append((what, result, tree.root_node().status().name))


def _dump(name: str, board: Any, trace: Trace) -> None:
    values: dict[str, tuple[str, ...]] = {}
    for key in board.get_keys():
        events: list[Any] = []
        for getter in GETTERS:
            use(board, events, getter, key, None)
        values[key] = tuple(event[-1] for event in events)
    trace.blackboards[name] = values


def _watch(tree: Any, module: ModuleType, trace: Trace) -> Callable[[], None]:
    found: list[tuple[int, str]] = []
    trace.transitions.append(found)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    path = Path(tempfile.mkdtemp(dir=memory)) / "log.btlog"
    logger: Any = module.FileLogger(tree, str(path))

    def read() -> None:
        nonlocal logger
        if module is upstream:
            time.sleep(0.03)  # its writer thread empties the queue every 10 ms
        else:
            logger.close()
        logger.flush()
        logger = None
        data = path.read_bytes()
        at = 23 + struct.unpack_from("<i", data, 19)[0] + 8
        while at + 9 <= len(data):
            uid, status = struct.unpack_from("<HB", data, at + 6)
            if status >= len(STATUS):
                break  # written while it was flushed
            found.append((uid, STATUS[status]))
            at += 9
        path.unlink()
        path.parent.rmdir()

    return read


def difference(case: Case, *, transitions: bool = False) -> str | None:
    """What differs between the engines; None if nothing."""
    with silence():
        for settle in (0.002, 0.05, 0.3) if has_timers(case) else (0.0,):
            found = _difference(case, transitions, settle)
            if found is None:
                return None  # else its timer thread may have been late
    if transitions and has_timers(case):  # its timers went on while its log was waited for
        return difference(case)
    return found


def has_timers(case: Case) -> bool:
    """True if upstream uses a thread for some node."""
    return any(tag in case.xml for tag in ("Sleep", "Delay", "Timeout"))


def _difference(case: Case, transitions: bool, settle: float) -> str | None:
    theirs = run(case, upstream, transitions=transitions, settle=settle)
    mine = run(case, ours, transitions=transitions)
    if mine.built != theirs.built:
        return f"built: ours {mine.built} ({mine.error}), upstream {theirs.built} ({theirs.error})"
    for index, (left, right) in enumerate(zip(mine.events, theirs.events, strict=False)):
        if left != right:
            return f"event {index}: ours {left} ({mine.error}), upstream {right} ({theirs.error})"
    if len(mine.events) != len(theirs.events):
        ends = f"{mine.events[-1:]} {theirs.events[-1:]}"
        return f"{len(mine.events)} events, upstream {len(theirs.events)}: {ends}"
    for name, board in theirs.blackboards.items():
        other = mine.blackboards[name]
        changed = {
            key: (other.get(key), board.get(key))
            for key in {*other, *board}
            if other.get(key) != board.get(key)
        }
        if changed:
            return f"blackboard of '{name}' (ours, upstream): {changed}"
    for left, right in zip(mine.transitions, theirs.transitions, strict=True):
        shown = len(right)  # the log's writer thread may drop the last ones
        if left[:shown] != right:
            at = next(
                i for i, (a, b) in enumerate(zip([*left, None], right, strict=False)) if a != b
            )
            return f"transition {at}: ours {left[at:][:4]}, upstream {right[at:][:4]}"
    return None
