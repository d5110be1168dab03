# SPDX-License-Identifier: Apache-2.0
"""Convex shapes against definitions: sampled surfaces, the collision library, closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_motion import Box, Capsule, Cylinder, Mesh, MotionError, Sphere
from behavior_motion.collision.convex import (
    bounds,
    contains,
    convex_shape,
    gap_above,
    line_interval,
    signed_distance,
    support,
)

CORNERS = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.5], [0.2, 0.2, 0.2]]) - 0.1
SHAPES = [
    Sphere(0.3),
    Box((0.2, 0.4, 0.6)),
    Cylinder(radius=0.2, height=0.5),
    Capsule(radius=0.15, height=0.4),
    Mesh(vertices=CORNERS),
]
sizes = st.floats(-0.8, 0.8, allow_nan=False)
points = st.tuples(sizes, sizes, sizes).map(np.array)
turns = st.tuples(sizes, sizes, sizes).map(lambda v: Rotation.from_rotvec(4 * np.array(v)))


def placed(at, turn=None):
    pose = np.eye(4)
    pose[:3, 3] = at
    if turn is not None:
        pose[:3, :3] = turn.as_matrix()
    return pose


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@given(point=points)
def test_containment_agrees_with_the_sign_of_the_distance(shape, point):
    distance = signed_distance(shape, point[None])[0]
    if abs(distance) > 1e-8:
        assert contains(shape, point[None])[0] == (distance < 0)


@pytest.mark.parametrize("shape", SHAPES[:4], ids=lambda shape: type(shape).__name__)
@given(point=points)
def test_distance_is_that_to_the_nearest_point_of_the_surface(shape, point):
    """A step along the gradient by the distance ends on the surface."""
    distance = signed_distance(shape, point[None])[0]
    step = 1e-6
    gradient = np.array(
        [
            signed_distance(shape, (point + step * axis)[None])[0]
            - signed_distance(shape, (point - step * axis)[None])[0]
            for axis in np.eye(3)
        ]
    ) / (2 * step)
    if abs(np.linalg.norm(gradient) - 1.0) < 1e-6:  # not on an edge of the field
        foot = point - distance * gradient
        assert signed_distance(shape, foot[None])[0] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@given(point=points, turn=turns)
def test_bounds_hold_every_point_of_the_shape_and_touch_it(shape, point, turn):
    pose = placed((0.1, -0.2, 0.3), turn)
    low, high = bounds(shape, pose)
    if contains(shape, point[None])[0]:
        at = pose[:3, :3] @ point + pose[:3, 3]
        assert np.all(at >= low - 1e-9)
        assert np.all(at <= high + 1e-9)
    up = pose[:3, :3].T @ np.array([0, 0, 1.0])
    assert high[2] == pytest.approx(pose[2, 3] + support(shape, up))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@given(origin=points, turn=turns)
@settings(max_examples=60)
def test_a_line_is_inside_exactly_within_its_interval(shape, origin, turn):
    direction = turn.as_matrix()[:, 2]
    interval = line_interval(shape, origin, direction)
    along = np.linspace(-2.0, 2.0, 801)
    inside = contains(shape, origin + along[:, None] * direction)
    if interval is None:
        assert not inside.any()
        return
    sure = (np.abs(along - interval[0]) > 1e-6) & (np.abs(along - interval[1]) > 1e-6)
    expected = (along >= interval[0]) & (along <= interval[1])
    np.testing.assert_array_equal(inside[sure], expected[sure])


def test_corners_of_a_hull_lie_in_it():
    assert contains(SHAPES[4], CORNERS).all()


def test_gap_between_a_ball_and_a_tilted_box():
    tilt = Rotation.from_euler("x", np.pi / 4)
    box = Box((1.0, 0.2, 0.2))
    ball = Sphere(0.1)
    edge = 0.1 * np.sqrt(2.0)
    at = placed((0.0, 0.0, edge + 0.1 + 0.03))
    assert gap_above(ball, at, box, placed((0, 0, 0), tilt)) == pytest.approx(0.03)
    assert gap_above(box, placed((0, 0, edge + 0.1 + 0.02), tilt), ball, np.eye(4)) == (
        pytest.approx(0.02)
    )
    beside = placed((0.0, 0.2, 0.5))
    assert gap_above(ball, beside, box, placed((0, 0, 0), tilt)) is None
    assert gap_above(ball, placed((0, 0, -1.0)), box, np.eye(4)) is None


@pytest.mark.parametrize(
    ("kind", "dimensions", "vertices", "wanted"),
    [
        ("pyramid", [1.0], None, "choose from"),
        ("box", [1.0], None, "3 dimensions"),
        ("sphere", [0.0], None, "radius"),
        ("cylinder", [1.0, float("nan")], None, "radius"),
        ("convex_mesh", [], [[0, 0, 0]], "N >= 4"),
        ("convex_mesh", [], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "no volume"),
        ("convex_mesh", [], [[0, 0, float("inf")]] * 4, "NaN or infinity"),
    ],
)
def test_impossible_shapes_are_refused_with_a_reason(kind, dimensions, vertices, wanted):
    with pytest.raises(MotionError, match=wanted):
        convex_shape(kind, dimensions, vertices)


def test_numbers_come_in_the_order_of_the_messages():
    assert convex_shape("cylinder", [0.5, 0.2]) == Cylinder(radius=0.2, height=0.5)
    assert convex_shape("capsule", [0.5, 0.2]) == Capsule(radius=0.2, height=0.5)
    assert convex_shape("box", [1, 2, 3]) == Box((1, 2, 3))
    assert convex_shape("sphere", [1]) == Sphere(1)
