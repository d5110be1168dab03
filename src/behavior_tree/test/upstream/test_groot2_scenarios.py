# SPDX-License-Identifier: Apache-2.0
"""The Groot2 publisher: the scenarios of gtest_groot2_publisher.cpp, of its integration and thread
safety tests, and of gtest_logger_zmq.cpp.
"""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from scenario_kit import document, subtree

pytest.importorskip("zmq")

from groot2_server import free_port

from behavior_tree import Blackboard, NodeExecutionError, NodeStatus, SyncActionNode
from behavior_tree.monitoring.groot2 import (
    Groot2Client,
    Groot2Error,
    Groot2Publisher,
    Hook,
    HookMode,
    Position,
    Request,
)

throwing = partial(pytest.mark.upstream, "gtest_groot2_publisher.cpp")
integration = partial(pytest.mark.upstream, "gtest_groot2_publisher_integration.cpp")
threads = partial(pytest.mark.upstream, "gtest_groot2_publisher_thread_safety.cpp")
zmq_logger = partial(pytest.mark.upstream, "gtest_logger_zmq.cpp")
ROOT_UID = 1


class Throws(SyncActionNode):
    def tick(self):
        raise ValueError("oops")


class Served:
    """A tree under a publisher with a client."""

    def __init__(self, stage):
        self.stage, self.port = stage, free_port()
        self.publisher = Groot2Publisher(stage.tree, self.port)
        self.client = Groot2Client(self.port, timeout=60.0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.publisher.close()


@pytest.mark.slow
@throwing(
    "Groot2PublisherTest.EnsureNoInfiniteLoopOnThrow",
    "Groot2PublisherTest.DestructorCompletesAfterException",
    "Groot2PublisherTest.RapidCreateDestroy",
)
@throwing("Groot2PublisherTest.DestructorCompletesWithMultipleNodes")
@pytest.mark.parametrize("body", ["<Throws/>", "<Sequence><AlwaysSuccess/><Throws/></Sequence>"])
def test_publisher_ends_after_an_exception(mended, body):
    mended.factory.register_node_type(Throws, "Throws")
    for _ in range(3):
        mended.load(body)
        publisher = Groot2Publisher(mended.tree, free_port())
        with pytest.raises(NodeExecutionError, match="oops"):
            mended.tree.tick_exactly_once()
        ending = threading.Thread(target=publisher.close)
        ending.start()
        ending.join(60)
        assert not ending.is_alive()


@zmq_logger("LoggerZMQ.ZMQLoggerDeletesCleanlyAfterTickingTree")
@zmq_logger("LoggerZMQ.ZMQLoggerDeletesCleanlyAfterNotTickingTree")
@pytest.mark.parametrize("ticked", [True, False])
def test_publisher_ends_and_frees_its_ports(mended, ticked):
    mended.load('<SetBlackboard output_key="k" value="1"/>')
    port = free_port()
    for _ in range(2):
        publisher = Groot2Publisher(mended.tree, port)
        if ticked:
            assert mended.tree.tick_once() is NodeStatus.SUCCESS
        publisher.close()


@integration("Groot2PublisherIntegration.PostHookRunsAfterNodeAndCanBeRemoved")
def test_hook_behind_the_tick(mended):
    with Served(mended.load('<Do name="a"/>')) as served:
        hook = Hook(ROOT_UID, Position.POST, HookMode.REPLACE, NodeStatus.FAILURE)
        served.client.insert_hooks(hook)
        assert served.client.hooks() == [hook]
        assert mended.tick() == "F"
        assert mended.count("a") == [1]
        remove = json.dumps({"uid": ROOT_UID, "position": Position.POST.value}).encode()
        served.client.request(Request.HOOK_REMOVE, remove)
        assert mended.tick() == "S"
        assert mended.count("a") == [2]


@pytest.mark.slow
@integration("Groot2PublisherIntegration.MalformedRequestDoesNotTerminateServer")
@integration("Groot2PublisherIntegration.IncompleteHookRequestDoesNotTerminateServer")
@pytest.mark.parametrize("payload", [b"{", b'{"enabled":true}', b"\xff", b"[1]", b""])
def test_malformed_request_gets_an_error_reply(mended, payload):
    with Served(mended.load('<Do name="a"/>')) as served:
        with pytest.raises(Groot2Error):
            served.client.request(Request.HOOK_INSERT, payload)
        assert "<Do" in served.client.tree()


LEAF = "<AlwaysSuccess/>"
TWO = '<Sequence><SubTree ID="A" name="A"/><SubTree ID="B" name="B"/></Sequence>'


def boards(**outer):
    """A main blackboard with one value, below an outer one if that has values."""
    parent = Blackboard.create() if outer else None
    for key, value in outer.items():
        parent.set(key, value)
    board = Blackboard.create(parent)
    board.set("own", 7)
    return board


@integration("Groot2PublisherIntegration.BlackboardDump_NoRootWithoutExternalBlackboard")
def test_entries_of_the_main_tree(mended):
    with Served(mended.load_xml(document(LEAF), boards())) as served:
        assert served.client.blackboards(["Main"]) == {"Main": {"own": 7}}


@integration("Groot2PublisherIntegration.BlackboardDump_ExportsExternalRootBlackboard")
def test_entries_of_a_blackboard_above_the_tree(mended):
    with Served(mended.load_xml(document(LEAF), boards(shared=42))) as served:
        found = served.client.blackboards(["Main"])
    assert found == {"Main": {"own": 7}, "ROOT": {"shared": 42}}


@integration("Groot2PublisherIntegration.BlackboardDump_DeduplicatesSharedExternalRoot")
def test_blackboard_above_is_told_once(mended):
    text = document(TWO, subtree("A", LEAF) + subtree("B", LEAF))
    with Served(mended.load_xml(text, boards(shared=99))) as served:
        found = served.client.blackboards(["Main", "A", "B"])
    assert sorted(found) == ["A", "B", "Main", "ROOT"]
    assert found["ROOT"] == {"shared": 99}


@integration("Groot2PublisherIntegration.BlackboardDump_RejectsReservedRootNameCollision")
def test_tree_called_like_the_blackboard_above(mended):
    text = f'<root BTCPP_format="4">{subtree("ROOT", LEAF)}</root>'
    with (
        Served(mended.load_xml(text, boards(shared=42))) as served,
        pytest.raises(Groot2Error, match="ROOT"),
    ):
        served.client.blackboards(["ROOT"])


@integration("Groot2PublisherIntegration.BlackboardDump_RejectsConflictingExternalRoots")
def test_two_blackboards_above(mended):
    text = document(TWO, subtree("A", LEAF) + subtree("B", LEAF))
    mended.load_xml(text, boards(shared=99))
    mended.tree.subtrees[2].blackboard = boards(other=123)
    with Served(mended) as served, pytest.raises(Groot2Error, match=r"multiple.*root"):
        served.client.blackboards(["Main", "B"])


@threads("Groot2PublisherThreadSafety.UpdateHeartbeatDelayWhileHeartbeatThreadIsRunning")
def test_heartbeat_delay_changes_while_the_server_runs(mended):
    with Served(mended.load(LEAF)) as served:
        for number in range(100):
            served.publisher.set_max_heartbeat_delay(1 if number % 2 else 3_600_000)
        assert served.publisher.max_heartbeat_delay() == 1
        assert served.client.status() == {ROOT_UID: 0}


class Ticking:
    """A thread that ticks a tree as fast as it can."""

    def __init__(self, tree):
        self.tree, self.on, self.ticks = tree, True, 0
        self.pool = ThreadPoolExecutor(1)
        self.result = self.pool.submit(self._run)

    def _run(self):
        while self.on:
            self.tree.tick_exactly_once()
            self.ticks += 1

    def __enter__(self):
        while not self.ticks:
            time.sleep(0.001)
        return self

    def __exit__(self, *_):
        self.on = False
        self.result.result(60)
        self.pool.shutdown()


@pytest.mark.slow
@threads("Groot2PublisherThreadSafety.RecordTransitionsWhileTreeIsTicking")
def test_recording_while_the_tree_ticks(mended):
    with Served(mended.load(LEAF)) as served, Ticking(mended.tree):
        assert served.client.request(Request.TOGGLE_RECORDING, b"start")
        sizes, deadline = [], time.monotonic() + 90
        while len(sizes) < 50 or not any(sizes):  # the ticking thread may have to wait for its turn
            sizes.append(len(served.client.request(Request.GET_TRANSITIONS) or b""))
            assert time.monotonic() < deadline
        served.client.request(Request.TOGGLE_RECORDING, b"stop")
    assert all(size % 9 == 0 for size in sizes)


@threads("Groot2PublisherThreadSafety.DestroyWhileStatusCallbacksAreRunning")
def test_publisher_ends_while_the_tree_ticks(mended):
    served = Served(mended.load(LEAF))
    with Ticking(mended.tree) as ticking:
        served.__exit__()
        before = ticking.ticks
        while ticking.ticks == before:
            time.sleep(0.001)


@threads("Groot2PublisherThreadSafety.DisableThenRemoveOneShotHookUsesConsistentLockOrder")
def test_hook_disabled_then_inserted_for_once(mended):
    with Served(mended.load(LEAF)) as served:
        hook = Hook(ROOT_UID, Position.PRE, HookMode.REPLACE, NodeStatus.FAILURE)
        served.client.insert_hooks(hook)
        served.client.request(Request.DISABLE_ALL_HOOKS)
        hook.once = True
        served.client.insert_hooks(hook)
        assert mended.ticks(2) == "FS"
        assert served.client.hooks() == []


@threads("Groot2PublisherThreadSafety.DestroyWhileBreakpointCallbackIsBlocked")
def test_publisher_ends_while_a_breakpoint_holds_the_tree(mended):
    with Served(mended.load(LEAF)) as served, ThreadPoolExecutor(1) as pool:
        served.client.wait_until_connected()
        served.client.insert_hooks(Hook(ROOT_UID))
        result = pool.submit(mended.tick)
        assert served.client.reached() == ROOT_UID
        served.publisher.close()
        assert result.result(60) == "S"
