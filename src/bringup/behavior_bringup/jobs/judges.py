# SPDX-License-Identifier: Apache-2.0
"""Which jobs can be demonstrated and evaluated: those that a package brings a judge for.

A package offers one in its ``behavior.yaml`` (see :mod:`behavior_packages`)::

    judges: {sort_balls: "my_jobs.judges:SORT_BALLS"}

which names a :class:`behavior_sim.judging.Mission`, judged by the objects of its world, or any
other :class:`behavior_sim.trials.Job`.
"""

from __future__ import annotations

import contextlib

from behavior_bringup.errors import BringupError
from behavior_bringup.jobs.object_trial import ObjectJob
from behavior_bringup.offers import chosen
from behavior_packages import PackageError, packages
from behavior_sim.judging import Mission
from behavior_sim.trials import Job


def known_jobs() -> list[str]:
    """Names of the jobs that can be demonstrated and evaluated."""
    return packages().names("judges")


def mission_of_world(world: str) -> str:
    """A mission that was made for a world; empty: there is none.

    Whatever is wrong with a judge is told where somebody asks for it.
    """
    trees = packages().names("trees")
    for name in known_jobs():
        with contextlib.suppress(BringupError):
            job = job_named(name)
            if job.world == world and job.name in trees:
                return job.name
    return ""


def job_named(name: str) -> Job:
    """A job.

    Raises:
        UsageError: there is none; the message lists those that exist.
        BringupError: it cannot be imported, or is something else.
    """
    offer = chosen("judges", name, f"The mission '{name}' has no judge")
    try:
        loaded = offer.load()
    except PackageError as error:
        raise BringupError(str(error)) from error
    if isinstance(loaded, Mission):
        return ObjectJob(loaded)
    if isinstance(loaded, Job):
        return loaded
    raise BringupError(
        f"{offer.place}: {offer.value} is no behavior_sim.judging.Mission and no other"
        " behavior_sim.trials.Job"
    )
