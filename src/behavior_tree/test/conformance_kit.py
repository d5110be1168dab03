# SPDX-License-Identifier: Apache-2.0
"""Random trees, run on this engine and on BehaviorTree.CPP 4.8.2, and what differs.

A case is made from a seed alone: XML, results of every leaf by name and call, and what is done
with the tree (ticks, halts, blackboard writes). Each engine runs it and leaves a trace: results of
the ticks, calls of the leaves in order, status transitions (of BehaviorTree.CPP from its
``.btlog``), final blackboard.
"""

from __future__ import annotations

import random
import struct
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import behaviortreepy as upstream

import behavior_tree as ours

STATUS = ("IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED")
STEP_S = 0.03
SHORT_MS = 10
CONTROLS = (
    *("Sequence", "AsyncSequence", "SequenceWithMemory", "ReactiveSequence", "Fallback"),
    *("AsyncFallback", "ReactiveFallback", "Parallel", "ParallelAll", "IfThenElse", "WhileDoElse"),
    *("Switch2", "Switch3", "Switch4", "Switch5", "Switch6"),
)


@dataclass
class Case:
    """One random tree with its history."""

    seed: int
    xml: str
    steps: list[tuple[str, Any]]
    results: dict[str, list[str]]
    timed: bool


@dataclass
class Trace:
    """What an engine did with a case."""

    built: bool = False
    events: list[Any] = field(default_factory=list)
    transitions: list[tuple[int, str]] = field(default_factory=list)
    blackboard: dict[str, str] = field(default_factory=dict)
    error: str = ""


