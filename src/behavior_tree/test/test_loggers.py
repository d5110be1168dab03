# SPDX-License-Identifier: Apache-2.0
"""Console, ``.btlog``, SQLite, Chrome trace and statistics."""

from __future__ import annotations

import importlib
import io
import json
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from groot2_server import make_tree

import behavior_tree
from behavior_tree import NodeStatus
from behavior_tree.loggers import (
    BtLogError,
    FileLogger,
    MinitraceLogger,
    SqliteLogger,
    StatusChangeLogger,
    StdCoutLogger,
    TreeObserver,
    read_btlog,
)

STEPS = ("tick_exactly_once", "tick_exactly_once", "halt_tree", "tick_once", "tick_once")


def drive(tree) -> None:
    for step in STEPS:
        getattr(tree, step)()


@pytest.fixture
def tree():
    return make_tree(behavior_tree)


def changes(tree) -> list[tuple[int, NodeStatus]]:
    found = []
    tree.subscribe_status_change(lambda node, old, new: found.append((node.uid(), new)))
    return found


def test_btlog_is_what_was_seen(tree, tmp_path: Path) -> None:
    seen = changes(tree)
    with FileLogger(tree, tmp_path / "a.btlog") as logger:
        drive(tree)
        logger.flush()
        assert len(read_btlog(tmp_path / "a.btlog").transitions) == len(seen)
    drive(tree)  # no longer logged
    log = read_btlog(tmp_path / "a.btlog")
    assert [(each.uid, each.status) for each in log.transitions] == seen[: len(log.transitions)]
    assert 0 < len(log.transitions) < len(seen)
    assert 'name="top"' in log.xml
    assert '_uid="9"' in log.xml
    times = [each.timestamp for each in log.transitions]
    assert times == sorted(times)
    assert times[0] >= log.start


def test_btlog_agrees_with_upstream(tmp_path: Path) -> None:
    upstream = pytest.importorskip("behaviortreepy")
    for module in (behavior_tree, upstream):
        tree = make_tree(module)
        logger = module.FileLogger(tree, str(tmp_path / f"{module.__name__}.btlog"))
        drive(tree)
        logger.flush()
        if module is behavior_tree:
            expected = len(read_btlog(tmp_path / "behavior_tree.btlog").transitions)
        else:
            # Upstream's flush does not wait for its writer thread.
            path = tmp_path / "behaviortreepy.btlog"
            deadline = time.monotonic() + 10.0
            while len(read_btlog(path).transitions) < expected and time.monotonic() < deadline:
                time.sleep(0.01)
        del logger, tree
    ours, theirs = ((tmp_path / f"{name}.btlog") for name in ("behavior_tree", "behaviortreepy"))
    assert ours.read_bytes()[:19] == theirs.read_bytes()[:19]
    records = [
        [(each.uid, each.status) for each in read_btlog(path).transitions]
        for path in (ours, theirs)
    ]
    assert records[0] == records[1]
    trees = [read_btlog(path).xml.split("<TreeNodesModel>")[0] for path in (ours, theirs)]
    assert len(trees[0]) == len(trees[1])


def test_btlog_refusals(tree, tmp_path: Path) -> None:
    with pytest.raises(BtLogError, match="extension"):
        FileLogger(tree, tmp_path / "a.log")
    path = tmp_path / "a.btlog"
    with FileLogger(tree, path):
        drive(tree)
    whole = path.read_bytes()
    count = len(read_btlog(path).transitions)
    path.write_bytes(whole[:-4])
    assert len(read_btlog(path).transitions) == count - 1
    for damaged in (b"", b"other", whole[:20], whole[:100], whole[:18] + b"\2" + whole[19:]):
        path.write_bytes(damaged)
        with pytest.raises(BtLogError):
            read_btlog(path)
    path.write_bytes(whole[:-1] + b"\x09")
    with pytest.raises(BtLogError, match="no status"):
        read_btlog(path)


