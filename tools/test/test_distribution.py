# SPDX-License-Identifier: Apache-2.0
"""On a ROS 2 distribution: where each dependency comes from, and who can do without it."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from behavior_workspace import distribution_environment as environment
from behavior_workspace.errors import SetupError
from behavior_workspace.layout import Layout

REPOSITORY = Path(__file__).resolve().parents[2]
REQUIREMENTS = (REPOSITORY / "requirements.txt").read_text()
PINS = environment.pins(REQUIREMENTS)
BROUGHT = {*environment.EVERYWHERE, *(name for part in environment.PARTS.values() for name in part)}

WITHOUT = """
import importlib, pkgutil, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Finder())
for name in sys.argv[2:]:
    module = importlib.import_module(name)
    for part in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        if not part.name.endswith("__main__"):
            importlib.import_module(part.name)
"""


@pytest.mark.parametrize(
    ("lacking", "modules"),
    [
        (
            "pydantic,numba,pinocchio,coal,toppra,ruckig,daqp,ompl,mujoco",
            ["behavior_packages", "behavior_tree", "behavior_executor", "behavior_navigation"],
        ),
        (
            "ompl,mujoco",
            ["behavior_skills", "behavior_scene", "behavior_motion.planning", "behavior_vda5050"],
        ),
    ],
    ids=["driving needs no environment", "MoveIt needs neither ompl nor mujoco"],
)
def test_what_a_robot_does_not_use_need_not_be_there(lacking, modules):
    command = [sys.executable, "-c", WITHOUT, lacking, *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_the_page_tells_where_each_dependency_comes_from():
    page = (REPOSITORY / "docs" / "setup.md").read_text()
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (rosdep `[\w-]+`|environment)", page, re.MULTILINE))
    assert rows.keys() == PINS.keys()
    assert {name for name, origin in rows.items() if origin == "environment"} == BROUGHT
    manifests = "".join(file.read_text() for file in REPOSITORY.glob("src/**/package.xml"))
    keys = {origin.split("`")[1] for origin in rows.values() if origin != "environment"}
    assert [key for key in sorted(keys) if f"depend>{key}<" not in manifests] == []


def test_the_environment_holds_what_was_asked_for_and_keeps_the_distributions_numpy():
    listed = environment.wanted(REQUIREMENTS, ["planning"])
    assert PINS["ompl"] in listed
    assert PINS["mujoco"] not in listed
    assert f"numpy=={version('numpy')}" in listed
    with pytest.raises(SetupError, match="no part 'planing': choose from planning, robots"):
        environment.wanted(REQUIREMENTS, ["planing"])


def test_the_environment_is_made_once(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(environment, "run", lambda command, **_: commands.append(command))
    folder = tmp_path / "data" / "jazzy"
    assert environment.make_environment(folder, ["a==1"], tmp_path)
    assert not environment.make_environment(folder, ["a==1"], tmp_path)
    assert environment.make_environment(folder, ["a==2"], tmp_path)
    assert "--system-site-packages" in commands[0]
    assert [command[-1] for command in commands] == [folder, "a==1", folder, "a==2"]


def test_without_a_distribution_the_remedy_is_told(monkeypatch, capsys):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.setattr("sys.argv", ["environment"])
    assert environment.main() == 1
    assert "'. /opt/ros/jazzy/setup.bash' first" in capsys.readouterr().err


def test_plain_colcon_finds_its_folders_empty_and_leaves_the_underlay_alone():
    """`colcon build` in the checkout: setup's folders are elsewhere and hidden from it."""
    layout = Layout.of(REPOSITORY)
    for folder in (layout.build, layout.install):
        assert folder.relative_to(REPOSITORY).parts[0].startswith(".")
    assert (REPOSITORY / "underlay" / "COLCON_IGNORE").exists()
    names = sorted(folder.name for folder in layout.interface_packages)
    assert names == ["behavior_msgs", "control_msgs", "tf2_msgs", "vision_msgs"]


@pytest.mark.parametrize(("depends", "starts"), [("behavior_ros", "x\n"), ("rclpy", "")])
def test_colcon_tests_our_packages_in_our_python(tmp_path, depends, starts):
    noted = tmp_path / "noted"
    noted.touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho x >>"{noted}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "package.xml").write_text(f"<package><depend>{depends}</depend></package>")
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "BEHAVIOR_PYTHON": str(python)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout
    assert noted.read_text() == starts
