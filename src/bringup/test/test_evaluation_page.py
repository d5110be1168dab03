# SPDX-License-Identifier: Apache-2.0
"""What docs/evaluation.md tells people to type, write and ask does what it says."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from evaluation_runners import record

from behavior_bringup.cli import add_verbs, main
from behavior_bringup.evaluation.cli import joined
from behavior_bringup.evaluation.ray_workers import INSTALL
from behavior_bringup.evaluation.store import EpisodeStore, read
from behavior_bringup.evaluation.variation import read_variation
from behavior_sim.worlds.variation import OF_DETECTOR, OF_OBJECTS

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "evaluation.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def commands() -> list[list[str]]:
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    lines += re.findall(r"`(behavior evaluate [A-Z]+ --on [^`]+)`", PAGE)
    return [shlex.split(line) for line in lines]


def test_every_command_is_understood() -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_verbs(parser)
    ours = 0
    for words in commands():
        while "=" in words[0]:
            words.pop(0)
        if words[0] == "behavior":
            parser.parse_args(joined(words[1:]))
            ours += 1
        else:
            assert words[0] == "sqlite3" or " ".join(words) == INSTALL
    assert ours >= 10


@pytest.mark.slow
def test_the_files_that_are_named_are_made_by_what_stands_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """report, merge, compare and the query, on files under the names that the page uses."""
    monkeypatch.chdir(tmp_path)
    for name in ("new", "old", "stack_blocks"):
        for suffix in ("", ".shard-0-of-2", ".shard-1-of-2"):
            file = Path("out") / f"{name}.episodes{suffix}.sqlite"
            with EpisodeStore(file, {}, {}, resume=False) as store:
                store.extend(record(seed) for seed in range(10))
    for words in commands():
        if words[:2] == ["behavior", "evaluate"] and words[2] in ("merge", "report", "compare"):
            assert main(words[1:]) == 0, words
    assert Path("out/new.html").is_file()
    assert len(read(Path("out/all.sqlite")).records) == 10
    (query,) = [words for words in commands() if words[0] == "sqlite3"]
    with closing(sqlite3.connect(query[1])) as base:
        assert len(base.execute(query[2]).fetchall()) == 2


def test_the_table_names_the_columns() -> None:
    (row,) = re.findall(r"^\| `episodes` \| (.*) \|$", PAGE, re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", row))
    from behavior_bringup.evaluation.store import _COLUMNS

    assert named == {*_COLUMNS, "ended"}


def test_the_variation_and_its_factors(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    (tmp_path / "v.yaml").write_text(text)
    assert len(read_variation(tmp_path / "v.yaml").factors) == 4
    (table,) = re.findall(
        r"^\| factor \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE
    )
    named = set(re.findall(r"`(\w+)`", table))
    assert named == {*OF_OBJECTS, *OF_DETECTOR}


def test_the_runner_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (text,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    Path("my_episodes.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (words,) = [words for words in commands() if "my_episodes:pushed_tower" in words]
    words = [*words[words.index("behavior") + 1 :], "--episodes", "12", "--jobs", "1"]
    assert main(words) == 0
    first = read(Path("out/pushed_tower.episodes.sqlite")).records
    outcomes = {each.seed: each.outcome for each in first}
    assert set(outcomes.values()) == {"success", "failure"}, "weak pushes and strong ones"
    assert main([*words, "--per-stack", "5"]) == 0
    again = read(Path("out/pushed_tower.episodes.sqlite")).records
    assert {each.seed: each.outcome for each in again} == outcomes, "same seeds, same results"
