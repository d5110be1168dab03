# SPDX-License-Identifier: Apache-2.0
"""The door's mechanism, moved by torques on its joints: what the lever does, and what it stops."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.world import InvalidDisturbance, UnknownObject, World


class Door:
    """The world of the door, with torques on lever and hinge."""

    def __init__(self, **changes: Any) -> None:
        config = load_world(find_world("door"))
        changed = dataclasses.replace(config.doors["door"], **changes)
        self.world = World(dataclasses.replace(config, doors={"door": changed}))
        self.model, self.data = self.world.model, self.world.data

    def angle(self, part: str) -> float:
        return float(self.data.qpos[self.model.joint(f"door_{part}").qposadr[0]])

    def push(self, seconds: float, *, panel: float = 0.0, lever: float = 0.0) -> None:
        """Torques [Nm] for a time [s]."""
        self.data.qfrc_applied[:] = 0.0
        for part, torque in (("panel", panel), ("lever", lever)):
            self.data.qfrc_applied[self.model.joint(f"door_{part}").dofadr[0]] = torque
        self.world.step(round(seconds / self.world.timestep))
        self.data.qfrc_applied[:] = 0.0

    def open_to(self, angle: float) -> None:
        self.data.qpos[self.model.joint("door_panel").qposadr[0]] = angle
        self.world.step(50)


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.mark.slow
def test_a_door_in_a_mirror_does_the_same_on_the_other_side() -> None:
    aside = (3.0, 0.0, 0.0)  # where the robot is in nobody's way
    plain, mirrored = Door(position=aside), Door(position=aside, opens=-1.0)
    for door in (plain, mirrored):
        door.push(1.0, panel=25.0)
        assert door.angle("panel") < 0.005, "latched"
        door.push(0.5, lever=2.0)
        door.push(0.8, lever=2.0, panel=3.0)
    assert mirrored.angle("panel") == pytest.approx(plain.angle("panel"), abs=1e-3)
    frame = plain.world.body_pose("door")
    ways = []
    for door in (plain, mirrored):
        leaf, lever = (
            np.linalg.inv(frame) @ door.world.visible_pose(f"door_{part}")
            for part in ("panel", "lever")
        )
        ways.append(np.array([leaf[:3, 3], lever[:3, 3]]))
    assert ways[1] == pytest.approx(ways[0] * [1.0, -1.0, 1.0], abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_lever_on_either_face_turns_the_same_spindle(side: float) -> None:
    door = Door(position=(3.0, 0.0, 0.0), lever_side=side, other_lever=True)
    leaf, lever, other = (
        door.world.visible_pose(f"door_{part}") for part in ("panel", "lever", "other_lever")
    )
    here, there = (leaf[:3, 1] @ (bar[:3, 3] - leaf[:3, 3]) for bar in (lever, other))
    assert here == pytest.approx(-there), "one before the leaf, one behind it"
    assert here * side > 0.0
    turned = []
    for part in ("lever", "other_lever"):
        before = door.world.visible_pose(f"door_{part}")[2, 3]
        door.push(0.5, lever=2.0)
        turned.append(before - door.world.visible_pose(f"door_{part}")[2, 3])
        door.push(1.0)
    assert turned[0] > 0.01
    assert turned[1] == pytest.approx(turned[0], abs=2e-3)


@pytest.mark.parametrize("opens", [1.0, -1.0])
def test_the_hinge_is_seen_where_the_leaf_opens_to(opens: float) -> None:
    door = Door(position=(3.0, 0.0, 0.0), opens=opens)
    post, hinge = (door.world.visible_pose(f"door_{part}") for part in ("hinge_post", "hinge"))
    shut = door.world.visible_pose("door_panel")[:3, 3]
    door.open_to(0.3)
    opened = door.world.visible_pose("door_panel")[:3, 3]
    assert post[:3, 1] @ (opened - shut) * (post[:3, 1] @ (hinge[:3, 3] - post[:3, 3])) > 0.0


@pytest.mark.slow
def test_a_closer_shuts_the_door_and_it_latches() -> None:
    door = Door(closer=3.0)
    door.open_to(1.0)
    door.push(4.0)
    assert door.angle("panel") < 0.005
    door.push(1.0, panel=25.0)
    assert door.angle("panel") < 0.005


def test_without_the_lever_the_door_stays_shut(door: Door) -> None:
    door.push(2.0, panel=25.0)
    assert door.angle("panel") < 0.005
    assert abs(door.angle("lever")) < 0.01, "the bolt does not turn the lever"


@pytest.mark.parametrize(("torque", "opens"), [(1.0, False), (1.6, True), (3.0, True)])
def test_the_lever_must_be_turned_beyond_the_latch_angle(
    door: Door, torque: float, opens: bool
) -> None:
    door.push(0.5, lever=torque)
    latch = door.world.config.doors["door"].latch_angle
    assert (door.angle("lever") > latch) is opens
    door.push(0.8, lever=torque, panel=3.0)
    assert (door.angle("panel") > 0.5) is opens
    assert door.angle("panel") > 0.5 or door.angle("panel") < 0.005


def test_the_lever_springs_back_and_the_door_stays_where_it_is(door: Door) -> None:
    door.push(0.5, lever=2.0)
    assert door.angle("lever") > 0.6
    door.push(0.6, lever=2.0, panel=2.0)
    opened = door.angle("panel")
    door.push(0.5)
    assert abs(door.angle("lever")) < 0.01
    door.push(3.0)
    still = door.angle("panel")
    door.push(2.0)
    assert still > opened > 0.1
    assert door.angle("panel") == pytest.approx(still, abs=0.001)


def test_a_door_that_is_slammed_latches_again(door: Door) -> None:
    door.open_to(0.9)
    # The world's y axis is the leaf's x, so a push towards the robot shuts it.
    door.world.push("door_panel", np.array([-9.0, 0.0, 0.0]))
    door.push(2.0)
    assert door.angle("panel") < 0.005
    door.push(1.0, panel=25.0)
    assert door.angle("panel") < 0.005


def test_a_gentle_push_is_stopped_by_friction(door: Door) -> None:
    door.open_to(0.9)
    door.world.push("door_panel", np.array([-1.0, 0.0, 0.0]))
    door.push(2.0)
    assert 0.3 < door.angle("panel") < 0.88


def test_what_is_seen_moves_with_the_door(door: Door) -> None:
    shut = door.world.visible_poses()
    door.open_to(0.5)
    opened = door.world.visible_poses()
    assert np.array_equal(shut["door_latch_post"], opened["door_latch_post"])
    relative = shut["door_panel"][:3, :3].T @ opened["door_panel"][:3, :3]
    assert np.arctan2(relative[1, 0], relative[0, 0]) == pytest.approx(0.5, abs=0.01)
    hinge = np.array(door.world.config.doors["door"].position)
    for name in ("door_panel", "door_lever"):
        radii = [np.linalg.norm((pose[name][:3, 3] - hinge)[:2]) for pose in (shut, opened)]
        assert radii[0] == pytest.approx(radii[1], abs=1e-6)


def test_only_what_moves_can_be_pushed(door: Door) -> None:
    with pytest.raises(InvalidDisturbance, match="door_latch_post stands still"):
        door.world.push("door_latch_post", np.ones(3))
    with pytest.raises(UnknownObject, match="no object 'gate'; there are door_panel"):
        door.world.push("gate", np.ones(3))
    with pytest.raises(UnknownObject, match="none that can be put elsewhere; push it"):
        door.world.take_away("door_panel")
