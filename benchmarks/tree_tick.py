# SPDX-License-Identifier: Apache-2.0
"""Cost of one whole-tree tick: this engine, BehaviorTree.CPP (behaviortreepy) and py_trees.

    python benchmarks/tree_tick.py [--rounds 7] [--json FILE]

Every tree is built from the same XML in this engine and in BehaviorTree.CPP, and by hand in
py_trees where it has the nodes. CPU time of the ticking thread is measured, rounds of the engines
alternate and the best of each counts: on a loaded machine trust the ratios only.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import behaviortreepy as upstream
import py_trees

import behavior_tree as ours

LIMIT_UPSTREAM = 2.0
LIMIT_PY_TREES = 20.0


@dataclass(frozen=True)
class Case:
    """One tree."""

    name: str
    xml: str
    nodes: int
    """Nodes ticked per tick."""
    py_trees_root: Callable[[], py_trees.behaviour.Behaviour] | None


def document(body: str) -> str:
    return f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree></root>'


def py_sequence(children: list[py_trees.behaviour.Behaviour]) -> py_trees.behaviour.Behaviour:
    return py_trees.composites.Sequence("sequence", memory=True, children=children)


def py_fallback(children: list[py_trees.behaviour.Behaviour]) -> py_trees.behaviour.Behaviour:
    return py_trees.composites.Selector("fallback", memory=True, children=children)


def py_success() -> py_trees.behaviour.Behaviour:
    return py_trees.behaviours.Success("success")


def wide(count: int) -> Case:
    return Case(
        f"wide {count}",
        document("<Sequence>" + "<AlwaysSuccess/>" * count + "</Sequence>"),
        count + 1,
        lambda: py_sequence([py_success() for _ in range(count)]),
    )


def grid(rows: int, columns: int) -> Case:
    row = "<Sequence>" + "<AlwaysSuccess/>" * columns + "</Sequence>"
    return Case(
        f"{rows} sequences of {columns}",
        document("<Sequence>" + row * rows + "</Sequence>"),
        rows * (columns + 1) + 1,
        lambda: py_sequence(
            [py_sequence([py_success() for _ in range(columns)]) for _ in range(rows)]
        ),
    )


def deep(depth: int) -> Case:
    def xml(level: int) -> str:
        return f"<Sequence>{xml(level - 1) * 2}</Sequence>" if level else "<AlwaysSuccess/>"

    def tree(level: int) -> py_trees.behaviour.Behaviour:
        return py_sequence([tree(level - 1), tree(level - 1)]) if level else py_success()

    return Case(
        f"binary, depth {depth - 1}",
        document(xml(depth - 1)),
        2**depth - 1,
        lambda: tree(depth - 1),
    )


def alternating(depth: int) -> Case:
    """Sequence and Fallback in turn: most nodes are never reached."""

    def xml(level: int) -> str:
        if level == 0:
            return "<AlwaysSuccess/>"
        tag = "Sequence" if level % 2 else "Fallback"
        return f"<{tag}>{xml(level - 1) * 2}</{tag}>"

    def tree(level: int) -> py_trees.behaviour.Behaviour:
        if level == 0:
            return py_success()
        return (py_sequence if level % 2 else py_fallback)([tree(level - 1), tree(level - 1)])

    def ticked(level: int) -> int:
        return 1 if level == 0 else 1 + (2 if level % 2 else 1) * ticked(level - 1)

    return Case(
        f"alternating, depth {depth}", document(xml(depth)), ticked(depth), lambda: tree(depth)
    )


def reactive(rows: int, columns: int) -> Case:
    row = "<ReactiveSequence>" + "<AlwaysSuccess/>" * columns + "</ReactiveSequence>"
    return Case(
        f"{rows} reactive of {columns}",
        document("<ReactiveSequence>" + row * rows + "</ReactiveSequence>"),
        rows * (columns + 1) + 1,
        lambda: py_trees.composites.Sequence(
            "r",
            memory=False,
            children=[
                py_trees.composites.Sequence(
                    "r", memory=False, children=[py_success() for _ in range(columns)]
                )
                for _ in range(rows)
            ],
        ),
    )


def decorated(count: int) -> Case:
    body = "<Inverter><ForceFailure><AlwaysSuccess/></ForceFailure></Inverter>"

    def tree() -> py_trees.behaviour.Behaviour:
        return py_trees.decorators.Inverter(
            "i", py_trees.decorators.SuccessIsFailure("f", py_success())
        )

    return Case(
        f"decorated {count}",
        document(f"<Sequence>{body * count}</Sequence>"),
        3 * count + 1,
        lambda: py_sequence([tree() for _ in range(count)]),
    )


def scripts(count: int) -> Case:
    body = '<Script code="x := x + 1"/><ScriptCondition code="x &gt; 0 &amp;&amp; x != -1"/>'
    return Case(
        f"scripts {2 * count}",
        document(f'<Sequence><Script code="x := 1.5"/>{body * count}</Sequence>'),
        2 * count + 2,
        None,
    )


def conditions(count: int) -> Case:
    body = '<AlwaysSuccess _skipIf="x &lt; 0" _onSuccess="y := x"/>'
    return Case(
        f"conditions {count}",
        document(f'<Sequence><Script code="x := 1.5"/>{body * count}</Sequence>'),
        count + 2,
        None,
    )


def callbacks(count: int) -> Case:
    return Case(
        f"Python callbacks {count}",
        document("<Sequence>" + "<Work/>" * count + "</Sequence>"),
        count + 1,
        None,
    )


CASES = [
    wide(100),
    wide(1000),
    wide(10000),
    grid(27, 36),
    deep(10),
    alternating(10),
    reactive(27, 36),
    decorated(100),
    scripts(100),
    conditions(100),
    callbacks(100),
]


def per_tick(tick: Callable[[], object], calls: int) -> float:
    """Seconds of one call, mean over ``calls``."""
    start = time.thread_time()
    for _ in range(calls):
        tick()
    return (time.thread_time() - start) / calls


def calls_for(tick: Callable[[], object], seconds: float) -> int:
    return max(1, int(seconds / max(per_tick(tick, 1), 1e-7)))


def measure(case: Case, rounds: int) -> dict[str, float]:
    """Best seconds per tick of each engine."""
    ticks: dict[str, Callable[[], object]] = {}
    keep: list[object] = []  # upstream nodes die with their factory
    for name, module in (("ours", ours), ("BehaviorTree.CPP", upstream)):
        factory = module.BehaviorTreeFactory()
        success = module.NodeStatus.SUCCESS
        factory.register_simple_action("Work", lambda node, result=success: result)
        tree = factory.create_tree_from_text(case.xml)
        assert tree.tick_exactly_once() == success, case.name
        keep += [factory, tree]
        ticks[name] = tree.tick_exactly_once
    if case.py_trees_root is not None:
        root = case.py_trees_root()
        ticks["py_trees"] = root.tick_once
    calls = {name: calls_for(tick, 0.03) for name, tick in ticks.items()}
    best = dict.fromkeys(ticks, float("inf"))
    for _ in range(rounds):
        for name, tick in ticks.items():
            best[name] = min(best[name], per_tick(tick, calls[name]))
    return best


def load_time(nodes: int) -> tuple[float, float]:
    """Seconds to build a tree of many nodes, and bytes per node."""
    xml = grid(nodes // 40, 39).xml
    factory = ours.BehaviorTreeFactory()
    start = time.thread_time()
    tree = factory.create_tree_from_text(xml)
    seconds = time.thread_time() - start
    del tree
    factory = ours.BehaviorTreeFactory()
    factory.register_behavior_tree_from_text(xml)
    tracemalloc.start()
    tree = factory.create_tree("Main")
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return seconds, size / sum(1 for _ in tree.nodes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=7, help="measurements of each engine per tree"
    )
    parser.add_argument("--json", help="write the figures here")
    arguments = parser.parse_args()
    py_trees.logging.level = py_trees.logging.Level.ERROR
    logging.disable(logging.CRITICAL)

    rows, good = [], True
    print(
        f"{'tree':<26}{'nodes':>7}{'ours us':>10}{'ns/node':>9}"
        f"{'x BT.CPP':>10}{'py_trees x ours':>17}"
    )
    for case in CASES:
        best = measure(case, arguments.rounds)
        mine, ratio = best["ours"], best["ours"] / best["BehaviorTree.CPP"]
        gain = best["py_trees"] / mine if "py_trees" in best else None
        ok = ratio <= LIMIT_UPSTREAM and (gain is None or gain >= LIMIT_PY_TREES)
        good &= ok
        shown = f"{gain:.1f}" if gain is not None else "-"
        print(
            f"{case.name:<26}{case.nodes:>7}{mine * 1e6:>10.1f}{mine / case.nodes * 1e9:>9.0f}"
            f"{ratio:>10.2f}{shown:>17}{'' if ok else '  MISSED'}",
            flush=True,
        )
        rows.append(
            {
                "tree": case.name,
                "nodes": case.nodes,
                "us": mine * 1e6,
                "ratio_btcpp": ratio,
                "gain": gain,
            }
        )
    seconds, size = load_time(10_000)
    print(f"loading 10000 nodes: {seconds:.2f} s, {size:.0f} bytes per node")
    print(
        f"aims (<= {LIMIT_UPSTREAM} x BT.CPP, >= {LIMIT_PY_TREES} x faster than py_trees): "
        f"{'met' if good else 'missed'}"
    )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"cases": rows, "load_s": seconds, "bytes_per_node": size}, file, indent=2)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
