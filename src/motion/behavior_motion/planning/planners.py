# SPDX-License-Identifier: Apache-2.0
"""Planners by name: those of the suite, and those that packages add.

A package offers a planner in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    planners: {careful: "my_package.planner:CarefulPlanner"}

It is a class, or a function, that makes a planner for a robot: a :class:`PlannerFactory`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from behavior_motion.collision.scene import PlanningScene
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_motion.planning.planner import MotionPlanner
from behavior_motion.robot.model import RobotModel, load_robot
from behavior_packages import packages

AUTO = "auto"
"""Stands for the best planner that is available everywhere: embedded."""


class PlannerFactory(Protocol):
    """Makes a planner for a robot."""

    def __call__(
        self, robot: RobotModel, scene: PlanningScene | None = None, *, seed: int = 0
    ) -> MotionPlanner:
        """Raises `RuntimeError` where the planner cannot be used here, and says why."""


def planner_names() -> list[str]:
    """Names of the planners that there are."""
    return [AUTO, *packages().names("planners")]


def create_planner(
    robot: RobotModel | str | Path,
    backend: str = AUTO,
    *,
    scene: PlanningScene | None = None,
    seed: int = 0,
) -> MotionPlanner:
    """A motion planner.

    Args:
        robot: Model, or path of a robot file.
        backend: One of `planner_names`.
        scene: Surroundings; by default an empty scene.
        seed: Of all random choices.

    Raises:
        ValueError: Unknown planner, or one whose package is broken (`PackageError`).
        RuntimeError: The planner cannot be used here; the message says why.
    """
    factory: PlannerFactory = EmbeddedPlanner
    if backend != AUTO:
        factory = packages().find("planners", backend).load()
    if factory is EmbeddedPlanner and find_spec("ompl") is None:
        raise RuntimeError(
            "the embedded planner needs ompl, which is not installed: 'make environment' brings it"
            " (docs/setup.md), or choose the planner 'moveit'"
        )
    model = robot if isinstance(robot, RobotModel) else load_robot(robot)
    return factory(model, scene, seed=seed)
