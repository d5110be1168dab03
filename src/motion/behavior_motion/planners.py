# SPDX-License-Identifier: Apache-2.0
"""Planners by name: those of the suite, and those that packages add."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from behavior_motion.embedded import EmbeddedPlanner
from behavior_motion.moveit import create_moveit_planner
from behavior_motion.planner import MotionPlanner
from behavior_motion.robot import RobotModel, load_robot
from behavior_motion.scene import PlanningScene

AUTO = "auto"
"""Stands for the best planner that is available everywhere: embedded."""


class PlannerFactory(Protocol):
    """Makes a planner for a robot."""

    def __call__(
        self, robot: RobotModel, scene: PlanningScene | None = None, *, seed: int = 0
    ) -> MotionPlanner:
        """Raises `RuntimeError` where the planner cannot be used here, and says why."""


_FACTORIES: dict[str, PlannerFactory] = {
    "embedded": EmbeddedPlanner,
    "moveit": create_moveit_planner,
}


def register_planner(name: str, factory: PlannerFactory) -> None:
    """Let `create_planner` know one more planner.

    Raises:
        ValueError: there is one of this name already.
    """
    if name == AUTO or _FACTORIES.get(name, factory) is not factory:
        raise ValueError(f"planner {name!r}: there is one of this name already; choose another")
    _FACTORIES[name] = factory


def planner_names() -> list[str]:
    """Names of the planners that there are."""
    return [AUTO, *_FACTORIES]


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
        ValueError: Unknown planner.
        RuntimeError: The planner cannot be used here; the message says why.
    """
    factory = _FACTORIES.get("embedded" if backend == AUTO else backend)
    if factory is None:
        raise ValueError(f"planner: one of {', '.join(planner_names())} wanted, got {backend!r}")
    model = robot if isinstance(robot, RobotModel) else load_robot(robot)
    return factory(model, scene, seed=seed)
