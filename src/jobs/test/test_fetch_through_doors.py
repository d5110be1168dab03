# SPDX-License-Identifier: Apache-2.0
"""The job fetch_through_doors: its judge, and accidents at either of two doors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_jobs.judges.door_accidents import LATCHED, SLIP
from behavior_jobs.judges.fetch_through_doors import DOORS, PLACE, configured, judge, summary
from behavior_sim.judging import ROBOT, Objects, Situation, WorldObject
from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.layouts import draw_layout
from behavior_sim.worlds.resources import find_world

WIDTH = 0.96
TABLE = np.array([4.5, 1.35, 0.36])


def door(name: str, x: float, opens: float, opened: float) -> dict[str, WorldObject]:
    """A door across the x axis that opens to where x is greater [m, rad]."""
    shut = Rotation.from_euler("z", -opens * 0.5 * np.pi).as_matrix()
    turn = Rotation.from_euler("z", opens * opened).as_matrix()
    foot = np.array([x, opens * 0.48, 0.0])

    def at(part: str, place: tuple[float, ...], leaf: bool) -> WorldObject:
        inner = turn if leaf else np.eye(3)
        return WorldObject(
            name=f"{name}_{part}",
            position=foot + shut @ inner @ np.array(place),
            rotation=shut @ inner,
            size=(WIDTH, 0.04, 1.95),
        )

    items = [
        at("hinge_post", (-0.034, 0.0, 1.0), False),
        at("panel", (0.5 * WIDTH, 0.0, 1.0), True),
        at("lever", (0.82, -0.08 * opens, 0.95), True),
    ]
    return {item.name: item for item in items}


def objects(
    robot: float = 7.4,
    opened: tuple[float, float] = (0.0, 0.0),
    can: Mapping[str, object] | None = None,
) -> Objects:
    """The world as it shall be, or with a robot, doors or a can that are elsewhere."""
    place = TABLE + np.array([*PLACE, 0.415])
    placed = {"position": place, "size": (0.052, 0.052, 0.11)} | (can or {})
    return {
        **door("first_door", 1.6, -1.0, opened[0]),
        **door("second_door", 6.4, 1.0, opened[1]),
        ROBOT: WorldObject(name=ROBOT, position=np.array([robot, 0.1, 0.0])),
        "place_table": WorldObject(name="place_table", position=TABLE, size=(0.6, 0.4, 0.72)),
        "can": WorldObject(name="can", **placed),  # type: ignore[arg-type]
    }


def test_both_doors_are_shut_and_the_can_on_its_place() -> None:
    verdict = judge(objects())
    assert verdict.success, verdict.reason
    assert verdict.reason == "both doors are shut, the can is 0 mm from its place"
    assert summary(objects(opened=(0.5, 0.0))).startswith(
        "first_door 29 degrees open, second_door 0 degrees open, can at"
    )


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (objects(robot=5.0), "second_door: the robot is -1.40 m beyond the door"),
        (objects(opened=(0.1, 0.0)), "first_door: the door is 5.7 degrees open"),
        (objects(opened=(0.0, 0.1)), "second_door: the door is 5.7 degrees open"),
        (objects(can={"position": np.array([3.35, 1.23, 0.775])}), "the can is 1.10 m beside"),
        (
            objects(can={"position": TABLE + np.array([*PLACE, 0.495])}),
            "the can is 0.08 m above the table",
        ),
        (objects(can={"rotation": Rotation.from_euler("x", 1.5).as_matrix()}), "does not stand"),
        (objects(can={"speed": 0.2}), "the can still moves"),
        (
            {name: item for name, item in objects().items() if name != "can"},
            "can is not in the world",
        ),
    ],
)
def test_what_is_missing_is_said(seen: Objects, reason: str) -> None:
    verdict = judge(seen)
    assert not verdict.success
    assert reason in verdict.reason


def test_accidents_come_at_either_door() -> None:
    """Each time at one of them alone, by the names of that door's parts."""
    mission = configured({"accident": LATCHED}, True)
    found = set()
    for seed in range(8):
        situation = Situation(time=0.0, skill="", phase="", objects=objects(robot=0.0))
        due = mission.disturbances(seed).due(situation)
        assert due is not None
        assert due.kind == "fail"
        found.add(due.object)
    assert found == {each.latch for each in DOORS}


def test_a_hand_slips_off_the_lever_of_the_door_where_it_is() -> None:
    """The right hand turns the second door's lever: its hinges are on the other side."""
    plan = configured({"accident": SLIP}, True).disturbances(_seed_of(second=True))
    seen = objects(robot=5.8)
    lever = seen["second_door_lever"]
    turned = lever.rotation @ Rotation.from_euler("y", 0.5).as_matrix()
    seen = dict(seen) | {
        lever.name: WorldObject(name=lever.name, position=lever.position, rotation=turned)
    }
    first = plan.due(Situation(time=1.0, skill="", phase="", objects=seen))
    later = plan.due(Situation(time=2.0, skill="", phase="", objects=seen))
    assert [each.object for each in (first, later) if each] == ["right_arm_grip"]


def _seed_of(*, second: bool) -> int:
    """A seed whose slip is at the door."""
    mission = configured({"accident": SLIP}, True)
    return next(s for s in range(20) if mission.disturbances(s).door == DOORS[int(second)])


def test_an_accident_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="--accident is fire: give one of slip, latch, push"):
        configured({"accident": "fire"}, True)


def test_the_can_starts_on_its_table() -> None:
    world = load_world(find_world("two_doors"))
    top = world.fixtures["can_table"].boxes["top"].size[2]
    for seed in range(5):
        pose = draw_layout(world, "default", np.random.default_rng(seed))["can"]
        assert pose[2, 3] == pytest.approx(top + 0.055)
