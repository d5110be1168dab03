# SPDX-License-Identifier: Apache-2.0
"""Detectors that tell things twice or mistake their class, clocks that are set, long absence."""

import numpy as np
import pytest
from tracking_kit import at, seen

from behavior_scene import ObjectLibrary, Tracker, library_from_dict
from behavior_scene.detections import Defect
from behavior_scene.tracking.doubles import Reports, same_object

ANY = ObjectLibrary()


def confirmed(tracker):
    return [track for track in tracker.tracks.values() if track.confirmed]


def reports(*places, size=(0.0, 0.0, 0.0), variance=1e-4):
    count = len(places)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, 3] = places
    return Reports(
        poses, np.full(count, variance), np.tile(size, (count, 1)), np.zeros(count, dtype=bool)
    )


def test_reports_of_one_thing_are_as_near_as_their_noise():
    others = reports((0.05, 0, 0), (0.06, 0, 0))
    assert same_object(reports((0, 0, 0)), others).tolist() == [True, False]


def test_boxes_that_overlap_are_one_thing_and_a_ball_in_its_bowl_is_not():
    box = (0.1, 0.1, 0.1)
    beside = reports((0.045, 0, 0), (0.1, 0, 0), size=box, variance=1e-6)
    one = reports((0, 0, 0), size=box, variance=1e-6)
    assert same_object(one, beside).tolist() == [True, False]
    ball = reports((0, 0, 0), size=(0.04, 0.04, 0.04))
    assert not same_object(ball, reports((0, 0, 0), size=(0.2, 0.2, 0.08))).any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_doubled_detections_make_no_ghosts(seed):
    rng, tracker = np.random.default_rng(seed), Tracker(ANY)
    places = [np.array([0.3 * i, 0.0, 0.0]) for i in range(4)]
    for step in range(60):
        image = []
        for place in places:
            found = place + 0.005 * rng.standard_normal(3)
            image.append(seen(at=found, stamp=0.1 * step))
            if rng.random() < 0.5:
                double = found + 0.008 * rng.standard_normal(3)
                image.append(seen(at=double, stamp=0.1 * step, confidence=0.8))
        tracker.update(image)
    assert len(confirmed(tracker)) == 4
    assert tracker.defects[Defect.DOUBLE] > 50
    for place, track in zip(
        places, sorted(confirmed(tracker), key=lambda t: at(t)[0]), strict=True
    ):
        np.testing.assert_allclose(at(track), place, atol=0.015)


