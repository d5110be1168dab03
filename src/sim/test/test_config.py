# SPDX-License-Identifier: Apache-2.0
"""World descriptions: what is wrong is named."""

import copy
from pathlib import Path

import pytest
import yaml

from behavior_sim import WorldError, find_world, load_world, parse_world
from behavior_sim.resources import resolve


@pytest.fixture
def data() -> dict:
    return yaml.safe_load(Path(find_world("block_stacking")).read_text(encoding="utf-8"))


def test_world_of_the_demo(data: dict) -> None:
    world = parse_world(data)
    assert list(world.objects) == ["blue_block", "yellow_block", "green_block", "red_block"]
    assert all(o.size == (0.0515,) * 3 for o in world.objects.values())
    assert set(world.layouts) == {"default", "wrong_tower", "random"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("robot", "arm", "torque"), [1, 2], "robot.arm.torque: 2 values for 7 joints"),
        (("robot", "arm", "colour"), 1, "robot.arm: unknown colour; known are joints"),
        (("robot", "gripper", "open"), None, "robot.gripper: open missing"),
        (("robot",), 5, "robot: expected a mapping"),
        (("objects", "blue_block", "mass"), None, "objects.blue_block: mass missing"),
        (("layouts", "default"), None, "layout named 'default' is missing"),
        (("layouts", "random", "red_block"), None, "must place exactly the objects"),
        (("layouts", "default", "red_block"), {"yaw": 0}, "one of position, above, region"),
        (("layouts", "default", "red_block"), {"above": "cat"}, "stand on the unknown cat"),
        (("view",), None, "view: expected a mapping"),
    ],
)
def test_what_is_wrong_is_named(data: dict, path, value, message: str) -> None:
    broken = copy.deepcopy(data)
    place = broken
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(WorldError, match=message):
        parse_world(broken)


def test_no_yaml(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("a: [1, 2")
    with pytest.raises(WorldError, match=r"bad\.yaml"):
        load_world(file)


def test_unknown_world_and_file() -> None:
    with pytest.raises(FileNotFoundError, match=r"there are: .*block_stacking"):
        find_world("atlantis")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.yaml"):
        find_world("nowhere.yaml")
    with pytest.raises(FileNotFoundError, match="install the Python package"):
        resolve("wheel://no/such/robot.urdf")
    with pytest.raises(FileNotFoundError, match="unknown scheme"):
        resolve("gopher://robot")
