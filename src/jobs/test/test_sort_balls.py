# SPDX-License-Identifier: Apache-2.0
"""The tree sort_balls with skills that only keep the books: balls vanish, slip and come back."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fake_skills import Skill, run_mission
from geometry_msgs.msg import PoseStamped

from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_tree import NodeStatus

TRAYS = {"red_tray": 0.36, "blue_tray": -0.36}
"""Name to y [m]."""


@dataclass
class Table:
    """Balls and trays, and what happened."""

    balls: dict[str, tuple[float, float]] = field(
        default_factory=lambda: {
            f"{color}_ball_{i}": (0.35 + 0.12 * i, 0.08 if color == "red" else -0.08)
            for color in ("red", "blue")
            for i in range(3)
        }
    )
    held: str = ""
    gone: set[str] = field(default_factory=set)
    """Balls that are not seen any more."""
    slips: int = 0
    """How many picks fail."""
    log: list[str] = field(default_factory=list)
    happens: dict[str, Callable[[Table], None]] = field(default_factory=dict)
    """What happens, once, right before something that is logged."""
    now: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def snapshot(self) -> SceneSnapshot:
        things = [
            SeenObject(name, 0.45, y, 0.025, size=(0.26, 0.18, 0.05), class_id=name)
            for name, y in TRAYS.items()
        ]
        things += [
            SeenObject(
                *(name, x, y, 0.3 if name == self.held else 0.025),
                size=(0.05,) * 3,
                class_id=name[:-2],
                held=name == self.held,
            )
            for name, (x, y) in self.balls.items()
            if name not in self.gone
        ]
        return SceneSnapshot(objects={obj.name: obj for obj in things})

    def do(self, what: str) -> None:
        if what in self.happens:
            self.happens.pop(what)(self)
        self.log.append(what)

    @property
    def sorted(self) -> set[str]:
        return {
            name
            for name, (_, y) in self.balls.items()
            if y == TRAYS[f"{name.partition('_')[0]}_tray"]
        }


class Pick(Skill):
    inputs = ("object_name",)
    numbers = ("lift_height",)

    def act(self, values: dict[str, Any]) -> bool:
        table, name = self.world, values["object_name"]
        assert not table.held
        table.now += 3.0
        table.do(f"pick {name}")
        if name in table.gone or table.slips > 0:
            table.slips -= 1
            return False
        table.held = name
        return True


class MoveArm(Skill):
    inputs = ("mode", "named_target")
    typed: ClassVar[dict[str, Any]] = {"poses": list[PoseStamped]}

    def act(self, values: dict[str, Any]) -> bool:
        self.world.do("home" if values["named_target"] else f"carry {self.world.held}")
        return True


class MoveGripper(Skill):
    inputs = ("mode", "width")

    def act(self, values: dict[str, Any]) -> bool:
        table = self.world
        if table.held:
            table.balls[table.held] = (0.45, TRAYS[f"{table.held.partition('_')[0]}_tray"])
        table.held = ""
        return True


class Place(Skill):
    """Not used here, but the subtrees' file names it."""

    inputs = ("object_name", "target", "any_yaw")


def run(table: Table) -> tuple[NodeStatus, float]:
    return run_mission("sort_balls", table, (Pick, MoveArm, MoveGripper, Place), limit=300.0)


def test_all_balls_are_sorted_one_after_the_other() -> None:
    table = Table()
    assert run(table)[0] is NodeStatus.SUCCESS
    assert table.sorted == set(table.balls)
    assert len(table.log) == 13
    assert table.log[-1] == "home"


def test_a_ball_that_is_taken_away_is_left_and_fetched_when_it_is_back() -> None:
    table = Table()

    def take(table: Table) -> None:
        table.gone.add("red_ball_0")

    def give_back(table: Table) -> None:
        table.gone.clear()
        table.balls["red_ball_0"] = (0.6, 0.0)

    table.happens = {"pick red_ball_0": take, "carry blue_ball_2": give_back}
    assert run(table)[0] is NodeStatus.SUCCESS
    assert table.sorted == set(table.balls)
    assert table.log.count("pick red_ball_0") == 2


def test_a_ball_that_stays_away_is_waited_for_and_then_given_up() -> None:
    table = Table()
    table.happens = {"pick red_ball_0": lambda table: table.gone.add("red_ball_0")}
    status, time = run(table)
    assert status is NodeStatus.SUCCESS
    assert table.sorted == set(table.balls) - {"red_ball_0"}
    assert table.log[-1] == "home"
    assert 6 * 3.0 + 8.0 <= time < 6 * 3.0 + 12.0


def test_a_ball_that_is_lost_on_the_way_is_fetched_again() -> None:
    table = Table()
    table.happens = {"carry red_ball_1": lambda table: setattr(table, "held", "")}
    assert run(table)[0] is NodeStatus.SUCCESS
    assert table.sorted == set(table.balls)
    assert table.log.count("pick red_ball_1") == 2


def test_after_a_ball_that_slips_another_one_comes_first() -> None:
    table = Table(slips=1)
    assert run(table)[0] is NodeStatus.SUCCESS
    assert table.log.count(table.log[0]) == 2
    assert table.log[1] != table.log[0]


def test_picks_that_never_work_end_the_mission() -> None:
    hopeless = Table(slips=99)
    assert run(hopeless)[0] is NodeStatus.FAILURE
    assert len(hopeless.log) == 5
