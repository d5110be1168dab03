# SPDX-License-Identifier: Apache-2.0
"""Several trees: discovery on a range of ports, another tree at a port, edits of a live one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("zmq")

from groot2_server import free_port, make_tree

from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, NodeStatus
from behavior_tree.editing import TreeEditor
from behavior_tree.monitoring.groot2 import (
    DEFAULT_PORTS,
    Groot2Client,
    Groot2Error,
    Groot2Publisher,
    Hook,
    HookMode,
    LiveTree,
    Request,
    discover,
)

RUNNING, SUCCESS = NodeStatus.RUNNING, NodeStatus.SUCCESS


def factory() -> BehaviorTreeFactory:
    made = BehaviorTreeFactory()
    made.register_simple_stateful_action("Run", lambda node: RUNNING, lambda node: RUNNING)
    return made


def tree_of(body: str, made: BehaviorTreeFactory | None = None, tree_id: str = "Main"):
    return (made or factory()).create_tree_from_text(
        f'<root BTCPP_format="4"><BehaviorTree ID="{tree_id}">{body}</BehaviorTree></root>'
    )


def uids(xml: str) -> dict[str, int]:
    """Uid by name."""
    found = ElementTree.fromstring(xml).iter()
    return {node.get("name", ""): int(node.get("_uid", 0)) for node in found if node.get("_uid")}


@pytest.fixture
def ports():
    """A range of three pairs of ports."""
    first = free_port()
    return range(first, first + 6, 2)


# -- ports and discovery --------------------------------------------------------------------------


@pytest.mark.slow
def test_next_free_pair_is_taken_and_found(ports) -> None:
    with socket_at(ports[1] + 1), Groot2Publisher(tree_of("<Run/>"), ports, name="left") as left:
        with Groot2Publisher(tree_of("<Run/>", tree_id="Other"), ports) as right:
            assert (left.port, right.port) == (ports[0], ports[2])
            assert discover(ports[::2], timeout=20.0) == [
                LiveTree(left.port, "Main", "left", os.getpid()),
                LiveTree(right.port, "Other", "", os.getpid()),
            ]
            with pytest.raises(Groot2Error, match="port=None") as caught:
                Groot2Publisher(tree_of("<Run/>"), ports)
            assert all(str(port) in str(caught.value) for port in ports)
        assert [tree.port for tree in discover(ports, timeout=2.0)] == [left.port]
    assert discover(ports, timeout=0.1) == []


def socket_at(port: int):
    import socket

    taken = socket.socket()
    taken.bind(("127.0.0.1", port))
    taken.listen()
    return taken


def test_default_range() -> None:
    assert DEFAULT_PORTS[0] == 1667
    with Groot2Publisher(tree_of("<Run/>"), None) as publisher:
        assert publisher.port in DEFAULT_PORTS


@pytest.mark.parametrize("port", [-1, 65535, 70000])
def test_impossible_ports(port: int) -> None:
    with pytest.raises(Groot2Error, match=f"{port} and {port + 1}"):
        Groot2Publisher(tree_of("<Run/>"), port)


def test_discovery_finds_upstream(ports) -> None:
    upstream = pytest.importorskip("behaviortreepy")
    publisher = upstream.Groot2Publisher(make_tree(upstream), ports[0])
    try:
        assert discover(ports[:1], timeout=20.0) == [LiveTree(ports[0], "Main", "", None)]
    finally:
        del publisher


def test_discovery_is_no_heartbeat_and_no_hint_to_others(ports) -> None:
    now = [0.0]
    tree = tree_of('<Sequence><AlwaysSuccess name="a"/></Sequence>')
    with (
        Groot2Publisher(tree, ports, clock=lambda: now[0]) as publisher,
        Groot2Client(publisher.port) as client,
    ):
        client.wait_until_connected()
        client.insert_hooks(Hook(2))
        ticking = threading.Thread(target=tree.tick_once)
        ticking.start()
        assert client.reached() == 2
        now[0] = 4.99
        assert discover(ports[:1], timeout=20.0)
        assert ticking.is_alive()
        now[0] = 5.0  # on this clock the last request of a monitor came 5 s ago
        ticking.join(20)
        assert not ticking.is_alive()
        assert client.raw([b"\x02?abcd"]) == [b"error", b"Request not recognized"]
        assert client.raw([b"\x02?abcd", b"x"]) == [b"error", b"Request not recognized"]


def test_something_else_at_the_port(ports) -> None:
    import zmq

    context = zmq.Context()
    other = context.socket(zmq.REP)
    other.bind(f"tcp://127.0.0.1:{ports[0]}")
    answer = threading.Thread(target=lambda: (other.recv_multipart(), other.send(b"hello")))
    answer.start()
    assert discover(ports[:1], timeout=20.0) == []
    answer.join(20)
    context.destroy(linger=0)


# -- another tree at the same port ----------------------------------------------------------------


def test_another_tree_is_served(ports) -> None:
    first, second = tree_of('<Run name="one"/>'), tree_of('<Inverter><Run name="two"/></Inverter>')
    with Groot2Publisher(first, ports) as publisher, Groot2Client(publisher.port) as client:
        client.insert_hooks(Hook(1, mode=HookMode.REPLACE))
        client.request(Request.TOGGLE_RECORDING, b"start")
        first.tick_once()
        before = client.snapshot()
        assert (uids(before.xml), before.status) == ({"one": 1}, {1: 1})
        publisher.serve(second)
        assert publisher.tree_uuid != before.tree_uuid
        first.tick_once()
        second.tick_once()
        after = client.snapshot()
        assert after.tree_uuid == publisher.tree_uuid
        assert (uids(after.xml), after.status) == ({"Inverter": 1, "two": 2}, {1: 1, 2: 1})
        assert client.hooks() == []
        assert len(client.request(Request.GET_TRANSITIONS) or b"") == 18
        assert first.root_node()._pre_tick is None
        assert first.runtime.record is None


def test_a_blocked_tree_goes_on_when_another_is_served(ports) -> None:
    tree = tree_of('<Sequence><AlwaysSuccess name="a"/></Sequence>')
    with Groot2Publisher(tree, ports) as publisher, Groot2Client(publisher.port) as client:
        client.wait_until_connected()
        client.insert_hooks(Hook(2))
        ticking = threading.Thread(target=tree.tick_once)
        ticking.start()
        assert client.reached() == 2
        publisher.serve(tree_of("<Run/>"))
        ticking.join(20)
        assert not ticking.is_alive()


def test_refused_tree_leaves_the_former_one(ports) -> None:
    with Groot2Publisher(tree_of('<Run name="one"/>'), ports) as publisher:
        large = tree_of("<Run/>")
        large.root_node().config().uid = 65536
        with pytest.raises(BehaviorTreeError, match=r"65536.*at most 65535"):
            publisher.serve(large)
        with Groot2Client(publisher.port) as client:
            assert uids(client.tree()) == {"one": 1}
        publisher.close()
        with pytest.raises(Groot2Error, match="closed"):
            publisher.serve(large)


def test_uid_limit(ports) -> None:
    tree = tree_of("<Run/>")
    tree.root_node().config().uid = 65535
    with Groot2Publisher(tree, ports) as publisher, Groot2Client(publisher.port) as client:
        assert client.status() == {65535: 0}
    tree.root_node().config().uid = 65536
    with pytest.raises(BehaviorTreeError, match=r"65536.*at most 65535.*SqliteLogger"):
        Groot2Publisher(tree, ports)
    Groot2Publisher(tree_of("<Run/>"), ports[0]).close()  # nothing holds the port


# -- edits of a live tree -------------------------------------------------------------------------


def test_edits_are_followed(ports) -> None:
    made = factory()
    tree = tree_of('<Parallel><Run name="a"/><Run name="b"/></Parallel>', made)
    editor = TreeEditor(tree, made)
    with Groot2Publisher(tree, ports) as publisher, Groot2Client(publisher.port) as client:
        client.insert_hooks(Hook(2, mode=HookMode.REPLACE), Hook(3, mode=HookMode.REPLACE))
        tree.tick_once()
        seen = {client.snapshot().tree_uuid}
        a, b = tree.node_by_path("a"), tree.node_by_path("b")

        new = editor.insert(1, 0, '<Run name="new"/>')
        snapshot = client.snapshot()
        seen.add(snapshot.tree_uuid)
        assert uids(snapshot.xml) == {"Parallel": 1, "new": 4, "a": 2, "b": 3}
        assert list(snapshot.status.items()) == [(1, 1), (4, 0), (2, 1), (3, 1)]
        tree.tick_once()
        assert client.snapshot().status[4] == 1

        editor.remove(a)
        snapshot = client.snapshot()
        seen.add(snapshot.tree_uuid)
        assert list(snapshot.status) == [1, 4, 3]
        assert [hook.uid for hook in client.hooks()] == [3]
        assert a._pre_tick is None
        tree.tick_once()
        assert b._pre_tick is not None

        editor.rename(new, "renamed")
        assert uids(client.snapshot().xml)["renamed"] == 4
        editor.undo()
        editor.undo()
        snapshot = client.snapshot()
        assert list(snapshot.status.items()) == [(1, 1), (4, 1), (2, 0), (3, 1)]
        tree.tick_once()
        assert client.snapshot().status[2] == 1
        assert len(seen) == 3


def test_another_root_keeps_hooks_at_work(ports) -> None:
    made = factory()
    tree = tree_of('<Run name="a"/>', made)
    editor = TreeEditor(tree, made)
    with Groot2Publisher(tree, ports) as publisher, Groot2Client(publisher.port) as client:
        old = tree.root_node()
        editor.replace(1, '<Sequence name="new"><Run name="b"/></Sequence>')
        assert old._pre_tick is None
        hook = Hook(3, mode=HookMode.REPLACE, desired_status=SUCCESS)
        client.insert_hooks(hook)
        assert tree.tick_once() is SUCCESS
        client.request(Request.REMOVE_ALL_HOOKS)
        assert tree.tick_once() is RUNNING
        publisher.close()
        tree.tick_once()
        assert all(node._pre_tick is None for node in tree.nodes())
        assert tree.runtime.record is None


def test_uid_limit_of_an_edit(ports, caplog, monkeypatch) -> None:
    monkeypatch.setattr("behavior_tree.xml.builder.MAX_NODES", 10**6)
    made = factory()
    tree = tree_of('<Sequence><Run name="a"/></Sequence>', made)
    editor = TreeEditor(tree, made)
    editor._last_uid = 65535
    with Groot2Publisher(tree, ports) as publisher, Groot2Client(publisher.port) as client:
        editor.insert(1, 0, '<Run name="new"/>')
        assert "65535" in caplog.text
        tree.tick_once()
        assert list(client.snapshot().status) == [1, 2]


# -- end ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_thread_or_socket_is_left(ports) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    tree = tree_of("<Run/>")
    Groot2Publisher(tree, ports).close()
    tree.tick_exactly_once()  # takes what the publisher has left in the tree
    threads, files = set(threading.enumerate()), open_files()
    for _ in range(5):
        with Groot2Publisher(tree, ports[0]) as publisher:
            publisher.serve(tree)
        publisher.close()
    while tree.runtime.record is not None:  # closed publishers leave one by one
        tree.tick_exactly_once()
    assert set(threading.enumerate()) <= threads  # those of other trees may have ended
    assert open_files() == files


@pytest.mark.parametrize("closing", ["with publisher: tree.tick_while_running()", "loop()"])
def test_interrupt_ends_the_program(ports, closing: str) -> None:
    code = f"""
