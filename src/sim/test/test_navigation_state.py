# SPDX-License-Identifier: Apache-2.0
"""A navigation world that is put into an observed state, and what a robot's way tells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.localizer import LocalizationStatus
from behavior_sim.navigation.state import NavigationState
from behavior_sim.navigation.system import NavigationSystem
from behavior_sim.navigation.track import Track, TrackRecorder, nearest
from behavior_sim.navigation.world import UnknownName
from behavior_sim.recordings.recording import RecordingError
from behavior_sim.worlds.resources import find_navigation_world
from behavior_sim.worlds.state_file import StateError

STATE = NavigationState(
    robot=(25.5, 8.0, 0.5),
    tile="east",
    obstacles={"seen_1/0": (26.5, 7.5, 26.6, 8.5)},
    frames={"cart": (25.5, 3.2, -1.57)},
)


@pytest.fixture
def system() -> NavigationSystem:
    return NavigationSystem(load_navigation_world(find_navigation_world("warehouse")))


def test_a_state_is_the_same_after_its_file(tmp_path: Path) -> None:
    STATE.save(tmp_path / "state.json")
    assert NavigationState.load(tmp_path / "state.json") == STATE


@pytest.mark.parametrize("text", ["", "{}", '{"robot": [0, 0, 1e999], "tile": "west"}'])
def test_what_is_no_state_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text, encoding="utf-8")
    with pytest.raises(StateError, match="holds no state of the world"):
        NavigationState.load(tmp_path / "state.json")
    with pytest.raises(StateError):
        NavigationState.load(tmp_path / "none.json")


def test_a_world_is_put_into_a_state(system: NavigationSystem) -> None:
    system.step()
    system.reset(3, STATE)
    world = system.world
    assert (world.robot.x, world.robot.y, world.robot.yaw) == STATE.robot
    assert system.estimate.distance_to(25.5, 8.0) < 0.1
    assert system.loader.tile == "east"
    assert not world.solid.is_free(26.55, 8.0, 0.1)
    assert world.frames["cart"].y == 3.2
    assert system.localizer.status is LocalizationStatus.GOOD
    system.reset(3)
    assert system.loader.tile == "west"
    assert world is not system.world


def test_a_robot_that_is_lost_is_lost_in_the_copy(system: NavigationSystem) -> None:
    system.reset(0, STATE.model_copy(update={"located": False}))
    assert system.localizer.status is LocalizationStatus.BAD


@pytest.mark.parametrize("change", [{"tile": "moon"}, {"frames": {"sledge": (0.0, 0.0, 0.0)}}])
def test_what_the_world_has_not_changes_nothing(
    system: NavigationSystem, change: dict[str, object]
) -> None:
    world = system.world
    with pytest.raises(UnknownName):
        system.reset(0, STATE.model_copy(update=change))
    assert system.world is world


def test_what_is_nearest_is_told_by_name(system: NavigationSystem) -> None:
    system.reset(0, STATE)
    gap, name = nearest(system.world)
    assert (gap, name) == (pytest.approx(26.5 - 25.5 - 0.35), "seen_1")
    system.world.people["porter"].pose = system.world.robot
    assert nearest(system.world)[1] == "porter"


def test_a_way_is_kept_and_summed_up(system: NavigationSystem, tmp_path: Path) -> None:
    """Straight on into what stands there."""
    system.reset(0, STATE.model_copy(update={"robot": (25.0, 8.0, 0.0)}))
    recorder = TrackRecorder()
    with pytest.raises(RecordingError):
        recorder.save(tmp_path / "track.npz")
    for _ in range(150):
        system.drive(0.8, 0.0)
        system.step()
        recorder.record(system.now, system.world)
    assert recorder.save(tmp_path / "track.npz") == 150
    motion = Track.load(tmp_path / "track.npz").summary(begin=1.0)
    assert motion.times[0] >= 1.0
    assert motion.tool.shape == (len(motion.times), 3)
    assert motion.mover == "robot"
    assert [touch.name for touch in motion.touched] == ["seen_1"]
    whole = Track.load(tmp_path / "track.npz").summary()
    assert whole.length == pytest.approx(26.5 - 0.35 - 25.0, abs=0.15)


def test_the_nearest_that_is_not_touched_is_the_clearance() -> None:
    track = Track(
        times=np.arange(4.0),
        places=np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]),
        gaps=np.array([0.5, 0.2, 0.01, 0.1]),
        nearest=np.array(["rack", "rack", "crate", "wall"]),
        contacts=np.array([False, False, True, False]),
    )
    motion = track.summary()
    assert motion.length == 3.0
    assert [(touch.name, touch.time, touch.links) for touch in motion.touched] == [
        ("crate", 2.0, ("base",))
    ]
    assert motion.clearance is not None
    assert (motion.clearance.name, motion.clearance.distance) == ("wall", 0.1)
    assert track.summary(begin=5.0).clearance is None


def test_what_is_no_track_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="is no track"):
        Track.load(tmp_path / "none.npz")
