# SPDX-License-Identifier: Apache-2.0
"""`behavior evaluate` and the verbs about its files, with workers that are no processes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest
from evaluation_runners import record

from behavior_bringup.cli import main
from behavior_bringup.evaluation import verbs
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.report_page import kind_of
from behavior_bringup.evaluation.store import EpisodeStore, read
from behavior_bringup.evaluation.task import Task
from behavior_bringup.evaluation.versions import present_versions


class Workers:
    """Stands in for processes: episodes end at once, one of them in Ctrl-C."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, interrupted_at: int | None = None) -> None:
        self.interrupted_at = interrupted_at
        self.seeds: list[int] = []
        self.tasks: list[Task] = []
        self.alive = True
        monkeypatch.setattr(verbs, "worker_of", self.make)

    def make(self, task: Task) -> Workers:
        self.tasks.append(task)
        return self

    def open(self) -> Mapping[str, str]:
        return present_versions()

    def run(self, episode: Episode) -> EpisodeRecord:
        if episode.seed == self.interrupted_at:
            raise KeyboardInterrupt
        self.seeds.append(episode.seed)
        return record(episode.seed, outcome="success", reason="fine", peak_memory_mb=500.0)

    def close(self) -> None:
        pass

    def abort(self) -> None:
        pass


@pytest.fixture(autouse=True)
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mission", ["stack_blocks", "navigation"])
def test_ctrl_c_keeps_what_there_is_and_resume_goes_on(
    mission: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", mission, "--episodes", "4", "--seed", "10", "--json", "figures.json"]
    Workers(monkeypatch, interrupted_at=12)
    assert main(words) == 130
    told = capsys.readouterr().out
    assert "2 of 2 episodes succeeded" in told, "the table of those that ended"
    assert "Interrupted after 2 of 4 episodes" in told
    assert "--resume goes on" in told
    figures = json.loads(Path("figures.json").read_text())
    assert (figures["episodes"], figures["complete"]) == (2, False)

    second = Workers(monkeypatch)
    assert main([*words, "--resume"]) == 0
    assert second.seeds == [12, 13], "none is run twice"
    figures = json.loads(Path("figures.json").read_text())
    assert [each["seed"] for each in figures["records"]] == [10, 11, 12, 13]
    assert figures["complete"]
    assert "memory of an episode's processes: median 500 MB" in capsys.readouterr().out
    assert main([*words, "--resume"]) == 0, "nothing is left, no stack comes up"
    assert second.seeds == [12, 13]


def test_what_workers_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(monkeypatch)
    words = "evaluate stack_bins --bins 3 --misaligned --param a=b --namespace left --memory 900"
    assert main([*words.split(), "--jobs", "2", "--per-stack", "7", "--disturb"]) == 0
    task = workers.tasks[0]
    assert Task.parse(json.loads(json.dumps(task.document()))) == task, "it goes to other machines"
    assert task.settings["extra"] == ["--bins", "3", "--misaligned"]
    assert task.settings["param"] == [["a", "b"]]
    assert (task.settings["namespace"], task.settings["disturb"]) == ("/left", True)
    assert (task.own_domain, task.episodes_each, task.memory_mb) == (True, 7, 900.0)


def test_shards_are_run_apart_and_again_without_harm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "stack_blocks", "--episodes", "7", "--shard"]
    workers = Workers(monkeypatch)
    for shard in ("0/3", "1/3", "2/3", "1/3"):
        assert main([*words, shard]) == 0
    assert workers.seeds == [0, 3, 6, 1, 4, 2, 5], "the same shard again has nothing to do"
    files = sorted(str(file) for file in Path("out").glob("*.sqlite"))
    assert files[0] == "out/stack_blocks.episodes.shard-0-of-3.sqlite"
    assert main(["evaluate", "merge", *files[:2], "--output", "out/all.sqlite"]) == 0
    assert "2 planned episodes are missing: seeds 2, 5" in capsys.readouterr().out
    assert main(["evaluate", "merge", *files, "--output", "out/all.sqlite"]) == 0
    assert "7 episodes of 3 files" in capsys.readouterr().out
    assert len(read(Path("out/all.sqlite")).records) == 7


@pytest.mark.parametrize("shard", ["3/3", "1", "-1/3", "a/b", "1/0", "/", "1/2/3"])
def test_a_shard_that_cannot_be_is_refused(shard: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "stack_blocks", "--shard", shard]) == 2
    told = capsys.readouterr().err
    assert "must look like I/N" in told or "expected one argument" in told


