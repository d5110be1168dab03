# SPDX-License-Identifier: Apache-2.0
"""Choice of the planning backend."""

from __future__ import annotations

from pathlib import Path

from behavior_motion.embedded import EmbeddedPlanner
from behavior_motion.moveit import create_moveit_planner
from behavior_motion.planner import MotionPlanner
from behavior_motion.robot import RobotModel, load_robot
from behavior_motion.scene import PlanningScene

BACKENDS = ("auto", "embedded", "moveit")


def create_planner(
    robot: RobotModel | str | Path,
    backend: str = "auto",
    *,
    scene: PlanningScene | None = None,
    seed: int = 0,
) -> MotionPlanner:
    """A motion planner.

    Args:
        robot: Model, or path of a robot file.
        backend: ``embedded``, ``moveit``, or ``auto`` (the best that is available: embedded).
        scene: Surroundings; by default an empty scene.
        seed: Of all random choices.

    Raises:
        ValueError: Unknown backend.
        RuntimeError: The backend cannot be used here; the message says why.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend: one of {', '.join(BACKENDS)} wanted, got {backend!r}")
    model = robot if isinstance(robot, RobotModel) else load_robot(robot)
    if backend == "moveit":
        return create_moveit_planner(model, scene, seed=seed)
    return EmbeddedPlanner(model, scene, seed=seed)
