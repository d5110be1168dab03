# SPDX-License-Identifier: Apache-2.0
"""The same requests to BehaviorTree.CPP's publisher and to ours give the same bytes.

Nothing is compared more loosely than that, apart from the UUID of the tree and from times. Only
what makes BehaviorTree.CPP 4.8.2 end its process (payloads that are not the JSON it wants) is asked
of ours alone.
"""

from __future__ import annotations

import json
import random
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("zmq")
pytest.importorskip("behaviortreepy")

from groot2_server import free_port, make_tree
from groot2_trees import SHAPES

import behavior_tree
from behavior_tree.monitoring.groot2 import Groot2Client
from behavior_tree.monitoring.loggers.document import tree_document

SCRIPT, WAIT, OK = 2, 8, 9


class Served:
    """One engine's server process and a client."""

    def __init__(self, engine: str, heartbeat: int = 60_000) -> None:
        port = free_port()
        script = Path(__file__).with_name("groot2_server.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), engine, str(port), str(heartbeat)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"
        self.port = port
        self.connect()

    def connect(self) -> None:
        self.client = Groot2Client(self.port, timeout=60.0)
        self.client.wait_until_connected()

    def command(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        assert self.answers_within(60.0)
        return self.process.stdout.readline().strip()

    def answers_within(self, seconds: float) -> bool:
        # One line for each command: nothing is left in the reader's buffer between two answers.
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def do(self, text: str) -> str:
        self.command(text)
        return self.answer()

    def ask(self, character: str, *payload: bytes) -> list[bytes]:
        """Reply without the UUID of the tree."""
        header, *rest = self.client.raw([b"\x02" + character.encode() + b"abcd", *payload])
        if header != b"error":
            assert len(header) == 22
            header = header[:6]
        return [header, *rest]

    def close(self) -> None:
        self.client.close()
        self.process.kill()
        self.process.communicate(timeout=240)


@pytest.fixture(scope="module")
def servers():
    started: list[Served] = []
    try:
        for engine in ("behaviortreepy", "behavior_tree"):
            started.append(Served(engine))
        yield started
    finally:
        for server in started:
            server.close()


@pytest.fixture
def both(servers):
    """Both with a fresh tree of shape "basic"."""
    serve(servers, "basic")
    return servers


def serve(servers: list[Served], shape: str) -> None:
    for server in servers:
        server.client.close()
        server.command(f"serve {shape}")
    for server in servers:
        assert server.answer() == ""
        server.connect()


def hook(uid: int, mode=0, once=False, status="SKIPPED", position=0, enabled=True) -> bytes:
    data = {"enabled": enabled, "uid": uid, "mode": mode, "once": once}
    return json.dumps({**data, "desired_status": status, "position": position}).encode()


def unlock(uid: int, status: str, remove: bool, position: int = 0) -> bytes:
    data = {"uid": uid, "position": position, "desired_status": status}
    return json.dumps({**data, "remove_when_done": remove}).encode()


def same(both: list[Served], character: str, *payload: bytes) -> list[bytes]:
    theirs, ours = (server.ask(character, *payload) for server in both)
    assert ours == theirs, (character, payload)
    return ours


def same_do(both: list[Served], command: str) -> str:
    theirs, ours = (server.do(command) for server in both)
    assert ours == theirs
    return ours


def without_times(records: bytes) -> list[bytes]:
    assert len(records) % 9 == 0
    return [records[at + 6 : at + 9] for at in range(0, len(records), 9)]


def same_transitions(both: list[Served]) -> list[bytes]:
    theirs, ours = (without_times(server.ask("t")[1]) for server in both)
    assert ours == theirs
    return ours


def start_recording(both: list[Served]) -> None:
    for server in both:
        assert server.ask("r", b"start")[1].isdigit()


def blackboard_names(xml: str) -> list[str]:
    """Main tree by its ID, the others by their path."""
    paths = re.findall(r'<BehaviorTree ID="[^"]*" _fullpath="([^"]+)"', xml)
    return [re.findall(r'<BehaviorTree ID="([^"]*)"', xml)[0], *paths]


@pytest.mark.parametrize("shape", SHAPES)
def test_one_session(servers, shape: str) -> None:
    """Document, states, blackboards and transitions of a tree that runs, is halted, runs again."""
    serve(servers, shape)
    names = blackboard_names(same(servers, "T")[1].decode())
    start_recording(servers)
    for command in ("tick", "tick", "halt", "tick", "set", "run"):
        same_do(servers, command)
        same(servers, "S")
        same(servers, "B", ";".join(names).encode())
        same_transitions(servers)
    for name in [*names, "nobody"]:
        same(servers, "B", name.encode())


@pytest.mark.parametrize("seed", range(6))
def test_random_sessions(servers, seed: int) -> None:
    """Any order of ticks and requests, with hooks that replace results."""
    rng = random.Random(seed)
    shape = rng.choice(list(SHAPES))
    serve(servers, shape)
    xml = same(servers, "T")[1].decode()
    names, uids = blackboard_names(xml), [int(uid) for uid in re.findall(r'_uid="(\d+)"', xml)]
    uids = [*uids[:20], 4711]
    statuses = ("SUCCESS", "FAILURE", "SKIPPED", "RUNNING", "IDLE")

    def any_hook() -> bytes:
        once, enabled, position = rng.random() < 0.3, rng.random() < 0.9, rng.choice((0, 0, 0, 1))
        return hook(rng.choice(uids), 1, once, rng.choice(statuses), position, enabled)

    for _ in range(120):
        what = rng.randrange(13)
        if what < 4:
            same_do(servers, rng.choice(("tick", "tick", "tick", "halt")))
        elif what == 4:
            same(servers, "B", ";".join(rng.choices([*names, "", "x"], k=3)).encode())
        elif what == 5:
            same_transitions(servers)
        elif what == 6:
            start_recording(servers) if rng.random() < 0.5 else same(servers, "r", b"stop")
        elif what == 7:
            same(servers, "I", any_hook())
        elif what == 8:
            same(servers, "I", b"[" + b",".join(any_hook() for _ in range(20)) + b"]")
        elif what == 9:
            payload = unlock(rng.choice(uids), rng.choice(statuses), rng.random() < 0.3)
            same(servers, "U", payload.replace(b'n": 0', b'n": %d' % rng.choice((0, 1))))
        elif what == 10:
            payload = b'{"uid":%d,"position":%d}' % (rng.choice(uids), rng.choice((0, 1)))
            same(servers, "R", payload)
        elif what == 11:
            same(servers, rng.choice(("A", "X", "D", "z", "T")))
        same(servers, "S")
        same(servers, "D")


@pytest.mark.parametrize("shape", SHAPES)
def test_document_is_the_same_without_compat(shape: str) -> None:
    mended, copied = (make_tree(behavior_tree, shape, compat) for compat in (None, "4.8"))
    assert tree_document(mended) == tree_document(copied)


def test_names_of_blackboards(both) -> None:
    same_do(both, "tick")
    for name in (
        b"Main;S::3",
        b"S::3",
        b"Nope",
        b"",
        b";;S::3;Nope;Main;Main",
        b"main",
        b"Main ;x",
    ):
        same(both, "B", name)
    same(both, "B", b"x" * 3_000_000)


def test_refusals(both) -> None:
    for parts in (
        ["I"],
        ["U"],
        ["R"],
        ["B"],
        ["r"],
        ["z"],
        ["N"],
        ["\0"],
        ["?"],
        ["D", b"x", b"y"],
    ):
        same(both, parts[0], *parts[1:])
    for character in "ITSUBRDAXrtN":
        same(both, character, b"[]", b"x", b"")
    same(both, "R", b'{"uid":9,"position":0}')
    same(both, "U", unlock(9, "SUCCESS", False))
    same(both, "U", unlock(4711, "SUCCESS", False))
    same(both, "I", b"[]")
    same(both, "B", b"Main", b"too many")
    for part in (b"", b"abc", b"\x02Sabcde", b"S" * 1_000_000):
        theirs, ours = (server.client.raw([part]) for server in both)
        assert ours == theirs == [b"error", b"wrong request header"]
    for protocol in (b"\0", b"\1", b"\3", b"\xff"):
        theirs, ours = (server.client.raw([protocol + b"Sabcd"])[0][:6] for server in both)
        assert ours == theirs == b"\x02Sabcd"


def test_every_request_character(both) -> None:
    for character in set(range(256)) - {ord("T")}:
        header = bytes([2, character]) + b"wxyz"
        theirs, ours = (server.client.raw([header]) for server in both)
        assert [ours[0][:6], *ours[1:]] == [theirs[0][:6], *theirs[1:]], character


def test_recording(both) -> None:
    same(both, "t")
    start_recording(both)
    for command in ("tick", "tick", "tick", "halt", "tick"):
        same_do(both, command)
        same_transitions(both)
    same_do(both, "run")
    same(both, "r", b"stop")
    same_do(both, "run")
    assert same_transitions(both)
    assert not same_transitions(both)
    for payload in (b"whatever", b"", b"START", b"start "):
        assert same(both, "r", payload)
    start_recording(both)
    for _ in range(100):
        same_do(both, "run")
    assert len(same_transitions(both)) == 1000


def test_hooks_are_kept_alike(both) -> None:
    same(both, "I", hook(OK, once=True))
    same(both, "I", hook(77))
    same(both, "I", b"[" + hook(WAIT, mode=1) + b"," + hook(SCRIPT) + b"]")
    for character, payload in (
        ("U", unlock(OK, "FAILURE", False)),
        ("U", unlock(SCRIPT, "SUCCESS", True)),
        ("I", hook(OK, mode=1, status="FAILURE")),
        ("I", hook(WAIT, mode=1, position=1)),
        ("R", b'{"uid":2,"position":0}'),
        ("R", b'{"uid":2,"position":0}'),
        ("R", b'{"uid":8,"position":1}'),
    ):
        same(both, character, payload)
        same(both, "D")
    for character in "XDAD":
        same(both, character)


@pytest.mark.parametrize("status", ["SUCCESS", "FAILURE", "SKIPPED"])
@pytest.mark.parametrize("position", [0, 1])
def test_replacement(both, status: str, position: int) -> None:
    for uid in (OK, WAIT):
        same(both, "I", hook(uid, mode=1, status=status, position=position))
    start_recording(both)
    for _ in range(4):
        same_do(both, "tick")
        same(both, "S")
        same_transitions(both)
    notices = [[server.client.reached() for _ in range(3)] for server in both]
    assert notices[0] == notices[1]


@pytest.mark.parametrize("status", ["SUCCESS", "FAILURE", "SKIPPED"])
@pytest.mark.parametrize("position", [0, 1])
def test_breakpoint(both, status: str, position: int) -> None:
    same(both, "I", hook(OK, position=position))
    for server in both:
        server.command("run")
        assert server.client.reached() == OK
    same(both, "S")
    same(both, "D")
    same(both, "U", unlock(OK, status, False, position=1))  # refused even where it was put
    same(both, "U", unlock(OK, status, False))
    results = [server.answer() for server in both]
    assert results[0] == results[1]
    same(both, "S")


def test_notice_of_a_breakpoint(both) -> None:
    import zmq

    same(both, "I", hook(OK, mode=1))
    same_do(both, "run")
    for server in both:
        header, uid = server.client._notices.recv_multipart()
        assert (len(header), header[:2], uid) == (6, b"\x02N", b"9")
        assert server.client._notices.poll(50, zmq.POLLIN) == 0


@pytest.mark.parametrize("release", ["X", "A"])
def test_release(both, release: str) -> None:
    same(both, "I", hook(OK))
    for server in both:
        server.command("run")
        assert server.client.reached() == OK
    same(both, release)
    assert {server.answer() for server in both} == {"SUCCESS"}
    same(both, "D")


def test_lost_client() -> None:
    """Both let a waiting node go on when no request comes, and enable the hooks at the next one."""
    impatient: list[Served] = []
    try:
        for engine in ("behavior_tree", "behaviortreepy"):
            impatient.append(Served(engine, heartbeat=2000))
        same(impatient, "I", hook(OK))
        for server in impatient:
            server.command("run")
            assert server.client.reached() == OK
        ours, theirs = impatient
        assert ours.answer() == "SUCCESS"
        # Upstream misses the loss now and then, and waits for ever; then it shows nothing.
        alive = [ours]
        if theirs.answers_within(15.0):
            assert theirs.answer() == "SUCCESS"
            alive = impatient
        for server in alive:
            deadline = time.monotonic() + 90.0
            while b'"enabled":false' in server.ask("D")[1]:
                assert time.monotonic() < deadline
                time.sleep(0.005)
        if theirs in alive:
            same(impatient, "D")
            same(impatient, "S")
    finally:
        for server in impatient:
            server.close()
