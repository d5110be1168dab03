# SPDX-License-Identifier: Apache-2.0
"""Random and mutated messages at the Groot2 server of a ticking tree: ``fuzz_groot2_server.py``.

The tree runs in a process of its own. One client sends what no honest client would: mutated
requests, random bytes and JSON, megabytes, hundreds of parts, raw bytes on the TCP port, and goes
away without waiting for its reply. An honest one works beside it: it looks at tree, states and
blackboards, sets and releases a breakpoint, and wants to see the tree tick on.

Replies that take more than a second are counted. It fails when a request has no reply, a reply is
malformed, the honest client is disturbed, the process ends, or its memory grows after the first
fifth of the time (of a run of at least a minute).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import zmq

from behavior_tree import BehaviorTreeFactory, Groot2Publisher, NodeStatus
from behavior_tree.monitoring.groot2 import Groot2Client, Hook, Request

LONGEST_REPLY = 1.0  # later ones are counted: a loaded machine has them too [s]
LOST = 10.0  # no reply comes after this time [s]
GROWTH = 16.0  # of resident memory, most after the warm-up [MiB]
STEADY = 60.0  # shorter runs only fill the allocator, which says nothing of growth [s]
LEAF = 3  # uid that only the honest client breaks at
XML = """<root BTCPP_format="4" main_tree_to_execute="Main">
<BehaviorTree ID="Main"><Sequence>
  <Script code="n := 0"/><Count/><SubTree ID="Sub" n="{n}"/><Wait/>
</Sequence></BehaviorTree>
<BehaviorTree ID="Sub"><Fallback>
  <AlwaysFailure/><Script code="seen := n"/>
</Fallback></BehaviorTree>
</root>"""
NODES = 8


# -- the server process ---------------------------------------------------------------------------


def serve() -> None:
    """Tick a tree at 100 Hz until standard input ends; the first line printed is the port."""
    factory = BehaviorTreeFactory()

    def count(node):
        board = node.config().blackboard
        board.set("count", board.get("count", 0) + 1)
        return NodeStatus.SUCCESS

    factory.register_simple_action("Count", count)
    factory.register_simple_stateful_action(
        "Wait", lambda node: NodeStatus.RUNNING, lambda node: NodeStatus.SUCCESS
    )
    tree = factory.create_tree_from_text(XML)
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    with Groot2Publisher(tree, range(20000, 25000, 2)) as publisher:
        print(publisher.port, flush=True)
        while not stop.is_set():
            tree.tick_exactly_once()
            stop.wait(0.01)


# -- the messages ---------------------------------------------------------------------------------


class Messages:
    """Endless random messages, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def next(self) -> list[bytes]:
        """Parts of one message, at least one."""
        rng = self._rng
        kind = rng.randrange(10)
        if kind == 0:
            return [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(1, 5))]
        parts = [self._header(), self._payload()]
        if kind < 3:
            parts = parts[:1]
        elif kind == 3:
            parts += [self._payload() for _ in range(rng.choice((1, 2, 300)))]
        if kind > 5:
            parts = [self._mutated(part) for part in parts]
        return parts

    def _header(self) -> bytes:
        rng = self._rng
        character = rng.choice([each.value for each in Request]).encode()
        if rng.random() < 0.1:
            character = rng.randbytes(1)
        return (b"\x02" if rng.random() < 0.9 else rng.randbytes(1)) + character + rng.randbytes(4)

    def _payload(self) -> bytes:
        rng = self._rng
        kind = rng.randrange(20)
        if kind == 0:
            return rng.randbytes(rng.choices((0, 10, 1000, 3_000_000), (3, 3, 3, 1))[0])
        if kind == 1:
            return rng.choice((b"[", b'{"uid":', b'"', b"9", b"-", b"\xff")) * rng.choice(
                (1, 200_000)
            )
        if kind < 5:
            return rng.choice((b"start", b"stop", b"Main", b"Main;Sub::4;x", b";" * 1000))
        if kind < 8:
            return json.dumps(self._json(4)).encode()
        hooks = [self._hook() for _ in range(rng.choices((1, 3, 500), (80, 19, 1))[0])]
        return json.dumps(hooks[0] if len(hooks) == 1 else hooks).encode()

    def _hook(self) -> dict[str, object]:
        rng = self._rng
        data = {
            "enabled": rng.random() < 0.8,
            "uid": rng.choice((1, 2, 4, 5, 6, 7, 8, 9, 70, 65535)),
            "mode": rng.randrange(2),
            "once": rng.random() < 0.5,
            "remove_when_done": rng.random() < 0.5,
            "desired_status": rng.choice(("SUCCESS", "FAILURE", "SKIPPED", "RUNNING", "IDLE")),
            "position": rng.randrange(2),
        }
        if rng.random() < 0.2:
            data[rng.choice(list(data))] = self._json(2)
        if rng.random() < 0.1:
            del data[rng.choice(list(data))]
        return data

    def _json(self, depth: int) -> object:
        rng = self._rng
        kind = rng.randrange(8 if depth else 6)
        if kind == 6:
            return [self._json(depth - 1) for _ in range(rng.randrange(4))]
        if kind == 7:
            keys = ("uid", "position", "mode", "once", "enabled", "desired_status", "x")
            return {rng.choice(keys): self._json(depth - 1) for _ in range(rng.randrange(4))}
        whole = rng.choice((-1, 0, 1, 65536, 2**63, 10**400))
        return (None, True, whole, rng.uniform(-9, 9), "SUCCESS", "\ud800é")[kind]

    def _mutated(self, part: bytes) -> bytes:
        rng = self._rng
        data = bytearray(part)
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(data) + 1)
            what = rng.randrange(4)
            if what == 0:
                data[at:at] = rng.randbytes(rng.randrange(4))
            elif what == 1:
                del data[at : at + rng.randrange(8)]
            elif what == 2 and at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            else:
                data[at:] = data[: rng.randrange(len(data) + 1)]
        return bytes(data)


