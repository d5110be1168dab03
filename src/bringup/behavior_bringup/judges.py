# SPDX-License-Identifier: Apache-2.0
"""Which missions can be demonstrated and evaluated: those that a package brings a judge for.

A package brings one by an entry point in the group ``behavior_bringup.judges``::

    entry_points={"behavior_bringup.judges": ["sort_balls = my_jobs.judges:SORT_BALLS"]}

which names a :class:`behavior_sim.judging.Mission`.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.suggestions import choose
from behavior_sim.judging import Mission

ENTRY_POINT_GROUP = "behavior_bringup.judges"


def known_missions() -> list[str]:
    """Names of the missions that can be demonstrated and evaluated."""
    return sorted({point.name for point in entry_points(group=ENTRY_POINT_GROUP)})


def mission_named(name: str) -> Mission:
    """The description of a mission.

    Raises:
        UsageError: there is none; the message lists those that exist.
        BringupError: it cannot be imported, or is something else.
    """
    point = next((p for p in entry_points(group=ENTRY_POINT_GROUP) if p.name == name), None)
    if point is None:
        raise UsageError(f"The mission '{name}' has no judge: {choose(name, known_missions())}")
    try:
        mission = point.load()
    except (ImportError, AttributeError) as error:
        raise BringupError(f"The judge of '{name}' ({point.value}) fails: {error}") from error
    if not isinstance(mission, Mission):
        raise BringupError(f"The judge of '{name}' ({point.value}) is no Mission")
    return mission
