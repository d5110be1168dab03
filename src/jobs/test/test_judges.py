# SPDX-License-Identifier: Apache-2.0
"""How door, shelf and sorting missions are judged and disturbed, on made-up truths."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from behavior_jobs.judges import insert_shelf, open_door, pick_frozen, sort_balls, stack_blocks
from behavior_sim.judging import Disturbance, DisturbancePlan, Situation, WorldObject
from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.layouts import draw_layout
from behavior_sim.worlds.resources import find_world

TREES = Path(__file__).parents[3] / "trees" / "jobs"
Objects = dict[str, WorldObject]
Script = list[tuple[str, str, Objects, int]]


def obj(name: str, at: list[float], size: list[float], **changes: object) -> WorldObject:
    position = np.array(at, dtype=float)
    x, y, z = size
    return WorldObject(name=name, position=position, size=(x, y, z), class_id=name, **changes)


def played(
    plan: DisturbancePlan, script: Script, time: float = 0.0
) -> list[tuple[float, Disturbance]]:
    """What a plan does in a made-up mission of steps of 0.1 s from a time [s] on."""
    done = []
    for skill, phase, objects, steps in script:
        for _ in range(steps):
            time += 0.1
            what = plan.due(Situation(time=time, skill=skill, phase=phase, objects=objects))
            if what is not None:
                done.append((time, what))
    return done


# -- door


def door(angle: float, *, speed: float = 0.0) -> Objects:
    hinge = np.array([0.55, 0.16])
    centre = hinge + 0.28 * np.array([math.sin(angle), -math.cos(angle)])
    panel = obj("door_panel", [*centre, 0.5], [0.56, 0.03, 0.95], speed=speed)
    post = obj("door_hinge_post", [0.55, 0.194, 0.48], [0.06, 0.06, 0.97])
    return {panel.name: panel, post.name: post}


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.8, 1.5])
def test_the_doors_angle_is_measured_at_the_panel(angle: float) -> None:
    assert open_door.angle(door(angle)) == pytest.approx(angle, abs=1e-9)
    assert open_door.judge(door(angle)).success is (angle > 0.7)
    assert f"{math.degrees(angle):.0f} degrees" in open_door.summary(door(angle))


def test_a_door_that_moves_or_is_not_there_is_refused() -> None:
    assert "still moves" in open_door.judge(door(0.8, speed=0.2)).reason
    assert "door_panel is not" in open_door.judge({}).reason


@pytest.mark.parametrize("seed", range(6))
def test_every_door_is_pushed_shut_once(seed: int) -> None:
    plan = open_door.OpenDoorDisturbances(seed)
    script: Script = [("screw", "move", door(a), 3) for a in (0.0, 0.2, 0.4, 0.6, 0.8)]
    script += [("movegripper", "move", door(0.8), 5), ("screw", "move", door(0.8), 8)]
    script += [("movearm", "move", door(0.8), 12)]
    done = played(plan, script)
    assert plan.pending() == []
    assert sum("shut" in what.cause for _, what in done) == 1
    assert all(what.kind == "push" and what.object == "door_panel" for _, what in done)


# -- shelf


def shelf(x: float, y: float = 0.15, z: float = 0.3225, **changes: object) -> Objects:
    box = obj("box", [x, y, z], [0.045, 0.045, 0.13], **changes)
    base = obj("shelf_base", [0.68, 0.15, 0.15], [0.16, 0.125, 0.3])
    return {box.name: box, base.name: base}


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (shelf(0.66), "cm in the shelf"),
        (shelf(0.60), "only 6.5 cm"),
        (shelf(0.66, y=0.2), "not in the compartment"),
        (shelf(0.66, z=0.43), "not in the compartment"),
        (shelf(0.45, -0.2, 0.065), "not in the compartment"),
        (shelf(0.66, held=True), "in the gripper"),
        (shelf(0.66, speed=0.1), "still moves"),
        ({}, "not in the world"),
    ],
)
def test_only_a_box_deep_in_the_compartment_is_inserted(objects: Objects, words: str) -> None:
    verdict = insert_shelf.judge(objects)
    assert verdict.success is (words == "cm in the shelf")
    assert words in verdict.reason


def test_boxes_are_moved_or_taken() -> None:
    kinds = set()
    for seed in range(12):
        plan = insert_shelf.MISSION.disturbances(seed)
        on_ground, carried = shelf(0.45, -0.2, 0.065), shelf(0.45, 0.0, 0.3, held=True)
        script: Script = [("pick", "reach", on_ground, 12), ("movearm", "move", carried, 15)]
        done = played(plan, script)
        assert plan.pending() == []
        assert done
        kinds.add(tuple(what.kind for _, what in done))
        for _, what in done:
            assert 0.25 < np.linalg.norm(what.position[:2]) < 0.7
    assert kinds == {("move",), ("release",), ("move", "release")}


# -- sorting


def balls(*sorted_names: str, away: tuple[str, ...] = ()) -> Objects:
    objects = {
        "red_tray": obj("red_tray", [0.45, 0.36, 0.025], [0.26, 0.18, 0.05]),
        "blue_tray": obj("blue_tray", [0.45, -0.36, 0.025], [0.26, 0.18, 0.05]),
    }
    for i, name in enumerate(f"{c}_ball_{n}" for c in ("red", "blue") for n in range(3)):
        kind = name[:-2]
        at = [0.35 + 0.1 * (i % 3), 0.1 if i < 3 else -0.1, 0.025]
        if name in sorted_names:
            at = [0.40 + 0.05 * (i % 3), 0.36 if i < 3 else -0.36, 0.035]
        if name in away:
            at = [-1.5, 1.5, 0.025]
        objects[name] = WorldObject(
            name=name, position=np.array(at), class_id=kind, size=(0.05, 0.05, 0.05)
        )
    return objects


PHASES = ("reach", "approach")
ALL = tuple(f"{c}_ball_{n}" for c in ("red", "blue") for n in range(3))


def test_balls_count_when_they_lie_in_the_tray_of_their_colour() -> None:
    assert sort_balls.judge(balls(*ALL)).success
    assert sort_balls.summary(balls(*ALL[:4])) == "4 of 6 sorted"
    assert "blue_ball_2 is at" in sort_balls.judge(balls(*ALL[:5])).reason
    swapped = balls(*ALL)
    swapped["red_ball_0"] = WorldObject(
        name="red_ball_0",
        position=np.array([0.45, -0.36, 0.035]),
        class_id="red_ball",
        size=(0.05, 0.05, 0.05),
    )
    assert "red_ball_0 is at" in sort_balls.judge(swapped).reason
    assert "no balls" in sort_balls.judge({}).reason


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_one_ball_is_taken_and_comes_back(seed: int) -> None:
    plan = sort_balls.SortBallsDisturbances(seed)
    script: Script = []
    for count in range(6):
        script += [("pick", "reach", balls(*ALL[:count]), 5)]
        script += [("pick", "approach", balls(*ALL[:count]), 3)]
    script += [("", "", balls(*ALL[:5]), 100)]
    done = played(plan, script)
    assert plan.pending() == []
    (taken_at, taken), (back_at, back) = done
    assert (taken.kind, back.kind) == ("take_away", "move")
    assert taken.object == back.object
    assert 2.0 < back_at - taken_at < 8.3
    assert 0.3 < np.linalg.norm(back.position[:2]) < 0.7


def test_each_of_the_six_picks_is_disturbed_by_some_seed() -> None:
    """The sixth never was: then nothing else is left to fetch, and the ball is waited for."""
    approaches: Script = [("pick", p, balls(*ALL[:n]), 1) for n in range(6) for p in PHASES]
    picks = set()
    for seed in range(40):
        ((time, _),) = played(sort_balls.SortBallsDisturbances(seed), approaches)[:1]
        picks.add(round(time / 0.2))
    assert picks == {1, 2, 3, 4, 5, 6}


def test_a_ball_is_put_back_until_the_simulation_does_it() -> None:
    plan = sort_balls.SortBallsDisturbances(1)
    taken = [what for _, what in played(plan, [("pick", p, balls(), 2) for p in PHASES * 6])]
    (name,) = [what.object for what in taken]
    refused = played(plan, [("", "", balls(away=(name,)), 120)], 5.0)
    assert len(refused) > 3
    assert {what.kind for _, what in refused} == {"move"}
    assert plan.pending() == ["bring it back"]
    played(plan, [("", "", balls(), 10)], 20.0)
    assert plan.pending() == []


# -- a block by a frozen pose


def block(x: float, y: float = 0.25, z: float = 0.0258, **changes: object) -> Objects:
    edges = [0.0515] * 3
    blue = obj("blue_block", [x, y, z], edges, **changes)
    red = obj("red_block", [0.45, -0.05, 0.0258], edges)
    return {blue.name: blue, red.name: red}


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (block(0.452), "2 mm from its place"),
        (block(0.48), "30 mm from its place"),
        (block(0.4333, -0.34), "590 mm from its place"),
        (block(0.45, z=0.077), "not on the ground"),
        (block(0.45, held=True), "in the gripper"),
        (block(0.45, speed=0.1), "still moves"),
        ({}, "not in the world"),
    ],
)
def test_the_block_must_rest_in_its_place(objects: Objects, words: str) -> None:
    verdict = pick_frozen.judge(objects)
    assert verdict.success is (words == "2 mm from its place")
    assert words in verdict.reason
    assert pick_frozen.summary(objects)


def test_the_block_is_brought_where_the_tree_says() -> None:
    """Judge and tree agree on the place, and no start state is near it."""
    tree = (TREES / "pick_frozen.xml").read_text(encoding="utf-8")
    x, y = pick_frozen.TARGET
    assert f'default="world;{x:g};{y:g};' in tree
    world = load_world(find_world("block_stacking"))
    for seed in range(20):
        poses = draw_layout(world, pick_frozen.MISSION.layout, np.random.default_rng([seed, 0]))
        start = poses[pick_frozen.BLOCK][:2, 3]
        assert np.linalg.norm(start - pick_frozen.TARGET) > 0.3


def test_a_disturbed_block_is_put_clear_of_the_others() -> None:
    for seed in range(12):
        plan = pick_frozen.MISSION.disturbances(seed)
        carried = block(0.45, 0.0, 0.3, held=True)
        script: Script = [
            ("pick", "reach", block(0.43, -0.34), 12),
            ("place", "reach", carried, 15),
        ]
        done = played(plan, script)
        assert done
        assert plan.pending() == []
        for _, what in done:
            assert what.object == "blue_block"
            assert np.linalg.norm(what.position[:2] - [0.45, -0.05]) > 0.12


# -- all of them


@pytest.mark.parametrize("job", [insert_shelf, open_door, pick_frozen, sort_balls, stack_blocks])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 40, 41])
def test_no_seed_leaves_the_robot_alone(job: ModuleType, seed: int) -> None:
    """`--disturb` disturbs every episode: even seeds of `sort_balls` were left alone."""
    assert job.MISSION.disturbances(seed).pending()
