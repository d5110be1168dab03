# SPDX-License-Identifier: Apache-2.0
"""What a mission is: the request, its state over time, and why it ended. No ROS.

The numbers equal the constants of ``behavior_msgs/MissionAction`` and ``MissionFeedback``;
a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

from behavior_motion.planar_pose import FramedPose
from behavior_tree.cause import Cause, CauseKind
from behavior_tree.errors import FailureReason
from behavior_tree.shown_text import reason_text


class Kind(IntEnum):
    """What a mission action asks for (``MissionAction.type``)."""

    RUN_BEHAVIOR = 0
    NAVIGATE_TO_POSE = 1
    FOLLOW_ROUTE = 2
    LOAD_MAP = 3
    SEQUENCE = 4
    PAUSE = 5
    RESUME = 6
    CANCEL = 7


CONTROL_KINDS = frozenset({Kind.PAUSE, Kind.RESUME, Kind.CANCEL})
"""Kinds that act upon another mission instead of being one."""

STEP_KINDS = frozenset({Kind.RUN_BEHAVIOR, Kind.NAVIGATE_TO_POSE, Kind.FOLLOW_ROUTE, Kind.LOAD_MAP})
"""Kinds that a step of a sequence may be of; each is one tree."""


class Policy(IntEnum):
    """What happens to a mission that arrives while another one runs."""

    DEFAULT = 0
    """As the executor's parameter ``second_mission_policy`` says."""
    REJECT = 1
    """It is refused with BUSY."""
    QUEUE = 2
    """It waits; higher priority first, then first come, first served."""
    REPLACE = 3
    """The running mission is halted (REPLACED) and this one runs next."""


class State(IntEnum):
    """Where a mission is in its life (``MissionFeedback.state``)."""

    WAITING = 0
    INITIALIZING = 1
    RUNNING = 2
    PAUSED = 3
    FINISHED = 4
    FAILED = 5
    CANCELED = 6


class Code(IntEnum):
    """Why a mission ended (``MissionFeedback.code``)."""

    SUCCESS = 0
    UNKNOWN_MISSION = 101
    INVALID_REQUEST = 102
    INVALID_TREE = 103
    BUSY = 104
    TREE_FAILED = 110
    TREE_ERROR = 111
    SERVER_LOST = 112
    NO_ROUTE = 120
    PLANNER_FAILED = 121
    MAP_FAILED = 122
    GOAL_FRAME_LOST = 123
    LOCALIZATION_LOST = 124
    CANCELED_BY_CLIENT = 130
    REPLACED = 131
    TIMED_OUT = 132
    SHUTDOWN = 133


_CODE_OF_KIND = {CauseKind.SERVER_LOST: Code.SERVER_LOST, CauseKind.TIMED_OUT: Code.TIMED_OUT}
_KIND_OF_CODE = {
    **{code: kind for kind, code in _CODE_OF_KIND.items()},
    Code.UNKNOWN_MISSION: CauseKind.REJECTED,
    Code.BUSY: CauseKind.REJECTED,
    Code.INVALID_REQUEST: CauseKind.INVALID_INPUT,
    Code.INVALID_TREE: CauseKind.INVALID_INPUT,
    Code.CANCELED_BY_CLIENT: CauseKind.CANCELED,
    Code.REPLACED: CauseKind.CANCELED,
    Code.SHUTDOWN: CauseKind.CANCELED,
}


def failed(code: Code, reason: str) -> Cause:
    """Why a mission fails, with the code that clients are told.

    Args:
        code: the code.
        reason: in plain words; of a `Cause` the kind and the remedy are kept.
    """
    cause = Cause.of(reason)
    return Cause(cause.kind, cause.sentence, remedy=cause.remedy, evidence=code.name)


def code_of(cause: Cause) -> Code:
    """The code that clients are told: that of `failed`, else what the cause's kind tells."""
    otherwise = _CODE_OF_KIND.get(cause.kind, Code.TREE_FAILED)
    return Code.__members__.get(cause.evidence, otherwise)


def ended_by(code: Code, text: str, failure: FailureReason | None = None) -> FailureReason | None:
    """Why a mission ended, as a value; None: well, or it has not ended.

    Args:
        code: as clients are told.
        text: likewise.
        failure: what a leaf of its tree or a manager told, if one did.
    """
    if code < Code.UNKNOWN_MISSION:
        return None
    return failure or FailureReason(
        "", text, cause=Cause(_KIND_OF_CODE.get(code, CauseKind.OTHER), text)
    )


FINAL_STATES = frozenset({State.FINISHED, State.FAILED, State.CANCELED})

_NEXT_STATES: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.WAITING: frozenset({State.INITIALIZING, State.FAILED, State.CANCELED}),
        State.INITIALIZING: frozenset({State.RUNNING, State.FAILED, State.CANCELED}),
        State.RUNNING: frozenset({State.PAUSED}) | FINAL_STATES,
        State.PAUSED: frozenset({State.RUNNING, State.FAILED, State.CANCELED}),
    }
)

DOUBT = "it may have ended: what was written of it last was lost with a part of the journal"
"""Text of a mission that a restart finds unfinished, maybe wrongly."""

_MOST_FILES = 3
"""That a remark names."""

_STATE_OF_CODE = {
    Code.SUCCESS: State.FINISHED,
    Code.CANCELED_BY_CLIENT: State.CANCELED,
    Code.REPLACED: State.CANCELED,
    Code.SHUTDOWN: State.CANCELED,
}


