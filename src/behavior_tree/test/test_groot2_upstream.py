# SPDX-License-Identifier: Apache-2.0
"""The same requests to BehaviorTree.CPP's publisher and to ours give the same bytes.

One defect of BehaviorTree.CPP 4.8.2 is stepped around: it keeps one hook per node, found under
position 0, where the protocol has one per node and position.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("zmq")
pytest.importorskip("behaviortreepy")

from groot2_server import free_port

from behavior_tree.groot2 import Groot2Client

SCRIPT, WAIT, OK = 2, 8, 9


class Served:
    """One engine's server process and a client."""

    def __init__(self, engine: str, heartbeat: int = 5000) -> None:
        port = free_port()
        script = Path(__file__).with_name("groot2_server.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), engine, str(port), str(heartbeat)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"
        self.client = Groot2Client(port)

    def command(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def do(self, text: str) -> str:
        self.command(text)
        return self.answer()

    def ask(self, character: str, *payload: bytes) -> list[bytes]:
        """Reply without the UUID of the tree."""
        header, *rest = self.client.raw([b"\x02" + character.encode() + b"abcd", *payload])
        return [header if header == b"error" else header[:6], *rest]

    def close(self) -> None:
        self.client.close()
        self.process.kill()
        self.process.communicate(timeout=10)


@pytest.fixture
def both():
    servers: list[Served] = []
    try:
        for engine in ("behaviortreepy", "behavior_tree"):
            servers.append(Served(engine))
        yield servers
    finally:
        for server in servers:
            server.close()


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


def same_at(both: list[Served], character: str, payload: bytes, position: int) -> None:
    """`same` for a hook at ``position``, which theirs has under position 0."""
    theirs = both[0].ask(character, payload)
    mended = payload.replace(b'"position": 0', b'"position": %d' % position)
    assert both[1].ask(character, mended) == theirs


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


def ordered_attributes(xml: str) -> str:
    """The same text with the attributes of each element in alphabetical order."""

    def order(match: re.Match[str]) -> str:
        attributes = sorted(re.findall(r' [\w.:]+="[^"]*"', match[2]))
        return f"<{match[1]}{''.join(attributes)}{match[3]}"

    return re.sub(r"<([\w]+)((?: [\w.:]+=\"[^\"]*\")+)(/?>)", order, xml)


def test_full_tree(both) -> None:
    theirs, ours = (server.ask("T")[1].decode() for server in both)
    cut = "    <TreeNodesModel>"
    assert ordered_attributes(ours.split(cut)[0]) == ordered_attributes(theirs.split(cut)[0])


def test_models_of_the_full_tree(both) -> None:
    """Same node types, ports and defaults; types and descriptions of ports are in our own words."""
    found = []
    for server in both:
        models = ElementTree.fromstring(server.ask("T")[1]).find("TreeNodesModel")
        found.append(
            {
                (model.tag, model.get("ID")): {
                    (port.tag, port.get("name"), port.get("default")) for port in model
                }
                for model in models
            }
        )
    theirs, ours = found
    del ours["Control", "TryCatch"]  # new in 4.10
    assert ours == theirs


def test_status_and_blackboards(both) -> None:
    names = (b"Main;S::3", b"S::3", b"Nope", b"", b";;S::3;Nope;Main;Main")
    for command in ("", "tick", "tick", "tick", "halt", "tick", "set"):
        if command:
            same_do(both, command)
        same(both, "S")
        for name in names:
            same(both, "B", name)


def test_refusals(both) -> None:
    for parts in (["I"], ["U"], ["R"], ["B"], ["r"], ["z"], ["N"], ["D", b"x", b"y"]):
        same(both, parts[0], *parts[1:])
    same(both, "R", b'{"uid":9,"position":0}')
    same(both, "U", unlock(9, "SUCCESS", False))
    same(both, "I", b"[]")
    same(both, "B", b"Main", b"too many")
    for part in (b"", b"abc", b"\x02Sabcde"):
        theirs, ours = (server.client.raw([part]) for server in both)
        assert ours == theirs == [b"error", b"wrong request header"]
    theirs, ours = (server.client.raw([b"\x07Sabcd"])[0][:6] for server in both)
    assert ours == theirs == b"\x02Sabcd"


def test_recording(both) -> None:
    same(both, "t")
    for server in both:
        assert server.ask("r", b"start")[1].isdigit()
    for command in ("tick", "tick", "tick", "halt", "tick"):
        same_do(both, command)
        same_transitions(both)
    same_do(both, "run")
    same(both, "r", b"stop")
    same_do(both, "run")
    assert same_transitions(both)
    assert not same_transitions(both)
    assert same(both, "r", b"whatever")


def test_hooks_are_kept_alike(both) -> None:
    same(both, "I", hook(OK, once=True))
    same(both, "I", hook(77))
    same(both, "I", b"[" + hook(WAIT, mode=1) + b"," + hook(SCRIPT) + b"]")
    for character, payload in (
        ("U", unlock(OK, "FAILURE", False)),
        ("U", unlock(SCRIPT, "SUCCESS", True)),
        ("I", hook(OK, mode=1, status="FAILURE")),
        ("R", b'{"uid":2,"position":0}'),
        ("R", b'{"uid":2,"position":0}'),
    ):
        same(both, character, payload)
        theirs, ours = (
            sorted(json.loads(server.ask("D")[1]), key=lambda each: each["uid"]) for server in both
        )
        assert ours == theirs
    same(both, "X")
    same(both, "A")
    same(both, "D")


@pytest.mark.parametrize("status", ["SUCCESS", "FAILURE", "SKIPPED"])
@pytest.mark.parametrize("position", [0, 1])
def test_replacement(both, status: str, position: int) -> None:
    for uid in (OK, WAIT):
        same(both, "I", hook(uid, mode=1, status=status, position=position))
    for server in both:
        server.ask("r", b"start")
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
    same_at(both, "U", unlock(OK, status, False), position)
    results = [server.answer() for server in both]
    assert results[0] == results[1]
    same(both, "S")


@pytest.mark.parametrize("release", ["X", "A"])
def test_release(both, release: str) -> None:
    same(both, "I", hook(OK))
    for server in both:
        server.command("run")
        assert server.client.reached() == OK
    same(both, release)
    assert {server.answer() for server in both} == {"SUCCESS"}
    same(both, "D")
