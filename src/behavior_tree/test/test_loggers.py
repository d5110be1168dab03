# SPDX-License-Identifier: Apache-2.0
"""Console, ``.btlog``, SQLite, Chrome trace and statistics."""

from __future__ import annotations

import importlib
import io
import json
import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from groot2_server import make_tree
from groot2_trees import SHAPES
from upstream_btlogs import STEPS

import behavior_tree
from behavior_tree import NodeStatus
from behavior_tree.editing import TreeEditor
from behavior_tree.monitoring.loggers import (
    BtLogError,
    FileLogger,
    MinitraceLogger,
    SqliteLogger,
    StatusChangeLogger,
    StdCoutLogger,
    TreeObserver,
    read_btlog,
)
from behavior_tree.monitoring.loggers.document import tree_document


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


def test_btlog_refusals(tree, tmp_path: Path) -> None:
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
    StdCoutLogger(tree, stream)
    tree.tick_exactly_once()
    first = stream.getvalue().splitlines()[0]
    assert first[first.index("]") :] == (
        "]: top                       \x1b[36mIDLE\x1b[0m -> \x1b[33mRUNNING\x1b[0m"
    )


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
        "SELECT node_uid, state, duration, extra_data FROM Transitions ORDER BY timestamp"
    ).fetchall()
    assert [(row[0], NodeStatus(row[1])) for row in rows] == seen
    assert any(row[2] > 0 for row in rows)
    assert rows[0][3] == "IDLE"
    assert database.execute("SELECT COUNT(*) FROM Nodes").fetchone() == (18,)
    (xml,) = database.execute("SELECT xml_tree FROM Definitions").fetchone()
    assert xml.startswith("<root")
    database.close()


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
        assert tree.runtime.record is not None
    assert tree.runtime.record is None


def test_groot2_packages_are_imported_late() -> None:
    assert importlib.util.find_spec("behavior_tree.monitoring.groot2")
    code = "import behavior_tree, sys; assert not {'zmq', 'msgpack'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240)


# -- agreement with upstream ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def upstream_logs(tmp_path_factory) -> Path:
    """Folder with a ``.btlog`` of both engines for each shape."""
    pytest.importorskip("behaviortreepy")
    folder = tmp_path_factory.mktemp("upstream")
    script = Path(__file__).with_name("upstream_btlogs.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=120)
    return folder


@pytest.mark.parametrize("shape", SHAPES)
def test_btlog_is_upstreams_byte_for_byte(shape: str, upstream_logs: Path) -> None:
    """Everything but times: header, document, uids, states and their order."""
    ours, theirs = (upstream_logs / f"{shape}{which}.btlog" for which in (" ours", ""))
    assert without_times(ours.read_bytes()) == without_times(theirs.read_bytes())


def without_times(data: bytes) -> tuple[bytes, list[bytes]]:
    start = 23 + int.from_bytes(data[19:23], "little")
    records = data[start + 8 :]
    assert len(records) % 9 == 0
    return data[:start], [records[at + 6 : at + 9] for at in range(0, len(records), 9)]


def test_upstreams_btlog_is_read(upstream_logs: Path) -> None:
    path = upstream_logs / "basic.btlog"
    log = read_btlog(path)
    assert abs(log.start / 1e6 - path.stat().st_mtime) < 60
    assert 0 <= log.transitions[0].timestamp - log.start < 60_000_000
    assert log.xml == tree_document(make_tree(behavior_tree))


def test_console_prints_what_upstream_prints(tmp_path: Path) -> None:
    pytest.importorskip("behaviortreepy")
    outputs = []
    for engine in ("behavior_tree", "behaviortreepy"):
        code = (
            f"import sys, {engine} as engine; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            "from groot2_server import make_tree\n"
            "tree = make_tree(engine); logger = engine.StdCoutLogger(tree)\n"
            f"for step in {STEPS}: getattr(tree, step)()\nlogger.flush()"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=240)
        outputs.append(re.sub(rb"^\[\d{10}\.\d{3}\]", b"[time]", run.stdout, flags=re.M))
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"[time]: ") > 5


