# SPDX-License-Identifier: Apache-2.0
"""Trials of jobs that are judged by the objects of a simulated world."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from std_srvs.srv import SetBool

from behavior_sim.judging import (
    ROBOT,
    DisturbancePlan,
    JobOption,
    Mission,
    NoRecorder,
    Part,
    Recorder,
    Setting,
    Situation,
    Undisturbed,
    Verdict,
    WorldObject,
)
from behavior_sim.trials import Table, TrialError

if TYPE_CHECKING:
    from behavior_msgs.msg import MissionAction

    from behavior_bringup.client import StackClient
    from behavior_sim.recordings.rendering import Caption, RenderReport

# The scene agrees with the world when no object is further off [m].
SCENE_TOLERANCE = 0.03
# The world must go on for so long after a reset, and settle before the verdict [s simulated].
AFTER_RESET, BEFORE_VERDICT = 0.3, 1.0
# What is put elsewhere before a mission is where it was no more for the scene after so long
# [s simulated].
FORGOTTEN = 2.0
# The scene gets so long to agree with the world [s simulated].
_PATIENCE = 30.0


@dataclass(frozen=True)
class ObjectJob:
    """The job of a mission; see :class:`behavior_sim.trials.Job`."""

    mission: Mission

    @property
    def name(self) -> str:
        """See `Job`."""
        return self.mission.name

    @property
    def world(self) -> str:
        """See `Job`."""
        return self.mission.world

    @property
    def time_limit(self) -> float:
        """See `Job`."""
        return self.mission.time_limit

    @property
    def parameters(self) -> Mapping[str, str]:
        """See `Job`."""
        return self.mission.parameters

    @property
    def parts_wanted(self) -> int:
        """See `Job`."""
        return self.mission.parts_wanted

    @property
    def options(self) -> Sequence[JobOption]:
        """See `ConfigurableJob`."""
        return self.mission.options

    def configured(
        self, values: Mapping[str, Setting], parameters: Mapping[str, str], *, evaluation: bool
    ) -> ObjectJob:
        """See `ConfigurableJob`."""
        configure = self.mission.configure
        mission = configure(values, evaluation) if configure else self.mission
        return ObjectJob(replace(mission, parameters={**mission.parameters, **parameters}))

    def demonstration(self, stack: StackClient) -> ObjectTrial:
        """A run that nobody disturbs."""
        return ObjectTrial(stack, self.mission, Undisturbed(0))

    def episode(self, stack: StackClient, *, seed: int, disturb: bool) -> ObjectTrial:
        """See `Job`."""
        plan = self.mission.disturbances(seed) if disturb else Undisturbed(seed)
        return ObjectTrial(stack, self.mission, plan)


class ObjectTrial:
    """One run; see :class:`behavior_sim.trials.Trial`."""

    def __init__(self, client: StackClient, mission: Mission, plan: DisturbancePlan) -> None:
        """Watch through a client of the stack."""
        self._client, self._mission, self._plan = client, mission, plan
        self._recorder = mission.recorder()
        self._disturber: Disturber | None = None

    def prepare(self, seed: int) -> None:
        """Put the world into the mission's start state and wait until the robot has seen it."""
        client = self._client
        before = client.truth_time
        client.reset(seed=seed, layout=self._mission.layout)
        client.wait_simulated(lambda: client.truth_time > before + AFTER_RESET)
        self._arrange(seed)
        client.meet_faults()
        if not client.wait_simulated(lambda: not self._disagreements(), limit=_PATIENCE):
            raise TrialError(
                "The scene does not agree with the world after a reset: "
                + "; ".join(self._disagreements())
            )

    def _arrange(self, seed: int) -> None:
        """Put things where the mission wants them."""
        client = self._client
        changes = self._mission.arrangement(seed)
        if not changes:
            return
        for change in changes:
            answer = client.disturb_later(change)
            client.wait_simulated(answer.done, limit=_PATIENCE)
            if refusal := _refusal(answer):
                raise TrialError(f"{change.object} cannot be put in its place: {refusal}")
        until = client.truth_time + FORGOTTEN
        client.wait_simulated(lambda: client.truth_time >= until)

    def _disagreements(self) -> list[str]:
        around = {
            name: item
            for name, item in self._client.truth.items()
            if name != ROBOT and self._mission.is_around(item)
        }
        return disagreements(around, self._client.scene)

    def begin(self, mission: MissionAction) -> None:
        """See `Trial`."""
        self._disturber = Disturber(
            self._client, self._plan, mission.action_id, recorder=self._recorder
        )

    def now(self) -> float:
        """See `Trial`."""
        return self._client.truth_time

    def summary(self) -> str:
        """See `Trial`."""
        return self._mission.summary(self._client.truth)

    def settle(self) -> None:
        """See `Trial`."""
        until = self._client.truth_time + BEFORE_VERDICT
        self._client.wait_simulated(lambda: self._client.truth_time >= until)

    def verdict(self) -> Verdict:
        """See `Trial`."""
        return self._mission.judge(self._client.truth)

    def disturbances(self) -> list[str]:
        """See `Trial`."""
        return self._disturber.done if self._disturber else []

    def not_disturbed(self) -> list[str]:
        """See `Trial`."""
        refused = self._disturber.refused if self._disturber else []
        return [*refused, *(f"{what} (no occasion)" for what in self._plan.pending())]

    def tables(self) -> Sequence[Table]:
        """One of its parts, if it has any."""
        return parts_tables(self.parts())

    def parts(self) -> Sequence[Part]:
        """See `Trial`."""
        return self._recorder.parts()

    def save(self, base: Path) -> None:
        """Have the simulation write the recording that the stack was told to make."""
        self._client.save_recording()

    def draw(self, base: Path, captions: Sequence[Caption], outcome: str) -> str:
        """See `Trial`."""
        from behavior_sim.recordings.rendering import render_recording

        recording, picture, animation = (
            base.with_suffix(suffix) for suffix in (".npz", ".png", ".gif")
        )
        if not recording.is_file():
            return "No pictures: nothing was recorded"
        return rendering_words(render_recording(recording, picture, animation, captions=captions))

    def close(self) -> None:
        """See `Trial`."""
        if self._disturber:
            self._disturber.stop()


