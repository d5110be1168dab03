# SPDX-License-Identifier: Apache-2.0
"""The tree open_door with skills that only keep the books: what it does when something fails."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fake_skills import Skill, run_mission

from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_tree import NodeStatus

SHUT = -math.pi / 2
"""[rad] Yaw of the shut door."""


@dataclass
class Door:
    """A door, a hand, and what happened."""

    angle: float = 0.0
    lever: float = 0.0
    closed: bool = False
    log: list[str] = field(default_factory=list)
    fails: dict[str, int] = field(default_factory=dict)
    """How often each thing that is logged fails."""
    happens: dict[str, Callable[[Door], None]] = field(default_factory=dict)
    """What happens, once, right after something that is logged."""
    now: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def snapshot(self) -> SceneSnapshot:
        things = [
            SeenObject("door_panel", 0.5, 0.0, 0.5, yaw=SHUT + self.angle),
            SeenObject("door_hinge_post", 0.5, 0.2, 0.5, yaw=SHUT),
        ]
        return SceneSnapshot(objects={obj.name: obj for obj in things})

    def do(self, what: str) -> bool:
        """Log it; tell whether it succeeds."""
        self.log.append(what)
        failing = self.fails.get(what, 0)
        self.fails[what] = failing - 1
        if what in self.happens:
            self.happens.pop(what)(self)
        return failing <= 0


class MoveArm(Skill):
    inputs = ("mode", "poses", "named_target", "velocity_scaling", "avoid_collisions")

    def act(self, values: dict[str, Any]) -> bool:
        return self.world.do(values["named_target"] or values["poses"].partition(";")[0])


class MoveGripper(Skill):
    inputs = ("mode", "width")

    def act(self, values: dict[str, Any]) -> bool:
        self.world.closed = values["mode"] == "CLOSE"
        self.set_output("holding", self.world.closed)
        return self.world.do(values["mode"])


class Screw(Skill):
    inputs = (
        *("axis", "preview", "may_touch", "keep_grip"),
        *("max_linear_velocity", "max_angular_velocity"),
        *("position_tolerance", "orientation_tolerance"),
    )
    numbers = ("rotation", "translation", "max_force")

    def act(self, values: dict[str, Any]) -> bool:
        if values["translation"]:
            return self.world.do("out")
        # Both axes are given in the panel's frame; the hinge is on its negative side.
        part = "door" if values["axis"].startswith("door_panel;-") else "lever"
        amount = values["rotation"]
        if values["preview"]:
            reaches = self.world.do(f"try {part}")
            self.set_output("fraction", 1.0 if reaches else 0.5)
            return reaches
        assert self.world.closed, "a screw with an open hand"
        if not self.world.do(f"{part} {'back' if amount < 0 else 'on'}"):
            return False
        if part == "lever":
            self.world.lever += amount
        else:
            assert self.world.lever > 0.4, "the lever must be turned"
            self.world.angle += amount
        return True


def run(door: Door) -> tuple[NodeStatus, float]:
    """Run the mission; its status, and the time that it took [s]."""
    return run_mission("open_door", door, (MoveArm, MoveGripper, Screw))


ONCE = [
    *("OPEN", "door_lever", "door_lever", "try lever", "try door", "CLOSE"),
    *("lever on", "try door", "door on", "lever back", "OPEN", "out", "home"),
]


def test_the_door_is_opened() -> None:
    door = Door()
    status, _ = run(door)
    assert status is NodeStatus.SUCCESS
    assert door.log == ONCE
    assert door.angle > 0.75
    assert abs(door.lever) < 1e-9


def test_a_door_that_is_open_is_left_alone() -> None:
    door = Door(angle=1.0)
    assert run(door)[0] is NodeStatus.SUCCESS
    assert door.log == ["home"]


def test_where_the_arm_cannot_follow_the_lever_is_grasped_the_other_way_up() -> None:
    door = Door(fails={"try door": 1})
    assert run(door)[0] is NodeStatus.SUCCESS
    again = ["OPEN", "out", "home", "door_lever", "door_lever", "try lever", "try door"]
    assert door.log == [*ONCE[:5], *again, *ONCE[5:]]


def test_a_door_that_cannot_be_moved_all_the_way_is_moved_in_two_goes() -> None:
    def cannot(door: Door) -> None:
        door.fails["try door"] = 1

    door = Door(happens={"lever on": cannot})
    assert run(door)[0] is NodeStatus.SUCCESS
    assert door.log == [*ONCE, "home", *ONCE]


def test_a_lever_that_slips_is_let_go_of_and_grasped_again() -> None:
    door = Door(fails={"door on": 1})
    assert run(door)[0] is NodeStatus.SUCCESS
    let_go = ["OPEN", "out"]
    # It goes straight to the next attempt.
    assert door.log[: len(ONCE) - 4 + 2] == [*ONCE[: ONCE.index("door on") + 1], *let_go]
    assert door.log.count("door on") == 2


def test_a_door_that_is_pushed_shut_is_opened_again() -> None:
    def shut(door: Door) -> None:
        door.angle = door.lever = 0.0

    door = Door(happens={"out": shut})
    assert run(door)[0] is NodeStatus.SUCCESS
    assert door.log == [*ONCE, "home", *ONCE]


def test_after_five_attempts_the_mission_fails() -> None:
    door = Door(fails={"lever on": 99})
    status, time = run(door)
    assert status is NodeStatus.FAILURE
    assert door.log.count("lever on") == 5
    assert door.angle == 0.0
    assert time < 60.0
