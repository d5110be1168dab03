# SPDX-License-Identifier: Apache-2.0
"""Loggers: the scenarios of gtest_loggers.cpp."""

import io
import json
import re
import sqlite3
import time
from contextlib import closing
from functools import partial

import pytest

from behavior_tree import (
    BehaviorTreeError,
    FileLogger,
    MinitraceLogger,
    NodeStatus,
    SqliteLogger,
    StdCoutLogger,
    read_btlog,
)

covers = partial(pytest.mark.upstream, "gtest_loggers.cpp")

BODY = '<Sequence name="s"><AlwaysSuccess name="a"/><AlwaysSuccess name="b"/></Sequence>'
CHANGES = ["a SUCCESS", "b SUCCESS", "s RUNNING", "s SUCCESS", "a IDLE", "b IDLE", "s IDLE"]


@pytest.fixture
def tree(ours):
    ours.load(BODY)
    return ours.tree


def printed(text):
    """Lines of the console logger as ``name NEW``, without colours, times and what was before."""
    plain = re.sub(r"\x1b\[\d+m", "", text)
    return [re.sub(r"^\[[\d.]+\]: (\w+) +\w+ -> ", r"\1 ", line) for line in plain.splitlines()]


@covers("LoggerTest.StdCoutLogger_Creation")
def test_console_shows_every_change(tree, capsys):
    with StdCoutLogger(tree):
        tree.tick_while_running()
    assert sorted(printed(capsys.readouterr().out)) == sorted(CHANGES)


@covers("LoggerTest.StdCoutLogger_Enabled")
def test_console_is_switched_off_and_on(tree):
    stream = io.StringIO()
    with StdCoutLogger(tree, stream) as logger:
        logger.set_enabled(False)
        tree.tick_while_running()
        assert stream.getvalue() == ""
        logger.set_enabled(True)
        tree.tick_while_running()
    assert len(stream.getvalue().splitlines()) == len(CHANGES)


@covers("LoggerTest.StdCoutLogger_TransitionToIdle")
@pytest.mark.parametrize("shown", [True, False])
def test_changes_to_idle_are_shown_or_not(tree, shown):
    stream = io.StringIO()
    with StdCoutLogger(tree, stream) as logger:
        logger.enable_transition_to_idle(shown)
        tree.tick_while_running()
    assert any(line.endswith("IDLE") for line in printed(stream.getvalue())) is shown


@covers("LoggerTest.StdCoutLogger_TimestampType")
@pytest.mark.parametrize("relative", [True, False])
def test_time_since_the_start_or_the_epoch(tree, relative):
    stream = io.StringIO()
    with StdCoutLogger(tree, stream, relative=relative):
        tree.tick_while_running()
    shown = [float(text) for text in re.findall(r"^\[([\d.]+)\]", stream.getvalue(), re.M)]
    zero = 0 if relative else time.time()
    assert shown == sorted(shown)
    assert all(abs(each - zero) < 60 for each in shown)


@covers("LoggerTest.FileLogger2_Creation", "LoggerTest.FileLogger2_FileHeader")
def test_btlog_holds_the_changes(tree, tmp_path):
    path = tmp_path / "test.btlog"
    with FileLogger(tree, path) as logger:
        tree.tick_while_running()
        logger.flush()
    assert path.read_bytes()[:18] == b"BTCPP4-FileLogger2"
    names = {node.uid(): node.name() for node in tree.nodes()}
    found = [f"{names[each.uid]} {each.status.name}" for each in read_btlog(path).transitions]
    assert sorted(found) == sorted(CHANGES)


@covers("LoggerTest.FileLogger2_MultipleTicks")
def test_btlog_of_several_runs(tree, tmp_path):
    path = tmp_path / "test.btlog"
    with FileLogger(tree, path):
        for _ in range(3):
            tree.tick_while_running()
            tree.halt_tree()
    assert len(read_btlog(path).transitions) == 3 * len(CHANGES)


@pytest.mark.parametrize(
    ("logger", "name"),
    [
        pytest.param(FileLogger, "test.txt", marks=covers("LoggerTest.FileLogger2_WrongExtension")),
        pytest.param(
            SqliteLogger, "test.sqlite", marks=covers("LoggerTest.SqliteLogger_WrongExtension")
        ),
    ],
)
def test_wrong_extension(tree, tmp_path, logger, name):
    with pytest.raises(BehaviorTreeError, match="extension"):
        logger(tree, tmp_path / name)
    assert not (tmp_path / name).exists()


@covers("LoggerTest.MinitraceLogger_Creation", "LoggerTest.MinitraceLogger_JsonContent")
def test_trace_is_json(tree, tmp_path):
    path = tmp_path / "trace.json"
    with MinitraceLogger(tree, path) as logger:
        tree.tick_while_running()
        logger.flush()
    events = json.loads(path.read_text())["traceEvents"]
    assert [(each["name"], each["ph"]) for each in events] == [
        *(("s", "B"), ("a", "I"), ("b", "I"), ("s", "E")),
    ]