def parts_tables(parts: Sequence[Part]) -> Sequence[Table]:
    """How many parts of each kind succeeded, and how long they took; none without parts."""
    if not parts:
        return ()
    rows = []
    for kind in sorted({part.kind for part in parts}):
        these = [part for part in parts if part.kind == kind]
        good = [part.seconds for part in these if part.success]
        seconds = f"{statistics.median(good):.1f}" if good else "-"
        rows.append((kind, f"{len(good)} of {len(these)}", seconds))
    return (Table(title="parts", columns=("what", "done", "median [s]"), rows=tuple(rows)),)


def rendering_words(report: RenderReport) -> str:
    """What the renderer reports, in one line."""
    from behavior_sim.cameras.opengl import BACKENDS

    if report.backend == "none":
        return f"No pictures: {report.message}"
    note = f" ({report.message})" if report.message else ""
    return f"Drawn with {BACKENDS[report.backend].title}{note}: {report.png}, {report.gif}"


class Disturber:
    """Carries out a plan of disturbances while a mission runs."""

    def __init__(
        self,
        client: StackClient,
        plan: DisturbancePlan,
        action_id: str,
        *,
        recorder: Recorder | None = None,
    ) -> None:
        """Act on every new ground truth until `stop`, and show it to a recorder."""
        self._client, self._recorder = client, recorder or NoRecorder()
        self._plan = plan
        self._action_id = action_id
        self._done: list[tuple[str, Any]] = []
        client.on_truth = self._on_truth

    def stop(self) -> None:
        """Disturb no more."""
        self._client.on_truth = lambda: None

    @property
    def done(self) -> list[str]:
        """What was done to the robot."""
        return [what for what, future in self._done if not _refusal(future)]

    @property
    def refused(self) -> list[str]:
        """What the simulation refused, and why."""
        return [
            f"{what} (refused: {why})" for what, future in self._done if (why := _refusal(future))
        ]

    def _on_truth(self) -> None:
        feedback = self._client.feedback(self._action_id)
        if feedback is None or self._client.finished(self._action_id):
            return  # what is done to a job that has ended says nothing about it
        situation = Situation(
            time=self._client.truth_time,
            skill=feedback.skill.lower().lstrip("/"),
            phase=feedback.phase,
            objects=self._client.truth,
        )
        self._recorder.see(situation)
        disturbance = self._plan.due(situation)
        if disturbance is not None:
            what = f"{feedback.elapsed:.1f} s: {disturbance.cause}"
            self._done.append((what, self._client.disturb_later(disturbance)))


def _refusal(future: Any) -> str:
    """Why a disturbance was not done; empty: it was."""
    if not future.done():
        return "the simulation did not answer"
    answer = future.result()
    done = answer.success if isinstance(answer, SetBool.Response) else answer.code == 0
    return "" if done else str(answer.message)


def disagreements(truth: Mapping[str, WorldObject], scene: Mapping[str, WorldObject]) -> list[str]:
    """Where the robot's belief differs from the truth.

    Objects of one class cannot be told apart, so each real one goes with the believed one that
    makes the sum of the distances least.

    Args:
        truth: what there is.
        scene: what the robot believes there is.
    """
    from scipy.optimize import linear_sum_assignment

    wrong = [f"{name} counts as held" for name, item in scene.items() if item.held]
    for class_id in sorted({item.class_id for item in truth.values()}):
        real, believed = (
            [item for item in items.values() if item.class_id == class_id]
            for items in (truth, scene)
        )
        wrong += [f"{item.name} is not in the scene" for item in real[len(believed) :]]
        distances = np.array(
            [[np.linalg.norm(a.position - b.position) for b in believed] for a in real]
        ).reshape(len(real), len(believed))
        rows, columns = linear_sum_assignment(distances)
        wrong += [
            f"{real[row].name} is {distances[row, column]:.3f} m off"
            for row, column in zip(rows, columns, strict=True)
            if distances[row, column] > SCENE_TOLERANCE
        ]
    return wrong