# -- the clients ----------------------------------------------------------------------------------


@dataclass
class Record:
    """What happened."""

    replies: int = 0
    errors: int = 0
    """Replies that were refusals."""
    abandoned: int = 0
    """Requests whose reply nobody waited for."""
    raw: int = 0
    """Connections with bytes that are not ZeroMQ."""
    late: int = 0
    """Replies that took more than `LONGEST_REPLY`."""
    slowest: float = 0.0
    """Longest time to a reply [s]."""
    rounds: int = 0
    """Of the honest client."""
    slowest_round: float = 0.0
    problems: list[str] = field(default_factory=list)


def attack(port: int, messages: Messages, rng: random.Random, record: Record, end: float) -> None:
    """Send messages until `end` (monotonic [s]) or the first problem."""
    context = zmq.Context()
    client = _connected(context, port)
    while time.monotonic() < end and not record.problems:
        message = messages.next()
        if rng.random() < 0.02:
            _raw_bytes(port, rng)
            record.raw += 1
        client.send_multipart(message)
        if rng.random() < 0.02:
            client.close(linger=0)
            client = _connected(context, port)
            record.abandoned += 1
            continue
        started = time.monotonic()
        if not client.poll(round(LOST * 1000)):
            record.problems.append(f"no reply to {_short(message)}")
            break
        reply = client.recv_multipart()
        elapsed = time.monotonic() - started
        record.slowest = max(record.slowest, elapsed)
        record.late += elapsed > LONGEST_REPLY
        record.replies += 1
        record.errors += reply[0] == b"error"
        if not _well_formed(message, reply):
            record.problems.append(f"reply {_short(reply)} to {_short(message)}")
    context.destroy(linger=0)


def _connected(context: zmq.Context, port: int) -> zmq.Socket:
    client = context.socket(zmq.REQ)
    client.connect(f"tcp://127.0.0.1:{port}")
    return client


def _raw_bytes(port: int, rng: random.Random) -> None:
    with socket.create_connection(("127.0.0.1", port + rng.randrange(2)), timeout=5) as connection:
        connection.sendall(rng.choice((b"", b"\xff\0\0\0\0\0\0\0\x01\x7f", b"GET /\r\n\r\n"))[:9])
        connection.sendall(rng.randbytes(rng.randrange(200)))


