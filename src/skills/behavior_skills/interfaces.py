# SPDX-License-Identifier: Apache-2.0
"""What a skill needs of the world, as small protocols.

Skills are plain sequential functions over these. The node implements the protocols with ROS,
tests with a few lines of Python that move a fake clock. A skill ends by returning, or by raising
:class:`SkillFailure` (with the name of the result code) or
:class:`behavior_tree.cause.Cancelled`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from behavior_motion import Trajectory
from behavior_motion.object_state import ObjectState

Array = NDArray[np.float64]


REPLACED = "a newer goal took its place"
"""Reason of the cancellation of a goal whose motion goes on under another one."""


class FailureCode(enum.Enum):
    """How a skill can fail; the value is the constant's name in the action's result."""

    INVALID_REQUEST = "INVALID_REQUEST"
    UNKNOWN_OBJECT = "UNKNOWN_OBJECT"
    UNKNOWN_FRAME = "UNKNOWN_FRAME"
    OUT_OF_WORKSPACE = "OUT_OF_WORKSPACE"
    GRIPPER_NOT_FREE = "GRIPPER_NOT_FREE"
    NOT_HELD = "NOT_HELD"
    OCCUPIED = "OCCUPIED"
    NO_GRASP = "NO_GRASP"
    NO_ORIENTATION = "NO_ORIENTATION"
    GOAL_IN_COLLISION = "GOAL_IN_COLLISION"
    UNREACHABLE = "UNREACHABLE"
    PLANNING_FAILED = "PLANNING_FAILED"
    PLANNING_TIMED_OUT = "PLANNING_TIMED_OUT"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    OBJECT_MOVED = "OBJECT_MOVED"
    OBJECT_LOST = "OBJECT_LOST"
    GRASP_MISSED = "GRASP_MISSED"
    NOT_GRASPED = "NOT_GRASPED"
    NOT_PLACED = "NOT_PLACED"
    FORCE_EXCEEDED = "FORCE_EXCEEDED"
    TRACKING_LOST = "TRACKING_LOST"
    GRIP_LOST = "GRIP_LOST"
    OUT_OF_TOLERANCE = "OUT_OF_TOLERANCE"
    CANCELED = "CANCELED"
    TIMED_OUT = "TIMED_OUT"
    SERVER_LOST = "SERVER_LOST"
    BLOCKED = "BLOCKED"
    TARGET_LOST = "TARGET_LOST"
    REPLACED = "REPLACED"


class SkillFailure(Exception):
    """A skill ended without success; the message says what happened and what to try."""

    def __init__(self, failure: FailureCode, message: str) -> None:
        super().__init__(message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class ObjectView:
    """One object of the scene as a skill sees it."""

    name: str
    state: ObjectState
    base_T_object: Array
    """Pose of the centre in the robot's base frame, 4x4 [m]."""
    shape: str
    """box, cylinder (along z) or sphere."""
    size: tuple[float, ...]
    """[m] box: x y z; cylinder: height radius; sphere: radius."""
    last_seen: float
    """[s]."""
    attached_link: str = ""
    is_zone: bool = False
    """Space that the robot keeps out of: an obstacle, and nothing to grip."""

    @property
    def half_extents(self) -> Array:
        """Half edge lengths of the box around the shape in the object's frame [m]."""
        if self.shape == "sphere":
            return np.full(3, self.size[0])
        if self.shape == "cylinder":
            return np.array([self.size[1], self.size[1], self.size[0] / 2])
        return np.array(self.size) / 2

    @property
    def half_height(self) -> float:
        """Half the vertical extent of the box around the object as it is turned [m]."""
        return float(np.abs(self.base_T_object[2, :3]) @ self.half_extents)


@dataclass(frozen=True, slots=True)
class JointState:
    """Where the robot is."""

    q: Array
    """Joints of the arm [rad]."""
    qd: Array
    """[rad/s]."""
    width: float
    """Gap between the fingers [m]."""
    measured: float
    """[s] when the gap was measured, by its driver's clock."""
    effort: Array | None = None
    """Torques of the arm's joints beyond its weight [Nm]; None: the robot does not tell."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a controller ended a command."""

    ok: bool
    message: str = ""
    stalled: bool = False
    """Gripper: stopped on something."""
    remedy: str = ""
    """Where it is not ok: what to do, as a sentence."""


class Command(Protocol):
    """A running command of a controller."""

    def done(self) -> Done | None:
        """How it ended, or None while it runs; raises `SkillFailure` SERVER_LOST."""

    def cancel(self) -> None:
        """Stop it; `done` tells when it has stopped."""


