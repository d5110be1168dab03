# SPDX-License-Identifier: Apache-2.0
"""An evaluation on a real Ray cluster of two nodes, one of which dies."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from behavior_bringup.cli import main
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation import ray_workers, verbs
from behavior_bringup.evaluation.record import Episode
from behavior_bringup.evaluation.schedule import Schedule
from behavior_bringup.evaluation.store import EpisodeStore, read
from behavior_bringup.evaluation.task import Task
from behavior_bringup.evaluation.versions import present_versions

EPISODES = 200
KILL_AFTER = 40
"""Episodes that are on disk when the node dies."""


def test_without_ray_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "stack_blocks", "--on", "ray"]) == 1
    told = capsys.readouterr()
    assert "Ray is not installed: 'python -m pip install -c constraints.txt ray==" in told.err
    assert "0 of 20 episodes are kept" in told.out


@pytest.mark.slow
@pytest.mark.parametrize("address", ["cluster", "http://x", "ray:/x", ""])
def test_an_address_that_is_none_is_refused(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "stack_blocks", "--on", address]) == 2
    assert "must be ray or ray://HOST:PORT" in capsys.readouterr().err


class FakeRay:
    """Answers calls of an actor by what a test wants to see."""

    class exceptions:
        class GetTimeoutError(Exception):
            pass

    def __init__(self, answer: Any) -> None:
        self.answer, self.killed = answer, 0

    def get(self, reference: object, timeout: float) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def kill(self, actor: object) -> None:
        self.killed += 1


class FakeActor:
    """Whatever is called, `FakeRay` answers."""

    def __getattr__(self, name: str) -> FakeActor:
        return self

    def remote(self, *_: object) -> None:
        return None


def fake_worker(answer: Any, wanted: bool = True) -> ray_workers.RayWorker:
    return ray_workers.RayWorker(FakeRay(answer), FakeActor(), Task(), lambda: wanted)


def test_a_node_without_the_project_is_a_sentence() -> None:
    with pytest.raises(BringupError, match=r"lacks the project \(No module .*install it there"):
        fake_worker({"missing": "No module named 'behavior_bringup'"}).open()
    with pytest.raises(BringupError, match="the stack does not become ready"):
        fake_worker({"cannot": "the stack does not become ready"}).open()


def test_what_the_cluster_reports_is_a_death() -> None:
    for answer, why in (
        ({"died": "it was ended by SIGKILL"}, "SIGKILL"),
        (RuntimeError("The actor died.\nmore"), "The actor died"),
    ):
        with pytest.raises(ray_workers.WorkerDiedError, match=why):
            fake_worker(answer).run(Episode(seed=1))
    waiting = FakeRay.exceptions.GetTimeoutError()
    with pytest.raises(ray_workers.WorkerDiedError, match="it was ended"):
        fake_worker(waiting, wanted=False).open()


def test_the_host_says_what_it_cannot_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "behavior_bringup.evaluation", None)
    monkeypatch.setitem(sys.modules, "behavior_bringup.evaluation.task", None)
    assert "missing" in ray_workers._host_class()().open(Task().document())


# -- the real one ----------------------------------------------------------------------------------


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    pytest.importorskip("ray", reason=f"Ray is an extra: '{ray_workers.INSTALL}'")
    from ray.cluster_utils import Cluster

    folder = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.chdir(tmp_path)
    head = {"num_cpus": 2, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    monkeypatch.setenv("RAY_ADDRESS", made.address)
    yield made
    made.shutdown()


def workers_of(folder: Path) -> list[psutil.Process]:
    """Our workers that are left of a test, known by its folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words, variables = process.info["cmdline"] or [], process.info["environ"] or {}
        ours = variables.get("BEHAVIOR_RUNTIME_DIR", "").startswith(str(folder))
        if ours and "behavior_bringup.evaluation.worker" in words:
            found.append(process)
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_node_that_dies_loses_nothing_and_counts_nothing_twice(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cluster.add_node(num_cpus=2)
    kept, killed = [], []
    append = EpisodeStore.append

    def kill() -> None:
        killed.append(len(kept))
        cluster.remove_node(second, allow_graceful=False)

    def appended(store: EpisodeStore, record: Any) -> bool:
        new = append(store, record)
        kept.append(record.key)
        if len(kept) == KILL_AFTER:
            threading.Thread(target=kill).start()
        return new

    monkeypatch.setattr(EpisodeStore, "append", appended)
    words = ["evaluate", "cheap", "--runner", "evaluation_runners:quick", "--on", "ray"]
    words += ["--per-stack", "100"]
    assert main([*words, "--episodes", str(EPISODES), "--cores", "1", "--json", "f.json"]) == 0
    assert KILL_AFTER <= killed[0] < EPISODES, "in the middle"
    records = read(tmp_path / "f.episodes.sqlite").records
    assert sorted(each.seed for each in records) == list(range(EPISODES))
    assert sum(each.succeeded for each in records) == EPISODES * 4 // 5
    _, alive = psutil.wait_procs(workers_of(tmp_path), timeout=240)
    assert alive == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_versions_room_and_reach_of_a_cluster(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "cheap", "--runner", "evaluation_runners:quick", "--on", "ray"]
    assert main([*words, "--episodes", "3", "--cores", "3"]) == 1
    assert "No node of the Ray cluster has 3 cores, the largest has 2" in capsys.readouterr().err

    def other() -> Mapping[str, str]:
        return {**present_versions(), "commit": "bbbbbbbbbbbb"}

    monkeypatch.setattr(verbs, "present_versions", other)
    assert main([*words, "--episodes", "3", "--cores", "1"]) == 1
    told = capsys.readouterr()
    assert "but this evaluation bbbbbbbbbbbb: episodes of two versions" in told.err
    assert "0 of 3 episodes are kept in" in told.out

    cluster.shutdown()
    assert main([*words, "--episodes", "3", "--cores", "1"]) == 1
    assert "cannot be reached" in capsys.readouterr().err


def test_the_rest_goes_on_while_one_waits_for_a_node() -> None:
    """What is pending is not waited for when nothing is left to do."""
    schedule = Schedule(iter([Episode(seed=1)]), lambda record: True)
    assert schedule.is_wanted()
    schedule.stop()
    assert not schedule.is_wanted()
