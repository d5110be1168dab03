# SPDX-License-Identifier: Apache-2.0
"""What the journal of missions loses when disks fill, files are damaged, and writers are killed.

    python benchmarks/journal_faults.py [--rounds 50] [--damages 600] [--kills 50] [--seed 0]
                                        [--only full|damage|kill] [--json FILE]

**Full.** In each round a journal lives on a small disk that fills and is freed at random, while
missions are given, started and ended. The disk is a tmpfs of 256 KiB where mounting is permitted,
else a limit on the size of files. At a random moment the executor is gone; the next one reads the
journal. At last the disk is freed: then every end has to be told.

**Damage.** A copy of a journal is damaged in its first file, its second one or both: flipped bits,
zeroed pages, cut, torn, garbage at the end, removed. Then it is opened and gets one more mission.

**Kill.** A process writes missions and tells of them by a pipe; it is killed (SIGKILL).

Counted is what must not be: a mission is *lost* if a client was told that it is accepted and the
journal does not hold it; *undone* if a client was told that it ended and the journal does not say
so; *twice* if a client was told that it ended and a restart would run it. After damage the first
two count if nothing is said of them. Exit code 1 if anything is counted.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_executor.journal.journal import JournalError, MissionJournal
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.mission import (
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    State,
)

DISK = 256 * 2**10
"""[bytes]"""


@dataclass
class Client:
    """What clients were told."""

    accepted: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    def judge(self, journal: MissionJournal, count: Counter[str]) -> None:
        """Compare with what a restart would find."""
        kept = {mission.action_id: mission for mission in journal.records()}
        count["lost"] += len(self.accepted - kept.keys())
        count["undone"] += sum(i in kept and not kept[i].is_final for i in self.ended)
        count["twice"] += sum(i in kept and runs_again(kept[i]) for i in self.ended)
        count["refused but kept"] += sum(i in kept and runs_again(kept[i]) for i in self.refused)


def runs_again(mission: Mission) -> bool:
    """Whether the policy `resume` would run it without asking."""
    return not mission.is_final and mission.state is not State.PAUSED


def mission_of(action_id: str, chance: random.Random) -> Mission:
    """A mission of some size; every fourth is a sequence."""
    parameters = {"text": "x" * chance.randrange(300)}
    steps = [MissionRequest(f"{action_id}#{n}", name="step") for n in range(1, 4)]
    kind = Kind.SEQUENCE if chance.random() < 0.25 else Kind.RUN_BEHAVIOR
    request = MissionRequest(
        action_id,
        kind=kind,
        name="" if kind is Kind.SEQUENCE else "job",
        parameters=parameters,
        steps=tuple(steps) if kind is Kind.SEQUENCE else (),
    )
    return Mission(request, accepted_at=1.0)


# -- full disks


@contextlib.contextmanager
def small_disk() -> Iterator[tuple[Path, Callable[[int], None]]]:
    """A folder on a small disk, and what leaves so many bytes free there (negative: all)."""
    folder = Path(tempfile.mkdtemp())
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "journal_faults", str(folder)]
    mounted = (
        bool(shutil.which("mount"))
        and not subprocess.run(mount, check=False, capture_output=True).returncode
    )
    try:
        yield folder, (lambda left: fill(folder, left)) if mounted else limit_files
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            limit_files(-1)
        shutil.rmtree(folder)


def fill(folder: Path, left: int) -> None:
    """Leave so many bytes free on the disk of a folder, or all of them."""
    filler = folder / "filler"
    filler.unlink(missing_ok=True)
    count = shutil.disk_usage(folder).free - left
    if left >= 0 and count > 0:
        filler.write_bytes(bytes(count))


def limit_files(left: int) -> None:
    """Let files grow to so many bytes, or to any size."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left if left >= 0 else hard, hard))


def full_disks(rounds: int, chance: random.Random) -> dict[str, int]:
    """Write on disks that fill."""
    count: Counter[str] = Counter()
    for _ in range(rounds):
        with small_disk() as (folder, leave):
            full_disk(folder, leave, chance, count)
    return tally(count, rounds=rounds)


