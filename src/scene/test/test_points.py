# SPDX-License-Identifier: Apache-2.0
"""Colours, clouds as they come, and the compiled counting against plain numpy."""

import colorsys
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from behavior_scene import clouds
from behavior_scene.clouds import points_in_shape
from behavior_scene.clouds.cloud import CloudDefect, Field, MalformedCloudError, cloud_view
from behavior_scene.clouds.color import Hsv, HsvRange, mean_color
from behavior_scene.clouds.points_in_shape import (
    PlacedShape,
    count_points,
    count_points_plainly,
    is_prepared,
    prepare,
)

FIELDS = {"x": Field(0, 7), "y": Field(4, 7), "z": Field(8, 7), "rgb": Field(16, 7)}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    assert prepare(wait=True) == ""
    assert is_prepared()


def packed(*colors):
    return np.array([r << 16 | g << 8 | b for r, g, b in colors], dtype=np.uint32)


def cloud_of(points, colors=None, *, step=32, **changes):
    """A cloud of (rows, columns, 3) points."""
    points = np.asarray(points, dtype=np.float32)
    buffer = np.zeros((*points.shape[:2], step), dtype=np.uint8)
    for axis, name in enumerate("xyz"):
        offset = FIELDS[name].offset
        buffer[..., offset : offset + 4] = (
            np.ascontiguousarray(points[..., axis]).view(np.uint8).reshape(*points.shape[:2], 4)
        )
    fields = dict(FIELDS)
    if colors is None:
        del fields["rgb"]
    else:
        numbers = np.ascontiguousarray(colors, dtype=np.uint32)
        buffer[..., 16:20] = numbers.view(np.uint8).reshape(*points.shape[:2], 4)
    options = {
        "fields": fields,
        "shape": points.shape[:2],
        "point_step": step,
        "row_step": step * points.shape[1],
        "big_endian": False,
        "frame": "camera",
        "stamp": 1.0,
    }
    return cloud_view(buffer.tobytes(), **{**options, **changes})


# -- colours ---------------------------------------------------------------------------------------

channel = st.integers(0, 255)


@given(channel, channel, channel)
def test_mean_of_one_colour_is_that_colour_in_hsv(red, green, blue):
    mean = mean_color(packed((red, green, blue)))
    hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    assert mean.saturation == pytest.approx(saturation)
    assert mean.value == pytest.approx(value)
    if red == green == blue:
        assert math.isnan(mean.hue)
    else:
        apart = (mean.hue - 360 * hue + 180) % 360 - 180
        assert apart == pytest.approx(0.0, abs=1e-6)


def test_hue_is_averaged_round_the_circle_and_grey_points_do_not_count():
    reds = packed((255, 0, 40), (255, 40, 0), (90, 90, 90), (0, 0, 0))
    hue = mean_color(reds).hue
    assert min(hue, 360 - hue) == pytest.approx(0.0, abs=1e-6)
    assert mean_color(packed()) is None
    assert math.isnan(mean_color(packed((255, 0, 0), (0, 255, 255))).hue)


def test_ranges_of_hue_run_through_zero():
    red = HsvRange(hue_min=340, hue_max=20, saturation_min=0.5)
    assert red.contains(Hsv(350, 0.9, 0.5))
    assert red.contains(Hsv(10, 0.9, 0.5))
    assert not red.contains(Hsv(30, 0.9, 0.5))
    assert not red.contains(Hsv(10, 0.4, 0.5))
    assert not red.contains(Hsv(math.nan, 0.9, 0.5))
    assert HsvRange().contains(Hsv(math.nan, 0.0, 0.5))
    assert HsvRange(hue_min=300, hue_max=360).contains(Hsv(0.0, 1, 1))
    with pytest.raises(ValueError, match=r"saturation from 0\.9 to 0\.1"):
        HsvRange(saturation_min=0.9, saturation_max=0.1)
    with pytest.raises(ValueError, match="no angle"):
        HsvRange(hue_min=-5.0)
    with pytest.raises(ValueError, match="value"):
        HsvRange(value_min=math.nan)


# -- clouds ----------------------------------------------------------------------------------------


def test_a_cloud_is_looked_at_without_a_copy_wherever_its_fields_lie():
    buffer = bytearray(3 * 21 + 5)
    fields = {"rgba": Field(1, 6), "z": Field(5, 7), "x": Field(9, 7), "y": Field(17, 7)}
    view = cloud_view(
        buffer,
        fields,
        shape=(1, 3),
        point_step=21,
        row_step=68,
        big_endian=False,
        frame="camera",
        stamp=1.0,
    )
    buffer[21 + 9 : 21 + 13] = np.float32(2.5).tobytes()
    buffer[42 + 1 : 42 + 5] = np.uint32(0x00FF0000).tobytes()
    assert view.x.tolist() == [[0.0, 2.5, 0.0]]
    assert view.rgb.tolist() == [[0, 0, 0xFF0000]]
    ball = PlacedShape(Sphere(1.0), np.eye(4))
    assert count_points(view, [ball]) == count_points_plainly(view, [ball])
    assert count_points(view, [ball])[0].count == 2


def test_clouds_of_doubles_and_finite_points_in_another_frame():
    data = np.array([[1, 2, 3], [np.nan, 0, 0]], dtype=np.float64)
    fields = {name: Field(8 * axis, 8) for axis, name in enumerate("xyz")}
    view = cloud_view(
        data.tobytes(),
        fields,
        shape=(2, 1),
        point_step=24,
        row_step=24,
        big_endian=False,
        frame="camera",
        stamp=1.0,
    )
    assert view.rgb is None
    pose = np.eye(4)
    pose[0, 3] = 10.0
    np.testing.assert_allclose(view.points(pose), [[11, 2, 3]])


