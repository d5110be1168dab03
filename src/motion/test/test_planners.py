# SPDX-License-Identifier: Apache-2.0
"""Planners by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from behavior_motion import RobotModel, create_planner, planner_names
from behavior_motion.collision.scene import PlanningScene
from behavior_motion.planning import planners
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_packages import Packages, read_manifest

SUITE = Path(__file__).parents[1] / "behavior.yaml"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package beside the suite with a planner, and with one that cannot be imported."""
    (tmp_path / "careful_package.py").write_text(
        "from behavior_motion.planning.embedded import EmbeddedPlanner\n"
        "class Careful(EmbeddedPlanner): pass\n"
    )
    manifest = tmp_path / "behavior.yaml"
    manifest.write_text(
        "planners:\n  careful: careful_package:Careful\n  broken: careful_package:Absent\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    both = [read_manifest("behavior_motion", SUITE), read_manifest("careful_package", manifest)]
    monkeypatch.setattr(planners, "packages", lambda: Packages(both))


def test_the_suites_own_enter_by_the_door() -> None:
    assert planner_names()[0] == "auto"
    assert {"embedded", "moveit"} <= set(planner_names())


@pytest.mark.usefixtures("package")
def test_a_package_adds_a_planner(robot: RobotModel) -> None:
    assert planner_names() == ["auto", "broken", "careful", "embedded", "moveit"]
    scene = PlanningScene(robot)
    planner = create_planner(robot, "careful", scene=scene)
    assert isinstance(planner, EmbeddedPlanner)
    assert type(planner).__name__ == "Careful"
    assert planner.scene is scene


@pytest.mark.usefixtures("package")
def test_a_broken_planner_is_told_with_its_place(robot: RobotModel) -> None:
    with pytest.raises(ValueError, match=r"behavior\.yaml:3: careful_package:Absent .*Absent"):
        create_planner(robot, "broken")


def test_an_unknown_planner_is_told_with_those_that_there_are(robot: RobotModel) -> None:
    with pytest.raises(ValueError, match=r"no planner 'magic': choose one of .*embedded"):
        create_planner(robot, "magic")
