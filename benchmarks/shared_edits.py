# SPDX-License-Identifier: Apache-2.0
"""How long an edit of a shared tree takes, from being sent to being in effect.

    python benchmarks/shared_edits.py [--nodes 500] [--edits 50] [--period 0.05]

The parts of an edit by processor time, so that a busy machine does not count; only the second one
keeps ticks waiting. Then a tree of so many nodes is ticked with the period of the executor while
edits come at random moments, by the clock. Exit code 1 if all parts together take more than one
period and 5 ms.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from behavior_tree import BehaviorTreeFactory, NodeStatus
from behavior_tree.sharing import Code, Edit, Limits, SharedTree
from behavior_tree.sharing.document import Replica

SLACK = 0.005
"""[s] that an edit may take beyond one tick."""


def shared(nodes: int, folder: Path) -> tuple[SharedTree, BehaviorTreeFactory]:
    """A tree whose first leaf runs, with as many leaves behind it."""
    factory = BehaviorTreeFactory()
    running = NodeStatus.RUNNING
    factory.register_simple_stateful_action(
        "Move", lambda node: running, lambda node: running, lambda node: None
    )
    leaves = "".join(f"<Sleep msec='{msec}'/>" for msec in range(9))
    groups = f"<Sequence>{leaves}</Sequence>" * (nodes // 10)
    body = f"<BehaviorTree ID='Main'><Sequence><Move/>{groups}</Sequence></BehaviorTree>"
    (folder / "tree.xml").write_text(f"<root BTCPP_format='4'>{body}</root>")
    limits = Limits(rate=1e6, burst=10**6, all_rate=1e6)
    tree = SharedTree(folder / "tree.xml", factory, kept=folder / "kept", limits=limits)
    return tree, factory


def edits(tree: SharedTree, count: int) -> list[Edit]:
    """Each sets the duration of another leaf."""
    leaves = [id for id, spot in tree.state.spots.items() if spot.element.tag == "Sleep"]
    made = []
    for number in range(1, count + 1):
        fields = {"node": leaves[number * 7 % len(leaves)], "attributes": {"msec": str(number)}}
        made.append(Edit("bench", number, json.dumps({"op": "set", **fields})))
    return made


def parts(tree: SharedTree, edit: Edit, editor: Replica) -> dict[str, float]:
    """Processor time of the parts of an edit [ms]."""
    known, times, start = editor.state_vector, {}, time.process_time()

    def lap(name: str) -> None:
        nonlocal start
        now = time.process_time()
        times[name], start = 1e3 * (now - start), now

    assert tree.begin(edit) is None
    prepared = tree.prepare(edit)
    lap("check")
    assert tree.apply(prepared) is None
    lap("between two ticks")
    tree.keep(prepared)
    lap("keep")
    assert tree.commit(prepared).code is Code.MADE
    lap("show")
    editor.apply(tree.update_for(known))
    lap("an editor follows")
    return times


def main() -> int:
    """Measure, print, compare with the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--period", type=float, default=0.05, help="[s]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tree, factory = shared(options.nodes, Path(name))
        live, luck = tree.build(factory), random.Random(1)
        todo = edits(tree, 2 * options.edits)
        stop = threading.Event()

        def tick() -> None:
            while not stop.wait(options.period):
                live.tick_once()

        ticker = threading.Thread(target=tick)
        ticker.start()
        took = []
        for edit in todo[: options.edits]:
            time.sleep(luck.uniform(0, options.period))
            start = time.perf_counter()
            assert tree.submit(edit).code is Code.MADE
            took.append(time.perf_counter() - start)
        stop.set()
        ticker.join()
        editor = Replica()
        editor.apply(tree.update_for())
        laps = [parts(tree, edit, editor) for edit in todo[options.edits :]]
    for part in laps[0]:
        print(f"{part:18} {statistics.median(lap[part] for lap in laps):7.2f} ms")
    whole = statistics.median(sum(lap.values()) for lap in laps)
    limit = 1e3 * (options.period + SLACK)
    print(f"{'all':18} {whole:7.2f} ms; one tick and 5 ms: {limit:.0f} ms; {whole / limit:.2f}")
    print(f"by the clock       {1e3 * statistics.median(took):7.2f} ms")
    return 0 if whole <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