class Generator:
    """Makes cases; every choice comes from one random stream."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.r = random.Random(seed)
        self.leaves = 0
        self.results: dict[str, list[str]] = {}
        self.trees: dict[str, str] = {}
        self.timed = False
        self.timers = self.r.random() < 0.06
        self.conditions = self.r.random() < 0.6
        self.subtrees = self.r.randrange(4)

    def case(self) -> Case:
        for number in range(self.subtrees, 0, -1):
            self.trees[f"T{number}"] = self.node(self.r.randrange(1, 4), number)
        main = self.node(self.r.randrange(1, 5), 0)
        trees = "".join(f'<BehaviorTree ID="{k}">{v}</BehaviorTree>' for k, v in self.trees.items())
        xml = (
            '<root BTCPP_format="4" main_tree_to_execute="Main">'
            f'<BehaviorTree ID="Main">{main}</BehaviorTree>{trees}</root>'
        )
        steps: list[tuple[str, Any]] = [("set", ("a", self.r.randrange(4)))]
        steps += [("set", ("b", self.r.randrange(4))), ("set", ("c", 0.5)), ("set", ("s", "x"))]
        for _ in range(self.r.randrange(3, 12)):
            dice = self.r.random()
            if dice < 0.82:
                steps.append(("tick", None))
            elif dice < 0.92:
                steps.append(("halt", None))
            else:
                steps.append(("set", (self.r.choice("ab"), self.r.randrange(4))))
        return Case(self.seed, xml, steps, self.results, self.timed)

    # -- nodes

    def node(self, depth: int, tree: int) -> str:
        dice = self.r.random()
        if depth <= 0 or dice < 0.2:
            return self.leaf(tree)
        if dice < 0.62:
            return self.control(depth - 1, tree)
        if dice < 0.92 or tree >= self.subtrees:
            return self.decorator(depth - 1, tree)
        return self.subtree(tree)

    def attributes(self, **ports: Any) -> str:
        text = "".join(f' {k}="{escape(str(v))}"' for k, v in ports.items())
        if self.conditions and self.r.random() < 0.25:
            for name in ("_failureIf", "_successIf", "_skipIf", "_while"):
                if self.r.random() < 0.25:
                    text += f' {name}="{escape(self.condition())}"'
            for name in ("_onHalted", "_onFailure", "_onSuccess", "_post"):
                if self.r.random() < 0.25:
                    # Upstream runs _onHalted in a destructor: an error there ends the process.
                    script = (
                        f"h := {self.r.randrange(9)}" if name == "_onHalted" else self.statement()
                    )
                    text += f' {name}="{escape(script)}"'
        return text

    def children(self, depth: int, tree: int, low: int, high: int) -> str:
        return "".join(self.node(depth, tree) for _ in range(self.r.randint(low, high)))

    def control(self, depth: int, tree: int) -> str:
        r = self.r
        tag = r.choice(CONTROLS)
        ports: dict[str, Any] = {}
        low, high = 1, 4
        if tag == "Parallel":
            if r.random() < 0.7:
                ports["success_count"] = r.choice([-3, -2, -1, 0, 1, 2, 3])
            if r.random() < 0.7:
                ports["failure_count"] = r.choice([-2, -1, 0, 1, 2])
        elif tag == "ParallelAll" and r.random() < 0.7:
            ports["max_failures"] = r.choice([-2, -1, 0, 1, 2])
        elif tag in ("IfThenElse", "WhileDoElse"):
            low, high = 2, 3
        elif tag.startswith("Switch"):
            low = high = int(tag[-1]) + 1
            if r.random() < 0.9:
                ports["variable"] = r.choice(["{a}", "{s}", "{b}", "1", "{nothing}"])
            for case in range(1, high):
                if r.random() < 0.9:
                    ports[f"case_{case}"] = r.choice(["0", "1", "2", "x", "1.0", "{b}"])
        return f"<{tag}{self.attributes(**ports)}>{self.children(depth, tree, low, high)}</{tag}>"

    def decorator(self, depth: int, tree: int) -> str:
        r = self.r
        tags = [
            "Inverter",
            "ForceSuccess",
            "ForceFailure",
            "KeepRunningUntilFailure",
            "RetryUntilSuccessful",
        ]
        tags += [
            "Repeat",
            "RunOnce",
            "Precondition",
            "LoopInt",
            "LoopString",
            "LoopBool",
            "LoopDouble",
            "Deco",
            "Delay",
            "Timeout",
        ]
        tags += ["SkipUnlessUpdated", "WaitValueUpdate"]
        tag = r.choice(tags)
        ports: dict[str, Any] = {}
        if tag == "RetryUntilSuccessful":
            ports["num_attempts"] = r.choice([-1, 0, 1, 2, 3, 3, "{n}"])
        elif tag == "Repeat":
            ports["num_cycles"] = r.choice([-1, 0, 1, 2, 3, 3])
        elif tag == "RunOnce" and r.random() < 0.5:
            ports["then_skip"] = r.choice(["true", "false", "0", "1"])
        elif tag == "Precondition":
            ports["if"] = self.condition()
            if r.random() < 0.7:
                ports["else"] = r.choice(["SUCCESS", "FAILURE", "SKIPPED", "RUNNING"])
        elif tag.startswith("Loop"):
            queues = {"LoopBool": ["true;false", "1;0;1"], "LoopDouble": ["0.5;2", "1;2.25;3"]}
            ports["queue"] = r.choice(queues.get(tag, ["1;2;3", "4", "1;2"]))
            if r.random() < 0.5:
                ports["if_empty"] = r.choice(["SUCCESS", "FAILURE", "SKIPPED"])
            if r.random() < 0.7:
                ports["value"] = {
                    "LoopInt": "{li}",
                    "LoopString": "{ls}",
                    "LoopBool": "{lb}",
                    "LoopDouble": "{ld}",
                }[tag]
        elif tag == "Delay":
            ports["delay_msec"] = self.duration()
        elif tag == "Timeout":
            ports["msec"] = self.duration(zero=True)
        elif tag in ("SkipUnlessUpdated", "WaitValueUpdate"):
            ports["entry"] = r.choice(["{a}", "{b}", "b", "{zz}"])
        return f"<{tag}{self.attributes(**ports)}>{self.node(depth, tree)}</{tag}>"

    def duration(self, zero: bool = False) -> int:
        if zero and self.r.random() < 0.3:
            return 0
        if self.timers and self.r.random() < 0.6:
            self.timed = True
            return SHORT_MS
        return 1_000_000

    def subtree(self, tree: int) -> str:
        r = self.r
        target = r.randint(tree + 1, self.subtrees)
        ports: dict[str, Any] = {}
        for key in ("a", "b", "s", "p"):
            if r.random() < 0.5:
                ports[key] = r.choice(["{a}", "{b}", "{s}", "{=}", "7", "text", "{c}"])
        if r.random() < 0.5:
            ports["_autoremap"] = r.choice(["true", "1", "false"])
        return f'<SubTree ID="T{target}"{self.attributes(**ports)}/>'

    def leaf(self, tree: int) -> str:
        r = self.r
        dice = r.random()
        if dice < 0.6:
            kind = r.choice(["Act", "Cond", "State", "State"])
            self.leaves += 1
            name = f"L{self.leaves}"
            options = ["SUCCESS", "SUCCESS", "FAILURE"]
            if kind == "State":
                options += ["RUNNING", "RUNNING"]
            if r.random() < 0.3:
                options.append("SKIPPED")
            self.results[name] = [r.choice(options) for _ in range(r.randint(1, 6))]
            return f"<{kind}{self.attributes(name=name)}/>"
        if dice < 0.68:
            return f"<{r.choice(['AlwaysSuccess', 'AlwaysFailure'])}{self.attributes()}/>"
        if dice < 0.78:
            return f"<Script{self.attributes(code=self.script())}/>"
        if dice < 0.88:
            return f"<ScriptCondition{self.attributes(code=self.condition())}/>"
        if dice < 0.92:
            value = r.choice(["3", "x", "{a}", "{s}", "2.5", "{zz}", "true"])
            key = r.choice(["a", "b", "s", "fresh", "{s}", "c"])
            return f"<SetBlackboard{self.attributes(value=value, output_key=key)}/>"
        if dice < 0.94:
            return f"<UnsetBlackboard{self.attributes(key=r.choice(['d', 'fresh', 's']))}/>"
        if dice < 0.97:
            return (
                f"<WasEntryUpdated{self.attributes(entry=r.choice(['{a}', '{b}', 's', '{zz}']))}/>"
            )
        return f"<Sleep{self.attributes(msec=self.duration(zero=True))}/>"

    # -- scripts

    def script(self) -> str:
        return "; ".join(self.statement() for _ in range(self.r.randint(1, 3)))

    def statement(self) -> str:
        r = self.r
        dice = r.random()
        if dice < 0.35:
            return f"{self.key()} := {self.number(2)}"
        if dice < 0.6:
            return f"{r.choice('ab')} {r.choice(['+=', '-=', '*='])} {r.randrange(3)}"
        if dice < 0.8:
            return f"{self.key()} = {self.number(1)}"
        if dice < 0.9:
            return f"s := {self.text()}"
        return f"d := {self.condition()}"

    def key(self) -> str:
        return self.r.choice(["a", "b", "c", "d", "a", "b", "_p", "@a", "@g"])

    def condition(self) -> str:
        r = self.r
        dice = r.random()
        if dice < 0.5:
            return (
                f"{self.number(1)} {r.choice(['<', '>', '==', '!=', '<=', '>='])} {self.number(1)}"
            )
        if dice < 0.6:
            return f"s {r.choice(['==', '!='])} {self.text()}"
        if dice < 0.75:
            return f"({self.condition()}) {r.choice(['&&', '||'])} {self.condition()}"
        if dice < 0.85:
            return f"!({self.condition()})"
        if dice < 0.95:
            return r.choice(["true", "false"])
        return self.number(1)

    def number(self, depth: int) -> str:
        r = self.r
        dice = r.random()
        if depth <= 0 or dice < 0.35:
            return r.choice(["a", "b", "0", "1", "2", "3", "0.5", "true"])
        if dice < 0.75:
            op = r.choice(["+", "-", "*", "+", "/"])
            return f"({self.number(depth - 1)} {op} {self.number(depth - 1)})"
        if dice < 0.85:
            chain = f" {r.choice('+-*/')} ".join(r.choice(["1", "2", "a", "3"]) for _ in range(4))
            return f"({chain})"
        if dice < 0.9:
            return f"({self.condition()} ? {self.number(depth - 1)} : {self.number(depth - 1)})"
        if dice < 0.95:
            return f"({r.choice(['1', '2', 'a'])} {r.choice(['&', '|', '^'])} {r.randrange(4)})"
        return f"-{r.choice(['a', '1', '2'])}" if r.random() < 0.5 else "~1"

    def text(self) -> str:
        return self.r.choice(["'x'", "'y'", "'x' .. 'y'", "'1'", "s"])


def escape(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


class _Leaves:
    """Leaves of one run: they follow the case's results and write down each call."""

    def __init__(self, module: ModuleType, case: Case, trace: Trace) -> None:
        self.module, self.case, self.events = module, case, trace.events
        self.calls: Counter[str] = Counter()

    def register(self, factory: Any) -> None:
        factory.register_simple_action("Act", lambda node: self.result(node, "tick"))
        factory.register_simple_condition("Cond", lambda node: self.result(node, "tick"))
        factory.register_simple_stateful_action(
            "State",
            lambda node: self.result(node, "start"),
            lambda node: self.result(node, "running"),
            lambda node: self.events.append(("halt", node.name())),
        )
        factory.register_simple_decorator("Deco", lambda status, node: status)

    def result(self, node: Any, what: str) -> Any:
        name = node.name()
        results = self.case.results[name]
        status = results[self.calls[name] % len(results)]
        self.calls[name] += 1
        self.events.append((what, name, node.status().name))
        return getattr(self.module.NodeStatus, status)


