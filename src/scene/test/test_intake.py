# SPDX-License-Identifier: Apache-2.0
"""Whatever detectors send: it is used, or counted with a reason, and nothing ever raises."""

import math
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracking_kit import many, seen

from behavior_scene import (
    Defect,
    Detection,
    Intake,
    IntakeParameters,
    ObjectLibrary,
    Scene,
    Tracker,
    checked_detection,
    library_from_dict,
)

GOOD = {
    "class_id": "cup",
    "stamp": 1.0,
    "confidence": 0.5,
    "position": (0.0, 0.0, 0.0),
    "quaternion": (0.0, 0.0, 0.0, 1.0),
    "world_T_frame": np.eye(4),
}


def covariance(**changes):
    matrix = np.diag([1e-4, 1e-4, 1e-4, 1e-2, 1e-2, 1e-2])
    for place, value in changes.items():
        row, column = (int(digit) for digit in place[1:])
        matrix[row, column] = value
    return matrix.ravel()


# ------------------------------------------------------------------ single detections


@pytest.mark.parametrize(
    ("changes", "defect"),
    [
        ({"position": (0.0, 0.0)}, Defect.NOT_FINITE),
        ({"position": (1e9, 0.0, 0.0)}, Defect.TOO_FAR),
        ({"size": (1e9, 1.0, 1.0)}, Defect.BAD_SIZE),
        ({"world_T_frame": np.full((4, 4), np.nan)}, Defect.UNKNOWN_FRAME),
        ({"covariance": covariance(m00=-1e-4)}, Defect.BAD_COVARIANCE),
        ({"covariance": covariance(m01=1e-4)}, Defect.BAD_COVARIANCE),  # not symmetric
        ({"covariance": covariance(m01=1.0, m10=1.0)}, Defect.BAD_COVARIANCE),  # not definite
        ({"covariance": covariance(m00=math.nan)}, Defect.BAD_COVARIANCE),
        ({"covariance": covariance(m00=1e30)}, Defect.BAD_COVARIANCE),
        ({"covariance": [1.0] * 35}, Defect.BAD_COVARIANCE),
        ({"points": np.zeros((5, 2))}, Defect.BAD_POINTS),
        ({"points": "cloud"}, Defect.BAD_POINTS),
    ],
)
def test_malformed_numbers_are_named(changes, defect):
    assert checked_detection(**{**GOOD, **changes}) is defect


@pytest.mark.parametrize("told", [(), np.zeros(36), [-1.0] + [0.0] * 35, [-1.0] * 36])
def test_unknown_covariance_may_be_told_in_several_ways(told):
    detection = checked_detection(**GOOD, covariance=told)
    assert isinstance(detection, Detection)
    assert detection.covariance == (0.0,) * 36


def test_covariance_turns_with_the_frame_and_rounding_is_forgiven():
    turned = np.eye(4)
    turned[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    told = covariance(m11=4e-4, m01=1e-12)
    detection = checked_detection(**{**GOOD, "world_T_frame": turned}, covariance=told)
    matrix = np.reshape(detection.covariance, (6, 6))
    np.testing.assert_allclose(matrix.diagonal()[:3], (4e-4, 1e-4, 1e-4))
    np.testing.assert_array_equal(matrix, matrix.T)


def test_points_are_kept_in_the_world_without_holes_and_cannot_be_changed():
    moved = np.eye(4)
    moved[0, 3] = 1.0
    detection = checked_detection(
        **{**GOOD, "world_T_frame": moved},
        points=[[0, 0, 1], [math.nan, 0, 0], [0, 2, 0]],
        detector="left",
    )
    np.testing.assert_array_equal(detection.points, [[1, 0, 1], [1, 2, 0]])
    assert detection.detector == "left"
    with pytest.raises(ValueError, match="read-only"):
        detection.points[0, 0] = 5.0


def test_every_defect_explains_what_it_means_and_what_to_do():
    for defect in Defect:
        assert len(defect.explanation) > 40, defect
        assert defect.explanation.endswith("."), defect
    assert len({defect.explanation for defect in Defect}) == len(Defect)


number = st.one_of(
    st.floats(),
    st.sampled_from([0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, math.nan, math.inf]),
    st.integers(-(2**80), 2**80),
    st.none(),
    st.text(string.printable, max_size=3),
)
numbers = st.lists(number, max_size=7)
garbage = st.fixed_dictionaries(
    {},
    optional={
        "class_id": st.text(max_size=5),
        "stamp": number,
        "confidence": number,
        "position": st.one_of(numbers, number, st.tuples(st.floats(), st.floats(), st.floats())),
        "quaternion": st.one_of(numbers, st.tuples(*[st.floats(-1, 1)] * 4)),
        "size": st.one_of(numbers, st.tuples(*[st.floats()] * 3)),
        "covariance": st.one_of(numbers, st.lists(st.floats(), min_size=36, max_size=36)),
        "world_T_frame": st.lists(st.floats(), min_size=16, max_size=16),
        "points": st.one_of(st.none(), numbers, st.lists(numbers, max_size=3)),
    },
)


@pytest.mark.slow
@settings(max_examples=80)
@given(garbage)
def test_garbage_is_a_detection_or_a_defect(changes):
    result = checked_detection(**{**GOOD, **changes})
    assert isinstance(result, (Detection, Defect))
    if isinstance(result, Detection):
        assert np.isfinite(result.world_T_object).all()
        assert np.isfinite(result.covariance).all()
        assert 0.0 <= result.confidence <= 1.0
        assert math.isfinite(result.stamp)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.tuples(garbage, st.floats(-3.0, 3.0), st.sampled_from("ab")), max_size=12))
