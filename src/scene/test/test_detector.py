# SPDX-License-Identifier: Apache-2.0
"""Objects from masks and depth: against solids whose place is known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from detector_kit import CAMERA, EYE, cast, hit, look_at, pose
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_scene.detector import (
    Box,
    CameraModel,
    CameraModelError,
    CloudPoints,
    DepthPoints,
    Finder,
    Frame,
    Region,
    Rejection,
    SettingsError,
    TimePairing,
    depth_from_points,
    labels_of_boxes,
    parse_labels,
    parse_settings,
    suppressed,
    visible_area,
    visible_centroid,
)
from behavior_scene.library import ObjectClass, ObjectLibrary, Shape

CUBE = Shape("box", (0.06, 0.06, 0.06))
BRICK = Shape("box", (0.10, 0.05, 0.04))
BALL = Shape("sphere", (0.04,))
CAN = Shape("cylinder", (0.10, 0.03))
LIBRARY = ObjectLibrary(
    {
        name: ObjectClass(name=name, shape=shape)
        for name, shape in {"cube": CUBE, "brick": BRICK, "ball": BALL, "can": CAN}.items()
    },
    accept_unlisted=True,
)
STANDING = {"cube": CUBE, "brick": BRICK, "ball": BALL, "can": CAN}


def find(solids, text="{}", **changes):
    """What a finder makes of solids, each (class, world_T_solid), and the finder."""
    picture = cast([(STANDING[name], at) for name, at in solids])
    frame = {
        "points": DepthPoints(picture.depth, CAMERA),
        "labels": picture.labels,
        "regions": [Region(k + 1, name, 0.9) for k, (name, _) in enumerate(solids)],
        "camera": CAMERA,
        "reference_T_camera": EYE,
    }
    finder = Finder(parse_settings(text, LIBRARY))
    return finder.find(Frame(**{**frame, **changes})), finder


def standing(name, x, y, yaw=0.0):
    return name, pose(x, y, STANDING[name].half_extents[2], yaw)


def turn_between(estimate, truth, period):
    angle = math.atan2(truth[1, 0], truth[0, 0]) - math.atan2(*estimate.pose[[1, 0], 0])
    return abs((angle + period / 2) % period - period / 2)


# -- what is seen of a shape ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("shape", [CUBE, BRICK, BALL, CAN])
@pytest.mark.parametrize("direction", [(1, 0, 0), (0.3, -0.8, 0.5), (-0.2, 0.1, -0.9), (1, 1, 1)])
def test_visible_surface_against_rays(shape, direction):
    """Parallel rays from far away hit as much and on average where the formulas say."""
    direction = np.array(direction, dtype=float) / np.linalg.norm(direction)
    side = np.cross(direction, [0.36, 0.48, 0.8])
    side /= np.linalg.norm(side)
    reach = 0.1
    steps = np.linspace(-reach, reach, 401)
    across, along = (grid.ravel() for grid in np.meshgrid(steps, steps))
    origins = direction + across[:, None] * side + along[:, None] * np.cross(direction, side)
    rays = np.broadcast_to(-direction, origins.shape)
    distance = hit(shape, origins, rays)
    struck = np.isfinite(distance)
    area = struck.sum() * (steps[1] - steps[0]) ** 2
    assert visible_area(shape, direction) == pytest.approx(area, rel=0.02)
    middle = (origins[struck] + distance[struck, None] * rays[struck]).mean(axis=0)
    assert visible_centroid(shape, direction) == pytest.approx(middle, abs=0.0005)


def test_without_its_rim_a_shape_is_nearer():
    direction = np.array([0.6, 0.0, 0.8])
    for shape in (CUBE, BALL, CAN):
        whole = visible_centroid(shape, direction) @ direction
        inner = visible_centroid(shape, direction, 0.7) @ direction
        assert whole < inner <= max(shape.half_extents) * math.sqrt(3)


# -- poses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("yaw", [-1.2, -0.3, 0.0, 0.4, 0.78, 1.5])
def test_poses_of_known_shapes(yaw):
    solids = [
        standing("cube", 0.1, 0.0, yaw),
        standing("brick", 0.25, -0.15, yaw),
        standing("ball", 0.0, -0.2),
        standing("can", 0.1, 0.15),
    ]
    found, finder = find(solids)
    assert not finder.rejected
    for (name, truth), estimate in zip(solids, found, strict=True):
        assert estimate.class_id == name
        assert estimate.pose[:3, 3] == pytest.approx(truth[:3, 3], abs=0.004), name
        assert estimate.visible > 0.9
        deviation = np.sqrt(np.diag(estimate.covariance)[:3])
        assert (np.abs(estimate.pose[:3, 3] - truth[:3, 3]) < 3 * deviation).all(), name
    assert turn_between(found[0], solids[0][1], math.pi / 2) < math.radians(3)
    assert turn_between(found[1], solids[1][1], math.pi) < math.radians(3), "its long side is told"
    assert found[1].size == pytest.approx((0.10, 0.05, 0.04))


def test_middle_of_the_surface_where_asked_or_where_no_shape_is_known():
    solids = [standing("cube", 0.1, 0.0, 0.3)]
    truth = solids[0][1][:3, 3]
    (surface,), _ = find(solids, "default: {center: surface}")
    (unknown,), _ = find(solids, regions=[Region(1, "thing", 0.9)])
    offset = surface.pose[:3, 3] - truth
    sight = (EYE[:3, 3] - truth) / np.linalg.norm(EYE[:3, 3] - truth)
    assert offset @ sight == pytest.approx(0.03, abs=0.008), "towards the camera"
    assert unknown.pose[:3, 3] == pytest.approx(surface.pose[:3, 3])
    along = math.sqrt(sight @ surface.covariance[:3, :3] @ sight)
    assert offset @ sight < 3 * along, "and the covariance says so"
    assert math.isnan(unknown.visible)
    assert unknown.size == pytest.approx((0.06, 0.06, 0.06), abs=0.012)


def test_in_the_cameras_frame_nothing_is_upright():
    solids = [standing("ball", 0.1, 0.0), standing("cube", 0.1, 0.2)]
    found, _ = find(solids, reference_T_camera=None)
    for (_, truth), estimate in zip(solids, found, strict=True):
        in_world = EYE @ estimate.pose
        assert in_world[:3, 3] == pytest.approx(truth[:3, 3], abs=0.008)
        assert estimate.pose[:3, :3] == pytest.approx(np.eye(3))
        assert estimate.covariance[5, 5] > 3.0


def test_no_turn_where_none_is_wanted():
    (estimate,), _ = find([standing("cube", 0.1, 0.0, 0.4)], "cube: {orientation: none}")
    assert estimate.pose[:3, :3] == pytest.approx(np.eye(3))
    assert estimate.covariance[5, 5] > 3.0


@settings(max_examples=25, deadline=None)
@given(st.floats(-0.1, 0.3), st.floats(-0.25, 0.25), st.floats(-3.0, 3.0))
def test_a_cube_anywhere_is_found(x, y, yaw):
    solids = [standing("cube", x, y, yaw)]
    (estimate,), _ = find(solids)
    # A pixel is 5 mm wide here, and along a face seen edge-on the rim of the others has to do.
    assert estimate.pose[:3, 3] == pytest.approx(solids[0][1][:3, 3], abs=0.006)


# -- what is left out -----------------------------------------------------------------------------


def test_hidden_objects_are_told_apart():
    """The middle of half a cube is not that of the cube; that it is half a cube is known."""
    solids = [standing("cube", 0.1, 0.0), standing("can", 0.18, -0.025)]
    found, _ = find(solids, "default: {center: shape}")
    cube = found[0]
    error = np.linalg.norm(cube.pose[:3, 3] - solids[0][1][:3, 3])
    assert cube.visible < 0.75
    assert error > 0.008
    deviations = np.sqrt(np.diag(cube.covariance)[:3])
    assert error < 3 * np.linalg.norm(deviations)
    found, finder = find(solids, "cube: {minimum_visible: 0.8}")
    assert [estimate.class_id for estimate in found] == ["can"]
    assert finder.rejected == {Rejection.HIDDEN: 1}


@pytest.mark.parametrize(
    "other",
    [
        standing("can", 0.18, -0.025),
        standing("ball", 0.17, 0.02),
        ("cube", pose(0.1, 0.0, 0.09, 0.7)),
    ],
    ids=["a can before it", "a ball before it", "a cube upon it"],
)
@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_what_is_seen_of_a_boxs_faces_is_enough(other, yaw):
    """However little is seen of each face, they are where they are."""
    solids = [standing("cube", 0.1, 0.0, yaw), other]
    (cube, *_), _ = find(solids)
    assert cube.visible < 0.85
    assert cube.pose[:3, 3] == pytest.approx(solids[0][1][:3, 3], abs=0.005)
    assert turn_between(cube, solids[0][1], math.pi / 2) < math.radians(6)
    deviations = np.sqrt(np.diag(cube.covariance)[:3])
    assert (np.abs(cube.pose[:3, 3] - solids[0][1][:3, 3]) < 3 * deviations).all()


def test_half_a_ball_is_enough():
    solids = [standing("ball", 0.1, 0.0), standing("can", 0.18, -0.03)]
    (ball, _), _ = find(solids)
    assert ball.visible < 0.8
    assert ball.pose[:3, 3] == pytest.approx(solids[0][1][:3, 3], abs=0.003)


def test_confidence_and_ignored_classes():
    solids = [standing("cube", 0.1, 0.0), standing("ball", 0.1, 0.2)]
    regions = [Region(1, "cube", 0.02), Region(2, "ball", 0.9)]
    found, finder = find(solids, regions=regions)
    assert [estimate.class_id for estimate in found] == ["ball"]
    assert finder.rejected == {Rejection.LOW_CONFIDENCE: 1}
    found, _ = find(solids, "default: {confidence: 0.01}\nball: {ignored: true}", regions=regions)
    assert [(estimate.class_id, estimate.score) for estimate in found] == [("cube", 0.02)]
    found, _ = find(solids, regions=[Region(1, "cube", math.nan), Region(77, "ball", 0.9)])
    assert not found, "no number, and a label that is not in the mask"


def test_the_rim_is_eroded_by_class():
    solids = [standing("cube", 0.1, 0.0), standing("brick", 0.1, 0.2)]
    picture = cast([(STANDING[name], at) for name, at in solids])
    none, _ = find(solids, "default: {erosion_radius: 0, outlier_threshold: 100}")
    assert none[0].points == np.count_nonzero(picture.labels == 1)
    some, _ = find(solids, "default: {outlier_threshold: 100}\ncube: {erosion_radius: 3}")
    grid = np.pad(picture.labels, 3, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(grid, (7, 7))
    whole = (windows == 1).all(axis=(2, 3))
    assert some[0].points == np.count_nonzero(whole)
    assert some[1].points < none[1].points
    gone, finder = find(solids, "cube: {erosion_radius: 20}")
    assert len(gone) == 1
    assert finder.rejected == {Rejection.FEW_POINTS: 1}


def test_a_mask_that_spills_over_is_mended():
    """Background within the mask lies far off, is an outlier, and does not move the object."""
    solids = [standing("cube", 0.1, 0.0, 0.3)]
    picture = cast([(CUBE, solids[0][1])])
    depth = picture.depth.copy()
    rows, columns = np.nonzero(picture.labels)
    depth[rows[::10], columns[::10]] = 3.0
    (mended,), _ = find(solids, points=DepthPoints(depth, CAMERA))
    assert mended.pose[:3, 3] == pytest.approx(solids[0][1][:3, 3], abs=0.004)
    (spoilt,), _ = find(
        solids, "default: {outlier_threshold: 1000}", points=DepthPoints(depth, CAMERA)
    )
    assert np.linalg.norm(spoilt.pose[:3, 3] - solids[0][1][:3, 3]) > 0.1


def test_pixels_of_little_probability_are_left_out():
    solids = [standing("cube", 0.1, 0.0)]
    picture = cast([(CUBE, solids[0][1])])
    probability = np.ones(picture.labels.shape, np.float32)
    probability[:, : int(np.nonzero(picture.labels)[1].mean())] = 0.3
    (all_in,), _ = find(solids, "cube: {mask_threshold: 0.2}", probability=probability)
    (half,), _ = find(solids, "cube: {mask_threshold: 0.6}", probability=probability)
    assert half.points < 0.6 * all_in.points


def test_pixels_without_depth_are_skipped():
    solids = [standing("cube", 0.1, 0.0)]
    picture = cast([(CUBE, solids[0][1])])
    depth = picture.depth.copy()
    depth[::2] = np.nan
    depth[1::4] = np.inf
    (estimate,), _ = find(solids, points=DepthPoints(depth, CAMERA))
    assert estimate.pose[:3, 3] == pytest.approx(solids[0][1][:3, 3], abs=0.006)
    depth[:] = np.nan
    found, finder = find(solids, points=DepthPoints(depth, CAMERA))
    assert not found
    assert finder.rejected == {Rejection.FEW_POINTS: 1}


# -- clouds and cameras ---------------------------------------------------------------------------


def test_cloud_and_depth_agree():
    solids = [standing("cube", 0.1, 0.0, 0.2)]
    picture = cast([(CUBE, solids[0][1])])
    points = DepthPoints(picture.depth, CAMERA)
    rows, columns = (grid.ravel() for grid in np.mgrid[: CAMERA.height, : CAMERA.width])
    xyz = points.at(rows, columns)
    organised = CloudPoints(*xyz.T.reshape(3, CAMERA.height, CAMERA.width))
    shuffled = np.random.default_rng(0).permutation(xyz)
    sparse = DepthPoints(depth_from_points(np.vstack([shuffled, [[np.nan] * 3]]), CAMERA), CAMERA)
    (reference,), _ = find(solids)
    for other in (organised, sparse):
        (estimate,), _ = find(solids, points=other)
        assert estimate.pose == pytest.approx(reference.pose, abs=1e-5)


def test_the_nearest_point_wins():
    points = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 1.0], [9.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    depth = depth_from_points(points, CameraModel(3, 3, 1.0, 1.0, 1.0, 1.0))
    assert depth[1, 1] == 1.0
    assert np.isnan(depth).sum() == 8


def test_calibration():
    k = [500, 0, 320, 0, 510, 240, 0, 0, 1]
    p = [400, 0, 310, 0, 0, 410, 230, 0, 0, 0, 1, 0]
    raw = CameraModel.from_calibration(640, 480, k, [0.0] * 12)
    assert (raw.fx, raw.fy, raw.cx, raw.cy) == (500, 510, 320, 240)
    rectified = CameraModel.from_calibration(640, 480, k, p)
    assert (rectified.fx, rectified.fy, rectified.cx, rectified.cy) == (400, 410, 310, 230)
    for bad in ([0.0] * 9, [math.nan] * 9, [-1.0] * 9):
        with pytest.raises(CameraModelError):
            CameraModel.from_calibration(640, 480, bad, [0.0] * 12)
    for size in ((0, 480), (10**6, 10**6)):
        with pytest.raises(CameraModelError, match="width and height"):
            CameraModel.from_calibration(*size, k, p)


# -- boxes ----------------------------------------------------------------------------------------


def box_of(labels, label, class_id, score=0.9, margin=2):
    rows, columns = np.nonzero(labels == label)
    size = (np.ptp(columns) + 1 + 2 * margin, np.ptp(rows) + 1 + 2 * margin)
    center = ((columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2)
    return Box(label, class_id, score, center, size)


def test_boxes_instead_of_masks():
    solids = [standing("cube", 0.1, 0.0, 0.3), standing("ball", 0.0, -0.2)]
    picture = cast([(STANDING[name], at) for name, at in solids])
    boxes = [box_of(picture.labels, k + 1, name) for k, (name, _) in enumerate(solids)]
    labels = labels_of_boxes(
        boxes, picture.depth, lambda box: math.hypot(*STANDING[box.class_id].half_extents)
    )
    found, _ = find(solids, labels=labels, with_ground=True)
    for (name, truth), estimate in zip(solids, found, strict=True):
        assert estimate.pose[:3, 3] == pytest.approx(truth[:3, 3], abs=0.012), name


def test_boxes_beyond_the_image_leave_no_pixels():
    depth = np.ones((10, 10))
    boxes = [
        Box(1, "a", 0.9, (-50.0, 5.0), (10.0, 10.0)),
        Box(2, "a", 0.9, (9.0, 9.0), (4.0, 4.0)),
        Box(3, "a", 0.9, (math.inf, 5.0), (10.0, 10.0)),
    ]
    labels = labels_of_boxes(boxes, depth, lambda box: 0.1)
    assert set(np.unique(labels)) == {0, 2}
    assert np.count_nonzero(labels) == 9
    assert not labels_of_boxes(boxes, np.full((10, 10), np.nan), lambda box: 0.1).any()
    # Beyond what a place in an image can be: it was taken for a number of a row, and no box of the
    # image was looked at any more.
    far = [Box(4, "a", 0.9, (1e300, 5.0), (8.0, 8.0)), Box(5, "a", 0.9, (5.0, -1e20), (8.0, 8.0))]
    labels = labels_of_boxes([*boxes, *far], depth, lambda box: 0.1)
    assert set(np.unique(labels)) == {0, 2}
    whole = Box(6, "a", 0.9, (5.0, 5.0), (1e300, 1e300))
    assert (labels_of_boxes([whole], depth, lambda box: 0.1) == 6).all()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_box_without_depth_does_not_change_which_one_is_nearer(order):
    depth = np.full((40, 60), 2.0)
    depth[10:30, 20:26] = 1.0
    depth[:, 45:] = np.nan
    near = Box(1, "a", 0.9, (22.5, 19.5), (6.0, 20.0))
    far = Box(2, "b", 0.9, (20.0, 20.0), (40.0, 40.0))
    blind = Box(3, "c", 0.9, (52.0, 20.0), (8.0, 8.0))
    boxes = [[near, far, blind][k] for k in order]
    labels = labels_of_boxes(boxes, depth, lambda box: 3.0)
    assert set(np.unique(labels[10:30, 20:26])) == {1}
    assert 3 not in labels


def test_of_two_classes_of_one_box_the_surer_one_has_the_pixels():
    """Detectors that tell several classes of one box tell the surest one first."""
    boxes = [Box(1, "cup", 0.9, (20.0, 20.0), (9.0, 9.0)), Box(2, "jug", 0.4, (20.0, 20.0), (9, 9))]
    for told in (boxes, boxes[::-1]):
        labels = labels_of_boxes(told, np.ones((40, 40)), lambda box: 0.1)
        assert set(np.unique(labels)) == {0, 1}


def test_no_depth_that_is_told_as_0_is_no_depth_of_a_box():
    depth = np.zeros((40, 40))
    depth[15:20, 10:30] = 1.0
    box = Box(1, "a", 0.9, (20.0, 20.0), (20.0, 20.0))
    assert np.count_nonzero(labels_of_boxes([box], depth, lambda box: 0.1)) == 100


def test_a_turned_box_and_the_nearer_one():
    depth = np.full((40, 40), 2.0)
    depth[:, 20:] = 1.0
    far = Box(1, "a", 0.9, (14.0, 20.0), (20.0, 20.0))
    near = Box(2, "a", 0.9, (26.0, 20.0), (20.0, 20.0))
    labels = labels_of_boxes([near, far], depth, lambda box: 0.1)
    assert set(np.unique(labels[15:25, 20:30])) == {2}
    assert set(np.unique(labels[15:25, 10:20])) == {1}
    turned = Box(1, "a", 0.9, (20.0, 20.0), (10.0, 10.0), math.pi / 4)
    labels = labels_of_boxes([turned], np.ones((40, 40)), lambda box: 0.1)
    assert np.count_nonzero(labels) == pytest.approx(100, abs=15)
    assert labels[20, 26]
    assert not labels[15, 15]


def test_doubles_are_suppressed_by_class():
    first = Box(1, "a", 0.8, (10.0, 10.0), (10.0, 10.0))
    double = Box(2, "a", 0.9, (11.0, 10.0), (10.0, 10.0))
    other = Box(3, "b", 0.1, (10.0, 10.0), (10.0, 10.0))
    apart = Box(4, "a", 0.2, (30.0, 10.0), (10.0, 10.0))
    boxes = [first, double, other, apart]
    assert suppressed(boxes, parse_settings("{}")) == [double, other, apart]
    assert suppressed(boxes, parse_settings("a: {nms_threshold: 0.9}")) == boxes
    assert suppressed([], parse_settings("{}")) == []


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.integers(0, 5),
            st.tuples(st.integers(0, 12), st.integers(0, 12)),
            st.tuples(st.integers(1, 8), st.integers(1, 8)),
        ),
        max_size=12,
    )
)
def test_what_is_suppressed_overlaps_a_surer_box_that_is_not(told):
    """By counting quarters of pixels."""

    def covered(box):
        left, top, right, bottom = (round(2 * edge) for edge in box.corners)
        return set(itertools.product(range(left, right), range(top, bottom)))

    boxes = [
        Box(k + 1, name, 0.1 * score, at, size) for k, (name, score, at, size) in enumerate(told)
    ]
    shown = suppressed(boxes, parse_settings("default: {nms_threshold: 0.3}"))
    ranked = sorted(boxes, key=lambda box: (-box.score, box.label))
    kept = []
    for box in ranked:
        rivals = [covered(other) for other in kept if other.class_id == box.class_id]
        mine = covered(box)
        if all(len(mine & other) / len(mine | other) <= 0.3 for other in rivals):
            kept.append(box)
    assert shown == [box for box in boxes if box in kept]


# -- settings -------------------------------------------------------------------------------------


def test_settings_of_classes_build_on_the_default():
    known = parse_settings("default: {confidence: 0.5}\ncup: {erosion_radius: 4}")
    assert (known.of("cup").confidence, known.of("cup").erosion_radius) == (0.5, 4)
    assert known.of("plate").erosion_radius == 1
    assert parse_settings("").of("plate").confidence == 0.25


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cup: {blur: 1}", r"classes\.cup\.blur: .*known are ignored, confidence"),
        ("cup: {confidence: 2}", r"classes\.cup\.confidence: "),
        ("cup: {confidence: 2}\npot: {minimum_points: 0}", r"cup.*\n.*pot"),
        ("default: 3", r"classes\.default: give a mapping"),
        ("[1, 2]", "give a mapping"),
        ("cup: false", r"classes\.cup: give a mapping"),  # not the same as ignored
        ("[]", "give a mapping"),
        ("{", "no valid YAML"),
    ],
)
def test_wrong_settings_are_refused(text, problem):
    with pytest.raises(SettingsError, match=f"(?s){problem}"):
        parse_settings(text)


def test_labels():
    assert parse_labels("{1: cup, 7: plate}") == {1: "cup", 7: "plate"}
    for bad in ("{0: cup}", "{1: }", "[cup]", "{true: cup}", "{70000: cup}", "{", "[]"):
        with pytest.raises(SettingsError):
            parse_labels(bad)


# -- pairing --------------------------------------------------------------------------------------


def test_pairs_whatever_the_order():
    pairing = TimePairing(["a", "b"], tolerance=0.01)
    assert pairing.add("a", 1.0, "a1") is None
    assert pairing.add("a", 2.0, "a2") is None
    assert pairing.add("b", 2.005, "b2") == {"a": "a2", "b": "b2"}
    assert pairing.dropped == 1
    assert pairing.add("b", 3.0, "b3") is None
    assert pairing.add("a", 3.02, "a3") is None
    assert pairing.add("a", 1.0, "again") is None, "time was set back"
    assert pairing.add("b", 1.0, "again") == {"a": "again", "b": "again"}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), max_size=80))
def test_sets_agree_and_queues_are_bounded(arrivals):
    pairing = TimePairing("abc", tolerance=0.011, capacity=5)
    kept = 0
    for channel, tick in arrivals:
        stamp = tick * 0.01
        made = pairing.add(channel, stamp, stamp)
        if made is not None:
            kept += 3
            assert set(made) == set("abc")
            assert max(abs(value - stamp) for value in made.values()) <= 0.011
    waiting = sum(len(queue) for queue in pairing._queues.values())
    assert all(len(queue) <= 5 for queue in pairing._queues.values())
    assert kept + waiting + pairing.dropped == len(arrivals), "nothing is lost unseen"


def test_look_at_is_rep_103():
    assert np.linalg.det(look_at((1, 0, 1), (0, 0, 0))[:3, :3]) == pytest.approx(1.0)
