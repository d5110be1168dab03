# SPDX-License-Identifier: Apache-2.0
"""The screw in closed form, against another one: Rodrigues' formula about a line in space."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_skills.arm.screw_motion import ScrewMotion

coordinate = st.floats(-1.5, 1.5)
vector = st.tuples(coordinate, coordinate, coordinate)


def pose(position, rotvec):
    matrix = np.eye(4)
    matrix[:3, 3] = position
    matrix[:3, :3] = Rotation.from_rotvec(rotvec).as_matrix()
    return matrix


def about_a_line(point, direction, angle, shift, start):
    """Rotation about, and translation along, the line through a point: no frame of the axis."""
    turn = Rotation.from_rotvec(angle * direction).as_matrix()
    moved = np.eye(4)
    moved[:3, :3] = turn @ start[:3, :3]
    moved[:3, 3] = point + turn @ (start[:3, 3] - point) + shift * direction
    return moved


@st.composite
def screws(draw):
    translation, rotation = draw(st.floats(-0.6, 0.6)), draw(st.floats(-6.0, 6.0))
    kind = draw(st.sampled_from(["screw", "pure translation", "pure rotation"]))
    if kind == "pure translation":
        rotation, translation = 0.0, translation or 0.1
    elif kind == "pure rotation":
        translation, rotation = 0.0, rotation or 0.5
    if max(abs(translation), abs(rotation)) < 1e-6:
        rotation = 1.0
    axis = pose(draw(vector), draw(vector))
    start = pose(draw(vector), draw(vector))
    if draw(st.booleans()):  # on the axis: the radius is 0
        start[:3, 3] = axis[:3, 3] + 0.3 * axis[:3, 0]
    speeds = draw(st.floats(0.01, 0.5)), draw(st.floats(0.05, 2.0))
    return ScrewMotion(axis, start, translation, rotation, *speeds)


@pytest.mark.slow
@given(screws(), st.floats(0.0, 1.0))
@settings(max_examples=300, deadline=None)
def test_positions_agree_with_rodrigues_formula(motion, share):
    axis = motion.base_T_axis
    wanted = about_a_line(
        axis[:3, 3],
        axis[:3, 0],
        share * motion.rotation,
        share * motion.translation,
        motion.base_T_start,
    )
    assert np.abs(motion.pose(share) - wanted).max() < 1e-9


@pytest.mark.slow
@given(screws())
@settings(max_examples=100, deadline=None)
def test_no_speed_is_ever_exceeded_and_the_limit_is_reached(motion):
    times = np.linspace(0.0, motion.duration, 400)
    rates = np.array([motion.share(t)[1] for t in times])
    linear, angular = motion.arc * rates.max(), abs(motion.rotation) * rates.max()
    assert linear <= motion.max_linear * (1 + 1e-9)
    assert angular <= motion.max_angular * (1 + 1e-9)
    if motion.segments >= 2:
        used = max(linear / motion.max_linear, angular / motion.max_angular)
        assert used > 0.99


@pytest.mark.slow
@given(screws())
@settings(max_examples=40, deadline=None)
def test_the_rate_is_the_derivative_and_the_waypoints_are_met_in_time(motion):
    assert motion.share(0.0) == (0.0, 0.0)
    assert motion.share(motion.duration) == (1.0, 0.0)
    times = np.linspace(0.0, motion.duration, 2001)
    shares, rates = np.array([motion.share(t) for t in times]).T
    integral = np.concatenate([[0.0], np.cumsum(0.5 * (rates[1:] + rates[:-1]) * np.diff(times))])
    assert np.abs(integral - shares).max() < 1e-5
    k = motion.segments
    for i, time in enumerate(motion.waypoint_times()):
        assert motion.share(time)[0] == pytest.approx(i / k, abs=1e-9)
    assert len(motion.waypoints()) == k + 1


def test_duration_of_the_specification():
    # 60 degrees and 6 cm at a radius of 0.2 m: K = ceil(6 + 1.2) = 8.
    motion = ScrewMotion(
        np.eye(4), pose([0.1, 0.2, 0.0], [0.3, 0, 1]), 0.06, math.radians(60), 0.1, 0.6
    )
    arc = math.hypot(0.2 * math.radians(60), 0.06)
    base = max(math.radians(60) / 0.6, arc / 0.1)
    assert motion.segments == 8
    assert motion.base_duration == pytest.approx(base)
    assert motion.duration == pytest.approx(base + 2 * base / 8)
    assert motion.waypoint_times()[1] == pytest.approx(2 * base / 8)
    assert motion.waypoint_times()[2] == pytest.approx(3 * base / 8)
    assert np.diff(motion.waypoint_times())[-1] == pytest.approx(2 * base / 8)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"translation": 0.0, "rotation": 0.0}, "both 0"),
        ({"max_linear": 0.0}, "above 0"),
        ({"max_angular": -1.0}, "above 0"),
        ({"rotation": math.nan}, "finite"),
        ({"base_T_axis": np.full((4, 4), math.nan)}, "finite"),
    ],
)
def test_wrong_numbers_are_refused(changes, words):
    given = {
        "base_T_axis": np.eye(4),
        "base_T_start": np.eye(4),
        "translation": 0.1,
        "rotation": 0.1,
        "max_linear": 0.1,
        "max_angular": 0.6,
    }
    with pytest.raises(ValueError, match=words):
        ScrewMotion(**{**given, **changes})
