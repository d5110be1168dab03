# SPDX-License-Identifier: Apache-2.0
"""The job pass_door: its judge, and that the trees for both sides are one."""

from __future__ import annotations

import math
import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_jobs.judges.door_accidents import (
    ACCIDENTS,
    LATCHED,
    LEVER,
    PANEL,
    PUSHED,
    SHOVED,
    SLIP,
    DoorAccidents,
    angle,
)
from behavior_jobs.judges.pass_door import configured, judge, summary
from behavior_sim.judging import ROBOT, Disturbance, Objects, Situation, WorldObject
from behavior_tree import BehaviorTreeFactory
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.editing import TreeFiles
from behavior_tree.editing.mirror import mirror
from behavior_tree.placeholders import register_placeholders

SUBTREES = Path(__file__).parents[3] / "trees" / "jobs" / "subtrees"
WIDTH = 0.96


@cache  # a story asks for few of them, often
def objects(
    opened: float,
    robot: tuple[float, float],
    *,
    yaw: float = 0.5,
    opens: float = -1.0,
    turned: float = 0.0,
    pulled: bool = False,
) -> Objects:
    """A door, its lever turned, and a robot, in the door's frame [m, rad]; the lever on the face
    that is pushed or pulled.
    """
    world_R_door = Rotation.from_euler("z", yaw).as_matrix()
    turn = Rotation.from_euler("z", opens * opened).as_matrix()

    def at(name: str, place: tuple[float, ...], moves: bool) -> WorldObject:
        place_here = (turn if moves else np.eye(3)) @ np.array(place)
        rotation = world_R_door @ (turn if moves else np.eye(3))
        if name == LEVER:
            rotation = rotation @ Rotation.from_euler("y", turned).as_matrix()
        return WorldObject(
            name=name,
            position=np.array([3.0, -2.0, 0.0]) + world_R_door @ place_here,
            rotation=rotation,
            size=(WIDTH, 0.04, 1.95),
        )

    items = [
        at("door_hinge_post", (-0.034, 0.0, 1.0), False),
        at("door_panel", (0.5 * WIDTH, 0.0, 1.0), True),
        at("door_lever", (0.82, (0.08 if pulled else -0.08) * opens, 0.95), True),
        at(ROBOT, (*robot, 0.0), False),
    ]
    return {item.name: item for item in items}


@pytest.mark.parametrize("pulled", [False, True])
@pytest.mark.parametrize("opens", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("opened", "beyond", "reason"),
    [
        (0.0, 0.9, "the robot is 0.9 m beyond the door, which is shut"),
        (0.0, -0.9, "the robot is -0.90 m beyond the door, not 0.4 m"),
        (0.0, 0.2, "the robot is 0.20 m beyond the door, not 0.4 m"),
        (0.1, 0.9, "the door is 5.7 degrees open"),
    ],
)
def test_the_robot_is_through_and_the_door_shut(
    opened: float, beyond: float, reason: str, opens: float, pulled: bool
) -> None:
    there = (0.4, (-opens if pulled else opens) * beyond)
    verdict = judge(objects(opened, there, opens=opens, pulled=pulled))
    assert verdict.reason == reason
    assert verdict.success == (reason.endswith("shut"))


@pytest.mark.parametrize("opened", [0.0, 0.7, math.pi / 2])
def test_the_lever_turns_with_the_leaf(opened: float) -> None:
    """So which side it is on is asked of the leaf as it would be shut."""
    seen = objects(opened, (0.3, 0.8))
    assert angle(seen) == pytest.approx(opened)
    assert summary(seen).endswith("robot 0.8 m before")


def test_what_moves_or_is_missing_is_no_success() -> None:
    done = dict(objects(0.0, (0.4, -0.9)))
    robot = done.pop(ROBOT)
    assert judge(done).reason == "robot is not in the world"
    assert summary(done) == "no door, or no robot that drives"
    moving = WorldObject(name=ROBOT, position=robot.position, speed=0.3)
    assert judge(done | {ROBOT: moving}).reason == "the door or the robot still moves"


