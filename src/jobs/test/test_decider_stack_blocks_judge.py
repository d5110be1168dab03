# SPDX-License-Identifier: Apache-2.0
"""The four disturbances of the block network's episodes."""

import numpy as np
import pytest
from test_stack_blocks_judge import block, stacked

from behavior_jobs.judges.decider_stack_blocks import LATEST, MISSION, FourDisturbances
from behavior_jobs.judges.stack_blocks import ORDER
from behavior_sim.judging import Disturbance, Situation


def played(seed: int) -> tuple[list[tuple[float, str, Disturbance]], list[str]]:
    """A made-up mission of four reaches and carries, without consequences of the disturbances."""
    plan = FourDisturbances(seed)
    done: list[tuple[float, str, Disturbance]] = []
    time = 0.0
    for count, name in enumerate(ORDER):
        objects = stacked(*ORDER[:count])
        carried = {**objects, name: block(name, 0.4, 0.0, 0.3, held=True)}
        script = [("reach", objects, 20), ("movegripper", objects, 5)]
        script += [("reach", carried, 15), ("movegripper", stacked(*ORDER[: count + 1]), 25)]
        for skill, seen, steps in script:
            for _ in range(steps):
                time += 0.1
                situation = Situation(time=time, skill=skill, phase="step", objects=seen)
                if (what := plan.due(situation)) is not None:
                    done.append((time, skill, what))
    return done, plan.pending()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_an_episode_has_one_disturbance_of_each_kind_and_the_same_again(seed: int) -> None:
    done, pending = played(seed)
    assert pending == []
    causes = sorted(what.cause.split()[0] for _, _, what in done)
    assert causes == ["knocked", "moved", "stole", "took"]
    for _, skill, what in done:
        if what.cause.startswith("moved"):
            assert skill == "reach"
            assert what.kind == "move"
        if what.cause.startswith("stole"):
            assert what.kind == "release"
        if what.kind == "push":
            assert 0.01 < np.linalg.norm(what.impulse) < 0.05
            assert what.impulse[2] == 0.0
    again, _ = played(seed)
    assert [(time, what.cause) for time, _, what in again] == [
        (time, what.cause) for time, _, what in done
    ]


@pytest.mark.slow
def test_the_whole_tower_is_left_alone_when_the_job_is_about_to_end() -> None:
    """Else an episode may end between a knock and the first look at what it did."""
    stands = 4 * 6.5 - 2.5
    touched = [time for seed in range(60) for time, _, _ in played(seed)[0] if time > stands]
    assert touched
    assert max(touched) < stands + LATEST + 0.25


@pytest.mark.slow
def test_seeds_differ() -> None:
    moments = {tuple(time for time, _, _ in played(seed)[0]) for seed in range(10)}
    assert len(moments) == 10


def test_the_mission_is_judged_as_the_tree_of_the_same_tower() -> None:
    assert MISSION.name == "decider_stack_blocks"
    assert MISSION.judge(stacked(*ORDER)).success
    assert FourDisturbances(3).pending() == [
        "move the target",
        "steal from the hand",
        "knock the tower",
        "take the top away",
    ]