@pytest.mark.parametrize(
    ("changes", "defect", "text"),
    [
        ({"big_endian": True}, CloudDefect.BIG_ENDIAN, "little-endian"),
        ({"point_step": 8}, CloudDefect.BAD_FIELDS, "ends beyond"),
        ({"point_step": 0}, CloudDefect.WRONG_SIZE, "row_step"),
        ({"point_step": 40}, CloudDefect.WRONG_SIZE, "row_step 64 is less"),
        ({"row_step": 100}, CloudDefect.WRONG_SIZE, "data has 128 bytes"),
        ({"shape": (0, 2)}, CloudDefect.EMPTY, "no evidence"),
        ({"stamp": 0.0}, CloudDefect.BAD_STAMP, "stamp the cloud"),
        ({"stamp": math.nan}, CloudDefect.BAD_STAMP, "stamp the cloud"),
        ({"frame": ""}, CloudDefect.UNKNOWN_FRAME, "frame_id"),
        ({"fields": {"x": Field(0, 7)}}, CloudDefect.MISSING_FIELDS, "no field y"),
        ({"fields": {**FIELDS, "y": Field(4, 3)}}, CloudDefect.BAD_FIELDS, "FLOAT32"),
    ],
)
def test_malformed_clouds_are_refused_in_words(changes, defect, text):
    with pytest.raises(MalformedCloudError, match=text) as raised:
        cloud_of(np.zeros((2, 2, 3)), **changes)
    assert raised.value.defect is defect


def test_a_cloud_without_a_finite_point_is_no_evidence():
    with pytest.raises(MalformedCloudError) as raised:
        cloud_of(np.full((2, 2, 3), np.nan))
    assert raised.value.defect is CloudDefect.NO_FINITE_POINT


# -- counting --------------------------------------------------------------------------------------

length = st.floats(0.01, 1.0)
number = st.floats(-1.0, 1.0)


@st.composite
def placed_shapes(draw):
    shape = draw(
        st.one_of(
            st.builds(Sphere, length),
            st.builds(Box, st.tuples(length, length, length)),
            st.builds(Cylinder, length, length),
            st.builds(Capsule, length, length),
            st.integers(0, 2**32 - 1).map(
                lambda seed: Mesh(vertices=np.random.default_rng(seed).uniform(-0.5, 0.5, (8, 3)))
            ),
        )
    )
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec([3 * draw(number) for _ in range(3)]).as_matrix()
    pose[:3, 3] = [draw(number) for _ in range(3)]
    return PlacedShape(shape, pose)


def random_cloud(seed, rows, columns):
    """Points about the shapes: some on a raster, to meet surfaces exactly, some not finite."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.5, 1.5, (rows, columns, 3)).astype(np.float32)
    raster = rng.random((rows, columns)) < 0.3
    points[raster] = np.round(points[raster] * 8) / 8
    bad = rng.random(points.shape) < 0.05
    points[bad] = rng.choice([np.nan, np.inf, -np.inf, 1e30], bad.sum())
    points[0, 0] = 0.0
    return cloud_of(points, rng.integers(0, 2**32, (rows, columns), dtype=np.uint32))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    shapes=st.lists(placed_shapes(), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([(1, 1), (1, 3000), (40, 30), (700, 2)]),
)
def test_the_compiled_pass_agrees_with_numpy(shapes, seed, size):
    cloud = random_cloud(seed, *size)
    for fast, plain in zip(
        count_points(cloud, shapes), count_points_plainly(cloud, shapes), strict=True
    ):
        assert fast.count == plain.count
        assert (fast.mean is None) == (plain.mean is None) == (fast.count == 0)
        if fast.mean is not None:
            assert fast.mean.saturation == pytest.approx(plain.mean.saturation)
            assert fast.mean.value == pytest.approx(plain.mean.value)
            apart = (fast.mean.hue - plain.mean.hue + 180) % 360 - 180
            assert math.isnan(apart) or abs(apart) < 1e-3


def test_surfaces_belong_to_shapes_and_any_number_of_shapes_is_counted():
    axis = np.linspace(-1, 1, 201)
    cloud = cloud_of(np.stack([axis, 0 * axis, 0 * axis], axis=1)[None])
    shapes = [PlacedShape(Box((0.5 * (1 + i % 4), 1, 1)), np.eye(4)) for i in range(130)]
    counts = [found.count for found in count_points(cloud, shapes)]
    assert counts == [found.count for found in count_points_plainly(cloud, shapes)]
    assert counts[:4] == [51, 101, 151, 201]
    assert count_points(cloud, []) == []


def test_numpy_counts_and_says_why_where_nothing_can_be_compiled(monkeypatch):
    monkeypatch.delattr(clouds, "points_kernel")
    monkeypatch.setitem(sys.modules, "behavior_scene.clouds.points_kernel", None)
    monkeypatch.setattr(points_in_shape, "_COMPILED", type(points_in_shape._COMPILED)())
    assert "points_kernel" in prepare(wait=True)
    assert not is_prepared()
    assert points_in_shape.problem()
    cloud = cloud_of([[(0, 0, 0), (9, 9, 9)]])
    assert count_points(cloud, [PlacedShape(Sphere(1.0), np.eye(4))])[0].count == 1