@covers("LoggerTest.MinitraceLogger_TransitionTypes")
def test_trace_of_controls_decorators_and_leaves(ours, tmp_path):
    ours.load(
        '<Sequence name="s"><Inverter name="i"><AlwaysFailure name="f"/></Inverter>'
        '<AlwaysSuccess name="a"/></Sequence>'
    )
    path = tmp_path / "trace.json"
    with MinitraceLogger(ours.tree, path) as logger:
        logger.enable_transition_to_idle(True)
        ours.run()
    events = json.loads(path.read_text())["traceEvents"]
    assert {(each["name"], each["cat"]) for each in events} == {
        *(("s", "Control"), ("i", "Decorator"), ("f", "Action"), ("a", "Action")),
    }


def rows(path, query):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


COUNT = "SELECT COUNT(*) FROM Transitions"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("test.db3", marks=covers("LoggerTest.SqliteLogger_Creation_db3")),
        pytest.param("test.btdb", marks=covers("LoggerTest.SqliteLogger_Creation_btdb")),
    ],
)
@covers("LoggerTest.SqliteLogger_ExecSqlStatement")
def test_database_holds_the_changes(tree, tmp_path, name):
    path = tmp_path / name
    with SqliteLogger(tree, path) as logger:
        tree.tick_while_running()
        logger.flush()
        assert rows(path, COUNT) == [(len(CHANGES),)]
    assert rows(path, "SELECT fullpath FROM Nodes ORDER BY node_uid") == [("s",), ("a",), ("b",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("append", "sessions"),
    [
        pytest.param(True, 2, marks=covers("LoggerTest.SqliteLogger_AppendMode")),
        pytest.param(False, 1, marks=covers("LoggerTest.SqliteLogger_NoAppendMode")),
    ],
)
def test_database_is_continued_or_begun_anew(tree, tmp_path, append, sessions):
    path = tmp_path / "test.db3"
    for _ in range(2):
        with SqliteLogger(tree, path, append):
            tree.tick_while_running()
    assert rows(path, "SELECT COUNT(DISTINCT session_id) FROM Transitions") == [(sessions,)]
    assert rows(path, COUNT) == [(sessions * len(CHANGES),)]


@covers("LoggerTest.SqliteLogger_ExtraCallback")
def test_text_added_to_every_change(tree, tmp_path):
    path = tmp_path / "test.db3"
    with SqliteLogger(tree, path) as logger:
        logger.set_additional_callback(lambda _time, node, old, new: f"{node.name} {new.name}")
        tree.tick_while_running()
    found = [text for (text,) in rows(path, "SELECT extra_data FROM Transitions")]
    assert sorted(found) == sorted(CHANGES)


@covers("LoggerTest.SqliteLogger_MultipleTicks")
def test_database_of_several_runs(tree, tmp_path):
    path = tmp_path / "test.db3"
    with SqliteLogger(tree, path):
        for _ in range(5):
            tree.tick_while_running()
            tree.halt_tree()
    assert rows(path, COUNT) == [(5 * len(CHANGES),)]


@covers("LoggerTest.MultipleLoggers")
def test_four_loggers_at_once(tree, tmp_path):
    stream = io.StringIO()
    with (
        StdCoutLogger(tree, stream),
        FileLogger(tree, tmp_path / "l.btlog"),
        MinitraceLogger(tree, tmp_path / "l.json"),
        SqliteLogger(tree, tmp_path / "l.db3"),
    ):
        tree.tick_while_running()
    assert len(printed(stream.getvalue())) == len(CHANGES)
    assert len(read_btlog(tmp_path / "l.btlog").transitions) == len(CHANGES)
    assert len(json.loads((tmp_path / "l.json").read_text())["traceEvents"]) == 4
    assert rows(tmp_path / "l.db3", COUNT) == [(len(CHANGES),)]


@covers("LoggerTest.LoggerWithAsyncTree")
def test_database_of_a_tree_that_takes_time(ours, tmp_path):
    ours.load('<Sequence><Sleep msec="10" name="z"/><AlwaysSuccess name="a"/></Sequence>')
    path = tmp_path / "test.db3"
    with SqliteLogger(ours.tree, path):
        assert ours.run() == "S"
    states = rows(path, "SELECT state FROM Transitions WHERE node_uid = 2 ORDER BY timestamp")
    assert [NodeStatus(state).name for (state,) in states] == ["RUNNING", "SUCCESS", "IDLE"]


@covers("LoggerTest.Logger_EmptyTree")
def test_tree_of_one_node(ours, tmp_path):
    ours.load("<AlwaysSuccess/>")
    with SqliteLogger(ours.tree, tmp_path / "test.db3"):
        ours.run()
    assert rows(tmp_path / "test.db3", COUNT) == [(2,)]


@covers("LoggerTest.Logger_DisabledDuringExecution")
def test_only_the_enabled_run_is_logged(tree, tmp_path):
    path = tmp_path / "test.db3"
    with SqliteLogger(tree, path) as logger:
        logger.set_enabled(False)
        tree.tick_while_running()
        logger.set_enabled(True)
        tree.halt_tree()
        tree.tick_while_running()
    assert rows(path, COUNT) == [(len(CHANGES),)]