def run(
    case: Case, module: ModuleType, *, transitions: bool = False, settle: float = 0.002
) -> Trace:
    """Run a case on ``behavior_tree`` or ``behaviortreepy``.

    Upstream's timer thread acknowledges a cancelled timer late, even after the timer was started
    again;
    ``settle`` is the time it is given before each tick [s].
    """
    trace = Trace()
    now = [0.0]
    factory = (
        module.BehaviorTreeFactory(clock=lambda: now[0], compat="4.8")
        if module is ours
        else upstream.BehaviorTreeFactory()
    )
    _Leaves(module, case, trace).register(factory)
    try:
        tree = factory.create_tree_from_text(case.xml)
    except Exception as error:
        trace.error = str(error)
        return trace
    trace.built = True
    racy = _has_timers(case)
    board = tree.root_blackboard()
    log = _watch(tree, module, trace) if transitions else None
    for what, argument in case.steps:
        if what == "set":
            if not _set(board, trace, *argument):
                break
        elif what == "halt":
            try:
                tree.halt_tree()
                trace.events.append("halted")
            except Exception as error:
                trace.events.append("halt raised")
                trace.error = str(error)
                break
        else:
            now[0] += STEP_S
            if module is upstream and (case.timed or racy):
                time.sleep(max(STEP_S, settle) if case.timed else settle)
            try:
                trace.events.append(("result", tree.tick_exactly_once().name))
            except Exception as error:
                trace.events.append("raised")
                trace.error = str(error)
                break
    for key in sorted(board.get_keys()):
        try:
            trace.blackboard[key] = board.get_string(key)
        except Exception:
            trace.blackboard[key] = "<none>"
    if log is not None:
        log(tree)
    trace.events = list(trace.events)  # upstream's destructor halts the tree: not part of the case
    return trace


