# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_jobs.judges.stack_blocks import (
    EDGE,
    ORDER,
    TOWER,
    StackBlocksDisturbances,
    free_place,
    judge,
    next_block,
    summary,
    tower,
)
from behavior_sim.judging import Disturbance, Situation, WorldObject

Objects = dict[str, WorldObject]


def block(name: str, x: float, y: float, z: float, *, held: bool = False) -> WorldObject:
    return WorldObject(name=name, position=np.array([x, y, z]), held=held)


def on_table() -> Objects:
    xs = dict(zip(ORDER, (0.43, 0.57, 0.7, 0.3), strict=True))
    return {name: block(name, x, -0.4, EDGE / 2) for name, x in xs.items()}


def stacked(*names: str) -> Objects:
    objects = on_table()
    for level, name in enumerate(names):
        objects[name] = block(name, *TOWER, (level + 0.5) * EDGE)
    return objects


def changed(objects: Mapping[str, WorldObject], name: str, shift: list[float]) -> Objects:
    moved = replace(objects[name], position=objects[name].position + np.array(shift))
    return {**objects, name: moved}


def test_the_finished_tower_is_accepted() -> None:
    verdict = judge(stacked(*ORDER))
    assert verdict.success
    assert "complete" in verdict.reason


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (on_table(), "no block"),
        (
            stacked("blue_block", "green_block", "yellow_block", "red_block"),
            "blue green yellow red",
        ),
        (stacked(*ORDER[:3]), "blue yellow green, not"),
        (changed(stacked(*ORDER), "red_block", [0.022, 0, 0]), "22 mm off"),
        (changed(stacked(*ORDER), "red_block", [0, 0, 0.02]), "red is at z"),
        ({k: v for k, v in stacked(*ORDER).items() if k != "red_block"}, "not in the world"),
        (
            {**stacked(*ORDER), "red_block": block("red_block", *TOWER, 3.5 * EDGE, held=True)},
            "still in the gripper",
        ),
        (
            {
                **stacked(*ORDER),
                "red_block": WorldObject(
                    name="red_block", position=np.array([*TOWER, 3.5 * EDGE]), speed=0.1
                ),
            },
            "still moves",
        ),
    ],
)
def test_anything_else_is_refused_with_its_reason(objects: Objects, words: str) -> None:
    verdict = judge(objects)
    assert not verdict.success
    assert words in verdict.reason


def test_a_tower_that_leans_beyond_its_place_is_refused() -> None:
    objects = {
        name: block(name, TOWER[0] + 0.0255, TOWER[1], (level + 0.5) * EDGE)
        for level, name in enumerate(ORDER)
    }
    assert judge(objects).success
    objects = {name: changed(objects, name, [0.01, 0, 0])[name] for name in ORDER}
    assert not judge(objects).success


def test_the_summary_tells_tower_and_gripper() -> None:
    assert summary(on_table()) == "tower: none"
    held = {**stacked("blue_block"), "yellow_block": block("yellow_block", 0.4, 0, 0.3, held=True)}
    assert summary(held) == "tower: blue | yellow in the gripper"


def test_the_next_block_is_the_first_missing_or_the_top_of_a_wrong_tower() -> None:
    assert next_block(on_table()) == "blue_block"
    assert next_block(stacked("blue_block")) == "yellow_block"
    assert next_block(stacked("green_block", "blue_block")) == "blue_block"
    assert next_block(stacked(*ORDER)) is None


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_free_places_are_reachable_and_clear(seed: int) -> None:
    objects = stacked("blue_block", "yellow_block")
    place = free_place(objects, np.random.default_rng(seed))
    assert place.shape == (3,)
    assert np.linalg.norm(place[:2]) <= 0.72
    assert np.linalg.norm(place[:2] - TOWER) >= 0.18
    assert min(np.linalg.norm(place[:2] - x.position[:2]) for x in objects.values()) >= 0.12


def played(seed: int) -> tuple[list[tuple[float, Disturbance]], list[str]]:
    """A made-up mission of four picks and places, without consequences of the disturbances."""
    plan = StackBlocksDisturbances(seed)
    done: list[tuple[float, Disturbance]] = []
    time = 0.0
    for count, name in enumerate(ORDER):
        objects = stacked(*ORDER[:count])
        carried = {**objects, name: block(name, 0.4, 0.0, 0.3, held=True)}
        script = [("pick", "select", objects, 2), ("pick", "reach", objects, 10)]
        script += [("pick", "lift", objects, 5), ("place", "reach", carried, 15)]
        script += [("place", "retreat", stacked(*ORDER[: count + 1]), 15)]
        for skill, phase, seen, steps in script:
            for _ in range(steps):
                time += 0.1
                situation = Situation(time=time, skill=skill, phase=phase, objects=seen)
                if (what := plan.due(situation)) is not None:
                    done.append((time, what))
    return done, plan.pending()


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_every_episode_is_disturbed_twice_and_the_same_way_again(seed: int) -> None:
    done, pending = played(seed)
    assert pending == []
    assert len(done) == 2
    assert any("reached for" in what.cause for _, what in done)
    assert any("took" in what.cause for _, what in done)
    again, _ = played(seed)
    assert [(time, what.object, what.cause) for time, what in again] == [
        (time, what.object, what.cause) for time, what in done
    ]


@pytest.mark.slow
def test_seeds_take_from_the_gripper_and_from_the_tower() -> None:
    causes = " ".join(what.cause for seed in range(20) for _, what in played(seed)[0])
    assert "from the gripper" in causes
    assert "from the tower" in causes


def test_no_blocks_are_no_tower() -> None:
    assert tower({}) == []
