# SPDX-License-Identifier: Apache-2.0
"""What it costs to watch a tree: time per whole-tree tick, with and without monitors and loggers.

    python benchmarks/monitoring_cost.py [--nodes 1000]

Printed are the time on the clock, the best of ten averages, and the processor time of the whole
process, writing threads included, which other programs disturb less. The tree completes in each
tick, the dearest case: a tick that leaves it RUNNING writes nothing to files by itself.

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
from behavior_tree.monitoring.groot2 import Groot2Client
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


def tick_time(tick: Callable[[], object], seconds: float = 1.0) -> tuple[float, float]:
    """Clock time, the best of ten averages, and processor time, the average [s]."""
    tick()
    best, total, cpu = float("inf"), 0, time.process_time()
    for _ in range(10):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds / 10:
            tick()
            count += 1
        best = min(best, (time.perf_counter() - start) / count)
        total += count
    return best, (time.process_time() - cpu) / total


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


@contextlib.contextmanager
def logged(module: Any, tree: Any, path: Path) -> Iterator[None]:
    """A ``.btlog``; upstream's logger ends when it is deleted."""
    logger = module.FileLogger(tree, str(path))
    yield
    if hasattr(logger, "close"):
        logger.close()
    del logger


def cases(module: Any, tree: Any, folder: Path) -> Iterator[tuple[str, Any]]:
    yield "publisher", published(module, tree, False)
    yield "publisher, client at 20 Hz", published(module, tree, True)
    yield "FileLogger", logged(module, tree, folder / "a.btlog")
    if module.__name__ == "behavior_tree":
        yield "SqliteLogger", module.SqliteLogger(tree, folder / "a.db3")
        yield "MinitraceLogger", module.MinitraceLogger(tree, folder / "a.json")
        yield "TreeObserver", module.TreeObserver(tree)


def measure(name: str, nodes: int) -> None:
    module = importlib.import_module(name)
    tree = make_tree(module, nodes)
    bare = tick_time(tree.tick_exactly_once)
    print(f"{name}, {nodes} nodes; us a tick on the clock and of the processor, times more")
    show("without", bare, bare)
    with tempfile.TemporaryDirectory() as folder:
        for what, watcher in cases(module, tree, Path(folder)):
            with watcher:
                watched = tick_time(tree.tick_exactly_once)
            tree.tick_exactly_once()  # a closed publisher leaves the tree here
            show(what, watched, bare)
    show("afterwards, without", tick_time(tree.tick_exactly_once), bare)


def show(what: str, times: tuple[float, float], bare: tuple[float, float]) -> None:
    clock, cpu = times
    print(f"  {what:28} {clock * 1e6:8.0f} {cpu * 1e6:8.0f} us {cpu / bare[1]:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1000)
    nodes = parser.parse_args().nodes
    measure("behavior_tree", nodes)
    with contextlib.suppress(ImportError):
        measure("behaviortreepy", nodes)


if __name__ == "__main__":
    main()
