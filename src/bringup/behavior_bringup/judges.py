# SPDX-License-Identifier: Apache-2.0
"""Which missions can be demonstrated and evaluated: those that a package brings a judge for.

A package offers one in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    judges: {sort_balls: "my_jobs.judges:SORT_BALLS"}

which names a :class:`behavior_sim.judging.Mission`.
"""

from __future__ import annotations

from behavior_bringup.errors import BringupError
from behavior_bringup.offers import chosen
from behavior_packages import PackageError, packages
from behavior_sim.judging import Mission


def known_missions() -> list[str]:
    """Names of the missions that can be demonstrated and evaluated."""
    return packages().names("judges")


def mission_named(name: str) -> Mission:
    """The description of a mission.

    Raises:
        UsageError: there is none; the message lists those that exist.
        BringupError: it cannot be imported, or is something else.
    """
    offer = chosen("judges", name, f"The mission '{name}' has no judge")
    try:
        mission = offer.load()
    except PackageError as error:
        raise BringupError(str(error)) from error
    if not isinstance(mission, Mission):
        raise BringupError(f"{offer.place}: {offer.value} is no behavior_sim.judging.Mission")
    return mission