def _well_formed(message: list[bytes], reply: list[bytes]) -> bool:
    if reply[0] == b"error":
        return len(reply) == 2 and bool(reply[1])
    echoed = reply[0][:1] == b"\x02" and reply[0][1:6] == message[0][1:6]
    return echoed and len(reply[0]) == 22 and len(reply) <= 2


def _short(parts: list[bytes]) -> str:
    return f"{len(parts)} parts {[part[:60] for part in parts[:4]]}"


def work_honestly(port: int, record: Record, end: float) -> None:
    """What Groot2 does, again and again."""
    with Groot2Client(port, timeout=5.0) as client:
        client.wait_until_connected()
        while time.monotonic() < end and not record.problems:
            started = time.monotonic()
            try:
                _round(client)
            except Exception as error:
                record.problems.append(f"honest client: {type(error).__name__}: {error}")
            record.rounds += 1
            record.slowest_round = max(record.slowest_round, time.monotonic() - started)
            time.sleep(0.05)


def _round(client: Groot2Client) -> None:
    snapshot = client.snapshot()
    assert len(snapshot.status) == NODES, f"{len(snapshot.status)} nodes"
    assert snapshot.xml.startswith("<root"), snapshot.xml[:40]
    client.insert_hooks(Hook(LEAF))
    client.hooks()
    before = client.blackboards(["Main"])["Main"].get("count", 0)
    deadline = time.monotonic() + 4.0
    while client.blackboards(["Main", "Sub::4"])["Main"].get("count", 0) <= before + 1:
        assert time.monotonic() < deadline, "the tree stands still"
        client.request(Request.REMOVE_ALL_HOOKS)  # the attacker sets breakpoints all the time
        time.sleep(0.005)


# -- the run --------------------------------------------------------------------------------------


def resident(pid: int) -> float:
    """Memory of a process [MiB]."""
    text = Path(f"/proc/{pid}/statm").read_text()
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def run(seconds: float, seed: int) -> Record:
    """One run; `Record.problems` is empty if all is well."""
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # One arena that gives back what is free: what stays is memory that somebody holds.
        env={**os.environ, "MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "1000000"},
    )
    record = Record()
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        end = time.monotonic() + seconds
        warm = time.monotonic() + seconds / 5
        clients = [
            threading.Thread(
                target=attack, args=(port, Messages(seed), random.Random(seed), record, end)
            ),
            threading.Thread(target=work_honestly, args=(port, record, end)),
        ]
        for client in clients:
            client.start()
        sizes: list[float] = []
        while any(client.is_alive() for client in clients):
            clients[0].join(0.2)
            clients[1].join(0.2)
            if server.poll() is not None:
                record.problems.append(f"the server process ended with {server.returncode}")
                break
            if time.monotonic() > warm:
                sizes.append(resident(server.pid))
        for client in clients:
            client.join()
        _report(record, sizes, seconds)
    finally:
        server.kill()
        server.communicate()
    return record


def _report(record: Record, sizes: list[float], seconds: float) -> None:
    if not sizes:
        print("it ended before its memory could be looked at")
        sizes = [0.0]
    window = max(len(sizes) // 10, 1)
    first, last = (sum(part) / len(part) for part in (sizes[:window], sizes[-window:]))
    if seconds >= STEADY and last - first > GROWTH:
        record.problems.append(f"memory grew from {first:.1f} to {last:.1f} MiB")
    print(
        f"{seconds:g} s: {record.replies} replies ({record.errors} refusals), slowest "
        f"{record.slowest * 1000:.0f} ms, {record.late} later than {LONGEST_REPLY:g} s; "
        f"{record.abandoned} abandoned, {record.raw} raw "
        "connections\n"
        f"honest client: {record.rounds} rounds, slowest {record.slowest_round * 1000:.0f} ms\n"
        f"memory of the server: {first:.1f} MiB after the warm-up, {last:.1f} at the end, "
        f"{max(sizes):.1f} at most"
    )
    for problem in record.problems:
        print("PROBLEM:", problem)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
    else:
        sys.exit(1 if run(arguments.seconds, arguments.seed).problems else 0)


if __name__ == "__main__":
    main()
