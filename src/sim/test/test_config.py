# SPDX-License-Identifier: Apache-2.0
"""World descriptions: what is wrong is named."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from behavior_motion import load_robot
from behavior_sim.worlds.config import load_world, parse_world
from behavior_sim.worlds.model import build_model
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find, find_world
from behavior_sim.worlds.world import World


@pytest.fixture(scope="module")
def demo() -> dict:
    return yaml.safe_load(load_world(find_world("block_stacking")).text)


@pytest.fixture
def data(demo: dict) -> dict:
    return copy.deepcopy(demo)


def test_world_of_the_demo(data: dict) -> None:
    world = parse_world(data)
    assert list(world.objects) == ["blue_block", "yellow_block", "green_block", "red_block"]
    assert all(o.size == (0.0515,) * 3 for o in world.objects.values())
    assert set(world.layouts) == {"default", "wrong_tower", "random"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("robot", "simulation", "arm", "torque"),
            [1, 2],
            "robot.simulation.arm.torque: 2 values for 7 joints",
        ),
        (
            ("robot", "simulation", "arm", "colour"),
            1,
            "robot.simulation.arm: unknown colour; known are stiffness",
        ),
        (("robot", "simulation", "wheels"), 4, "robot.simulation: unknown wheels"),
        (("robot", "simulation"), None, "robot: simulation missing; a simulated robot needs it"),
        (("robot", "controllers"), None, "robot: controllers.gripper missing"),
        (("robot", "arm", "velocity"), [1.0], r"robot.arm.velocity: 1 values for 7"),
        (("robot", "gripper", "open_width"), None, "robot: gripper: .*give joints and open_width"),
        (("robot",), 5, "robot: expected a mapping"),
        (("objects", "blue_block", "mass"), None, "objects.blue_block: mass missing"),
        (("layouts", "default"), None, "layout named 'default' is missing"),
        (("layouts", "random", "red_block"), None, "must place exactly the objects"),
        (("layouts", "default", "red_block"), {"yaw": 0}, "one of position, above, region"),
        (("layouts", "default", "red_block"), {"above": "cat"}, "stand on the unknown cat"),
        (("view",), None, "view: expected a mapping"),
        (("objects", "blue_block", "shape"), "cone", "shape: 'cone'; choose one of box, sphere"),
        (("objects", "blue_block", "shape"), "sphere", "size: a sphere takes 1 lengths"),
        (("fixtures",), {"tray": {"boxes": {}}}, r"fixtures.tray.boxes: name at least one box"),
        (
            ("fixtures",),
            {"tray": {"boxes": {"a": {"size": [1, 1]}}}},
            r"fixtures.tray.boxes.a: position missing",
        ),
        (("doors",), {"door": {"yaw": 0.0}}, "doors.door: position, lever_side missing"),
        (
            ("doors",),
            {"door": {"position": [0, 0, 0], "yaw": 0, "lever_side": 2}},
            "lever_side: 2; give 1 or -1",
        ),
        (
            ("doors",),
            {"door": {"position": [0, 0, 0], "yaw": 0, "lever_side": 1, "latch_angle": 1.0}},
            "latch_angle: must lie between 0 and lever_range",
        ),
        (("objects",), [1], r"objects: expected a mapping, got \[1\]"),
        (("objects",), {1: {}}, "objects: the key 1 is no text; put it into quotes"),
        (("doors",), "one", "doors: expected a mapping, got 'one'"),
        (("layouts", "default"), 3, "layouts.default: expected a mapping, got 3"),
        (
            ("objects", "blue_block", "mass"),
            "1e-3",
            "blue_block.mass: '1e-3'; give a number, without quotes, an exponent as in 1.0e-3",
        ),
        (("objects", "blue_block", "mass"), -1.0, "blue_block.mass: -1.0; give a number above 0"),
        (("objects", "blue_block", "mass"), float("nan"), "mass: nan; give a number"),
        (("objects", "blue_block", "color"), [1.0], r"color: \[1.0\]; give a list of 3 numbers"),
        (("objects", "blue_block", "size"), 0.1, "size: 0.1; give a list of numbers"),
        (("objects", "blue_block", "friction_decides"), 1, "decides: 1; give true or false"),
        (
            ("layouts", "default", "red_block"),
            {"position": [0.4, 0.0, 0.1]},
            "red_block.position: .*; give a list of 2 numbers or null",
        ),
        (
            ("layouts", "default", "red_block"),
            {"position": [0.4, 0.0], "yaw": [0.0]},
            r"red_block.yaw: \[0.0\]; give a number or a list of 2 numbers",
        ),
        (
            ("layouts", "random", "red_block", "region"),
            {"x": [0.0, 1.0]},
            "red_block.region: give intervals of x and y",
        ),
        (
            ("layouts", "random", "red_block", "region", "x"),
            0.5,
            "red_block.region: .*; give for x a list of 2 numbers",
        ),
        (("layouts", "default", "red_block"), {"above": "red_block"}, "red_block stand on each"),
        (("camera_field",), {"x": [0.0, 1.0]}, "camera_field: give intervals of x, y and z"),
        (("view", "fov"), "wide", "view.fov: 'wide'; give a number"),
        (("view", "fov"), 4.0, "view.fov: 4.0; give an angle between 0 and pi"),
        (("timestep",), 0.0, "timestep: 0.0; give a number above 0"),
        (("doors",), {"door": {"position": [0, 0, 0], "yaw": 0, "lever_side": "left"}}, "a number"),
        (
            ("fixtures",),
            {"tray": {"boxes": {"a": {"size": [1, 0, 1], "position": [0, 0, 0]}}}},
            r"fixtures.tray.boxes.a.size: \(1, 0, 1\); give lengths above 0",
        ),
        (("cameras",), {"eye": {"position": 1, "target": [1, 0, 0], "fov": 1}}, "eye.position: 1;"),
        (
            ("robot", "simulation", "arm", "armature"),
            "big",
            "robot.simulation.arm.armature: 'big'; give a number",
        ),
        (("robot", "simulation", "arm", "torque"), [-1.0] * 7, "torque: .* finite numbers of 0 or"),
        (("robot", "simulation", "arm", "armature"), 10**400, "armature: 10*; give a number"),
        (("robot", "simulation", "gripper", "speed"), math.inf, "speed: inf; give finite numbers"),
        (("robot", "simulation", "gripper", "fingers"), "f", "fingers: 'f'; give a list of texts"),
        (("robot", "simulation", "gripper", "fingers"), [], "fingers: name the links whose"),
    ],
)
def test_what_is_wrong_is_named(data: dict, path, value, message: str) -> None:
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(WorldError, match=message):
        parse_world(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["block_stacking", "door", "shelf", "sorting", "xarm7_blocks"])
def test_worlds_that_ship_stand_still_at_their_start(name: str) -> None:
    world = World(load_world(find_world(name)), seed=3)
    before = world.visible_poses()
    world.step(500)
    for obj, pose in world.visible_poses().items():
        assert np.abs(pose - before[obj])[:3].max() < 0.003, obj
    assert parse_world(yaml.safe_load(world.config.text)) == world.config


@pytest.mark.slow
def test_a_robot_of_other_makers_moves_and_grips_as_it_is_planned() -> None:
    world = World(load_world(find_world("xarm7_blocks")))
    robot = load_robot(find("xarm7", "robots"))
    home = robot.named["home"]
    assert world.arm_positions == pytest.approx(home)
    assert world.body_pose("tool") == pytest.approx(robot.forward_kinematics(home), abs=1e-6)
    assert world.gap == pytest.approx(0.08)
    world.fingers[""].command(0.03, 40.0)
    world.step(1000)
    assert world.gap == pytest.approx(0.03, abs=1e-3)
    assert build_model(world.config, visuals=True).nmesh > world.model.nmesh


def test_joints_of_neither_arm_nor_fingers_stand(data: dict) -> None:
    data["robot"]["arm"]["joints"] = data["robot"]["arm"]["joints"][:5]
    for key in ("velocity", "acceleration", "jerk"):
        data["robot"]["arm"][key] = data["robot"]["arm"][key][:5]
    for key in ("stiffness", "damping", "torque"):
        data["robot"]["simulation"]["arm"][key] = data["robot"]["simulation"]["arm"][key][:5]
    data["robot"]["named"] = {"home": [0.0] * 5}
    model = World(parse_world(data)).model
    names = [model.joint(i).name for i in range(model.njnt)]
    assert [name for name in names if name.startswith("panda_joint")] == [
        f"panda_joint{i}" for i in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("arm", "joints"),
            ["left", *(f"panda_joint{i}" for i in range(2, 8))],
            "robot.arm.joints: no such name 'left'",
        ),
        (("gripper", "joints"), {"left": 1.0}, "robot.gripper.joints: no such name 'left'"),
        (("gripper", "link"), "left", "robot.gripper.link: no such name 'left'"),
        (
            ("simulation", "gripper", "fingers"),
            ["left"],
            "robot.simulation.gripper.fingers: no such name 'left'",
        ),
    ],
)
def test_names_that_the_urdf_lacks_are_told(data: dict, path, value, message: str) -> None:
    place = data["robot"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(WorldError, match=message):
        build_model(parse_world(data))


def test_file_and_line_of_what_is_wrong_are_told(tmp_path: Path) -> None:
    robot, world = tmp_path / "robot.yaml", tmp_path / "world.yaml"
    robot.write_text(find("panda", "robots").read_text(encoding="utf-8"))
    text = find_world("block_stacking").read_text(encoding="utf-8")
    text = text.replace("robot: panda", "robot: robot.yaml")
    for file, old, new, message in (
        (world, "mass: ", "mass: -", r"objects\.blue_block\.mass: -0\.07; give"),
        (world, "view:", "timestep: fast\nview:", "timestep: 'fast'; give a number"),
        (robot, "simulation:", "simulation:\n  wheels: 1", "simulation: unknown wheels"),
    ):
        world.write_text(text)
        before = file.read_text(encoding="utf-8")
        line = before[: before.index(old)].count("\n") + 1
        file.write_text(before.replace(old, new, 1))
        with pytest.raises(WorldError, match=rf"^{file}:{line}: {message}"):
            load_world(world)


def test_robot_file_that_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    file.write_text("name: x\nrobot: robots/none.yaml\n")
    with pytest.raises(WorldError, match=r"robot: .*robots/none\.yaml: not found"):
        load_world(file)


def test_a_world_takes_over_what_it_extends(tmp_path: Path) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    for folder in (base, own):
        folder.mkdir()
    (base / "robot.yaml").write_text(find("panda", "robots").read_text(encoding="utf-8"))
    keys = yaml.safe_load(find_world("block_stacking").read_text(encoding="utf-8"))
    (base / "blocks.yaml").write_text(yaml.safe_dump({**keys, "robot": "robot.yaml"}))
    (base / "near.yaml").write_text(
        "extends: blocks\nname: near\n"
        "objects: {red_block: {mass: 0.07}}\ncamera_field: {x: [0.0, 0.5]}\n"
    )
    world = load_world(base / "near.yaml")
    assert world.name == "near"
    assert world.objects["red_block"].mass == 0.07
    assert world.objects["red_block"].size == tuple(keys["objects"]["red_block"]["size"])
    assert world.camera_field["x"] == [0.0, 0.5]
    (own / "far.yaml").write_text("extends: block_stacking\nname: far\n")
    assert load_world(own / "far.yaml").objects.keys() == world.objects.keys()
    (own / "self.yaml").write_text("extends: self\n")
    with pytest.raises(WorldError, match=r"self\.yaml: extends: 'self' extends this file in turn"):
        load_world(own / "self.yaml")
    (own / "lost.yaml").write_text("extends: nothing\n")
    with pytest.raises(WorldError, match=r"nothing\.yaml: cannot be read"):
        load_world(own / "lost.yaml")


def test_no_yaml(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("a: [1, 2")
    with pytest.raises(WorldError, match=r"bad\.yaml"):
        load_world(file)


def test_unknown_world_and_file() -> None:
    with pytest.raises(FileNotFoundError, match=r"choose one of bin_stacking, block_stacking"):
        find_world("atlantis")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.yaml"):
        find_world("nowhere.yaml")