def full_disk(
    folder: Path, leave: Callable[[int], None], chance: random.Random, count: Counter[str]
) -> None:
    """One round."""
    client, clock = Client(), itertools.count()
    path = folder / "missions.journal"
    numbers = itertools.count()
    for life in range(3):
        leave(chance.randrange(8_000, DISK // 4))
        log = MissionLog(MissionJournal(path), wall=lambda: float(next(clock)))
        client.judge(log.journal, count)
        alive = log.unfinished()
        known = {mission.action_id for mission in alive}
        for _ in range(chance.randrange(10, 40)):
            if chance.random() < 0.15:
                leave(chance.choice([0, 0, 3000, 30_000, -1]))
                count["disk changes"] += 1
            if chance.random() < 0.6:
                give(log, mission_of(f"m{next(numbers)}", chance), alive, client, count)
                known |= {mission.action_id for mission in alive}
            for mission in chance.sample(alive, min(len(alive), 1)):
                go_on(log, mission, client)
            for mission, _ in log.collect_writes():
                client.refused.add(mission.action_id)
                alive.remove(mission)
            alive = [mission for mission in alive if not mission.is_final]
        if life < 2:
            log.journal.close()  # gone without a word
    leave(-1)
    for mission in alive:
        mission.fail(Code.SHUTDOWN, "the end", 9.0)
        log.changed(mission)
        log.when_kept(mission, lambda i=mission.action_id: client.ended.add(i))
    log.collect_writes()
    log.collect_writes()
    log.close()
    journal = MissionJournal(path)
    client.judge(journal, count)
    count["untold"] += len(known - client.refused - client.ended) + len(journal.unfinished())
    journal.close()
    count["accepted"] += len(client.accepted)


def give(
    log: MissionLog, mission: Mission, alive: list[Mission], client: Client, count: Counter[str]
) -> None:
    """Ask for a mission."""
    try:
        log.accepted(mission)
    except MissionError:
        count["refused"] += 1
        client.refused.add(mission.action_id)
        return
    log.when_kept(mission, lambda: client.accepted.add(mission.action_id))
    alive.append(mission)


def go_on(log: MissionLog, mission: Mission, client: Client) -> None:
    """Let it start, or do a step, or end."""
    if not log.is_kept(mission):
        return
    if mission.state is State.WAITING:
        mission.advance(State.INITIALIZING, 2.0)
        mission.advance(State.RUNNING, 2.0)
    elif mission.steps_done + 1 < len(mission.request.parts):
        mission.steps_done += 1
    else:
        mission.end(Code.SUCCESS, "done " * 100, 3.0)
    log.changed(mission)
    if mission.is_final:
        log.when_kept(mission, lambda: client.ended.add(mission.action_id))


# -- damage


def damages(number: int, chance: random.Random) -> dict[str, Any]:
    """Damage copies of a journal."""
    count: Counter[str] = Counter()
    by_victim: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as name:
        original = Path(name) / "original"
        client = build(original / "missions.journal", chance)
        for index in range(number):
            folder = Path(name) / str(index)
            shutil.copytree(original, folder)
            victim = ("first file", "second file", "both files")[index % 3]
            paths = [folder / "missions.journal", folder / "missions.journal.copy"]
            hit = {"first file": paths[:1], "second file": paths[1:]}.get(victim, paths)
            for path in hit:
                chance.choice(DAMAGES)(path, chance)
            outcome = examine(paths[0], client, count)
            by_victim.setdefault(victim, Counter())[outcome] += 1
            shutil.rmtree(folder)
    return {**tally(count, damages=number), **{k: dict(v) for k, v in by_victim.items()}}


def build(path: Path, chance: random.Random) -> Client:
    """A journal with missions in all states, parts of which were written anew."""
    client, alive, count = Client(), [], Counter[str]()
    for life in range(2):
        journal = MissionJournal(path, max_bytes=48 * 2**10)
        log = MissionLog(journal)
        alive = log.unfinished() if life else alive
        for number in range(40):
            give(log, mission_of(f"m{life}-{number}", chance), alive, client, count)
            while len(alive) > 10:
                go_on(log, chance.choice(alive), client)
                alive = [mission for mission in alive if not mission.is_final]
        log.close()
    # The oldest of the ended were dropped: that is no damage.
    journal = MissionJournal(path)
    kept = {mission.action_id for mission in journal.records()}
    assert not journal.damage
    journal.close()
    return Client(client.accepted & kept, client.ended & kept)


def flip(path: Path, chance: random.Random) -> None:
    """Some bits, near each other or not; in the records."""
    content = bytearray(path.read_bytes())
    end = len(content.rstrip(b"\n")) + 2
    for _ in range(chance.choice([1, 1, 4, 30])):
        content[chance.randrange(end)] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def zero(path: Path, chance: random.Random) -> None:
    """A sector, a page or some."""
    content = bytearray(path.read_bytes())
    size = chance.choice([512, 4096, 16384])
    begin = chance.randrange(len(content.rstrip(b"\n")) // size + 1) * size
    content[begin : begin + size] = bytes(len(content[begin : begin + size]))
    path.write_bytes(content)


def cut(path: Path, chance: random.Random) -> None:
    """Anywhere, or between two records."""
    content = path.read_bytes()
    text = content.rstrip(b"\n") + b"\n"
    ends = [index + 1 for index, byte in enumerate(text) if byte == 10]
    path.write_bytes(content[: chance.choice([chance.randrange(len(text)), chance.choice(ends)])])


def tear(path: Path, chance: random.Random) -> None:
    """The last records are half there, as if what follows had not been written."""
    content = path.read_bytes()
    text = content.rstrip(b"\n")
    begin = chance.randrange(max(0, len(text) - 2000), len(text))
    path.write_bytes(content[:begin] + b"\n" * (len(content) - begin))


def garbage(path: Path, chance: random.Random) -> None:
    """Something else from some place on."""
    content = path.read_bytes()
    begin = chance.randrange(len(content.rstrip(b"\n")))
    path.write_bytes(content[:begin] + chance.randbytes(len(content) - begin))


def remove(path: Path, chance: random.Random) -> None:
    """The file is empty, or only its name is left."""
    path.write_bytes(b"")


DAMAGES = (flip, zero, cut, tear, garbage, remove)


def examine(path: Path, client: Client, count: Counter[str]) -> str:
    """Open a damaged journal, and say what became of it."""
    try:
        journal = MissionJournal(path)
    except JournalError:
        count["not opened"] += 1
        return "not opened"
    found: Counter[str] = Counter()
    client.judge(journal, found)
    count["twice"] += found["twice"]
    reported = " lost" in journal.damage.replace("nothing was lost", "")
    complete = not (found["lost"] or found["undone"])
    if not complete and not reported:
        count["lost"] += found["lost"]
        count["undone"] += found["undone"]
    log = MissionLog(journal)
    log.accepted(Mission(MissionRequest("m0-0", name="again"), accepted_at=2.0))
    log.close()
    journal = MissionJournal(path)
    count["not mended"] += bool(journal.damage) or journal.records()[0].request.name != "again"
    journal.close()
    if complete:
        return "nothing lost"
    return "loss is told" if reported else "silent"


# -- killed writers

WRITER = """
import random, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from journal_faults import mission_of
from behavior_executor.journal.journal import MissionJournal
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.mission import Code, State
chance = random.Random(sys.argv[3])
log = MissionLog(MissionJournal(Path(sys.argv[1]), max_bytes=2**17), in_background=True)
for mission in log.unfinished():
    mission.fail(Code.SHUTDOWN, "killed", 5.0)
    log.changed(mission)
alive = []
while True:
    mission = mission_of(str(log.journal.last_number) + "-" + str(chance.random()), chance)
    log.accepted(mission)
    log.when_kept(mission, lambda i=mission.action_id: print("accepted", i, flush=True))
    alive.append(mission)
    while len(alive) > chance.randrange(1, 8):
        mission = alive.pop(0)
        mission.fail(Code.TREE_FAILED, "text " * chance.randrange(200), 4.0)
        log.changed(mission)
        log.when_kept(mission, lambda i=mission.action_id: print("ended", i, flush=True))
    log.collect_writes()
"""


def kills(number: int, chance: random.Random) -> dict[str, int]:
    """Kill processes that write."""
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "missions.journal"
        for _ in range(number):
            client = killed(path, chance)
            journal = MissionJournal(path)
            count["accepted"] += len(client.accepted)
            client.accepted -= client.ended  # those may have been dropped again
            client.judge(journal, count)
            count["damage without loss"] += "nothing was lost" in journal.damage
            count["lost"] += "were lost" in journal.damage
            journal.close()
    return tally(count, kills=number)


def killed(path: Path, chance: random.Random) -> Client:
    """Let a process write, kill it, and return what it told."""
    folder, seed = str(Path(__file__).parent), str(chance.random())
    command = [sys.executable, "-c", WRITER, str(path), folder, seed]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    client = Client()
    for _ in range(chance.randrange(1, 300)):
        note(writer.stdout.readline(), client)
    writer.send_signal(signal.SIGKILL)
    for text in writer.stdout:
        note(text, client)
    writer.wait(20.0)
    return client


def note(text: str, client: Client) -> None:
    """Keep what was told, if it was told to its end."""
    if text.endswith("\n"):
        word, action_id = text.split()
        (client.accepted if word == "accepted" else client.ended).add(action_id)


# -- all


MUST_NOT_BE = ("lost", "undone", "twice", "refused but kept", "untold", "not opened", "not mended")


def tally(count: Counter[str], **given: int) -> dict[str, int]:
    """The figures, also those that are zero."""
    return {**given, **{name: count[name] for name in MUST_NOT_BE}, **count}


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--damages", type=int, default=600)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("full", "damage", "kill"))
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    parts: dict[str, Callable[[random.Random], dict[str, Any]]] = {
        "full": lambda chance: full_disks(options.rounds, chance),
        "damage": lambda chance: damages(options.damages, chance),
        "kill": lambda chance: kills(options.kills, chance),
    }
    found = {
        name: part(random.Random(options.seed))
        for name, part in parts.items()
        if options.only in (None, name)
    }
    text = json.dumps(found, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")
    return int(any(part[name] for part in found.values() for name in MUST_NOT_BE))


if __name__ == "__main__":
    sys.exit(main())
