# SPDX-License-Identifier: Apache-2.0
"""A varied world is the one that a file with these values would describe."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world
from behavior_sim.worlds.detection import DetectorConfig
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.variation import parse_factors, varied_detector, varied_world
from behavior_sim.worlds.world import World

FACTORS = {"mass": 2.0, "blue_block.size": 0.9, "*_block.friction": 0.5}


def test_factors_multiply_what_the_file_says(config: WorldConfig) -> None:
    varied = varied_world(config, FACTORS)
    for name, item in config.objects.items():
        other = varied.objects[name]
        assert other.mass == 2 * item.mass
        assert other.friction == 0.5 * item.friction
        scale = 0.9 if name == "blue_block" else 1.0
        assert other.size == pytest.approx([scale * edge for edge in item.size])
    assert varied_world(config, {}) == config
    assert varied_world(config, {"dropout": 0.5}) == config


@pytest.mark.slow
def test_a_smooth_object_slides_also_on_what_is_rough(config: WorldConfig) -> None:
    ways = []
    for factors in ({}, {"blue_block.friction": 0.05}):
        world = World(config, 1)
        world.vary(factors)
        world.reset(1)
        world.step(200)
        begin = world.object_pose("blue_block")[:2, 3].copy()
        world.push("blue_block", np.array([0.3 * config.objects["blue_block"].mass, 0.0, 0.0]))
        world.step(300)
        ways.append(float(np.linalg.norm(world.object_pose("blue_block")[:2, 3] - begin)))
    assert ways[1] > 3 * ways[0]


def test_an_object_of_parts_keeps_its_shape() -> None:
    config = load_world(find_world("bin_stacking"))
    name = next(name for name, item in config.objects.items() if item.parts)
    item, other = config.objects[name], varied_world(config, {"size": 1.1}).objects[name]
    for part, piece in item.parts.items():
        assert other.parts[part].size == pytest.approx(1.1 * np.array(piece.size))
        assert other.parts[part].position == pytest.approx(1.1 * np.array(piece.position))


@pytest.mark.slow
@pytest.mark.parametrize("world", ["block_stacking", "bin_stacking", "door"])
def test_a_world_that_is_varied_moves_as_one_that_was_made_so(world: str) -> None:
    config = load_world(find_world(world))
    factors = {"mass": 1.7, "size": 1.05, "friction": 0.6} if config.objects else {}
    made, varied = World(varied_world(config, factors), 3), World(config, 3)
    varied.step(50)
    varied.vary(factors)
    for each in (made, varied):
        each.reset(5)
        each.step(400)
    assert np.array_equal(made.data.qpos, varied.data.qpos)
    assert made.visible_objects.keys() == varied.visible_objects.keys()
    for name, obj in made.visible_objects.items():
        assert obj.size == varied.visible_objects[name].size


@pytest.mark.slow
def test_without_factors_it_is_as_it_was(config: WorldConfig) -> None:
    usual, varied = World(config, 1), World(config, 1)
    varied.vary(FACTORS)
    varied.reset(2)
    varied.step(100)
    varied.vary({})
    for each in (usual, varied):
        each.reset(4, "wrong_tower")
        each.step(300)
    assert np.array_equal(usual.data.qpos, varied.data.qpos)
    assert varied.config == config


def test_the_detector_is_varied_too(config: WorldConfig) -> None:
    simulation = Simulation(config, seed=1)
    simulation.vary({"dropout": 1.0, "size": 1.02})
    simulation.reset(1)
    simulation.advance(100)
    simulation.take_picture()
    simulation.advance(100)
    (frame,) = simulation.detector.due(simulation.time)
    assert frame.detections == ()
    simulation.vary({})
    assert simulation.detector.config == DetectorConfig()
    base = DetectorConfig(latency=0.3)
    assert varied_detector(base, {"dropout": 0.2}) == dataclasses.replace(base, dropout=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factors", "why"),
    [
        ({"weight": 2.0}, "weight is no factor; choose one of size, mass, friction, position_n"),
        ({"blue_block.dropout": 0.1}, "is no factor"),
        ({"red_brick.mass": 2.0}, "has no such object; there are "),
        ({"mass": 0.0}, "mass: 0; give a number above 0"),
        ({"size": float("nan")}, "give a number"),
        ({"dropout": 1.5}, "dropout: 1.5; give a number from 0 to 1"),
        ({"latency": -1.0}, "from 0 to 100"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    factors: dict[str, float], why: str, config: WorldConfig
) -> None:
    simulation = Simulation(config)
    with pytest.raises(WorldError, match=why):
        simulation.vary({"position_noise": 0.5, **factors})
    assert simulation.config == config
    assert simulation.detector.config == DetectorConfig()


@pytest.mark.parametrize("text", ["nonsense", "[1]", '{"mass": "heavy"}', '{"mass": null}', "3"])
def test_what_is_no_mapping_is_refused(text: str) -> None:
    with pytest.raises(WorldError, match="is no JSON mapping"):
        parse_factors(text)
    assert parse_factors("") == {}