class Arm(Protocol):
    """The arm's trajectory controller and joint states."""

    def state(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST when there is none."""

    def execute(self, trajectory: Trajectory) -> Command:
        """Start a trajectory; it replaces one that runs.

        Raises `SkillFailure` EXECUTION_FAILED, here and while it runs, where the robot's driver
        says that the robot cannot be moved.
        """

    def pace(self) -> float:
        """Part of its speed at which the driver goes through a trajectory now, in 0..1; 0: it holds
        the arm up for a while, and goes on by itself.
        """


class Trajectories(Protocol):
    """A driver of an arm."""

    def execute(
        self, trajectory: Trajectory, on_start: Callable[[], None], on_end: Callable[[], None]
    ) -> Command:
        """Start a trajectory, in place of one that runs.

        Args:
            trajectory: to follow.
            on_start: called in the executor's thread, once the controller has accepted it ...
            on_end: ... and once it is over, however it ended.
        """


class DriverState(Protocol):
    """What a driver tells of the robot's state; asked in any thread, and cheap."""

    def heard(self) -> bool:
        """Whether it knows; until then `trouble` says that nothing was heard."""

    def trouble(self) -> str | None:
        """Why the robot cannot be moved now and what to do, as sentences; None: it can be."""

    def pace(self) -> float:
        """As `Arm.pace`; 1: it goes as fast as it is told."""


@dataclass(frozen=True, slots=True)
class StreamedMotion:
    """Joints over times of the node's clock; cubic between the points."""

    times: Array
    """(n,) [s], rising."""
    positions: Array
    """(n, dof) [rad]."""
    velocities: Array
    """(n, dof) [rad/s]."""
    left: object = None
    """What the goal that sent it leaves to one that takes its place."""


class ArmStream(Protocol):
    """A controller of the arm that is told its motion anew many times a second."""

    lead: float
    """[s] by which motions are to be told ahead."""
    name: str
    """Of what it listens to."""

    @property
    def last(self) -> StreamedMotion | None:
        """What was sent last, whichever goal did; the arm follows it as long as its times go."""

    def send(self, motion: StreamedMotion, now: float) -> None:
        """Have the arm follow `motion`, in place of the one before; `now` [s] lies within it."""

    def check(self) -> None:
        """Raise `SkillFailure` SERVER_LOST or EXECUTION_FAILED where the controller is not there,
        or gave up.
        """


class Gripper(Protocol):
    """The gripper's controller."""

    def move(self, width: float, effort: float) -> Command:
        """Start to move to a gap between the fingers [m] with at most `effort` [N]."""


class Pump(Protocol):
    """The pump of a suction cup."""

    def switch(self, on: bool) -> Command:
        """Switch it; raises `SkillFailure` SERVER_LOST."""


class Wheels(Protocol):
    """A base that takes velocities."""

    def command(self, linear: float, angular: float, lateral: float = 0.0) -> None:
        """Drive with a speed along x [m/s], about z [rad/s] and, where it can, along y [m/s]."""


class Navigation(Protocol):
    """What drives a base to poses and along paths, around obstacles."""

    def serves(self, mode: int) -> bool:
        """Whether it is there for goals of this mode of behavior_msgs/MoveBase."""

    def run(self, context: Any, trouble: Callable[[], str | None]) -> None:
        """Drive, in a worker's thread; whatever ends it, the base is stopped.

        Args:
            context: `behavior_ros.GoalContext` of a goal of behavior_msgs/MoveBase.
            trouble: looked at every now and then: why the base must stand.

        Raises:
            SkillFailure: it did not get there.
            Cancelled, WaitTimeout: of the goal.
            ServerLost: it is gone, or there was `trouble`.
        """


class Cup(Protocol):
    """A suction cup."""

    def switch(self, on: bool) -> Command:
        """Switch the pump."""

    def vacuum(self) -> bool:
        """Whether it holds something; raises `SkillFailure` SERVER_LOST: its sensor is silent."""


class SceneView(Protocol):
    """The scene's objects."""

    def objects(self) -> Mapping[str, ObjectView]:
        """Newest snapshot; raises `SkillFailure` SERVER_LOST when the scene is silent."""

    def revision(self) -> int:
        """Grows with every snapshot."""

    def attach(self, name: str, link: str) -> None:
        """Tell the scene that the object moves with the link; raises `SkillFailure`."""

    def detach(self, name: str) -> None:
        """Tell the scene that the object moves with no link any more; raises `SkillFailure`."""


class GoalContext(Protocol):
    """Time, feedback and cancellation of one goal; in ROS a :class:`behavior_ros.GoalContext`."""

    def now(self) -> float:
        """Time of the node's clock [s]."""

    def tick(self) -> None:
        """Wait for the next joint state, or for what else the work may wait for.

        Raises:
            Cancelled: the client cancelled, unless within a `shielded` block.
            SkillFailure: SERVER_LOST, no joint states arrive.
        """

    def sleep(self, duration: float) -> None:
        """Let a time of the node's clock pass [s]; raises `Cancelled` as soon as `tick` would."""

    def check_cancelled(self) -> None:
        """Raise `Cancelled` where `tick` would, without waiting: for use within computations."""

    def feedback(self, phase: str, progress: float, **more: Any) -> None:
        """Tell the client where the skill is; progress 0..1, and more fields of the feedback."""

    def shield(self, on: bool) -> None:
        """While on, `tick` does not raise `Cancelled`: the robot is being brought to rest."""


@dataclass(slots=True)
class HeldObject:
    """What the gripper holds, as the pick that took it knows it."""

    name: str
    tool_T_object: Array
    """4x4 [m]."""
    width: float
    """Gap between the fingers that hold it [m]."""


@dataclass(slots=True)
class Hand:
    """Memory of the gripper that outlives a single goal."""

    held: HeldObject | None = None
    emptied: str = "Nothing has been picked yet."
    """How the gripper came to hold nothing, as a sentence; of no meaning while it holds something.
    """
    let_go: str = ""
    """Object that it let go of last, by its name; empty: none."""
    unreported: str = ""
    """Object that was let go while the scene could not be told."""

    def release(self, how: str) -> None:
        """It holds nothing any more, for a reason that is a sentence."""
        self.let_go = self.let_go if self.held is None else self.held.name
        self.held, self.emptied = None, how

    @property
    def text(self) -> str:
        """What it holds, or that it holds nothing and why, in words."""
        if self.held is not None:
            return f"The gripper holds '{self.held.name}'."
        return f"The gripper holds nothing. {self.emptied}"
