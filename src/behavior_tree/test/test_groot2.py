# SPDX-License-Identifier: Apache-2.0
"""Our publisher alone: hooks in threads, heartbeat, clean end, and whatever bytes arrive."""

from __future__ import annotations

import gc
import json
import socket
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum

import pytest

pytest.importorskip("zmq")

from groot2_server import free_port, make_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import behavior_tree
from behavior_tree import NodeStatus
from behavior_tree.monitoring.groot2 import (
    Groot2Client,
    Groot2Error,
    Groot2Publisher,
    Hook,
    HookMode,
    Position,
    Request,
)

TOP, OK = 1, 9


class Rig:
    """A tree, its publisher, a client, and a thread that ticks."""

    def __init__(self) -> None:
        self.tree = make_tree(behavior_tree, compat=None)
        self.port = free_port()
        self.publisher = Groot2Publisher(self.tree, self.port)
        self.client = Groot2Client(self.port, timeout=60.0)
        self.client.wait_until_connected()
        self.thread = ThreadPoolExecutor(1)

    def run(self) -> Future[NodeStatus]:
        return self.thread.submit(self.tree.tick_while_running, 1)

    def close(self) -> None:
        self.client.close()
        self.publisher.close()
        self.thread.shutdown()


@pytest.fixture
def rig():
    rig = Rig()
    yield rig
    rig.close()


def eventually(condition) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.005)


@pytest.mark.parametrize("position", list(Position))
def test_breakpoint_blocks_the_tick_not_the_server(rig, position) -> None:
    rig.client.insert_hooks(Hook(OK, position))
    result = rig.run()
    assert rig.client.reached() == OK
    assert rig.client.status()[TOP] == NodeStatus.RUNNING.value
    assert not result.done()
    rig.client.insert_hooks(Hook(TOP, Position.POST))
    rig.client.unlock(OK, position, NodeStatus.FAILURE, remove=True)
    assert rig.client.reached() == TOP
    assert rig.client.hooks() == [Hook(TOP, Position.POST)]
    rig.client.unlock(TOP, Position.POST)
    assert result.result(60) is NodeStatus.FAILURE
    assert rig.client.status()[OK] == 10 + NodeStatus.FAILURE.value


@pytest.mark.parametrize(
    "release",
    [
        lambda rig: rig.client.request(Request.DISABLE_ALL_HOOKS),
        lambda rig: rig.client.request(Request.REMOVE_ALL_HOOKS),
        lambda rig: rig.client.request(Request.HOOK_REMOVE, b'{"uid":9,"position":0}'),
        lambda rig: rig.client.insert_hooks(Hook(OK, mode=HookMode.REPLACE)),
        lambda rig: rig.client.insert_hooks(Hook(OK, enabled=False)),
        lambda rig: rig.publisher.close(),
    ],
)
def test_ways_out_of_a_breakpoint(rig, release) -> None:
    rig.client.insert_hooks(Hook(OK))
    result = rig.run()
    assert rig.client.reached() == OK
    release(rig)
    assert result.result(60) is NodeStatus.SUCCESS


def test_lost_client_releases_and_returning_one_enables(rig) -> None:
    assert rig.publisher.max_heartbeat_delay() == 5000
    rig.client.insert_hooks(Hook(OK))
    rig.publisher.set_max_heartbeat_delay(200)
    result = rig.run()
    assert rig.client.reached() == OK
    assert result.result(60) is NodeStatus.SUCCESS
    rig.publisher.set_max_heartbeat_delay(5000)
    eventually(lambda: rig.client.hooks()[0].enabled)


def test_replacement_once(rig) -> None:
    for status in (NodeStatus.SUCCESS, NodeStatus.FAILURE):
        rig.client.insert_hooks(Hook(TOP, Position.PRE, HookMode.REPLACE, status, once=True))
        assert rig.tree.tick_exactly_once() is status
        assert rig.client.hooks() == []
        assert rig.tree.tick_exactly_once() is NodeStatus.RUNNING
        rig.tree.halt_tree()


def test_own_hooks_of_the_program_stay(rig) -> None:
    node = rig.tree.node_by_path("ok")
    calls: list[str] = []
    node.set_pre_tick(lambda node: calls.append("pre") or NodeStatus.SKIPPED)
    rig.client.insert_hooks(Hook(OK, mode=HookMode.REPLACE))
    assert rig.tree.tick_while_running(1) is NodeStatus.SUCCESS
    assert calls == ["pre"]
    rig.client.request(Request.REMOVE_ALL_HOOKS)
    assert rig.tree.tick_while_running(1) is NodeStatus.SUCCESS
    assert calls == ["pre", "pre"]


def test_nothing_is_left_behind(rig) -> None:
    rig.client.insert_hooks(Hook(OK, mode=HookMode.REPLACE))
    rig.tree.tick_exactly_once()
    rig.publisher.close()
    again = Groot2Publisher(rig.tree, rig.port)
    again.close()
    for _ in range(2):
        rig.tree.tick_exactly_once()
    assert rig.tree.runtime.record is None
    for node in rig.tree.nodes():
        assert node._pre_tick is None
        assert node._post_tick is None


