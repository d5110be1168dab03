# SPDX-License-Identifier: Apache-2.0
"""What the command knows of each mission: how it is judged, disturbed, and told in one line.

Every module of this package describes the mission of its name in a constant `MISSION`; a new
mission adds a file. All of it is pure: it sees objects and times, never ROS.
"""

from __future__ import annotations

import importlib
import pkgutil

from behavior_bringup.errors import UsageError
from behavior_bringup.missions.model import (
    Disturbance,
    DisturbancePlan,
    Mission,
    Situation,
    Verdict,
    WorldObject,
)
from behavior_bringup.suggestions import choose

__all__ = [
    "Disturbance",
    "DisturbancePlan",
    "Mission",
    "Situation",
    "Verdict",
    "WorldObject",
    "known_missions",
    "mission_named",
]

_INTERNAL = {"fetching", "model", "moments"}


def known_missions() -> list[str]:
    """Names of the missions that can be demonstrated and evaluated."""
    return sorted(
        module.name for module in pkgutil.iter_modules(__path__) if module.name not in _INTERNAL
    )


def mission_named(name: str) -> Mission:
    """The description of a mission.

    Raises:
        UsageError: there is none; the message lists those that exist.
    """
    if name not in known_missions():
        raise UsageError(f"The mission '{name}' has no judge: {choose(name, known_missions())}")
    mission = importlib.import_module(f"{__name__}.{name}").MISSION
    assert isinstance(mission, Mission)
    return mission