def test_a_scene_lives_on_garbage(messages):
    scene = Scene(ObjectLibrary(), lambda link, stamp: None)
    for index, (changes, shift, detector) in enumerate(messages):
        now = 100.0 + 0.1 * index
        made = {**GOOD, "stamp": now, **changes}
        scene.update([checked_detection(**made), Defect.NO_CLASS], now + shift, now, detector)
    for index in range(5):  # and afterwards as ever
        now = 200.0 + 0.1 * index
        assert scene.update([seen("cup", (0.5, 0.0, 0.0), now)], now, now)
    cups = [obj for obj in scene.snapshot(now).objects.values() if obj.class_id == "cup"]
    nearest = min(cups, key=lambda cup: abs(cup.world_T_object[0, 3] - 0.5))
    np.testing.assert_allclose(nearest.world_T_object[:3, 3], (0.5, 0, 0), atol=1e-6)
    for track in scene.tracker.tracks.values():
        assert np.isfinite(track.world_T_object).all()
        assert np.isfinite(track.velocity).all()
        assert np.linalg.eigvalsh(track.covariance)[0] > 0.0


# ------------------------------------------------------------------ images


def intake(**parameters):
    library = library_from_dict({"classes": {"cup": {}}})
    return Intake(library, IntakeParameters(**parameters))


def test_each_detector_keeps_its_own_order():
    door = intake()
    assert door.admit([seen("cup", stamp=9.9)], detector="a", stamp=9.9, now=10.0)
    assert door.admit([seen("cup", stamp=9.5)], detector="b", stamp=9.5, now=10.0)
    assert door.admit([seen("cup", stamp=9.6)], detector="a", stamp=9.6, now=10.0) is None
    assert door.admit([seen("cup", stamp=9.6)], detector="b", stamp=9.6, now=10.0)
    assert door.defects == {Defect.FROM_THE_PAST: 1}
    assert "detector 'a' stamped 9.600 at 10.000" in door.examples[Defect.FROM_THE_PAST]


def test_a_clock_that_is_set_back_is_no_defect():
    door = intake()
    assert door.admit([seen("cup", stamp=500.0)], detector="a", stamp=500.0, now=500.0)
    assert door.admit([seen("cup", stamp=1.0)], detector="a", stamp=1.0, now=1.0)
    assert not door.defects


@pytest.mark.parametrize(
    ("stamp", "defect"),
    [
        (10.26, Defect.FROM_THE_FUTURE),
        (7.99, Defect.FROM_THE_PAST),
        (math.nan, Defect.NOT_FINITE),
        (-math.inf, Defect.NOT_FINITE),
    ],
)
def test_images_from_other_times_are_counted_by_their_detections(stamp, defect):
    door = intake()
    two = [seen("cup", stamp=10.0)] * 2
    assert door.admit(two, detector="", stamp=stamp, now=10.0) is None
    assert door.admit([], detector="", stamp=stamp, now=10.0) is None
    assert door.defects == {defect: 3}
    assert door.accepted == 0


@pytest.mark.slow
def test_of_ten_thousand_detections_the_most_confident_are_used():
    rng = np.random.default_rng(3)
    scores = rng.random(10_000)
    places = np.array([(i % 100, i // 100, 0) for i in range(10_000)], dtype=float)
    flood = many(places, 1.0, scores, "cup")
    door = intake(maximum_detections=500)
    usable = door.admit(flood, detector="", stamp=1.0, now=1.0)
    assert len(usable) == 500
    assert min(d.confidence for d in usable) == pytest.approx(np.sort(scores)[-500])
    place = {id(detection): index for index, detection in enumerate(flood)}
    order = [place[id(detection)] for detection in usable]
    assert order == sorted(order)  # as they came
    assert door.defects == {Defect.TOO_MANY: 9500}
    assert "10000 in one image" in door.examples[Defect.TOO_MANY]
    # What they become is bounded too.
    tracker = Tracker(ObjectLibrary())
    for step in range(4):
        shifted = [(0.37 * step + i % 25, i // 25, 0) for i in range(500)]
        tracker.update(many(shifted, 0.1 * step))
    assert len(tracker.tracks) <= tracker.parameters.maximum_tracks


def test_the_memory_of_detectors_is_bounded():
    door = intake()
    for index in range(1000):
        door.admit([], detector=f"camera {index}", stamp=1.0, now=1.0)
    assert door.admit([], detector="camera 999", stamp=0.9, now=1.0) is None
    assert door.admit([], detector="camera 0", stamp=0.9, now=1.0) == []


def test_a_wrong_class_is_told_by_name():
    door = intake()
    assert door.admit([seen("dog", stamp=1.0)], detector="left", stamp=1.0, now=1.0) == []
    assert door.defects == {Defect.UNKNOWN_CLASS: 1}
    assert "class 'dog' by detector 'left'" in door.examples[Defect.UNKNOWN_CLASS]
