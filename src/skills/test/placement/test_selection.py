# SPDX-License-Identifier: Apache-2.0
"""Which placement is taken."""

from __future__ import annotations

import numpy as np

from behavior_skills.placement import (
    Reach,
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
