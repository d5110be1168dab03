# SPDX-License-Identifier: Apache-2.0
"""What clients are told of a mission, and when. No ROS."""

from __future__ import annotations

import math
from dataclasses import dataclass

from behavior_executor.missions.mission import Code, Mission, State, ended_by
from behavior_executor.missions.report import Report
from behavior_executor.running.tree_run import Activity
from behavior_tree.errors import FailureReason
from behavior_tree.shown_text import reason_text, visible


@dataclass(frozen=True)
class Progress:
    """The state of a mission at one moment."""

    action_id: str
    name: str
    state: State
    code: Code
    text: str
    progress: float
    """0..1, -1 when unknown."""
    elapsed: float
    """[s] node time since its start."""
    active_path: str
    skill: str
    phase: str
    detail: str
    distance_remaining: float = -1.0
    """[m] along the route; -1: not driving."""
    planner_mode: int = 0
    """One of PlannerOperationMode."""
    reroutes: int = 0
    """Routes requested after the first one."""
    autonomy: int = 0
    """One of AutonomyLevel."""
    failure: FailureReason | None = None
    """Why it ended, where it did not end well."""

    @property
    def event(self) -> tuple[object, ...]:
        """What makes a change worth telling at once; time alone does not."""
        return (
            self.action_id,
            self.state,
            self.code,
            self.text,
            self.active_path,
            self.skill,
            self.phase,
            self.detail,
            self.planner_mode,
            self.reroutes,
            self.autonomy,
        )


def progress_of(
    mission: Mission, activity: Activity, now: float, report: Report | None = None
) -> Progress:
    """Compose the state of a mission.

    Args:
        mission: the mission.
        activity: what its tree does; empty for one that does not run.
        now: node time [s].
        report: what the managers add; what the tree tells of itself goes before it.
    """
    report = report or Report()
    part = activity.progress if activity.progress >= 0.0 else report.progress
    detail = activity.detail or report.detail
    return Progress(
        action_id=mission.action_id,
        name=mission.request.title,
        state=mission.state,
        code=mission.code,
        text=mission.text or mission.remark,
        progress=_share(mission, part),
        elapsed=mission.elapsed(now),
        active_path=activity.active_path,
        skill=activity.skill,
        phase=visible(activity.phase),
        detail=reason_text((mission.step_text + detail).removesuffix(": ")),
        distance_remaining=report.distance_remaining,
        planner_mode=report.planner_mode,
        reroutes=report.reroutes,
        autonomy=report.autonomy,
        failure=ended_by(mission.code, mission.text, mission.failure),
    )


def refusal(action_id: str, name: str, code: Code, text: str, state: State) -> Progress:
    """The answer to a request that is refused.

    Args:
        action_id: as the request gave it; it may be the one of another mission.
        name: likewise.
        code: why.
        text: why, in plain words.
        state: FAILED, or the state of the mission that has this identifier: it is not touched.
    """
    return Progress(
        action_id=action_id,
        name=name,
        state=state,
        code=code,
        text=text,
        progress=-1.0,
        elapsed=0.0,
        active_path="",
        skill="",
        phase="",
        detail="",
        failure=ended_by(code, text),
    )


def _share(mission: Mission, part: float) -> float:
    """Progress of the mission, 0..1, from the one of its present part, -1 if unknown."""
    if mission.state is State.FINISHED:
        return 1.0
    parts = len(mission.request.parts)
    if parts == 1:
        return part
    return min(mission.steps_done + max(0.0, part), parts) / parts


class FeedbackGate:
    """Lets through every change, and besides one report per period."""

    def __init__(self, *, period: float = 0.2) -> None:
        """Start with nothing told.

        Args:
            period: [s] between two reports without a change.
        """
        self.period = period
        self._last_event: tuple[object, ...] = ()
        self._last_time = -math.inf

    def lets_through(self, progress: Progress, wall: float) -> bool:
        """Whether to tell this now; if so, it counts as told."""
        event = progress.event
        # Time that was set back counts as a period that is over.
        if event == self._last_event and 0.0 <= wall - self._last_time < self.period:
            return False
        self._last_event, self._last_time = event, wall
        return True
