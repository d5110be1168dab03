# SPDX-License-Identifier: Apache-2.0
"""Every success mode on a scene that meets it and on scenes that just do not (P10, P11)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import box, pose, random_pose

from behavior_skills.interfaces import Array
from behavior_skills.placement import (
    OrientedBox,
    PlacedState,
    containment,
    intersection_over_union,
    placed,
)

BIN = box((0.4, 0.2, 0.1), z=0.05)


def state(
    x: float = 0.0,
    y: float = 0.0,
    z: float = 0.05,
    *,
    size: tuple[float, float, float] = (0.04, 0.04, 0.04),
    container: OrientedBox = BIN,
    height: float = 0.05,
    tool: float = 0.6,
    threshold: float = 0.03,
    success_th: float = 0.0,
    yaw: float = 0.0,
) -> PlacedState:
    return PlacedState(
        object_box=OrientedBox(pose(x, y, z, yaw), np.array(size) / 2),
        container_box=container,
        object_origin=np.array([x, y, z]),
        object_height_in_base=height,
        tool_height_in_base=tool,
        threshold=threshold,
        success_th=success_th,
    )


YES = [
    ("3diou", state()),
    ("3diou", state(z=0.119)),
    ("xybbox", state(x=-0.2 + 0.0151, y=0.0)),
    ("xybbox", state(y=0.1 - 0.0151, z=5.0)),
    ("height", state(height=0.199, tool=0.6)),
    ("left", state(x=-0.2 - 0.0301)),
    ("right", state(x=0.2 + 0.0301)),
    ("left", state(x=-0.2 - 0.0101, threshold=0.01)),
    ("flower", state(success_th=0.005)),
    ("cup", state(z=0.0701 + 0.0)),
    ("contained", state(success_th=0.5)),
    ("contained", state(z=0.0999, success_th=0.5)),
]
NO = [
    ("3diou", state(z=0.1201), "overlap"),
    ("3diou", state(success_th=0.01), "overlap"),
    ("xybbox", state(x=-0.2 + 0.015), "along the container's x"),
    ("xybbox", state(y=0.1 - 0.0149), "along the container's y"),
    ("xybbox", state(container=box((0.03, 0.4, 0.1))), "along the container's x"),
    ("height", state(height=0.2, tool=0.6), "height"),
    ("left", state(x=-0.2 - 0.03), "its x"),
    ("right", state(x=0.2 + 0.03), "its x"),
    ("right", state(x=0.2 + 0.0301, threshold=0.05), "its x"),
    ("flower", state(success_th=0.05), "overlap"),
    ("flower", state(x=0.2, success_th=0.0), "along the container's x"),
    ("cup", state(z=0.07), "lowest point"),
    ("cup", state(z=0.13), "overlap"),
    ("contained", state(x=0.2, success_th=0.5), "50 %"),
]


@pytest.mark.parametrize(("mode", "scene"), YES)
def test_placed(mode: str, scene: PlacedState) -> None:
    assert placed(mode, scene) is None


@pytest.mark.parametrize(("mode", "scene", "why"), NO)
def test_not_placed(mode: str, scene: PlacedState, why: str) -> None:
    problem = placed(mode, scene)
    assert problem is not None
    assert why in problem


def test_boxes_as_they_are_turned_and_boxes_around_them_differ() -> None:
    # The corner of a turned thin plate: the box around it reaches the container, the plate not.
    plate = OrientedBox(pose(0.27, 0.17, 0.05, yaw=-45), np.array([0.14, 0.01, 0.02]))
    scene = PlacedState(plate, BIN, plate.pose[:3, 3], 0.05, 0.6, 0.03, 0.0)
    assert placed("3diou", scene, "aabb") is None
    assert placed("3diou", scene, "obb") is not None


@pytest.mark.parametrize("mode", ["xybbox", "flower"])
def test_beside_a_turned_container_is_not_within_it(mode: str) -> None:
    tray = box((0.4, 0.2, 0.1), yaw=45)
    beside = box((0.05, 0.05, 0.05), x=0.14, y=-0.12)  # in the box around the tray, not over it
    scene = PlacedState(beside, tray, beside.pose[:3, 3], 0.0, 0.6, 0.03, -1.0)
    assert placed(mode, scene) is not None
    assert placed(mode, scene, "aabb") is None  # what the boxes around them say


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(ValueError, match="success_mode 'iou'"):
        placed("iou", state())


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (box(x=0.5), 1 / 3),
        (box(), 1.0),
        (box((0.25, 0.25, 0.25)), 0.015625),
        (box(x=0.9, y=0.9, z=0.9), 0.001 / 1.999),
        (box(yaw=45), 0.8284271247 / 1.1715728753),
        (box(x=1.0), 0.0),
        (box(x=1.0, y=1.0), 0.0),
        (box(x=1.0, y=1.0, z=1.0), 0.0),
        (box(x=1.0, yaw=90), 0.0),
        (box(x=9.0), 0.0),
    ],
)
def test_overlap_of_unit_cubes(second: OrientedBox, expected: float) -> None:
    assert intersection_over_union(box(), second) == pytest.approx(expected, abs=1e-9)


def moved(obj: OrientedBox, by: Array) -> OrientedBox:
    return OrientedBox(by @ obj.pose, obj.half_extents)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_overlap_is_symmetric_bounded_and_does_not_depend_on_the_frame(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = OrientedBox(random_pose(rng), rng.uniform(0.2, 1.0, 3))
    second = OrientedBox(random_pose(rng), rng.uniform(0.2, 1.0, 3))
    by = random_pose(rng)
    overlap = intersection_over_union(first, second)
    assert 0.0 <= overlap <= 1.0
    assert intersection_over_union(second, first) == pytest.approx(overlap, abs=1e-9)
    assert intersection_over_union(moved(first, by), moved(second, by)) == pytest.approx(
        overlap, abs=1e-9
    )
    assert containment(first, second) <= 1.0 + 1e-9


@pytest.mark.slow
def test_overlap_agrees_with_counting_points() -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        first = OrientedBox(random_pose(rng) * 1.0, np.array([0.8, 0.6, 0.5]))
        second = OrientedBox(random_pose(rng), np.array([0.7, 0.9, 0.6]))
        points = first.pose[:3, 3] + rng.uniform(-1, 1, (200_000, 3)) * first.half_extents @ (
            first.pose[:3, :3].T
        )
        local = (points - second.pose[:3, 3]) @ second.pose[:3, :3]
        share = (np.abs(local) <= second.half_extents).all(axis=1).mean()
        deviation = math.sqrt(max(share * (1 - share), 1e-6) / 200_000)
        assert abs(containment(first, second) - share) < 5 * deviation