def test_console(tree) -> None:
    stream = io.StringIO()
    logger = StdCoutLogger(tree, stream)
    tree.tick_exactly_once()
    first = stream.getvalue().splitlines()[0]
    assert first[first.index("]") :] == (
        "]: top                       \x1b[36mIDLE\x1b[0m -> \x1b[33mRUNNING\x1b[0m"
    )
    logger.set_enabled(False)
    lines = len(stream.getvalue())
    tree.halt_tree()
    assert len(stream.getvalue()) == lines
    logger.set_enabled(True)
    logger.enable_transition_to_idle(False)
    drive(tree)
    assert "-> \x1b[36mIDLE" not in stream.getvalue()[lines:]


def test_sqlite(tree, tmp_path: Path) -> None:
    path = tmp_path / "a.db3"
    seen = changes(tree)
    with SqliteLogger(tree, path) as logger:
        logger.set_additional_callback(lambda time, node, old, new: old.name)
        drive(tree)
    with SqliteLogger(tree, path, append=True):
        tree.halt_tree()
    database = sqlite3.connect(path)
    rows = database.execute(
        "SELECT timestamp, node_uid, state, duration, extra_data FROM Transitions"
        " ORDER BY timestamp"
    ).fetchall()
    assert [(row[1], NodeStatus(row[2])) for row in rows] == seen
    assert rows[0][4] == "IDLE"
    assert any(row[3] > 0 for row in rows)
    assert database.execute("SELECT COUNT(*) FROM Nodes").fetchone() == (18,)
    (xml,) = database.execute("SELECT xml_tree FROM Definitions").fetchone()
    assert xml.startswith("<root")
    database.close()
    SqliteLogger(tree, path).close()
    database = sqlite3.connect(path)
    assert database.execute("SELECT COUNT(*) FROM Transitions").fetchone() == (0,)
    database.close()
    with pytest.raises(behavior_tree.BehaviorTreeError, match="extension"):
        SqliteLogger(tree, tmp_path / "a.txt")


def test_chrome_trace(tree, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with MinitraceLogger(tree, path):
        drive(tree)
        tree.halt_tree()
    events = json.loads(path.read_text())["traceEvents"]
    assert events[0]["name"] == "top"
    assert events[0]["cat"] == "Control"
    for name in ("top", "Wait", "Fallback"):
        phases = [event["ph"] for event in events if event["name"] == name]
        assert phases == ["B", "E"] * (len(phases) // 2)
    assert {event["ph"] for event in events if event["name"] == "Cond"} == {"I"}


def test_observer(tree) -> None:
    observer = TreeObserver(tree)
    drive(tree)
    path = next(path for path in observer.path_to_uid() if path.startswith("S::3/AlwaysFailure"))
    statistics = observer.get_statistics(path)
    assert statistics.failure_count == statistics.transitions_count > 0
    assert statistics.success_count == 0
    assert statistics.last_result is NodeStatus.FAILURE
    assert statistics.current_status is NodeStatus.IDLE
    assert observer.statistics()[observer.path_to_uid()[path]] == statistics
    with pytest.raises(KeyError, match="nope"):
        observer.get_statistics("nope")
    observer.reset_statistics()
    assert observer.get_statistics(path).failure_count == 0


def test_failing_logger_does_not_stop_the_tree(tree, caplog) -> None:
    class Broken(StatusChangeLogger):
        def record(self, *change) -> None:
            raise OSError("disk full")

    Broken(tree)
    assert tree.tick_exactly_once() is NodeStatus.RUNNING
    assert len([each for each in caplog.records if "switched off" in each.message]) == 1


def test_nothing_is_left_behind(tree, tmp_path: Path) -> None:
    with FileLogger(tree, tmp_path / "a.btlog"), TreeObserver(tree):
        assert all(node._watch is not None for node in tree.nodes())
    assert all(node._watch is None for node in tree.nodes())


def test_groot2_packages_are_imported_late() -> None:
    assert importlib.util.find_spec("behavior_tree.groot2")
    code = "import behavior_tree, sys; assert not {'zmq', 'msgpack'} & set(sys.modules)"
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
