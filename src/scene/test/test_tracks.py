# SPDX-License-Identifier: Apache-2.0
"""How tracks begin, are believed, are kept while they are hidden, and are forgotten."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tracking_kit import at, seen

from behavior_scene import (
    Defect,
    ObjectLibrary,
    Tracker,
    TrackerParameterError,
    TrackerParameters,
    library_from_dict,
)
from behavior_scene.tracking.history import History

ANY = ObjectLibrary()


def followed(tracker, path, stamps, **kwargs):
    """Show one thing at `path(t)` at each of the times."""
    for stamp in stamps:
        tracker.update([seen(at=path(stamp), stamp=stamp, **kwargs)], stamp=stamp)
    return list(tracker.tracks.values())


def resting(_stamp):
    return (0.0, 0.0, 0.0)


def times(start, stop, rate=10.0):
    return [start + index / rate for index in range(round((stop - start) * rate))]


# ------------------------------------------------------------------ history


def test_history_forgets_what_is_old_except_the_newest():
    history = History()
    for stamp in (1.0, 3.0, 2.0):
        history.add(stamp, 0.5)
    history.age(2.0)  # exactly as old as allowed
    assert len(history) == 2
    assert history.frequency(4.0) == 1.0
    history.age(10.0)
    assert len(history) == 1
    assert history.frequency(13.0) == 0.1
    history.clear()
    assert (len(history), history.frequency(1.0), history.mean_confidence) == (0, 0.0, 0.0)


# ------------------------------------------------------------------ lifecycle


def track_of(frequency, confidence=0.9, **parameters):
    rules = {"stability_evidence": 0.0, "minimum_history": 2, **parameters}
    tracker = Tracker(ANY, TrackerParameters(stability_frequency=frequency, **rules))
    followed(tracker, resting, [0.0, 0.25, 0.5], confidence=confidence)
    (track,) = tracker.tracks.values()
    return track


def test_stable_means_more_often_than_the_frequency_not_as_often():
    track = track_of(4.0)  # 3 detections since 0
    assert track.stable(0.74)
    assert not track.stable(0.75)  # exactly 4 Hz
    assert not track.stable(0.76)


def test_stable_means_surer_than_the_acceptance_not_as_sure():
    assert track_of(1.0, 0.5, acceptance_confidence=0.49).stable(0.5)
    assert not track_of(1.0, 0.5, acceptance_confidence=0.5).stable(0.5)


def test_stable_means_enough_detections_and_evidence():
    assert track_of(1.0, minimum_history=3).stable(0.5)
    assert not track_of(1.0, minimum_history=4).stable(0.5)
    track = track_of(1.0)
    track.parameters = replace(track.parameters, stability_evidence=track.evidence)
    assert track.stable(0.5)
    track.parameters = replace(track.parameters, stability_evidence=track.evidence + 1e-6)
    assert not track.stable(0.5)


def test_what_is_not_stable_is_forgotten_beyond_the_history_duration():
    tracker = Tracker(ANY, TrackerParameters(history_duration=2.0))
    tracker.update([seen(stamp=1.0)])
    tracker.age(3.0)
    assert list(tracker.tracks) == ["thing_0"]
    tracker.age(3.0 + 1e-6)
    assert not tracker.tracks


@pytest.mark.slow
def test_what_was_stable_coasts_and_is_forgotten_then():
    tracker = Tracker(ANY, TrackerParameters(coasting_duration=5.0))
    followed(tracker, resting, times(0.0, 3.1))
    newest = tracker.tracks["thing_0"].newest.stamp
    assert tracker.tracks["thing_0"].valid
    tracker.age(newest + 5.0)
    assert tracker.tracks["thing_0"].confirmed
    tracker.age(newest + 5.0 + 1e-6)
    assert not tracker.tracks


def test_valid_is_judged_once():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(0.0, 2.2))
    followed(tracker, resting, [3.5, 5.0, 6.5])  # much too seldom to be stable
    (track,) = tracker.tracks.values()
    assert track.valid
    assert not track.stable(6.5)


def test_instances_of_a_known_number_are_never_forgotten():
    library = library_from_dict({"classes": {"thing": {"instances": 1}}})
    tracker = Tracker(library)
    tracker.update([seen(stamp=0.0)])
    tracker.age(1000.0)
    assert tracker.tracks["thing"].confirmed


def test_an_image_without_detections_lets_time_pass():
    tracker = Tracker(ANY)
    tracker.update([seen(stamp=0.0)])
    tracker.update([], stamp=2.1)
    assert not tracker.tracks


# ------------------------------------------------------------------ parameters


def test_the_filters_parameter_is_a_time_constant():
    assert TrackerParameters().time_constant == pytest.approx(0.1 / math.log(2.0))
    assert TrackerParameters(nominal_rate=30.0).time_constant == pytest.approx(
        TrackerParameters().time_constant / 3.0
    )
    assert TrackerParameters(pose_filter_alpha=1.0).time_constant < 0.01


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"pose_filter_alpha": 0.0}, "pose_filter_alpha is 0.0: give a number above 0"),
        ({"history_duration": math.nan}, "history_duration is nan: give a positive time"),
        ({"minimum_history": 2.5}, "minimum_history is 2.5: give a whole number"),
        ({"minimum_history": True}, "minimum_history is True"),
        ({"stability_frequency": "fast"}, "stability_frequency is 'fast'"),
        ({"maximum_tracks": 0}, "maximum_tracks is 0"),
        ({"alpha": 0.5}, r"unknown parameters \['alpha'\]; choose from \['pose_filter_alpha'"),
    ],
)
def test_wrong_parameters_are_named_and_change_nothing(changes, text):
    tracker = Tracker(ANY)
    before = tracker.parameters
    with pytest.raises(TrackerParameterError, match=text):
        tracker.configure({"acceptance_confidence": 0.7, **changes})
    assert tracker.parameters is before


def test_all_wrong_parameters_are_told_at_once():
    with pytest.raises(TrackerParameterError, match=r"nominal_rate .*; coasting_duration "):
        TrackerParameters(nominal_rate=-1.0, coasting_duration=-1.0)


def test_parameters_hold_for_tracks_that_begin_afterwards():
    tracker = Tracker(ANY)
    tracker.update([seen(at=(0, 0, 0))])
    tracker.configure({"history_duration": 0.5, "minimum_history": 4.0})
    tracker.update([seen(at=(3, 0, 0), stamp=0.1)])
    old, new = tracker.tracks.values()
    assert (old.parameters.history_duration, new.parameters.history_duration) == (2.0, 0.5)
    assert new.parameters.minimum_history == 4
    tracker.age(1.0)
    assert list(tracker.tracks) == ["thing_0"]


def test_a_class_may_have_its_own_rules():
    library = library_from_dict(
        {"classes": {"ball": {"acceptance_confidence": 0.05, "time_constant": 0.4}, "cup": {}}}
    )
    tracker = Tracker(library)
    tracker.update([seen("ball", (0, 0, 0), 0.0, 0.1), seen("cup", (1, 0, 0), 0.0, 0.1)])
    assert list(tracker.tracks) == ["ball_0"]
    assert tracker.tracks["ball_0"].constants.time_constant == 0.4
    assert tracker.defects == {Defect.LOW_CONFIDENCE: 1}


# ------------------------------------------------------------------ unsure detections


@pytest.mark.slow
def test_unsure_detections_continue_a_stable_track_but_start_none():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(0.0, 1.0))
    followed(tracker, resting, times(1.0, 5.0), confidence=0.03)
    (track,) = tracker.tracks.values()
    assert track.newest.stamp == pytest.approx(4.9)
    assert not tracker.defects[Defect.LOW_CONFIDENCE]
    tracker.update([seen(at=(2, 0, 0), stamp=5.0, confidence=0.2)])
    tracker.update([seen(stamp=5.1, confidence=0.019)])
    assert list(tracker.tracks) == [track.name]
    assert tracker.defects[Defect.LOW_CONFIDENCE] == 2


def test_unsure_detections_do_not_pull_at_a_track_that_is_seen_well():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(0.0, 1.0))
    tracker.update(
        [seen(at=(0.001, 0, 0), stamp=1.0, confidence=0.1), seen(stamp=1.0, confidence=0.9)]
    )
    assert tracker.tracks["thing_0"].newest.confidence == 0.9
    # Nor do they move it where neither rest nor motion would have led it.
    tracker.update([seen(at=(0.14, 0, 0), stamp=1.1, confidence=0.1)])
    assert tracker.tracks["thing_0"].newest.stamp == 1.0


# ------------------------------------------------------------------ identity


def hidden_walk(gap, speed=0.4):
    """A thing that walks, is hidden for a time, and walks on."""
    tracker = Tracker(ANY)

    def path(stamp):
        return (speed * stamp, 0.0, 0.0)

    followed(tracker, path, [*times(0.0, 2.0), *times(2.0 + gap, 4.0 + gap)])
    return [name for name, track in tracker.tracks.items() if track.confirmed]


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.3, 1.0, 2.0, 3.0])
def test_identity_is_kept_through_occlusion(gap):
    assert hidden_walk(gap) == ["thing_0"]


@pytest.mark.slow
def test_what_was_pushed_keeps_its_identity_when_the_new_place_is_confirmed():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(0.0, 2.5))
    followed(tracker, lambda _: (0.3, 0.0, 0.0), times(2.5, 3.5))
    assert list(tracker.tracks) == ["thing_0"]
    np.testing.assert_allclose(at(tracker.tracks["thing_0"]), (0.3, 0, 0), atol=1e-3)


@pytest.mark.slow
def test_a_thing_of_another_place_and_time_is_another_thing():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(0.0, 2.5))
    followed(tracker, lambda _: (3.0, 0.0, 0.0), times(2.5, 3.5))
    assert sorted(tracker.tracks) == ["thing_0", "thing_1"]


@pytest.mark.slow
def test_two_that_pass_each_other_keep_their_identities():
    tracker = Tracker(ANY)
    for stamp in times(0.0, 4.0):
        x = 0.4 * (stamp - 2.0)
        pair = [seen(at=(x, 0, 0), stamp=stamp), seen(at=(-x, 0.03, 0), stamp=stamp)]
        tracker.update(pair[:: 1 if int(10 * stamp) % 2 else -1])
    assert len(tracker.tracks) == 2
    ends = sorted((at(t)[0], t.velocity[0]) for t in tracker.tracks.values())
    assert ends[0][0] < -0.7 < 0.7 < ends[1][0]
    for x, speed in ends:
        assert speed == pytest.approx(math.copysign(0.4, x), abs=0.05)


def test_size_and_orientation_tell_apart_what_position_cannot():
    library = library_from_dict({"classes": {"thing": {"compare_orientation": True}}})
    upright, lying = (0, 0, 0, 1), (0, math.sqrt(0.5), 0, math.sqrt(0.5))
    small, large = (0.05, 0.05, 0.1), (0.1, 0.1, 0.2)
    for cue in ({"size": (small, large)}, {"turn": (upright, lying)}):
        ((name, values),) = cue.items()
        tracker = Tracker(library)
        for stamp in times(0.0, 1.0):
            tracker.update(
                [
                    seen(at=(0, 0, 0), stamp=stamp, **{name: values[0]}),
                    seen(at=(0.02, 0, 0), stamp=stamp, **{name: values[1]}),
                ]
            )
        # Both in the middle now: only the cue is left.
        tracker.update(
            [
                seen(at=(0.0105, 0, 0), stamp=1.0, **{name: values[0]}),
                seen(at=(0.0095, 0, 0), stamp=1.0, **{name: values[1]}),
            ]
        )
        first, second = tracker.tracks.values()
        assert at(first)[0] < at(second)[0]
        for track, value in zip((first, second), values, strict=True):
            wanted = seen(**{name: value})
            assert track.newest.size == wanted.size
            np.testing.assert_allclose(
                track.newest.world_T_object[:3, :3], wanted.world_T_object[:3, :3], atol=1e-9
            )


# ------------------------------------------------------------------ several detectors, late images


@pytest.mark.slow
def test_two_detectors_follow_one_thing_as_one_track():
    tracker = Tracker(ANY)
    for stamp in times(0.0, 3.0, 20.0):
        one = seen(at=(0.2 * stamp, 0, 0), stamp=stamp, detector="left")
        tracker.update([one], stamp=stamp, detector="left")
        if stamp > 0.3:
            late = stamp - 0.2
            other = seen(at=(0.2 * late, 0.002, 0), stamp=late, detector="right")
            tracker.update([other], stamp=late, detector="right")
    (track,) = tracker.tracks.values()
    assert track.detectors == {"left", "right"}
    assert track.newest.detector == "left"
    np.testing.assert_allclose(at(track), (0.2 * 2.95, 0.001, 0), atol=0.004)
    assert track.velocity[0] == pytest.approx(0.2, abs=0.03)


@pytest.mark.slow
def test_a_clock_that_is_set_back_starts_the_history_anew():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(100.0, 103.0))
    followed(tracker, resting, times(1.0, 4.0))
    (track,) = tracker.tracks.values()
    assert track.newest.stamp == pytest.approx(3.9)
    assert track.confirmed
    assert track.time == pytest.approx(3.9)


def test_a_class_called_like_a_number_of_another_has_its_name_alone():
    library = library_from_dict({"classes": {"a_0": {"instances": 1}, "a": {}}})
    tracker = Tracker(library)
    for stamp in times(0.0, 1.0):
        single = seen("a_0", at=(0.0, 0.0, 0.0), stamp=stamp)
        tracker.update([single, seen("a", at=(1.0, 0.0, 0.0), stamp=stamp)], stamp=stamp)
    assert {t.name: t.object_class.name for t in tracker.tracks.values()} == {
        "a_0": "a_0",
        "a_1": "a",
    }


def test_the_number_of_tracks_is_bounded():
    tracker = Tracker(ANY, TrackerParameters(maximum_tracks=3))
    tracker.update([seen(at=(index, 0, 0)) for index in range(5)])
    assert len(tracker.tracks) == 3
    assert tracker.defects == {Defect.TOO_MANY: 2}


# ------------------------------------------------------------------ placed and restarted


def test_a_placed_object_rests_where_it_was_placed():
    tracker = Tracker(ANY)
    followed(tracker, lambda t: (0.5 * t, 0, 0), times(0.0, 1.0))
    (track,) = tracker.tracks.values()
    pose = np.eye(4)
    pose[:3, 3] = (1.0, 2.0, 3.0)
    track.place(pose)
    np.testing.assert_array_equal(track.world_T_object, pose)
    assert not track.velocity.any()
    assert np.linalg.eigvalsh(track.covariance)[0] > 0.0


@pytest.mark.parametrize(
    "rate", [5.0, 10.0, *(pytest.param(rate, marks=pytest.mark.slow) for rate in (30.0, 60.0))]
)
def test_a_moving_thing_is_found_where_it_is_at_every_rate(rate):
    tracker = Tracker(ANY)
    (track,) = followed(tracker, lambda t: (0.5 * t, 0.1, 0.0), times(0.0, 3.0, rate))
    newest = track.newest.stamp
    np.testing.assert_allclose(at(track), (0.5 * newest, 0.1, 0.0), atol=2e-3)
    np.testing.assert_allclose(track.velocity, (0.5, 0, 0), atol=0.02)


def test_single_detections_older_than_their_image_set_no_clock_back():
    tracker = Tracker(ANY)
    for stamp in times(1.0, 3.0):
        tracker.update([seen("thing", stamp=stamp, detector="d")], stamp=stamp, detector="d")
        late = seen("other", at=(1, 0, 0), stamp=stamp - 0.1, detector="d")
        tracker.update([late], stamp=stamp + 0.05, detector="d")
    thing = next(t for t in tracker.tracks.values() if t.object_class.name == "thing")
    assert thing.newest.stamp == stamp


def test_a_thing_that_was_missed_often_is_not_dropped_when_it_is_there_again():
    tracker = Tracker(ANY)
    followed(tracker, resting, times(0.0, 0.05, 60.0))  # confirmed at once, missed from then on
    assert tracker.tracks["thing_0"].confirmed
    for stamp in times(0.05, 3.0, 60.0):
        tracker.update([], stamp=stamp)
    assert not tracker.tracks
    known = []
    for stamp in times(3.0, 4.0, 60.0):
        followed(tracker, resting, [stamp])
        known.append([track.name for track in tracker.tracks.values() if track.confirmed])
    first = known.index(["thing_0"])
    assert known[first:] == [["thing_0"]] * len(known[first:])
