# SPDX-License-Identifier: Apache-2.0
"""An evaluation that is interrupted loses nothing, and goes on where it was."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from behavior_bringup import job_verbs
from behavior_bringup.cli import main
from behavior_bringup.episodes import EpisodeDisplay, EpisodeLog, EpisodePlan
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.evaluation import EpisodeRecord

ABOUT = {"mission": "stack_blocks", "disturb": False}


def record(seed: int) -> EpisodeRecord:
    return EpisodeRecord(
        seed=seed, outcome="success", reason="fine", sim_time_s=1.0, wall_time_s=2.0
    )


def test_each_episode_is_on_disk_as_it_ends(tmp_path: Path) -> None:
    log = EpisodeLog(tmp_path / "new" / "e.jsonl", ABOUT, resume=False)
    for seed in range(3):
        log.append(record(seed))
        head, *rows = [json.loads(line) for line in log.file.read_text().splitlines()]
        assert head == ABOUT
        assert [row["seed"] for row in rows] == list(range(seed + 1))


def test_an_evaluation_goes_on_with_its_own_episodes(tmp_path: Path) -> None:
    file = tmp_path / "e.jsonl"
    first = EpisodeLog(file, ABOUT, resume=True)
    first.append(record(4))
    first.append(record(6))
    with file.open("a") as stream:
        stream.write('{"seed": 7, "outc')  # torn
    second = EpisodeLog(file, ABOUT, resume=True)
    assert second.records == [record(4), record(6)]
    assert list(EpisodePlan(4, 5).missing(second.records)) == [5, 7, 8]
    second.append(record(5))
    third = EpisodeLog(file, ABOUT, resume=True)
    assert [each.seed for each in third.records] == [4, 6, 5]
    with pytest.raises(UsageError, match="holds episodes with disturb False, not True"):
        EpisodeLog(file, {**ABOUT, "disturb": True}, resume=True)


def with_parts(seed: int, parts: int) -> EpisodeRecord:
    return replace(record(seed), parts=[{"kind": "bin"}] * parts)


def test_episodes_are_run_until_there_are_so_many_parts() -> None:
    plan = EpisodePlan(10, 20, parts=10)
    records = [with_parts(11, 4), with_parts(3, 9)]
    assert (plan.total, plan.unit, plan.done(records)) == (10, "parts", 4)
    run = []
    for seed in plan.missing(records):
        run.append(seed)
        records.append(with_parts(seed, 3))
    assert run == [10, 12]
    assert plan.done(records) == 10


def test_episodes_without_parts_do_not_go_on_for_ever() -> None:
    records: list[EpisodeRecord] = []
    for seed in EpisodePlan(0, 20, parts=5).missing(records):
        records.append(with_parts(seed, 1 if seed == 1 else 0))
    assert len(records) == 5


def test_episodes_of_an_earlier_evaluation_are_kept_aside(tmp_path: Path) -> None:
    file = tmp_path / "e.jsonl"
    EpisodeLog(file, ABOUT, resume=False).append(record(1))
    assert EpisodeLog(file, ABOUT, resume=False).records == []
    assert '"seed": 1' in (tmp_path / "e.jsonl.old").read_text()


@pytest.mark.parametrize("text", ["\n", "nonsense\n", '{"mission": "stack_blocks"}\n[1]\n'])
def test_a_file_of_something_else_is_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / "e.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError, match="leave --resume away"):
        EpisodeLog(file, ABOUT, resume=True)
    assert file.read_text() == text


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BringupError, match="cannot be written"):
        EpisodeLog(tmp_path / "file" / "e.jsonl", ABOUT, resume=False)


def test_lines_tell_the_time_that_is_left() -> None:
    now = [0.0]
    out = io.StringIO()
    with EpisodeDisplay(
        Console(file=out, width=200), EpisodePlan(0, 12), 2, clock=lambda: now[0]
    ) as display:
        for seed in (2, 3):
            now[0] += 60.0
            display.episode(record(seed))
    first, second = out.getvalue().splitlines()
    assert first.startswith("[3/12, 9 min left] seed 2: success")
    assert second.startswith("[4/12, 8 min left]")


def test_a_terminal_shows_a_bar_with_the_time_left() -> None:
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=True)
    with EpisodeDisplay(console, EpisodePlan(0, 3)) as display:
        display.episode(record(1))
    text = out.getvalue()
    assert "seed 1: success" in text
    assert "1/3" in text
    assert "left" in text


# -- the verb --------------------------------------------------------------------------------------


class Episodes:
    """Stands in for a stack: episodes end at once, one of them in Ctrl-C."""

    def __init__(self, interrupted_at: int | None = None) -> None:
        self.interrupted_at = interrupted_at
        self.seeds: list[int] = []

    @contextmanager
    def stack(self, options: object, mission: object) -> Iterator[tuple]:
        yield SimpleNamespace(domain=145, metrics={}), self.run

    def run(self, seed: int) -> EpisodeRecord:
        if seed == self.interrupted_at:
            raise KeyboardInterrupt
        self.seeds.append(seed)
        return record(seed)


@pytest.mark.parametrize("mission", ["stack_blocks", "navigation"])
def test_ctrl_c_keeps_what_there_is_and_resume_goes_on(
    mission: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["evaluate", mission, "--episodes", "4", "--seed", "10"]
    words += ["--json", str(tmp_path / "figures.json")]
    first = Episodes(interrupted_at=12)
    monkeypatch.setattr(job_verbs, "_evaluation_stack", first.stack)
    assert main(words) == 130
    told = capsys.readouterr().out
    assert "2 of 2 episodes succeeded" in told, "the table of those that ended"
    assert "Interrupted after 2 of 4 episodes" in told
    assert "--resume goes on" in told
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["episodes"], figures["complete"]) == (2, False)

    second = Episodes()
    monkeypatch.setattr(job_verbs, "_evaluation_stack", second.stack)
    assert main([*words, "--resume"]) == 0
    assert second.seeds == [12, 13], "none is run twice"
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [each["seed"] for each in figures["records"]] == [10, 11, 12, 13]
    assert figures["complete"]
    assert main([*words, "--resume"]) == 0, "nothing is left, no stack comes up"
    assert second.seeds == [12, 13]