@pytest.mark.slow
def test_neighbours_that_touch_stay_two():
    """Two blocks of 5 cm side by side, seen from the first image on."""
    rng, tracker = np.random.default_rng(0), Tracker(ANY)
    for step in range(40):
        tracker.update(
            [
                seen(at=(x, *(0.002 * rng.standard_normal(2))), stamp=0.1 * step, size=(0.05,) * 3)
                for x in (0.0, 0.05)
            ]
        )
    assert len(confirmed(tracker)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_one_thing_is_one_track_though_its_class_flickers(seed):
    rng, tracker = np.random.default_rng(seed), Tracker(ANY)
    for step in range(100):
        for_cup = "can" if rng.random() < 0.2 else "cup"
        for_can = "cup" if rng.random() < 0.2 else "can"
        tracker.update(
            [
                seen(for_cup, 0.005 * rng.standard_normal(3), 0.1 * step),
                seen(for_can, [0.1, 0.0, 0.0] + 0.005 * rng.standard_normal(3), 0.1 * step),
            ]
        )
    cup, can = sorted(confirmed(tracker), key=lambda track: at(track)[0])
    assert (cup.object_class.name, can.object_class.name) == ("cup", "can")


@pytest.mark.slow
def test_the_class_follows_the_evidence_and_the_name_stays():
    tracker = Tracker(ANY)
    for step in range(20):
        tracker.update([seen("cup", stamp=0.1 * step)])
    (name,) = tracker.tracks
    for step in range(20, 60):
        tracker.update([seen("can", stamp=0.1 * step)])
    (track,) = confirmed(tracker)
    assert (track.name, track.object_class.name) == (name, "can")


@pytest.mark.slow
def test_a_thing_of_which_there_is_one_stays_of_its_class():
    library = library_from_dict({"classes": {"red": {"instances": 1}, "blue": {"instances": 1}}})
    rng, tracker = np.random.default_rng(0), Tracker(library)
    for step in range(80):
        stamp, mistaken = 0.1 * step, rng.random(2) < 0.2
        tracker.update(
            [
                seen("blue" if mistaken[0] else "red", (0, 0, 0), stamp),
                seen("red" if mistaken[1] else "blue", (0.1, 0, 0), stamp),
            ]
        )
    assert sorted(tracker.tracks) == ["blue", "red"]
    assert at(tracker.tracks["red"])[0] == pytest.approx(0.0, abs=0.01)
    assert at(tracker.tracks["blue"])[0] == pytest.approx(0.1, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("step_of_clock", [1.0, -1.0, -10.0])
def test_names_survive_a_clock_that_is_set(step_of_clock):
    """Two things pass each other at 10 cm while the clock is set."""
    tracker, names = Tracker(ANY), {}
    for step in range(60):
        time = 0.1 * step
        stamp = 100.0 + time + (step_of_clock if step >= 30 else 0.0)
        x = 0.3 * (time - 3.0)
        tracker.update([seen(at=(x, 0, 0), stamp=stamp), seen(at=(-x, 0.1, 0), stamp=stamp)])
        if step in (25, 59):
            names[step] = {track.name: np.sign(track.velocity[0]) for track in confirmed(tracker)}
    assert len(names[25]) == 2
    assert names[59] == names[25]


@pytest.mark.slow
def test_what_is_hidden_for_eight_seconds_keeps_its_name():
    tracker = Tracker(ANY)
    places = [(0.0, 0, 0), (0.3, 0, 0), (0.6, 0, 0)]
    for step in range(40):
        tracker.update([seen(at=place, stamp=0.1 * step) for place in places])
    before = {track.name: round(at(track)[0], 1) for track in confirmed(tracker)}
    tracker.age(11.9)
    assert not tracker.tracks
    for step in range(120, 150):
        tracker.update([seen(at=place, stamp=0.1 * step) for place in places])
    after = {track.name: round(at(track)[0], 1) for track in confirmed(tracker)}
    assert after == before


@pytest.mark.slow
def test_what_comes_elsewhere_is_something_new():
    tracker = Tracker(ANY)
    for step in range(40):
        tracker.update([seen(stamp=0.1 * step)])
    (name,) = tracker.tracks
    for step in range(120, 150):
        tracker.update([seen(at=(1.0, 0, 0), stamp=0.1 * step)])
    assert [track.name for track in confirmed(tracker)] != [name]


@pytest.mark.parametrize("seed", range(5))
def test_what_lay_on_top_does_not_live_on_in_what_lay_below(seed):
    """The upper one of two bins is gone. Told twice now and then, the lower one fed both tracks."""
    known = {"bin": {"shape": "box", "size": [0.2, 0.3, 0.147], "gate": 0.06, "maximum_speed": 3.0}}
    rng, tracker = np.random.default_rng(seed), Tracker(library_from_dict({"classes": known}))

    def image(step, *places):
        found = np.array(places) + 0.002 * rng.standard_normal((len(places), 3))
        return [seen("bin", place, 0.1 * step, size=(0.2, 0.3, 0.147)) for place in found]

    lower, upper = np.array([1.05, -0.62, -0.592]), (1.05, -0.62, -0.459)
    for step in range(40):
        tracker.update(image(step, lower, upper))
    first = next(track.name for track in confirmed(tracker) if at(track)[2] < -0.5)
    for step in range(40, 150):
        doubled = step > 50 and rng.random() < 0.2
        twice = lower + 0.008 * rng.standard_normal(3)
        tracker.update(image(step, *([lower, twice] if doubled else [lower])))
    assert [track.name for track in confirmed(tracker)] == [first]


def test_what_takes_turns_where_there_is_room_for_one_is_one():
    tracker = Tracker(ANY)
    cup = {"size": (0.08, 0.08, 0.1)}
    for step in range(40):
        tracker.update([seen(at=(x, 0, 0), stamp=0.1 * step, **cup) for x in (0.0, 0.1)])
    first, second = confirmed(tracker)
    for step in range(40, 100):
        # Both are followed to one place; which one is told of depends on noise.
        second.place(first.world_T_object) if step == 40 else None
        tracker.update([seen(at=(0.003 * (-1) ** step, 0, 0), stamp=0.1 * step, **cup)])
    assert [track.name for track in confirmed(tracker)] == [first.name]
