# SPDX-License-Identifier: Apache-2.0
"""Episodes differ as a file says, in strata; the value at which a job breaks is found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from evaluation_runners import record
from hypothesis import given
from hypothesis import strategies as st

from behavior_bringup.cli import main
from behavior_bringup.errors import UsageError
from behavior_bringup.evaluation import verbs
from behavior_bringup.evaluation.plan import EpisodePlan
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.schedule import Schedule
from behavior_bringup.evaluation.search import Level, Search, bisection
from behavior_bringup.evaluation.shard import Shard
from behavior_bringup.evaluation.store import read
from behavior_bringup.evaluation.task import Task
from behavior_bringup.evaluation.variation import Variation, read_variation
from behavior_bringup.evaluation.versions import present_versions

SHIPPED = Path(__file__).resolve().parents[3] / "config" / "evaluation" / "variation.yaml"

# -- drawing ---------------------------------------------------------------------------------------


@given(strata=st.integers(1, 30), block=st.integers(0, 10**6), low=st.floats(0.01, 5))
def test_each_stratum_of_each_factor_gets_one_episode(strata: int, block: int, low: float) -> None:
    factors = {"mass": (low, low + 2.0), "dropout": (0.9, 0.1), "latency": (0.2, 0.2)}
    variation = Variation(strata=strata, factors=factors)
    drawn = [variation.draw(seed) for seed in range(block * strata, (block + 1) * strata)]
    for name in ("mass", "dropout"):
        start, end = factors[name]
        places = sorted((each[name] - start) / (end - start) * strata for each in drawn)
        for stratum, place in enumerate(places):
            assert stratum - 1e-6 <= place <= stratum + 1 + 1e-6
    assert {each["latency"] for each in drawn} == {0.2}


def test_factors_are_not_drawn_alike() -> None:
    variation = Variation(factors={"mass": (0.1, 1.0), "friction": (0.1, 1.0)})
    drawn = [variation.draw(seed) for seed in range(10)]
    assert [each["mass"] for each in drawn] != [each["friction"] for each in drawn]
    again = Variation(factors={"friction": (0.1, 1.0)})
    assert again.draw(3)["friction"] == drawn[3]["friction"], "others have no part in it"


def test_shards_draw_what_the_whole_would() -> None:
    variation = Variation(factors={"mass": (0.5, 2.0)})
    whole = {e.seed: e for e in EpisodePlan(5, 40, variation=variation).to_run([]) if e}
    for index in range(3):
        part = EpisodePlan(5, 40, shard=Shard(index, 3), variation=variation)
        for episode in part.to_run([]):
            assert episode == whole[episode.seed]  # type: ignore[union-attr]


# -- the file --------------------------------------------------------------------------------------


def test_the_shipped_file_is_good() -> None:
    variation = read_variation(SHIPPED)
    assert {"mass", "friction", "size", "dropout", "latency", "position_noise"} <= set(
        variation.factors
    )


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "v.yaml"
    file.write_text("strata: 4\nfactors:\n  mass: [0.5, 2]\n  latency: 0.2\n  '*_block.size': 1\n")
    variation = read_variation(file)
    assert variation.strata == 4
    assert variation.factors == {
        "mass": (0.5, 2.0),
        "latency": (0.2, 0.2),
        "*_block.size": (1.0, 1.0),
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["1: must hold strata and factors"]),
        ("- a\n", ["1: must hold"]),
        ("a: [\n", ["2: is not YAML"]),
        ("strata: 5\n", ["1: there are no factors"]),
        ("factors: {}\n", ["1: factors must be names"]),
        ("factors:\n  mass: [1, 2]\nstrato: 3\n", ["3: 'strato' is no key: did you mean 'strata'"]),
        ("strata: 0\nfactors:\n  mass: [1, 2]\n", ["1: strata must be a whole number"]),
        ("strata: true\nfactors:\n  mass: [1, 2]\n", ["1: strata must be"]),
        (
            "factors:\n  weight: [1, 2]\n  mass: heavy\n  dropout: [0, 2]\n  size: [1, 2, 3]\n",
            [
                "2: weight is no factor; choose one of size",
                "3: mass must be a number, or an interval",
                "4: dropout: 2; give a number from 0 to 1",
                "5: size must be a number, or an interval",
            ],
        ),
        ("factors:\n  mass: [1, 2]\n  mass: [1, 3]\n", ["3: mass is there twice"]),
        ("factors:\n  mass: [.nan, 2]\n", ["2: mass must be a number"]),
        ("factors:\n  mass: !!python/name:os.system x\n", ["2: mass must be a number"]),
        ("factors:\n  mass: [true, 2]\n", ["2: mass must be"]),
    ],
)
def test_faults_are_named_with_file_and_line(text: str, told: list[str], tmp_path: Path) -> None:
    file = tmp_path / "v.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_variation(file)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(told)
    for line, expected in zip(lines, told, strict=True):
        assert line.startswith(f"{file}:{expected}"), line


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "stack_blocks", "--variation", "none.yaml"]) == 2
    assert "none.yaml cannot be read" in capsys.readouterr().err


# -- the search ------------------------------------------------------------------------------------


def found_at(threshold: float, interval: tuple[float, float]) -> tuple[object, list[float]]:
    levels = bisection("dropout", interval)
    tried = [next(levels)]
    while True:
        broken = abs(tried[-1] - interval[0]) > abs(threshold - interval[0])
        try:
            tried.append(levels.send(Level(tried[-1], 0 if broken else 4, 4)))
        except StopIteration as end:
            return end.value, tried


@given(threshold=st.floats(0.01, 0.99), reverse=st.booleans())
def test_the_bisection_encloses_where_it_breaks(threshold: float, reverse: bool) -> None:
    found, tried = found_at(threshold, (1.0, 0.0) if reverse else (0.0, 1.0))
    stands, breaks = found.stands, found.breaks  # type: ignore[attr-defined]
    assert min(stands, breaks) <= threshold <= max(stands, breaks)
    assert math.isclose(abs(breaks - stands), 1 / 32)
    assert len(tried) == 7


def test_what_never_breaks_and_what_is_broken_from_the_start() -> None:
    found, tried = found_at(2.0, (0.0, 1.0))
    assert (len(tried), str(found)) == (2, "The job stands all of dropout, up to 1")
    found, tried = found_at(-1.0, (0.5, 1.0))
    levels = bisection("dropout", (0.5, 1.0))
    next(levels)
    with pytest.raises(StopIteration) as end:
        levels.send(Level(0.5, 1, 4))
    assert str(end.value.value) == "The job is broken already at dropout 0.5"


def test_a_level_waits_for_its_last_episodes() -> None:
    """Two workers: the second waits, and then works on the next level."""
    records: list[EpisodeRecord] = []

    def keep(each: EpisodeRecord) -> bool:
        records.append(each)
        return True

    search = Search("dropout", (0.0, 1.0), range(3))
    schedule = Schedule(search.to_run(records), keep)
    running = [schedule.take() for _ in range(3)]
    assert [each.variation for each in running if each] == [{"dropout": 0.0}] * 3
    for each in running:
        assert each is not None
        schedule.finish(record(each.seed, variant=each.variant, outcome="success"))
    following = schedule.take()
    assert following is not None
    assert following.variation == {"dropout": 1.0}


class Sensitive:
    """A worker whose job breaks at a drop-out of 0.3."""

    alive = True

    def open(self) -> Mapping[str, str]:
        return present_versions()

    def run(self, episode: Episode) -> EpisodeRecord:
        good = episode.variation["dropout"] < 0.3
        return record(
            episode.seed,
            variant=episode.variant,
            variation=dict(episode.variation),
            outcome="success" if good else "failure",
        )

    def close(self) -> None:
        pass

    def abort(self) -> None:
        pass


@pytest.fixture
def sensitive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Task]:
    monkeypatch.chdir(tmp_path)
    tasks: list[Task] = []

    def make(task: Task) -> Sensitive:
        tasks.append(task)
        return Sensitive()

    monkeypatch.setattr(verbs, "worker_of", make)
    Path("v.yaml").write_text("factors:\n  dropout: [0.0, 0.8]\n  mass: [0.5, 2]\n")
    return tasks


def test_the_command_searches_and_goes_on(
    sensitive: list[Task], capsys: pytest.CaptureFixture[str]
) -> None:
    words = "evaluate stack_blocks --variation v.yaml --search dropout --episodes 3 --jobs 2"
    assert main(words.split()) == 0
    told = capsys.readouterr().out
    assert "0.4: 0 of 3 succeeded (0 to 56 %)" in told
    assert "The job stands dropout 0.3 and breaks at" in told or "breaks at 0.3" in told
    stored = read(Path("out/stack_blocks.episodes.sqlite"))
    assert len(stored.records) == 21
    assert all(set(each.variation) == {"dropout"} for each in stored.records)
    assert sensitive[0].settings["varied"]
    begun = len(sensitive)
    assert main([*words.split(), "--resume"]) == 0
    assert len(sensitive) == begun, "all is known already"
    assert "breaks at" in capsys.readouterr().out


def test_the_command_varies_every_episode(sensitive: list[Task]) -> None:
    assert main(["evaluate", "stack_blocks", "--variation", "v.yaml", "--episodes", "10"]) == 0
    records = read(Path("out/stack_blocks.episodes.sqlite")).records
    assert {int(each.variation["mass"] / 0.15 - 0.5 / 0.15) for each in records} == set(range(10))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--search dropout", "needs a file --variation"),
        ("--variation v.yaml --search friction", "with the interval of friction"),
        ("--variation v.yaml --search dropout --shard 0/2", "leave --shard away"),
        ("--variation v.yaml --cameras", "With --cameras dropout would change nothing"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    words: str, why: str, sensitive: list[Task], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "stack_blocks", *words.split()]) == 2
    assert why in capsys.readouterr().err


def test_an_evaluation_goes_on_with_its_own_variation_only(
    sensitive: list[Task], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "stack_blocks", "--variation", "v.yaml", "--episodes", "2"]
    assert main(words) == 0
    Path("v.yaml").write_text("factors:\n  dropout: [0.0, 0.9]\n")
    assert main([*words, "--resume"]) == 2
    assert "holds episodes with variation" in capsys.readouterr().err
