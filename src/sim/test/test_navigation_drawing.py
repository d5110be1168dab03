# SPDX-License-Identifier: Apache-2.0
"""Pictures of runs show what was recorded, where it was."""

import numpy as np
import pytest
from PIL import Image

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.drawing import (
    GOAL,
    MODES,
    OBSTACLE,
    PERSON,
    draw_animation,
    draw_picture,
)
from behavior_sim.navigation.path_planner import Mode
from behavior_sim.navigation.recording import (
    Event,
    FrameMoved,
    Goal,
    Moment,
    NavigationRecording,
    Obstacle,
    RouteTaken,
    note,
    value_at,
)
from behavior_sim.worlds.resources import find_navigation_world


@pytest.fixture
def recording() -> NavigationRecording:
    """A drive along the south wall, the second half of it in fallback."""
    made = NavigationRecording(load_navigation_world(find_navigation_world("warehouse")))
    for k in range(101):
        made.moments.append(Moment(0.2 * k, Pose2D(2.0 + 0.12 * k, 1.5), 0.6, ((6.0, 11.0),)))
    made.modes = [(0.0, Mode.NOMINAL), (10.0, Mode.FALLBACK)]
    made.localization = [(0.0, True), (4.0, False), (6.0, True)]
    made.tiles = [(0.0, "west"), (15.0, "east")]
    made.routes = [RouteTaken(0.0, np.array([[2.0, 1.5], [15.0, 1.5]]), ("w00-w10",))]
    made.goals = [Goal("1", Pose2D(14.0, 5.5))]
    made.obstacles = [Obstacle(3.0, (19.0, 1.0, 21.0, 2.0), until=17.0)]
    made.frames = [FrameMoved(5.0, "cart", Pose2D(29.0, 8.0), Pose2D(25.5, 3.0))]
    made.events = [Event(3.0, "a crate", 3.8, 1.5), Event(3.1, "another one", 3.8, 1.5)]
    return made


def count(image: Image.Image, colour: tuple[int, int, int]) -> int:
    pixels = np.asarray(image.convert("RGB"), dtype=int)
    return int((np.abs(pixels - np.array(colour)).max(axis=-1) < 6).sum())


@pytest.mark.slow
def test_the_picture_shows_the_run(recording, tmp_path):
    file = tmp_path / "deep" / "run.png"
    draw_picture(recording, file, title="a run", result="it went well")
    image = Image.open(file)
    assert image.width == 1440
    for colour in (MODES[Mode.NOMINAL], MODES[Mode.FALLBACK], OBSTACLE, GOAL):
        assert count(image, colour) > 100
    scale = (1440 - 80) / 34.0
    bottom = 96 + 26 + scale * 16.0
    crate = image.crop(
        (
            round(40 + 19.1 * scale),
            round(bottom - 1.9 * scale),
            round(40 + 20.9 * scale),
            round(bottom - 1.1 * scale),
        )
    )
    assert count(crate, OBSTACLE) == crate.width * crate.height


@pytest.mark.slow
def test_the_animation_has_a_frame_for_every_moment_shown(recording, tmp_path):
    speed = draw_animation(recording, tmp_path / "run.gif")
    assert speed == pytest.approx(20.0 / 14.0)
    image = Image.open(tmp_path / "run.gif")
    assert 100 <= image.n_frames <= 142
    image.seek(0)
    assert count(image, OBSTACLE) < 60  # the crate is not there yet
    image.seek(image.n_frames // 2)
    assert count(image, OBSTACLE) > 500
    for colour in (PERSON, GOAL):
        assert count(image, colour) > 20
    image.seek(image.n_frames - 1)
    assert count(image, OBSTACLE) < 60  # and was taken away


def test_changes_are_kept_once_and_found_again():
    changes: list[tuple[float, str]] = []
    for time, value in ((1.0, "a"), (2.0, "a"), (3.0, "b")):
        note(changes, time, value)
    assert changes == [(1.0, "a"), (3.0, "b")]
    assert [value_at(changes, t, "none") for t in (0.5, 1.0, 2.9, 3.0)] == ["none", "a", "a", "b"]
