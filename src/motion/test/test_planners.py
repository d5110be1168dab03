# SPDX-License-Identifier: Apache-2.0
"""Planners by name."""

from __future__ import annotations

import pytest

from behavior_motion import RobotModel, create_planner, planner_names, planners, register_planner
from behavior_motion.embedded import EmbeddedPlanner
from behavior_motion.scene import PlanningScene


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planners, "_FACTORIES", dict(planners._FACTORIES))


class Careful(EmbeddedPlanner):
    """A planner of a package."""


def test_a_package_adds_a_planner(robot: RobotModel) -> None:
    register_planner("careful", Careful)
    register_planner("careful", Careful)  # the same again is no other
    assert planner_names() == ["auto", "embedded", "moveit", "careful"]
    scene = PlanningScene(robot)
    planner = create_planner(robot, "careful", scene=scene)
    assert isinstance(planner, Careful)
    assert planner.scene is scene


@pytest.mark.parametrize("name", ["auto", "embedded"])
def test_a_name_is_given_once(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}': there is one of this name already"):
        register_planner(name, Careful)


def test_an_unknown_planner_is_told_with_those_that_there_are(robot: RobotModel) -> None:
    with pytest.raises(ValueError, match="one of auto, embedded, moveit wanted, got 'magic'"):
        create_planner(robot, "magic")
