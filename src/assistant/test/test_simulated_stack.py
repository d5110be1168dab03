# SPDX-License-Identifier: Apache-2.0
"""Episodes of a tree from outside, on a stack that a test plays."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from assistant_kit import PICK, checker

from behavior_assistant import simulated_stack as module
from behavior_assistant.believed_objects import object_rows
from behavior_assistant.simulated_stack import SimulatedStack, places, simulated_stack
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.jobs.object_trial import ObjectJob
from behavior_bringup.missions.following import TookTooLong
from behavior_sim.judging import Mission, Undisturbed, Verdict, WorldObject
from behavior_sim.trials import TrialError

CUP = WorldObject(name="cup", position=np.array([0.5, 0.1, 0.03]), class_id="mug", held=True)


def mission(**changes):
    given = {
        "name": "job",
        "world": "yard",
        "layout": "default",
        "time_limit": 900.0,
        "judge": lambda objects: Verdict(False, "the job's own judge"),
        "summary": lambda objects: "",
        "disturbances": Undisturbed,
        "parameters": {"order": "a"},
    }
    return Mission(**{**given, **changes})


class Room:
    """A stack whose episodes end as they are told."""

    def __init__(self, folder, monkeypatch, *endings):
        self.client = SimpleNamespace(truth_time=0.0, scene={"cup": CUP}, truth={"cup": CUP})
        stack = SimpleNamespace(name="s", watch=lambda: SimpleNamespace(check=None))
        self.simulated = SimulatedStack(self.client, stack, mission(), folder)
        self.endings = list(endings)
        self.seeds, self.jobs, self.closed = [], [], 0
        monkeypatch.setattr(ObjectJob, "episode", self.episode)
        monkeypatch.setattr(module, "run_trial", self.run_trial)
        monkeypatch.setattr(module, "judged", lambda trial, ending: ending)

    def episode(self, stack, *, seed, disturb):
        assert not disturb

        def close():
            self.closed += 1

        return SimpleNamespace(
            prepare=self.seeds.append, now=lambda: self.client.truth_time, close=close
        )

    def run_trial(self, client, job, trial, *, check):
        self.jobs.append(job)
        client.truth_time += 2.5
        ending = self.endings.pop(0)
        if isinstance(ending, Exception):
            raise ending
        return ending


def test_each_episode_has_its_seed_and_ends_as_the_tree_does(tmp_path, monkeypatch):
    room = Room(tmp_path, monkeypatch, Verdict(True, "a"), Verdict(False, "b"))
    seen = []
    found = room.simulated.run(checker().check(PICK), 2, seen.append)
    assert found == seen
    assert [(e.seed, e.success, e.reason, e.seconds) for e in found] == [
        (0, True, "a", 2.5),
        (1, False, "b", 2.5),
    ]
    assert (room.seeds, room.closed) == ([0, 1], 2)
    assert (tmp_path / "proposed.xml").read_text() == PICK


def test_the_worlds_job_gives_its_start_states_and_nothing_else(tmp_path, monkeypatch):
    room = Room(tmp_path, monkeypatch, Verdict(True, ""))
    room.simulated.run(checker().check(PICK), 1)
    (job,) = room.jobs
    assert (job.name, job.world, dict(job.parameters)) == ("proposed", "yard", {})
    assert job.time_limit == module.LIMIT
    assert job.mission.judge({"cup": CUP}).success


def test_a_tree_without_an_end_has_failed_and_the_next_one_runs(tmp_path, monkeypatch):
    room = Room(tmp_path, monkeypatch, TookTooLong("too long; it was cancelled"), Verdict(True, ""))
    first, second = room.simulated.run(checker().check(PICK), 2)
    assert (first.success, first.reason) == (False, "too long; it was cancelled")
    assert second.success


@pytest.mark.parametrize("error", [TrialError("no reset"), BringupError("the stack went down")])
def test_a_stack_that_breaks_is_no_failure_of_the_tree(tmp_path, monkeypatch, error):
    room = Room(tmp_path, monkeypatch, error)
    with pytest.raises(BringupError, match=str(error)):
        room.simulated.run(checker().check(PICK), 1)
    assert room.closed == 1


def test_objects_are_told_by_plain_values():
    row = {"class": "mug", "position": [0.5, 0.1, 0.03], "size": [0.0, 0.0, 0.0], "held": True}
    assert object_rows({"cup": CUP}) == {"cup": row}
    assert places({"cup": CUP}) == "cup at 0.50, 0.10, 0.03 m (held)"


@pytest.fixture
def brought_up(monkeypatch):
    """What a stack was brought up with."""
    given = {}

    @contextmanager
    def temporary_stack(stack, **options):
        given.update(options)
        yield SimpleNamespace(), None

    monkeypatch.setattr(module, "temporary_stack", temporary_stack)
    monkeypatch.setattr(module, "free_stack", lambda name: SimpleNamespace(name=name))
    monkeypatch.setattr(module, "mission_of_world", {"yard": "job", "sea": "tour"}.get)
    jobs = {"job": ObjectJob(mission()), "tour": object()}
    monkeypatch.setattr(module, "job_named", jobs.__getitem__)
    return given


def test_the_stack_reads_trees_from_a_folder_of_its_own(brought_up, monkeypatch):
    monkeypatch.setattr(module, "stack_arguments", lambda world, given, cameras: dict(given))
    with simulated_stack("yard", speed=0.0) as simulated:
        assert isinstance(simulated, SimulatedStack)
        assert brought_up["world"] == "yard"
        assert brought_up["arguments"]["missions"]


@pytest.mark.parametrize(
    ("world", "arguments", "why"),
    [
        ("sea", {"missions": ""}, "No job is made for 'sea'"),
        ("moon", {"missions": ""}, "No job is made for 'moon'"),
        ("yard", {}, "takes no missions"),
    ],
)
def test_a_world_that_cannot_be_used_is_told(brought_up, monkeypatch, world, arguments, why):
    monkeypatch.setattr(module, "stack_arguments", lambda world, given, cameras: arguments)
    with pytest.raises(UsageError, match=why), simulated_stack(world, speed=0.0):
        pass
    assert not brought_up
