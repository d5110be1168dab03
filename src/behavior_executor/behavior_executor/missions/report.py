# SPDX-License-Identifier: Apache-2.0
"""What managers add to the feedback of a running mission. No ROS."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Report:
    """Filled in by the managers before each feedback; the defaults say that nobody knows."""

    progress: float = -1.0
    """0..1; -1: unknown."""
    detail: str = ""
    """One line on the job; empty: the tree's own counts."""
    distance_remaining: float = -1.0
    """[m] along the route; -1: not driving."""
    planner_mode: int = 0
    """One of PlannerOperationMode."""
    reroutes: int = 0
    """Routes requested after the first one."""
    autonomy: int = 0
    """One of AutonomyLevel."""