def test_what_counts_parts_has_no_shards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "stack_bins", "--bins", "3", "--shard", "0/2"]) == 2
    assert "leave --shard away" in capsys.readouterr().err


def test_episodes_of_another_version_are_not_gone_on_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Workers(monkeypatch)
    words = ["evaluate", "stack_blocks", "--episodes", "2"]
    assert main(words) == 0
    newer = {**present_versions(), "commit": "bbbbbbbbbbbb"}
    monkeypatch.setattr(verbs, "present_versions", lambda: newer)
    assert main([*words, "--resume", "--episodes", "3"]) == 1
    assert "This machine has commit bbbbbbbbbbbb, but this evaluation" in capsys.readouterr().err


# -- the page --------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Links, texts, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def stored(file: Path, records: list[EpisodeRecord], commit: str = "aaa") -> Path:
    about = {"mission": "stack_<b>locks", "disturb": False}
    versions = {"commit": commit}
    planned = {"seed": 0, "episodes": 41}
    with EpisodeStore(file, about, versions, resume=False, planned=planned) as store:
        store.extend(records)
    return file


def test_the_page_shows_success_times_failures_and_recordings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        record(seed, recording=f"failed/{seed}.mcap" if seed % 5 == 0 else "", peak_memory_mb=700.0)
        for seed in range(39)
    ]
    records = [
        *records,
        record(39, outcome="memory", reason="<too> much", variation={"mass": 2.0}),
    ]
    records[1] = record(1, variation={"mass": 0.5})
    file = stored(tmp_path / "out" / "e.sqlite", records)
    assert main(["evaluate", "report", str(file), "--output", "pages/report.html"]) == 0
    assert "40 episodes are shown in pages/report.html" in capsys.readouterr().out
    page = Page(Path("pages/report.html").read_text())
    assert page.open == [], "every element is closed"
    assert set(page.links) == {f"../out/failed/{seed}.mcap" for seed in range(0, 39, 5)}
    for words in (
        "Evaluation of stack_<b>locks",
        "31 of 40 episodes succeeded: 77.5 %",
        "between 62.5 and 87.7 % (Wilson)",
        "1 of 41 planned episodes are missing",
        "8 failure: the block is … m off",
        "1 memory: <too> much",
        "simulated time of the successful ones [s]; median",
        "mass",
    ):
        assert words in page.words, words
    assert not re.search(r"(src|href)=.https?:|<script", Path("pages/report.html").read_text())


@pytest.mark.slow
def test_a_page_of_no_episodes(tmp_path: Path) -> None:
    file = stored(tmp_path / "e.sqlite", [])
    assert main(["evaluate", "report", str(file)]) == 0
    assert "0 of 0" in Page(file.with_suffix(".html").read_text()).words


def test_reasons_that_differ_in_numbers_are_one_kind() -> None:
    assert kind_of("red is at z = 0.123 m, not 4e-2\nmore") == "red is at z = … m, not …"
    assert kind_of("") == "no reason given"


# -- two evaluations -------------------------------------------------------------------------------


def test_two_commits_are_compared_seed_by_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = stored(tmp_path / "a.sqlite", [record(seed) for seed in range(41)])
    better = [record(seed, outcome="success", sim_time_s=9.0 + seed / 10) for seed in range(40)]
    new = stored(tmp_path / "b.sqlite", better, commit="bbb")
    assert main(["evaluate", "compare", str(old), str(new)]) == 0
    told = capsys.readouterr().out
    assert "A: 32 of 40 episodes succeeded" in told
    assert "B alone 8 times (seeds 0, 5, 10, 15, 20, 25, 30, 35): a difference" in told
    assert "12.0 s in A, 11.0 s in B: a difference" in told
    assert "perhaps the cause" not in told, "that the commit differs is the point"
    assert main(["evaluate", "compare", str(old), str(new), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["outcomes_p"] == pytest.approx(2 * 0.5**8)
    assert main(["evaluate", "compare", str(old), str(old)]) == 0
    assert "as chance would have it" in capsys.readouterr().out


def test_evaluations_without_a_common_seed_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = stored(tmp_path / "a.sqlite", [record(seed) for seed in range(3)])
    new = stored(tmp_path / "b.sqlite", [record(seed) for seed in range(5, 9)])
    assert main(["evaluate", "compare", str(old), str(new)]) == 2
    assert "share no seed" in capsys.readouterr().err


def test_the_command_line_starts_without_what_only_episodes_need() -> None:
    """Each verb would wait for it."""
    code = (
        "import sys, behavior_bringup.cli; print([m for m in ('scipy', 'ray') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