def test_deleted_publisher_frees_the_port(rig) -> None:
    with pytest.raises(Groot2Error, match=f"{rig.port} and .*give a port="):
        Groot2Publisher(rig.tree, rig.port)
    rig.publisher.close()
    rig.publisher = Groot2Publisher(rig.tree, rig.port)
    rig.publisher = None
    gc.collect()
    rig.publisher = Groot2Publisher(rig.tree, rig.port)


def test_bound_to_localhost_only(rig) -> None:
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others:
        if not address.startswith("127."):
            with socket.socket() as probe:
                probe.settimeout(0.5)
                assert probe.connect_ex((address, rig.port)) != 0


def test_blackboard_values_without_json_form(rig) -> None:
    board = rig.tree.root_blackboard()
    for key, value in {
        "object": object(),
        "list": [1, 2.5, "a", None],
        "dict": {"b": 1, "a": [True]},
        "huge": 2**80,
        "text": "\ud800",
    }.items():
        board.set(key, value)
    seen = rig.client.blackboards(["Main"])["Main"]
    assert seen == {
        "object": None,
        "list": [1, 2.5, "a", None],
        "dict": {"a": [True], "b": 1},
        "huge": None,
        "text": "?",
    }


def test_blackboard_values_of_registered_classes(rig) -> None:
    @dataclass
    class Pose:
        y: float
        x: float
        fixed: bool

    class Colour(Enum):
        RED = 1

    board = rig.tree.root_blackboard()
    board.types.json.register(Pose)
    board.types.json.register(complex, lambda value: 1 / 0, complex, name="complex")
    values = {"pose": Pose(0.5, 1.0, True), "flags": [True, False], "flag": True}
    for key, value in {**values, "colour": Colour.RED, "broken": 1j}.items():
        board.set(key, value)
    reply = rig.client.raw([b"\x02Babcd", b"Main"])[1]
    pose = b"\x84\xa6__type\xa4Pose\xa5fixed\xc3\xa1x\xca\x3f\x80\0\0\xa1y\xca\x3f\0\0\0"
    assert reply == (
        b"\x81\xa4Main\x85\xa6broken\xc0\xa6colour\xc0\xa4flag\x01\xa5flags\x92\xc3\xc2"
        b"\xa4pose" + pose
    )


def test_times_are_written_down_while_a_client_records(rig) -> None:
    record = rig.tree.runtime.record
    assert not record.timed
    rig.client.request(Request.TOGGLE_RECORDING, b"start")
    assert record.timed
    rig.client.request(Request.TOGGLE_RECORDING, b"stop")
    assert not record.timed


def test_transitions_are_bounded(rig) -> None:
    rig.client.request(Request.TOGGLE_RECORDING, b"start")
    for _ in range(100):
        rig.tree.tick_while_running(1)
    assert len(rig.client.request(Request.GET_TRANSITIONS)) == 9 * 1000


_CHARACTERS = [each.value.encode() for each in Request]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["uid", "position", "mode", "once", "enabled", "desired_status", "x"]),
            inner | st.sampled_from([0, 1, "SUCCESS", True]),
        )
    ),
    max_leaves=8,
).map(lambda data: json.dumps(data).encode())
_PAYLOAD = _JSON | st.binary(max_size=64) | st.just(b"[" * 100_000) | st.just(b"Main;S::3")
_HEADER = st.tuples(st.binary(min_size=1, max_size=1), st.sampled_from(_CHARACTERS)).map(
    lambda pair: pair[0] + pair[1] + b"abcd"
)
_MESSAGE = st.one_of(
    st.lists(st.binary(max_size=30), min_size=1, max_size=4),
    st.tuples(_HEADER, _PAYLOAD).map(list),
    _HEADER.map(lambda header: [header]),
)


@pytest.fixture(scope="module")
def shared():
    rig = Rig()
    yield rig
    rig.close()


@pytest.mark.slow
@settings(
    max_examples=800,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(message=_MESSAGE)
def test_any_bytes_get_a_reply(shared, message: list[bytes]) -> None:
    reply = shared.client.raw(message)
    assert len(reply) in (1, 2)
    if reply[0] == b"error":
        assert reply[1]
    else:
        assert reply[0][1:6] == message[0][1:6]
        assert len(reply[0]) == 22


def test_served_tree_still_runs(shared) -> None:
    shared.client.request(Request.REMOVE_ALL_HOOKS)
    assert shared.tree.tick_while_running(1) is NodeStatus.SUCCESS


def test_raw_garbage_on_the_port(rig) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", rig.port), timeout=60) as connection:
            connection.sendall(b"\xff\x00GET / HTTP/1.1\r\n\r\n" * 10)
    assert rig.client.status()


def test_empty_tree_names(rig) -> None:
    assert rig.client.blackboards([]) == {}
    assert rig.client.tree().startswith("<root")