def test_sqlite_has_upstreams_schema(tree, tmp_path: Path) -> None:
    with SqliteLogger(tree, tmp_path / "a.btdb"):
        pass
    database = sqlite3.connect(tmp_path / "a.btdb")
    columns = {
        table: [row[1:6] for row in database.execute(f"PRAGMA table_info({table})")]
        for table in ("Transitions", "Nodes", "Definitions")
    }
    database.close()
    # (name, type, not null, default, primary key)
    assert columns == {
        "Transitions": [
            ("timestamp", "INTEGER", 1, None, 1),
            ("session_id", "INTEGER", 1, None, 0),
            ("node_uid", "INTEGER", 1, None, 0),
            ("duration", "INTEGER", 0, None, 0),
            ("state", "INTEGER", 1, None, 0),
            ("extra_data", "VARCHAR", 0, None, 0),
        ],
        "Nodes": [
            ("session_id", "INTEGER", 1, None, 0),
            ("fullpath", "VARCHAR", 0, None, 0),
            ("node_uid", "INTEGER", 1, None, 0),
        ],
        "Definitions": [
            ("session_id", "INTEGER", 0, None, 1),
            ("date", "TEXT", 1, None, 0),
            ("xml_tree", "TEXT", 1, None, 0),
        ],
    }


# -- edits of the live tree -----------------------------------------------------------------------


@pytest.fixture
def edited():
    """Tree, editor."""
    factory = behavior_tree.BehaviorTreeFactory()
    running = NodeStatus.RUNNING
    factory.register_simple_stateful_action("Run", lambda node: running, lambda node: running)
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="Main"><Parallel><Run name="a"/><Run name="b"/>'
        "</Parallel></BehaviorTree></root>"
    )
    return tree, TreeEditor(tree, factory)


def test_btlog_begins_another_file_after_an_edit(edited, tmp_path: Path) -> None:
    tree, editor = edited
    with FileLogger(tree, tmp_path / "run.btlog") as logger:
        editor.insert(1, 2, '<Run name="early"/>')  # nothing was logged before: the same file
        tree.tick_once()
        editor.insert(1, 3, '<Run name="late"/>')
        editor.rename(5, "later")
        tree.tick_once()
        editor.remove("a")
        editor.undo()
        tree.tick_once()
        assert [path.name for path in logger.paths] == ["run.btlog", "run.1.btlog", "run.2.btlog"]
    first, second, third = map(read_btlog, logger.paths)
    running, idle = NodeStatus.RUNNING, NodeStatus.IDLE

    def seen(log):
        return [(each.uid, each.status) for each in log.transitions]

    assert 'name="early"' in first.xml
    assert seen(first) == [(1, running), (2, running), (3, running), (4, running)]
    assert 'name="later"' in second.xml
    assert seen(second)[:4] == seen(first)  # as they were when the file began
    assert seen(second)[4:] == [(5, running), (2, idle)]
    assert 'name="a"' in third.xml
    assert seen(third) == [(1, running), (3, running), (4, running), (5, running), (2, running)]


def test_sqlite_begins_another_session_after_an_edit(edited, tmp_path: Path) -> None:
    tree, editor = edited
    with SqliteLogger(tree, tmp_path / "a.db3"):
        tree.tick_once()
        editor.insert(1, 0, '<Run name="new"/>')
        tree.tick_once()
    database = sqlite3.connect(tmp_path / "a.db3")
    assert database.execute("SELECT session_id, node_uid FROM Transitions").fetchall() == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 4),
    ]
    nodes = database.execute("SELECT fullpath FROM Nodes WHERE session_id = 2").fetchall()
    assert nodes == [("Parallel::1",), ("new",), ("a",), ("b",)]
    xml = [row[0] for row in database.execute("SELECT xml_tree FROM Definitions")]
    database.close()
    assert ["new" in each for each in xml] == [False, True]


def test_observer_follows_edits(edited) -> None:
    tree, editor = edited
    observer = TreeObserver(tree)
    tree.tick_once()
    new = editor.insert(1, 0, '<Run name="new"/>')
    tree.tick_once()
    assert observer.get_statistics("new").transitions_count == 1
    editor.remove("a")
    assert new.uid() in observer.statistics()
    with pytest.raises(KeyError):
        observer.get_statistics("a")
    editor.undo()
    tree.tick_once()
    assert observer.get_statistics("a").transitions_count == 2
    editor.insert(1, 0, '<Run name="a"/>')  # the path now means the first of two
    tree.tick_once()
    assert observer.get_statistics("a").transitions_count == 1
    assert len(observer.statistics()) == 5


