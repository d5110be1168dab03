# SPDX-License-Identifier: Apache-2.0
"""Cost of a ConcurrentSequence beside the nodes that it replaces, as ratios.

    python benchmarks/concurrent_layering.py [--children 10] [--ticks 20000]

Waiting: a tick in which all children go on, against ParallelAll, and one in which the first of a
list goes on, against Sequence. Whole: a run in one tick of children that end at once. Measured by
processor time, the best of five. Exit code 1 if waiting costs more than twice the other, or a tick
that waits leaves memory behind.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc

from behavior_tree import BehaviorTreeFactory, NodeStatus, Tree
from behavior_tree.authoring import register_authoring_nodes

LIMIT = 2.0
"""Most that waiting may cost, times what the other node does."""
LEFT = 256
"""Most memory that a thousand ticks may leave behind [bytes]: counters of ticks are numbers."""


def tree(tag: str, children: str) -> Tree:
    """A tree of one node with children ``Move``, which go on for ever, or ``Work``."""
    factory = BehaviorTreeFactory()
    register_authoring_nodes(factory)
    running, success = NodeStatus.RUNNING, NodeStatus.SUCCESS
    factory.register_simple_stateful_action(
        "Move", lambda node: running, lambda node: running, lambda node: None
    )
    factory.register_simple_action("Work", lambda node: success)
    body = f'<BehaviorTree ID="Main"><{tag}>{children}</{tag}></BehaviorTree>'
    return factory.create_tree_from_text(f'<root BTCPP_format="4">{body}</root>')


def cost(made: Tree, ticks: int) -> float:
    """Processor time of a tick [us]."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(ticks):
            made.tick_exactly_once()
        best = min(best, time.process_time() - start)
    return best / ticks * 1e6


def left_behind(made: Tree) -> int:
    """Memory that 1000 ticks keep [bytes]."""
    for _ in range(100):
        made.tick_exactly_once()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        made.tick_exactly_once()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--children", type=int, default=10, metavar="N")
    parser.add_argument("--ticks", type=int, default=20000, metavar="N")
    options = parser.parse_args()
    count = options.children
    layered = "<Move/>" + '<Step execute_after="beginning"><Move/></Step>' * (count - 1)
    rows = (
        ("all wait, in Steps", layered, "ParallelAll", "<Move/>" * count),
        ("the first waits", "<Move/>" * count, "Sequence", "<Move/>" * count),
        ("whole run", "<Work/>" * count, "Sequence", "<Work/>" * count),
    )
    good = True
    for name, ours, other, theirs in rows:
        mine = cost(tree("ConcurrentSequence", ours), options.ticks)
        his = cost(tree(other, theirs), options.ticks)
        print(f"{name:20} {mine:7.2f} us, {other:12} {his:7.2f} us, ratio {mine / his:.2f}")
        good = good and (name == "whole run" or mine / his <= LIMIT)
    kept = left_behind(tree("ConcurrentSequence", layered))
    print(f"left behind by 1000 waiting ticks: {kept} bytes")
    return 0 if good and kept <= LEFT else 1


if __name__ == "__main__":
    sys.exit(main())
