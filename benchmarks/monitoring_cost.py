# SPDX-License-Identifier: Apache-2.0
"""What it costs to watch a tree: time per whole-tree tick, with and without monitors and loggers.

    python benchmarks/monitoring_cost.py [--nodes 1000]

The client asks for states 20 times a second, from a process of its own, as Groot2 does. The same
with BehaviorTree.CPP 4.8.2 (behaviortreepy) where it is installed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PORTS = range(20000, 25000, 2)
POLL = """
import sys, time
from behavior_tree.groot2 import Groot2Client
with Groot2Client(int(sys.argv[1])) as client:
    while True:
        client.status()
        print(flush=True)
        time.sleep(0.05)
"""


def make_tree(module: Any, nodes: int) -> Any:
    """Sequences of ten leaves; every node changes twice or three times a tick."""
    row = "<Sequence>" + "<AlwaysSuccess/>" * 10 + "</Sequence>"
    body = f"<Sequence>{row * (nodes // 11)}</Sequence>"
    xml = f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree></root>'
    return module.BehaviorTreeFactory().create_tree_from_text(xml)


def tick_time(tick: Callable[[], object], seconds: float = 1.0) -> float:
    """Best of ten averages [s]."""
    tick()
    best = float("inf")
    for _ in range(10):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds / 10:
            tick()
            count += 1
        best = min(best, (time.perf_counter() - start) / count)
    return best


@contextlib.contextmanager
def published(module: Any, tree: Any, polled: bool) -> Iterator[None]:
    """A publisher, and a client that is at work."""
    publisher, port = None, 0
    for port in PORTS:
        with contextlib.suppress(RuntimeError):
            publisher = module.Groot2Publisher(tree, port)
            break
    client = None
    try:
        if polled:
            command = [sys.executable, "-c", POLL, str(port)]
            client = subprocess.Popen(command, stdout=subprocess.PIPE)
            assert client.stdout is not None
            client.stdout.readline()
        yield
    finally:
        if client is not None:
            client.kill()
            client.communicate()
        if hasattr(publisher, "close"):
            publisher.close()
        del publisher


def cases(module: Any, tree: Any, folder: Path) -> Iterator[tuple[str, Any]]:
    yield "publisher", published(module, tree, False)
    yield "publisher, client at 20 Hz", published(module, tree, True)
    if module.__name__ == "behavior_tree":
        yield "FileLogger", module.FileLogger(tree, folder / "a.btlog")
        yield "SqliteLogger", module.SqliteLogger(tree, folder / "a.db3")
        yield "MinitraceLogger", module.MinitraceLogger(tree, folder / "a.json")
        yield "TreeObserver", module.TreeObserver(tree)


def measure(name: str, nodes: int) -> None:
    module = importlib.import_module(name)
    tree = make_tree(module, nodes)
    bare = tick_time(tree.tick_exactly_once)
    print(f"{name}, {nodes} nodes: {bare * 1e6:.0f} us a tick")
    with tempfile.TemporaryDirectory() as folder:
        for what, watcher in cases(module, tree, Path(folder)):
            with watcher:
                watched = tick_time(tree.tick_exactly_once)
            tree.tick_exactly_once()  # a closed publisher leaves the tree here
            print(f"  {what:28} {watched * 1e6:8.0f} us, {watched / bare:.2f} times")
    after = tick_time(tree.tick_exactly_once)
    print(f"  {'afterwards, without':28} {after * 1e6:8.0f} us, {after / bare:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1000)
    nodes = parser.parse_args().nodes
    measure("behavior_tree", nodes)
    with contextlib.suppress(ImportError):
        measure("behaviortreepy", nodes)


if __name__ == "__main__":
    main()