def _set(board: Any, trace: Trace, key: str, value: Any) -> bool:
    try:
        {int: board.set_int, float: board.set_double, str: board.set_string}[type(value)](
            key, value
        )
    except Exception as error:
        trace.events.append("set raised")
        trace.error = str(error)
        return False
    return True


def _watch(tree: Any, module: ModuleType, trace: Trace) -> Any:
    if module is ours:
        tree.subscribe_status_change(
            lambda node, _, new: trace.transitions.append((node.uid(), new.name))
        )
        return None
    path = (
        Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)) / "log.btlog"
    )
    logger = upstream.FileLogger(tree, str(path))

    def read(_: Any) -> None:
        nonlocal logger
        time.sleep(0.03)  # its writer thread empties the queue every 10 ms
        logger.flush()
        del logger
        data = path.read_bytes()
        at = 23 + struct.unpack_from("<i", data, 19)[0] + 8
        while at + 9 <= len(data):
            uid, status = struct.unpack_from("<HB", data, at + 6)
            if status >= len(STATUS):
                break  # written while it was flushed
            trace.transitions.append((uid, STATUS[status]))
            at += 9
        path.unlink()
        path.parent.rmdir()

    return read


def difference(case: Case, *, transitions: bool = False) -> str | None:
    """What differs between the engines; None if nothing."""
    found = _difference(case, transitions, 0.002)
    if found is not None and _has_timers(case):
        found = _difference(case, transitions, 0.05)  # upstream's timer thread may have been late
    return found


def _has_timers(case: Case) -> bool:
    return any(f"<{tag}" in case.xml for tag in ("Sleep", "Delay", "Timeout"))


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
    if "raised" in (theirs.events or [""])[-1:] or "halt raised" in (theirs.events or [""])[-1:]:
        return None
    if mine.blackboard != theirs.blackboard:
        changed = {
            key: (mine.blackboard.get(key), theirs.blackboard.get(key))
            for key in {*mine.blackboard, *theirs.blackboard}
            if mine.blackboard.get(key) != theirs.blackboard.get(key)
        }
        return f"blackboard (ours, upstream): {changed}"
    shown = len(theirs.transitions)  # the log's writer thread may drop the last ones
    if transitions and mine.transitions[:shown] != theirs.transitions:
        pairs = zip(mine.transitions, theirs.transitions, strict=False)
        at = next((i for i, (left, right) in enumerate(pairs) if left != right), -1)
        left, right = mine.transitions[at:][:4], theirs.transitions[at:][:4]
        return f"transition {at}: ours {left}, upstream {right}"
    return None
