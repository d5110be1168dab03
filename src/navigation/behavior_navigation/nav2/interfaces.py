# SPDX-License-Identifier: Apache-2.0
"""Nav2's interfaces, imported where they are, and what their error codes mean.

The numbers of the codes differ between distributions (Jazzy counts a planner's from 201 on, older
ones from 1), their names do not: they are looked up by name in the interface itself.
"""

from __future__ import annotations

import importlib
from typing import Any

from behavior_msgs.msg import PathPlannerHealth, TrajectoryStatus

from behavior_ros import ParameterError

PLANNER_REASONS = {
    "START_OUTSIDE_MAP": PathPlannerHealth.NO_MAP,
    "GOAL_OUTSIDE_MAP": PathPlannerHealth.NO_MAP,
    "START_OCCUPIED": PathPlannerHealth.START_OCCUPIED,
    "GOAL_OCCUPIED": PathPlannerHealth.GOAL_OCCUPIED,
    "TIMEOUT": PathPlannerHealth.TIMEOUT,
    "NO_VALID_PATH": PathPlannerHealth.NO_PATH,
}
"""Reasons of the path planner's health by the name of the planner server's error."""

CONTROLLER_STATUSES = {
    "INVALID_PATH": TrajectoryStatus.INVALID_TRAJECTORY,
    "NO_VALID_CONTROL": TrajectoryStatus.LINE_SEARCH_FAILED,
    "PATIENCE_EXCEEDED": TrajectoryStatus.CONSTRAINT_FAILED,
    "FAILED_TO_MAKE_PROGRESS": TrajectoryStatus.COST_FAILED,
    "CONTROLLER_TIMED_OUT": TrajectoryStatus.UNSATISFIED_CONSTRAINTS,
}
"""Solver statuses by the name of the controller server's error."""

_NAMES = ("UNKNOWN", "INVALID_PLANNER", "INVALID_CONTROLLER", "TF_ERROR", "NO_VALID_GRAPH")
_ROUTE_NAMES = ("INDETERMINANT_NODES_ON_GRAPH", "NO_VALID_ROUTE", "OPERATION_FAILED")


def nav2_interface(kind: str, name: str, needed_by: str) -> Any:
    """An interface of nav2_msgs.

    Args:
        kind: ``action`` or ``srv``.
        name: like ``FollowPath``.
        needed_by: name of the node, for the error.

    Raises:
        ParameterError: it is not installed, or this Nav2 has no such interface.
    """
    try:
        module = importlib.import_module(f"nav2_msgs.{kind}")
    except ImportError as error:
        raise ParameterError(
            f"{needed_by}: nav2_msgs cannot be imported: install Nav2 "
            "('apt-get install ros-jazzy-navigation2'), or leave this node out of the stack"
        ) from error
    found = getattr(module, name, None)
    if found is None:
        raise ParameterError(
            f"{needed_by}: this nav2_msgs has no {kind}/{name}: choose another interface by the "
            "node's parameters, or a newer Nav2"
        )
    return found


def error_name(action: Any, code: int) -> str:
    """The name of an error code of an action; ``error N`` for one that has none."""
    known = (*PLANNER_REASONS, *CONTROLLER_STATUSES, *_NAMES, *_ROUTE_NAMES)
    for part in (action.Result, action.Goal):
        for name in known:
            if getattr(part, name, None) == code:
                return name
    return f"error {code}"
