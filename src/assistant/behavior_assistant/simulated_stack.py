# SPDX-License-Identifier: Apache-2.0
"""The simulated world of a stack of our own, in which trees are tried."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from behavior_assistant.assembly import make_checker
from behavior_assistant.believed_objects import object_rows
from behavior_assistant.checked_trees import CheckedTree, TreeChecker
from behavior_assistant.episodes import Episode
from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.jobs.judges import job_named, mission_of_world
from behavior_bringup.jobs.object_trial import ObjectJob
from behavior_bringup.jobs.trial_run import judged, run_trial, stack_arguments
from behavior_bringup.missions.following import TookTooLong
from behavior_bringup.stacks.description import Scalar
from behavior_bringup.stacks.session import temporary_stack
from behavior_bringup.stacks.stack import Stack, free_stack
from behavior_sim.judging import Mission, Objects, Undisturbed, Verdict
from behavior_sim.trials import TrialError

_TREE = "proposed"
"""Name of the mission that is tried."""
LIMIT = 300.0
"""[s] of simulated time for one episode."""


@contextmanager
def simulated_stack(world: str, *, speed: float) -> Iterator[SimulatedStack]:
    """A stack of a simulated world, in a ROS domain of its own; afterwards it is down.

    Args:
        world: name of it.
        speed: times real time; 0: as fast as possible.

    Raises:
        UsageError: there is no such world, or no job is made for it whose start states could be
            used.
        BringupError: it does not come up.
    """
    base = _mission_of(world)
    with tempfile.TemporaryDirectory(prefix="behavior_trees_") as folder:
        given: dict[str, Scalar] = {
            "world": world,
            "speed": speed,
            "seed": 0,
            "headless": True,
            "missions": folder,
        }
        arguments = stack_arguments(world, given, cameras=False)
        if "missions" not in arguments:
            raise UsageError(f"The stack of '{world}' takes no missions of others")
        stack = free_stack("ask")
        with temporary_stack(stack, world=world, arguments=arguments, respawn=True) as (client, _):
            yield SimulatedStack(client, stack, base, Path(folder))


def _mission_of(world: str) -> Mission:
    name = mission_of_world(world)
    job = job_named(name) if name else None
    if not isinstance(job, ObjectJob):
        raise UsageError(f"No job is made for '{world}' whose start states could be used")
    return job.mission


class SimulatedStack:
    """An `episodes.SimulatedWorld` that is up."""

    def __init__(self, client: StackClient, stack: Stack, base: Mission, folder: Path) -> None:
        """Use a stack.

        Args:
            client: in its domain.
            stack: which.
            base: a job of its world, whose start states are used.
            folder: from which it reads missions.
        """
        self._client, self._stack, self._folder = client, stack, folder
        self._job = ObjectJob(
            replace(
                base,
                name=_TREE,
                parameters={},
                judge=lambda objects: Verdict(True, places(objects)),
                summary=lambda objects: "",
                disturbances=Undisturbed,
                time_limit=min(base.time_limit, LIMIT),
                parts_wanted=0,
                configure=None,
            )
        )

    def checker(self) -> TreeChecker:
        """Checks trees against the node types of this stack."""
        return make_checker(self._stack.name)

    def objects(self) -> Mapping[str, Mapping[str, Any]]:
        """What the robot believes of each object there."""
        return object_rows(self._client.scene)

    def run(
        self,
        tree: CheckedTree,
        episodes: int,
        on_episode: Callable[[Episode], None] = lambda episode: None,
    ) -> list[Episode]:
        """Run a tree from the start states of the seeds 0, 1, ...

        Raises:
            BringupError: the stack breaks.
        """
        (self._folder / f"{_TREE}.xml").write_text(tree.xml, encoding="utf-8")
        found = []
        for seed in range(episodes):
            found.append(self._episode(seed))
            on_episode(found[-1])
        return found

    def _episode(self, seed: int) -> Episode:
        client = self._client
        trial = self._job.episode(client, seed=seed, disturb=False)
        begun = client.truth_time
        try:
            trial.prepare(seed)
            begun = trial.now()
            check = self._stack.watch().check
            verdict = judged(trial, run_trial(client, self._job, trial, check=check))
        except TookTooLong as error:
            verdict = Verdict(False, str(error))
        except TrialError as error:
            raise BringupError(str(error)) from error
        finally:
            trial.close()
        return Episode(
            seed=seed,
            success=verdict.success,
            reason=verdict.reason,
            seconds=max(0.0, client.truth_time - begun),
        )


def places(objects: Objects) -> str:
    """Where things are, in a sentence."""
    return "; ".join(
        f"{name} at {x:.2f}, {y:.2f}, {z:.2f} m{' (held)' if item.held else ''}"
        for name, item in sorted(objects.items())
        for x, y, z in [item.position]
    )