import sys, threading, os, signal
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_groot2_trees import *
tree = tree_of('<Run/>')
publisher = Groot2Publisher(tree, {ports[0]})
def loop():
    while True: tree.tick_while_running()
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
{closing}
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, text=True)
    assert run.stderr.strip().endswith("KeyboardInterrupt"), run.stderr
    Groot2Publisher(tree_of("<Run/>"), ports[0]).close()  # the port is free


@pytest.mark.slow
def test_edits_and_requests_at_the_same_time(ports) -> None:
    """Each reply belongs to one structure of the tree."""
    made = factory()
    tree = tree_of('<Parallel><Run name="a"/></Parallel>', made)
    editor = TreeEditor(tree, made)
    stop = threading.Event()

    def edit() -> None:
        while not stop.is_set():
            editor.insert(1, -1, '<Run name="x"/>')
            tree.tick_once()
            stop.wait(0.001)  # both structures stand for about as long
            editor.undo()
            stop.wait(0.001)

    with Groot2Publisher(tree, ports) as publisher, Groot2Client(publisher.port) as client:
        editing = threading.Thread(target=edit)
        editing.start()
        try:
            sizes: dict[bytes, set[int]] = {}
            start = time.monotonic()
            while len(sizes) < 200 and time.monotonic() < start + 20.0:
                for ask in (client.status, lambda: uids(client.tree())):
                    size = len(ask())
                    sizes.setdefault(client.tree_uuid, set()).add(size)
            assert all(len(each) == 1 for each in sizes.values())
            assert set().union(*sizes.values()) == {2, 3}
        finally:
            stop.set()
            editing.join()