@pytest.mark.parametrize("pulled", [False, True])
@pytest.mark.parametrize("opens", [-1.0, 1.0])
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_each_accident_has_its_occasion_once(accident: str, opens: float, pulled: bool) -> None:
    """A robot comes, turns the lever, lets go of it when the door is ajar, and goes through."""
    mission = configured({"accident": accident}, True)
    for seed in range(10):
        plan = mission.disturbances(seed)
        assert plan.pending() == [accident]
        done = story(plan, opens=opens, pulled=pulled)
        assert plan.pending() == []
        kinds = [what.kind for what in done]
        assert kinds == (["fail", "mend"] if accident in (SLIP, LATCHED) else ["push"])
        (where,) = {what.object for what in done}
        on_the_right = (opens > 0) == pulled
        hand = "left_arm_grip" if on_the_right else "right_arm_grip"
        assert where == {SLIP: hand, LATCHED: "door_latch", PUSHED: PANEL, SHOVED: ROBOT}[accident]


def story(plan: DoorAccidents, *, opens: float, pulled: bool) -> list[Disturbance]:
    """What a plan does to a robot that goes through a door within 12 s."""
    done = []
    for step in range(120):
        time = 0.1 * step
        turned = 0.6 if 4.0 < time < 5.5 else 0.0
        ajar = 0.0 if time < 5.0 else 0.45
        robot = (0.3, (opens if pulled else -opens) * (0.5 if time > 2.0 else 1.6))
        what = plan.due(
            Situation(
                time=time,
                skill="",
                phase="",
                objects=objects(ajar, robot, opens=opens, turned=turned, pulled=pulled),
            )
        )
        done += [what] if what is not None else []
    return done


@pytest.mark.parametrize("opens", [-1.0, 1.0])
def test_a_door_is_pushed_towards_where_it_is_shut(opens: float) -> None:
    ajar, more = (objects(at, (0.3, -opens), opens=opens) for at in (0.5, 0.6))
    plan = DoorAccidents(3, PUSHED)
    (push,) = [
        what
        for time in (0.0, 5.0)
        if (what := plan.due(Situation(time=time, skill="", phase="", objects=ajar)))
    ]
    opening = more[PANEL].position - ajar[PANEL].position
    assert push.impulse @ opening < -0.99 * np.linalg.norm(push.impulse) * np.linalg.norm(opening)


def test_an_accident_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="--accident is fire: give one of slip, latch, push"):
        configured({"accident": "fire"}, True)


@pytest.mark.parametrize("name", ["lever_door", "push_door", "pull_door"])
def test_the_tree_for_hinges_on_the_left_is_the_other_one_in_a_mirror(
    name: str, tmp_path: Path
) -> None:
    """It is written by no hand: where this fails, write what is mirrored here to the file."""
    for shared in {"lever_door.xml", f"{name}.xml"}:
        shutil.copy(SUBTREES / shared, tmp_path)
    file = tmp_path / f"{name}.xml"
    text = file.read_text(encoding="utf-8")
    factory = BehaviorTreeFactory()
    register_authoring_nodes(factory)
    register_placeholders(factory, file)
    files = TreeFiles(file, factory)
    for tree in re.findall(r'<BehaviorTree ID="(\w+)"', text):
        mirror(files, tree)
    mirrored = re.sub(
        r'((?:BehaviorTree|SubTree) ID="\w+)Right"', r'\1Left"', files.data[file].decode()
    ).replace('path="lever_door.xml"', 'path="lever_door_left.xml"')
    written = (SUBTREES / f"{name}_left.xml").read_text(encoding="utf-8")
    assert _trees(mirrored) == _trees(written)


def _trees(text: str) -> str:
    """All but the comment at the head, which says which of both it is."""
    return text[text.index("<root") :]
