# SPDX-License-Identifier: Apache-2.0
"""How much the cameras see of things, against pictures and by construction."""

import mujoco
import numpy as np
import pytest

from behavior_sim.cameras.visibility import Visibility
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world
from behavior_sim.worlds.resources import find_world


def put(simulation: Simulation, name: str, position: np.ndarray) -> None:
    world = simulation.world
    start = world.model.joint(name).qposadr[0]
    world.data.qpos[start : start + 3] = position
    mujoco.mj_forward(world.model, world.data)


def test_what_lies_free_is_seen_whole(simulation: Simulation) -> None:
    parts = Visibility(simulation.world).parts()
    assert parts == pytest.approx(dict.fromkeys(simulation.world.visible_objects, 1.0))


def test_what_is_behind_the_hand_is_hidden(simulation: Simulation) -> None:
    eye = np.array(simulation.config.cameras["camera"].position)
    hand = simulation.world.body_pose("panda_hand")[:3, 3]
    put(simulation, "blue_block", hand + 0.3 * (hand - eye))
    parts = Visibility(simulation.world).parts()
    assert parts["blue_block"] < 0.5
    assert parts["red_block"] == pytest.approx(1.0)


def test_a_block_before_half_of_another_hides_about_half(simulation: Simulation) -> None:
    world = simulation.world
    eye = np.array(simulation.config.cameras["camera"].position)
    far = world.visible_pose("red_block")[:3, 3]
    towards = (eye - far) / np.linalg.norm(eye - far)
    beside = np.cross(towards, [0.0, 0.0, 1.0])
    put(simulation, "blue_block", far + 0.12 * towards + 0.03 * beside)
    assert 0.2 < Visibility(world).parts()["red_block"] < 0.8


def test_the_camera_that_sees_most_counts() -> None:
    """The boards inside the shelf show to the camera before it alone."""
    simulation = Simulation(load_world(find_world("shelf")))
    simulation.advance(100)
    parts = Visibility(simulation.world).parts()
    assert min(parts.values()) > 0.9


def test_a_world_without_cameras_hides_nothing(config: WorldConfig) -> None:
    simulation = Simulation(type(config)(**{**vars(config), "cameras": {}}))
    assert set(Visibility(simulation.world).parts().values()) == {1.0}


def test_the_simulations_detector_does_not_see_through_the_hand(simulation: Simulation) -> None:
    eye = np.array(simulation.config.cameras["camera"].position)
    hand = simulation.world.body_pose("panda_hand")[:3, 3]
    put(simulation, "blue_block", hand + 0.3 * (hand - eye))
    seen: set[str] = set()
    for _ in range(10):
        simulation.take_picture()
    for frame in simulation.detector.due(simulation.time + 1.0):
        seen |= {detection.name for detection in frame.detections}
    assert seen == {"yellow_block", "green_block", "red_block"}