def test_console_and_trace_follow_edits(edited, tmp_path: Path) -> None:
    tree, editor = edited
    stream = io.StringIO()
    with StdCoutLogger(tree, stream), MinitraceLogger(tree, tmp_path / "a.json"):
        tree.tick_once()
        editor.replace("a", '<Run name="new"/>')
        tree.tick_once()
    assert re.findall(r": (new|a) .*(?:RUNNING|IDLE)", stream.getvalue()) == ["a", "a", "new"]
    events = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    assert [(e["name"], e["ph"]) for e in events if e["name"] in ("a", "new")] == [
        ("a", "B"),
        ("a", "E"),
        ("new", "B"),
    ]


# -- what goes wrong ------------------------------------------------------------------------------

FILES = [(FileLogger, "btlog"), (SqliteLogger, "db3"), (MinitraceLogger, "json")]


@pytest.mark.parametrize(("logger", "extension"), FILES)
def test_unwritable_paths(tree, tmp_path: Path, logger, extension: str) -> None:
    (tmp_path / f"folder.{extension}").mkdir()
    for path in (tmp_path / "missing" / f"a.{extension}", tmp_path / f"folder.{extension}"):
        with pytest.raises(behavior_tree.BehaviorTreeError, match="cannot write") as caught:
            logger(tree, path)
        assert str(path) in str(caught.value)
        assert "folder that exists" in str(caught.value)
    assert tree.runtime.record is None


def test_a_file_that_is_no_database(tree, tmp_path: Path) -> None:
    path = tmp_path / "a.db3"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(behavior_tree.BehaviorTreeError, match="not a database"):
        SqliteLogger(tree, path)


def test_disk_full_at_the_beginning(tree, tmp_path: Path) -> None:
    (tmp_path / "a.btlog").symlink_to("/dev/full")
    with pytest.raises(behavior_tree.BehaviorTreeError, match="No space left"):
        FileLogger(tree, tmp_path / "a.btlog")


@pytest.mark.parametrize("logger", [FileLogger, MinitraceLogger])
def test_disk_full_in_between(tree, tmp_path: Path, caplog, logger) -> None:
    log = logger(tree, tmp_path / "a.btlog")
    full = open("/dev/full", "wb", buffering=16)  # noqa: SIM115  # closed by the logger
    log._file.close()
    log._file = full
    drive(tree)
    assert tree.tick_while_running(1) is NodeStatus.SUCCESS
    log.close()
    assert full.closed
    assert all(
        "a.btlog" in each.message and "switched off" in each.message for each in caplog.records
    )
    assert 1 <= len(caplog.records) <= 2  # in a tick, and perhaps for the rest when closing


def test_locked_database_is_waited_for_outside_of_ticks(tree, tmp_path: Path) -> None:
    with SqliteLogger(tree, tmp_path / "a.db3") as logger:
        other = sqlite3.connect(tmp_path / "a.db3")
        other.execute("BEGIN IMMEDIATE")
        tree.tick_once()
        started = time.monotonic()
        logger.flush()
        assert time.monotonic() - started < 4.0  # it would wait for 5 s
        other.rollback()
        logger.flush()
        assert other.execute("SELECT COUNT(*) FROM Transitions").fetchone()[0] > 5
        other.close()


@pytest.mark.parametrize(("logger", "extension"), FILES)
def test_files_are_complete_when_python_ends(tmp_path: Path, logger, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    code = (
        f"import sys, behavior_tree; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from groot2_server import make_tree\n"
        "tree = make_tree(behavior_tree)\n"
        f"logger = behavior_tree.{logger.__name__}(tree, {str(path)!r})\n"
        "tree.tick_exactly_once(); raise SystemExit(3)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=240)
    assert run.returncode == 3, run.stderr
    if logger is FileLogger:
        found = len(read_btlog(path).transitions)
    elif logger is MinitraceLogger:
        found = len(json.loads(path.read_text())["traceEvents"])
    else:
        database = sqlite3.connect(path)
        found = database.execute("SELECT COUNT(*) FROM Transitions").fetchone()[0]
        database.close()
    assert found > 5


def test_btlog_is_complete_after_each_run(tree, tmp_path: Path) -> None:
    seen = changes(tree)
    FileLogger(tree, tmp_path / "a.btlog")
    assert tree.tick_while_running(1) is NodeStatus.SUCCESS
    assert len(read_btlog(tmp_path / "a.btlog").transitions) == len(seen)


def test_uid_limit(tree, tmp_path: Path) -> None:
    tree.root_node().config().uid = 65536
    with pytest.raises(behavior_tree.BehaviorTreeError, match=r"65536.*at most 65535"):
        FileLogger(tree, tmp_path / "a.btlog")
    with SqliteLogger(tree, tmp_path / "a.db3"):
        tree.tick_once()
