# SPDX-License-Identifier: Apache-2.0
"""Which placement is taken, and what is done with it (P7 and P8 of the facts)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kit import pose, spec

from behavior_skills.placement import (
    CommandKind,
    Placement,
    Reach,
    place_commands,
    select_placement,
)


def reach(ok: list[int], travel: list[float] | None = None, **errors: list[float]) -> Reach:
    n = len(ok)
    return Reach(
        ok=np.array(ok, dtype=bool),
        position_error=np.array(errors.get("position", [0.0] * n)),
        rotation_error=np.array(errors.get("rotation", [0.0] * n)),
        travel=np.array(travel or [1.0] * n),
    )


def test_a_placement_must_be_reached_before_and_at_the_place() -> None:
    place = reach([1, 1, 0, 0], [1, 2, 0, 0])
    assert select_placement(place, reach([0, 1, 1, 0])) == 1


def test_the_single_rule_takes_the_shortest_way() -> None:
    assert select_placement(reach([1, 1, 1], [3.0, 1.0, 2.0])) == 1


def test_no_success_is_no_choice() -> None:
    assert select_placement(reach([0, 0])) is None
    assert select_placement(reach([1, 1]), reach([0, 0])) is None


def test_inexact_poses_come_last_even_if_the_way_is_short() -> None:
    place = reach([1, 1, 1], [5, 4, 1], position=[1, 1, 10])
    assert select_placement(place) == 1


def test_inexact_poses_are_taken_when_nothing_else_is_reached_before() -> None:
    place = reach([1, 1, 1], [5, 4, 1], position=[1, 1, 10])
    assert select_placement(place, reach([0, 0, 1])) == 2


def test_errors_that_leave_nobody_leave_everybody() -> None:
    place = reach([1, 1], [2, 1], position=[0, 2], rotation=[2, 0])
    assert select_placement(place) == 1


PLACEMENT = Placement(pre=pose(0.4, 0, 0.4), place=pose(0.4, 0, 0.2))
FULL: dict[str, Any] = {
    "ignore_substring": ["shelf"],
    "pre_place_hold_vec_weight": [1, 1, 1, 0, 0, 0],
    "post_place_hold_vec_weight": [0, 0, 0, 1, 1, 0],
    "post_place_vector": [0, 0, -0.05],
}


@pytest.mark.parametrize(
    ("keys", "count"),
    [
        ({}, 15),
        ({"hesitate_steps": 5}, 20),
        ({"gripper_change_steps": 3}, 8),
        (FULL, 20),
    ],
)
def test_the_number_of_commands(keys: dict[str, Any], count: int) -> None:
    # The facts count the metric command among the 15.
    assert len(place_commands(spec(**keys), PLACEMENT, "peg")) == count


def test_the_order_of_the_commands() -> None:
    kind = CommandKind
    commands = place_commands(
        spec(**FULL, hesitate_steps=1, gripper_change_steps=2), PLACEMENT, "peg"
    )
    assert [command.kind for command in commands] == [
        *(kind.HOLD, kind.IGNORE, kind.HOLD, kind.CLOSED, kind.HOLD, kind.CLOSED, kind.CLOSED),
        *(kind.OPEN, kind.OPEN, kind.DETACH, kind.IGNORE, kind.IGNORE, kind.OPEN),
    ]
    assert commands[1].ignored == ("shelf",)
    assert commands[2].weights == (1, 1, 1, 0, 0, 0)
    assert commands[4].weights == (0, 0, 0, 1, 1, 0)
    assert commands[-2].ignored == ("peg",)
    assert commands[3].pose is PLACEMENT.pre
    last = commands[-1].pose
    assert last is not None
    assert np.allclose(last[:3, 3], [0.4, 0, 0.15])
