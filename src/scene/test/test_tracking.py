# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracking_kit import seen

from behavior_scene import (
    Defect,
    LibraryError,
    Tracker,
    checked_detection,
    library_from_dict,
)

LIBRARY = library_from_dict(
    {
        "classes": {
            "block": {"shape": "box", "size": [0.05] * 3, "instances": 1, "gate": 0.15},
            "ball": {"shape": "sphere", "size": [0.03], "gate": 0.1},
        }
    }
)


@pytest.mark.parametrize(
    ("changes", "defect"),
    [
        ({"class_id": ""}, Defect.NO_CLASS),
        ({"position": (math.nan, 0, 0)}, Defect.NOT_FINITE),
        ({"confidence": math.inf}, Defect.NOT_FINITE),
        ({"quaternion": (0, 0, 0, 0)}, Defect.BAD_QUATERNION),
        ({"quaternion": (0, 0, 0, 1.1)}, Defect.BAD_QUATERNION),
        ({"size": (-1, 1, 1)}, Defect.BAD_SIZE),
    ],
)
def test_malformed_numbers_are_named(changes, defect):
    good = {
        "class_id": "block",
        "stamp": 0.0,
        "confidence": 1.0,
        "position": (0, 0, 0),
        "quaternion": (0, 0, 0, 1),
        "world_T_frame": np.eye(4),
    }
    assert checked_detection(**{**good, **changes}) is defect


def test_detection_is_immutable_and_in_the_world_frame():
    world_T_camera = np.eye(4)
    world_T_camera[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    world_T_camera[:3, 3] = (1, 2, 3)
    covariance = np.diag([1.0, 4.0, 9.0, 0, 0, 0])
    detection = checked_detection(
        class_id="block",
        stamp=1.0,
        confidence=2.0,
        position=(0.5, 0, 0),
        quaternion=(0, 0, 0, 1),
        world_T_frame=world_T_camera,
        covariance=covariance.ravel(),
    )
    np.testing.assert_allclose(detection.world_T_object[:3, 3], (1, 2.5, 3), atol=1e-12)
    np.testing.assert_allclose(
        np.reshape(detection.covariance, (6, 6))[:3, :3].diagonal(), (4, 1, 9)
    )
    assert detection.confidence == 1.0
    with pytest.raises(ValueError, match="read-only"):
        detection.world_T_object[0, 0] = 2.0


def test_single_instance_bears_the_name_of_its_class():
    tracker = Tracker(LIBRARY)
    tracker.update([seen("block")])
    assert list(tracker.tracks) == ["block"]


def test_what_was_never_believed_leaves_its_name_to_the_next():
    tracker = Tracker(LIBRARY)
    tracker.update([seen("ball", (2.0, 0, 0), 0.0)])
    assert list(tracker.tracks) == ["ball_0"], "seen once only"
    tracker.age(10.0)
    for step in range(10):
        tracker.update([seen("ball", (0.0, 0, 0), 10.0 + 0.1 * step)])
    assert list(tracker.tracks) == ["ball_0"]
    tracker.age(60.0)
    tracker.update([seen("ball", (1.0, 0, 0), 60.0)])
    assert list(tracker.tracks) == ["ball_1"], "what was believed keeps its name"


def test_jump_beyond_the_gate_needs_a_second_detection():
    tracker = Tracker(LIBRARY)
    tracker.update([seen("block")])
    assert tracker.update([seen("block", at=(0.5, 0, 0), stamp=0.1)]) == []
    assert tracker.tracks["block"].world_T_object[0, 3] == 0.0
    assert tracker.update([seen("block", at=(0.51, 0, 0), stamp=0.2)])
    assert tracker.tracks["block"].world_T_object[0, 3] == pytest.approx(0.51)


def test_one_false_detection_does_not_move_a_track():
    tracker = Tracker(LIBRARY)
    tracker.update([seen("block")])
    tracker.update([seen("block", at=(0.5, 0, 0), stamp=0.1)])
    tracker.update([seen("block", at=(0.001, 0, 0), stamp=0.2)])
    tracker.update([seen("block", at=(-0.5, 0, 0), stamp=0.3)])
    assert abs(tracker.tracks["block"].world_T_object[0, 3]) < 0.01


@pytest.mark.slow
def test_identity_is_kept_through_a_crossing():
    # In the images before and after they meet each is nearer to where the other was seen last.
    tracker = Tracker(LIBRARY)
    for step in range(21):
        x = 0.055 * (step - 10)
        tracker.update(
            [seen("ball", (x, 0, 0), 0.1 * step), seen("ball", (-x, 0.01, 0), 0.1 * step)]
        )
    assert sorted(tracker.tracks) == ["ball_0", "ball_1"]
    assert tracker.tracks["ball_0"].newest.world_T_object[0, 3] == pytest.approx(0.55)
    assert tracker.tracks["ball_1"].newest.world_T_object[0, 3] == pytest.approx(-0.55)


place = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1))
entry = st.tuples(
    st.sampled_from(["ball", "block", "cup"]), place, st.floats(0, 1), st.sampled_from([0.0, 0.02])
)
image = st.tuples(st.lists(entry, max_size=5), st.floats(-0.2, 0.4), st.sampled_from("ab"))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(image, min_size=1, max_size=10))
def test_replay_gives_identical_tracks_to_the_last_bit(images):
    library = library_from_dict(
        {
            "accept_unlisted": True,
            "classes": {"block": {"instances": 2}, "ball": {"gate": 0.4, "maximum_speed": 5.0}},
        }
    )

    def play():
        tracker, now, told = Tracker(library), 0.0, []
        for entries, step, detector in images:
            now += step
            detections = [
                seen(class_id, at, now, confidence, deviation=deviation, detector=detector)
                for class_id, at, confidence, deviation in entries
            ]
            told.append([t.name for t in tracker.update(detections, stamp=now, detector=detector)])
            for track in tracker.tracks.values():
                told.append([track.name, track.confirmed, track.confidence, track.size])
                told += [
                    array.tobytes()
                    for array in (track.world_T_object, track.velocity, track.covariance)
                ]
        return told

    assert play() == play()


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.lists(place, max_size=6), min_size=1, max_size=6))
def test_no_detection_is_used_twice_and_no_track_has_two(images):
    tracker = Tracker(LIBRARY)
    for index, places in enumerate(images):
        stamp = 0.1 * index
        detections = [seen("ball", at, stamp) for at in places]
        tracks = tracker.update(detections, stamp=stamp)
        assert len({track.name for track in tracks}) == len(tracks) <= len(places)
        newest = [id(t.newest) for t in tracker.tracks.values() if t.newest.stamp == stamp]
        assert len(set(newest)) == len(newest) == len(tracks)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"clases": {}}, "unknown key"),
        ({"classes": {"a": {"shape": "cone", "size": [1]}}}, "shape 'cone' is unknown"),
        ({"classes": {"a": {"shape": "box", "size": [1]}}}, "needs 3 positive lengths"),
        ({"classes": {"a": {"shape": "box", "size": None}}}, "list of numbers"),
        ({"classes": {"a": {"color": [2, 0, 0]}}}, "0..1"),
        ({"classes": {"a": {"gate": -1}}}, "gate: Input should be greater than 0"),
        ({"classes": {"a": {"gaet": 1}}}, "unknown key"),
    ],
)
def test_library_errors_name_the_class_and_key(data, match):
    with pytest.raises(LibraryError, match=match):
        library_from_dict(data, source="file.yaml")
