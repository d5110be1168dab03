# SPDX-License-Identifier: Apache-2.0
"""Which pairs are near: all of them, as if each had been measured."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROBOT_FILE, at, take
from scipy.spatial.transform import Rotation

from behavior_motion import Box, Cylinder, EmbeddedPlanner, HeightField, Sphere, load_robot
from behavior_motion.collision.world import CollisionWorld

WITHIN = 0.17


def cluttered(robot: str, seed: int) -> EmbeddedPlanner:
    """A robot among turned things, with one in its hand, over ground with hills."""
    rng = np.random.default_rng(seed)
    planner = EmbeddedPlanner(load_robot(ROBOT_FILE.parent / f"{robot}.yaml"))
    shapes = [Box((0.05, 0.4, 0.1)), Cylinder(0.05, 0.3), Sphere(0.08)]
    for i in range(12):
        pose = at(*rng.uniform([-0.8, -0.8, -0.2], [0.8, 0.8, 1.0]))
        pose[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        planner.scene.add_object(f"thing_{i}", shapes[i % 3], pose)
    hills = HeightField(rng.uniform(0.0, 0.3, (9, 9)), (2.0, 2.0), thickness=0.5)
    planner.scene.add_object("ground", hills, at(0.0, 0.0, -0.6))
    planner.scene.add_object("stick", Box((0.02, 0.02, 0.3)), at(0.3, 0.0, 0.3))
    take(planner, "stick", planner.robot.named["home"], planner.robot.tool_frame)
    return planner


def told(world: CollisionWorld, q: np.ndarray) -> list[tuple[tuple[str, str], float]]:
    return sorted((near.pair, near.distance) for near in world.near(q, WITHIN))


def measured(world: CollisionWorld, q: np.ndarray) -> list[tuple[tuple[str, str], float]]:
    """Every pair measured by itself."""
    world.distance(q)
    of = [(world._owners[a], world._owners[b]) for a, b in world._pairs]
    each = zip(of, (world._pair_distance(k) for k in range(len(of))), strict=True)
    return sorted((pair, d) for pair, d in each if d < WITHIN)


@pytest.mark.parametrize("robot", ["panda", "ur10"])
def test_no_near_pair_is_left_out(robot: str) -> None:
    planner = cluttered(robot, seed=3)
    world = CollisionWorld(planner.robot, planner.scene.snapshot())
    rng = np.random.default_rng(5)
    counts = []
    for _ in range(40):
        q = rng.uniform(planner.robot.lower, planner.robot.upper)
        near, each = told(world, q), measured(world, q)
        assert [pair for pair, _ in near] == [pair for pair, _ in each]
        np.testing.assert_allclose([d for _, d in near], [d for _, d in each], atol=1e-4)
        counts.append(len(near))
    assert max(counts) > 3


def test_what_was_moved_is_near_where_it_is(planner: EmbeddedPlanner) -> None:
    planner.scene.add_object("ball", Sphere(0.05), at(2.0, 0.0, 0.5))
    q = planner.robot.named["home"]
    world = CollisionWorld(planner.robot, planner.scene.snapshot())
    assert "ball" not in {name for near in world.near(q, 0.1) for name in near.pair}
    tool = planner.robot.forward_kinematics(q)
    planner.scene.move_object("ball", at(*tool[:3, 3]))
    world.move_objects(planner.scene.snapshot())
    assert "ball" in {name for near in world.near(q, 0.1) for name in near.pair}


def test_what_is_deep_under_the_ground_is_near_it(planner: EmbeddedPlanner) -> None:
    planner.scene.add_object(
        "ground", HeightField(np.full((5, 5), 0.9), (3.0, 3.0), thickness=0.8), at(0.0, 0.0, 0.0)
    )
    world = CollisionWorld(planner.robot, planner.scene.snapshot())
    found = {near.pair for near in world.near(planner.robot.named["home"], 0.01)}
    assert any("ground" in pair for pair in found)
