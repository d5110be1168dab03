# SPDX-License-Identifier: Apache-2.0
"""An evaluation that is interrupted loses nothing, and goes on where it was."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest
from evaluation_runners import record

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation.merge import merge
from behavior_bringup.evaluation.store import EpisodeStore, read, recordings_beside
from behavior_bringup.evaluation.versions import (
    VersionsDifferError,
    check_same,
    commit,
    present_versions,
)

ABOUT = {"mission": "stack_blocks", "disturb": False, "extra": []}
VERSIONS = {"commit": "aaa", "numpy": "2.4.6"}


def store(file: Path, **changes: object) -> EpisodeStore:
    values = {"about": ABOUT, "versions": VERSIONS, "resume": True, **changes}
    return EpisodeStore(file, **values)


def fill(file: Path, seeds: range, **changes: object) -> Path:
    with store(file, **changes) as opened:
        opened.extend(record(seed) for seed in seeds)
    return file


def test_a_record_is_on_disk_when_it_counts(tmp_path: Path) -> None:
    file = tmp_path / "new" / "e.sqlite"
    full = record(
        7,
        variant="dropout=0.5",
        variation={"dropout": 0.5},
        parts=[{"kind": "bin", "success": True, "reason": "", "seconds": 2.0}],
        disturbances=["1.0 s: moved blue"],
        not_disturbed=["push"],
        recording="failed/7.mcap",
        peak_memory_mb=812.5,
        host="here",
        component_metrics={"executor": {"tick": {"median": 0.1}}},
        mission_result="done",
    )
    with store(file) as opened:
        for number, each in enumerate([record(1), record(2), full], 1):
            assert opened.append(each)
            assert len(read(file).records) == number, "another process sees it"
        assert read(file).records[-1] == full
    stored = read(file)
    assert (dict(stored.about), dict(stored.versions)) == (ABOUT, VERSIONS)


def test_what_is_appended_survives_a_kill(tmp_path: Path) -> None:
    program = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from evaluation_runners import record
from behavior_bringup.evaluation.store import EpisodeStore
store = EpisodeStore(Path({str(tmp_path / "e.sqlite")!r}), {{}}, {{}}, resume=True)
for seed in range(20):
    store.append(record(seed))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=240)
    assert done.returncode == -9
    assert [each.seed for each in read(tmp_path / "e.sqlite").records] == list(range(20))


KILLED = """
import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1])
base.execute("PRAGMA cache_size = 2")  # so that half of the change is in the file already
base.execute("BEGIN")
base.execute("UPDATE episodes SET outcome = 'half'")
os._exit(0)
"""


@pytest.mark.parametrize("resume", [True, False])
def test_what_is_half_written_when_a_process_is_killed_is_taken_back(
    tmp_path: Path, resume: bool
) -> None:
    file = fill(tmp_path / "e.sqlite", range(300))
    subprocess.run([sys.executable, "-c", KILLED, str(file)], check=True)
    assert Path(f"{file}-journal").exists()
    with store(file, resume=resume) as opened:
        assert opened.records == ([record(seed) for seed in range(300)] if resume else [])
    kept = file if resume else Path(f"{file}.old")
    assert read(kept).records == [record(seed) for seed in range(300)]


def test_a_report_reads_a_file_whose_writer_was_killed(tmp_path: Path) -> None:
    file = fill(tmp_path / "e.sqlite", range(300))
    subprocess.run([sys.executable, "-c", KILLED, str(file)], check=True)
    assert read(file).records == [record(seed) for seed in range(300)]


def test_an_episode_counts_once(tmp_path: Path) -> None:
    with store(tmp_path / "e.sqlite") as opened:
        assert opened.append(record(1))
        assert not opened.append(record(1, outcome="failure"))
        assert opened.append(record(1, variant="level"))
        assert [each.outcome for each in opened.records] == ["success", "success"]
    assert len(read(tmp_path / "e.sqlite").records) == 2


def test_an_evaluation_goes_on_with_its_own_episodes(tmp_path: Path) -> None:
    file = fill(tmp_path / "e.sqlite", range(3))
    with store(file) as opened:
        assert [each.seed for each in opened.records] == [0, 1, 2]
        opened.append(record(3))
    assert len(read(file).records) == 4
    with pytest.raises(UsageError, match="holds episodes with disturb False, not True"):
        store(file, about={**ABOUT, "disturb": True})
    with pytest.raises(VersionsDifferError, match="has commit bbb, but this evaluation aaa"):
        store(file, versions={**VERSIONS, "commit": "bbb"})
    assert len(read(file).records) == 4


def test_a_log_of_json_lines_is_gone_on_with(tmp_path: Path) -> None:
    old = {"seed": 4, "outcome": "success", "reason": "fine", "sim_time_s": 1.0}
    rows = [{"mission": "stack_blocks", "disturb": False}, {**old, "wall_time_s": 2.0}]
    log = tmp_path / "e.jsonl"
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows) + '{"seed": 7, "outc')
    with store(tmp_path / "e.sqlite") as opened:
        assert [each.seed for each in opened.records] == [4]
    assert [each.seed for each in read(tmp_path / "e.sqlite").records] == [4]
    log.rename(tmp_path / "f.jsonl")
    with pytest.raises(UsageError, match="mission stack_blocks, not other"):
        store(tmp_path / "f.sqlite", about={**ABOUT, "mission": "other"})


def test_episodes_of_an_earlier_evaluation_are_kept_aside(tmp_path: Path) -> None:
    file = fill(tmp_path / "e.sqlite", range(2))
    with store(file, resume=False) as opened:
        assert opened.records == []
    assert len(read(tmp_path / "e.sqlite.old").records) == 2


def recorded(file: Path, seeds: range, what: str) -> None:
    """An evaluation of these seeds that recorded each."""
    folder = recordings_beside(file)
    with store(file, resume=False) as opened:
        folder.mkdir()
        for seed in seeds:
            (folder / f"seed-{seed}.mcap").write_text(what)
            opened.append(record(seed, recording=f"{folder.name}/seed-{seed}.mcap"))


def told(file: Path) -> dict[int, str]:
    """What stands in the recordings that a file tells of, by seed."""
    return {each.seed: (file.parent / each.recording).read_text() for each in read(file).records}


def test_recordings_of_an_earlier_evaluation_are_kept_aside_with_its_episodes(
    tmp_path: Path,
) -> None:
    file, old = tmp_path / "e.sqlite", tmp_path / "e.sqlite.old"
    recorded(file, range(3), "first")
    recorded(file, range(1, 2), "second")  # fewer
    assert told(file) == {1: "second"}
    assert [each.name for each in recordings_beside(file).iterdir()] == ["seed-1.mcap"]
    assert told(old) == dict.fromkeys(range(3), "first")
    recorded(file, range(5), "third")  # more
    assert told(file) == dict.fromkeys(range(5), "third")
    assert told(old) == {1: "second"}
    assert len(list((tmp_path / "e.recordings.old").iterdir())) == 1
    file.unlink()
    with store(file, resume=False):
        assert not recordings_beside(file).exists()
    with store(file):  # gone on with
        recordings_beside(file).mkdir()
    with store(file):
        assert recordings_beside(file).exists()


@pytest.mark.parametrize("text", ["", "\n", "nonsense\n", '{"mission": "stack_blocks"}\n[1]\n'])
@pytest.mark.parametrize("suffix", ["jsonl", "sqlite"])
def test_a_file_of_something_else_is_left_alone(text: str, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"e.{suffix}"
    file.write_text(text)
    with pytest.raises(UsageError, match="holds no episodes: leave --resume away"):
        store(tmp_path / "e.sqlite")
    assert file.read_text() == text


def test_a_base_of_another_application_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "e.sqlite"
    with closing(sqlite3.connect(file)) as base:
        base.execute("CREATE TABLE episodes (seed INTEGER)")
    with pytest.raises(UsageError, match="holds no episodes"):
        store(file)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BringupError, match="cannot be written"):
        store(tmp_path / "file" / "e.sqlite")


def test_a_full_disk_is_said_and_what_was_done_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "e.sqlite"
    with store(file) as opened:
        pages = opened._base.execute("PRAGMA page_count").fetchone()[0]
        opened._base.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(BringupError, match=r"is full: \d+ episodes are kept in it; make room"):
            all(opened.append(record(seed, reason="x" * 500)) for seed in range(10_000))
        kept = len(opened.records)
    assert kept > 0
    assert len(read(file).records) == kept
    assert len(fill(file, range(kept, kept + 2)).read_bytes()) > 0, "with room it goes on"
    assert len(read(file).records) == kept + 2


def test_two_evaluations_do_not_write_one_file(tmp_path: Path) -> None:
    with store(tmp_path / "e.sqlite") as first:
        first.append(record(1))
        with pytest.raises(BringupError, match="Another evaluation writes"):
            store(tmp_path / "e.sqlite", resume=False)
        assert first.append(record(2))
    store(tmp_path / "e.sqlite").close()


# -- versions --------------------------------------------------------------------------------------


def test_the_commit_tells_changes(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@t")
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True)

    git("init")
    (tmp_path / "a.py").write_text("1\n")
    git("add", ".")
    git("commit", "-m", "a")
    clean = commit(tmp_path)
    assert len(clean) == 12
    (tmp_path / "a.py").write_text("2\n")
    changed = commit(tmp_path)
    assert changed.startswith(f"{clean}+")
    (tmp_path / "a.py").write_text("3\n")
    assert commit(tmp_path) not in (clean, changed)
    assert commit(Path("/")) == ""


def test_versions_are_those_of_here() -> None:
    found = present_versions()
    assert found["mujoco"]
    check_same(found, present_versions(), "this")
    with pytest.raises(VersionsDifferError, match=r"The node has numpy 1\.0, but this"):
        check_same(found, {**found, "numpy": "1.0"}, "The node")


# -- shards come together --------------------------------------------------------------------------


def test_shards_come_together(tmp_path: Path) -> None:
    plan = {"seed": 0, "episodes": 9}
    files = []
    for shard in range(3):
        file = tmp_path / f"part{shard}" / "e.sqlite"
        with store(file, planned=plan) as opened:
            opened.extend(
                record(seed, recording=f"failed/{seed}.mcap") for seed in range(shard, 9, 3)
            )
        files.append(file)
    merged = merge([files[0], files[2], files[0]], tmp_path / "all.sqlite")
    assert (merged.twice, merged.missing) == (3, [1, 4, 7])
    merged = merge(files, tmp_path / "all.sqlite")
    assert (merged.twice, merged.missing) == (0, [])
    stored = read(tmp_path / "all.sqlite")
    assert [each.seed for each in stored.records] == list(range(9))
    assert stored.records[4].recording == "part1/failed/4.mcap", "as seen from the new file"
    assert stored.planned == plan
    assert dict(stored.versions) == VERSIONS


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    first = fill(tmp_path / "a.sqlite", range(2))
    other = fill(tmp_path / "b.sqlite", range(2), about={**ABOUT, "mission": "open_door"})
    newer = fill(tmp_path / "c.sqlite", range(2), versions={**VERSIONS, "commit": "bbb"})
    with pytest.raises(UsageError, match=r"mission stack_blocks, but .*b\.sqlite with open_door"):
        merge([first, other], tmp_path / "all.sqlite")
    with pytest.raises(VersionsDifferError, match=r"c\.sqlite has commit bbb"):
        merge([first, newer], tmp_path / "all.sqlite")
    with pytest.raises(UsageError, match="is one of the files"):
        merge([first], first)
    with pytest.raises(UsageError, match="There is no file"):
        merge([first, tmp_path / "none.sqlite"], tmp_path / "all.sqlite")
    assert not (tmp_path / "all.sqlite").exists()


def test_the_record_of_json_lines_and_of_the_base_are_one(tmp_path: Path) -> None:
    log = tmp_path / "e.jsonl"
    log.write_text(f"{json.dumps(ABOUT)}\n{json.dumps(asdict(record(3)))}\n")
    assert list(read(log).records) == [record(3)]