class MissionError(Exception):
    """A mission that cannot run; ``code`` and the text say why."""

    def __init__(self, code: Code, text: str) -> None:
        """Keep the reason.

        Args:
            code: reason as clients see it.
            text: plain words: what happened and what to try.
        """
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class MissionRequest:
    """One mission action, free of ROS types."""

    action_id: str
    """Unique identifier."""
    kind: Kind = Kind.RUN_BEHAVIOR
    name: str = ""
    """Name of the mission, as the catalogue lists it."""
    policy: Policy = Policy.DEFAULT
    priority: int = 0
    """0..255; among waiting missions the higher one runs first."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Values for the tree's blackboard, as text."""
    goal: FramedPose | None = None
    """NAVIGATE_TO_POSE: where to."""
    route: tuple[FramedPose, ...] = ()
    """FOLLOW_ROUTE: along what, the goal last."""
    map_id: str = ""
    """LOAD_MAP: which map."""
    steps: tuple[MissionRequest, ...] = ()
    """SEQUENCE: what to do in order; their identifiers are the mission's with ``#1``, ``#2``..."""
    trees: Mapping[str, str] = field(default_factory=dict)
    """What stood in the files of its trees when it was accepted, by path; see `TreeDigests`."""

    @property
    def title(self) -> str:
        """The mission in a few words: its name, else what it asks for."""
        if self.name:
            return self.name
        goal = self.goal or (self.route[-1] if self.route else None)
        where = f" ({goal.pose.x:g}, {goal.pose.y:g}) in {goal.frame}" if goal else ""
        what = {
            Kind.NAVIGATE_TO_POSE: f"navigate to{where}",
            Kind.FOLLOW_ROUTE: f"follow a route to{where}",
            Kind.LOAD_MAP: f"load map {self.map_id}",
            Kind.SEQUENCE: f"sequence of {len(self.steps)}",
        }
        return what.get(self.kind, self.kind.name.lower())

    @property
    def parts(self) -> tuple[MissionRequest, ...]:
        """The trees to run, one after the other: the steps of a sequence, else itself."""
        return self.steps if self.kind is Kind.SEQUENCE else (self,)


@dataclass
class Mission:
    """A request that was accepted, and what became of it. Times are node time in seconds."""

    request: MissionRequest
    accepted_at: float
    state: State = State.WAITING
    code: Code = Code.SUCCESS
    text: str = ""
    """Why it ended, in plain words; while it runs, what the executor does about trouble."""
    started_at: float | None = None
    ended_at: float | None = None
    steps_done: int = 0
    """Parts of the request that have ended well."""
    interruptions: int = 0
    """How often a restart of the executor found it unfinished."""
    failure: FailureReason | None = None
    """What the leaf or manager told that made it fail; not kept over a restart."""
    edited: frozenset[str] = frozenset()
    """Files of its trees that run otherwise than they were when it was accepted."""

    @property
    def action_id(self) -> str:
        """Identifier of the mission."""
        return self.request.action_id

    @property
    def is_final(self) -> bool:
        """Whether it ended."""
        return self.state in FINAL_STATES

    @property
    def part(self) -> MissionRequest:
        """What it does now, or did last."""
        parts = self.request.parts
        return parts[min(self.steps_done, len(parts) - 1)]

    @property
    def step_text(self) -> str:
        """Which step of how many, e.g. ``step 2 of 3 (load map hall): ``; empty if it has one."""
        parts = self.request.parts
        if self.request.kind is not Kind.SEQUENCE:
            return ""
        step = min(self.steps_done + 1, len(parts))
        return f"step {step} of {len(parts)} ({self.part.title}): "

    @property
    def remark(self) -> str:
        """That it runs otherwise than it was accepted, in words; empty: it does not."""
        if not self.edited:
            return ""
        files = sorted(self.edited)
        more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        return f"not as accepted, edited since: {', '.join(files[:_MOST_FILES])}{more}"

    def elapsed(self, now: float) -> float:
        """Seconds of node time since it started, or 0 if it did not."""
        if self.started_at is None:
            return 0.0
        return max(0.0, (now if self.ended_at is None else self.ended_at) - self.started_at)

    def advance(self, state: State, now: float) -> None:
        """Go on to a state that may follow the present one.

        Raises:
            ValueError: the present state does not lead there.
        """
        if state not in _NEXT_STATES.get(self.state, frozenset()):
            raise ValueError(
                f"mission '{self.action_id}' cannot go from {self.state.name} to {state.name}"
            )
        if state is State.INITIALIZING:
            self.started_at = now
        if state in FINAL_STATES:
            self.ended_at = now
        self.state = state

    def end(self, code: Code, text: str, now: float, failure: FailureReason | None = None) -> None:
        """End it for this reason; the final state follows from the code. With the reason it is told
        that it ran otherwise than it was accepted.
        """
        self.advance(_STATE_OF_CODE.get(code, State.FAILED), now)
        text = "; ".join(filter(None, (text, self.remark)))
        self.code, self.text, self.failure = code, reason_text(text), failure

    def fail(self, code: Code, text: str, now: float) -> None:
        """End it as FAILED, also for a reason that otherwise counts as cancelled."""
        self.advance(State.FAILED, now)
        self.code, self.text = code, reason_text(text)

    def readmit(self, text: str) -> None:
        """Let it wait for its start again, after an interruption."""
        self.state, self.started_at, self.text = State.WAITING, None, text

    def hold(self, text: str) -> None:
        """Keep it until somebody decides, after an interruption."""
        self.state, self.text = State.PAUSED, text
