# SPDX-License-Identifier: Apache-2.0
"""The arm as the skills see it: its joint states, its driver, and what stops it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from behavior_motion import RobotModel, Trajectory
from behavior_ros import (
    QOS_SENSOR,
    GoalContext,
    ServerLost,
    seconds,
)
from behavior_ros.messages.joint_state_wire import WireJointState, read_joint_state
from behavior_ros.node.silence import Moment, Silence, moment
from behavior_ros.topics.background import create_background_subscription
from behavior_skills.interfaces import (
    ArmStream,
    Command,
    Done,
    DriverState,
    FailureCode,
    JointState,
    SkillFailure,
    StreamedMotion,
    Trajectories,
)
from behavior_skills.node.joint_states import JointStates, OtherJoints, Untaken
from behavior_tree.shown_text import named

SILENCE = 2.5
"""[s] without joint states, on the node's clock and the wall's, after which the robot is lost."""
STANDSTILL = 4
"""So many times as long where the node's clock stands still: that of a simulation that has died, or
that a busy machine keeps waiting."""


class RobotState:
    """Newest joint state.

    Of a robot that nobody moves nobody looks at it: messages are taken in when somebody does.
    """

    def __init__(
        self,
        node: Node,
        robot: RobotModel,
        topic: str = "joint_states",
        *,
        other_joints: Iterable[str] = (),
    ) -> None:
        self._joints = JointStates(robot)
        self._others = OtherJoints(other_joints)
        self._untaken = Untaken(self._take)
        self._logger = node.get_logger()
        self._clock = node.get_clock()
        self._silences = {
            part: Silence(self._now, SILENCE, standstill=STANDSTILL) for part in self._joints.parts
        }
        self._age = 0.0
        """[s] of the newest message when it came, by its stamp."""
        self._sequence = 0
        self._waiting: set[GoalContext] = set()
        self._topic = create_background_subscription(
            node, JointStateMsg, topic, self._on_message, QOS_SENSOR, lasting=True
        ).topic_name

    def _on_message(self, data: bytes) -> None:
        try:
            message = read_joint_state(data)
        except ValueError as error:
            self._logger.warning(f"joint state ignored: {error}", throttle_duration_sec=5.0)
            return
        self._untaken.hear(message, moment(self._now()))
        if self._waiting:
            self._untaken.take()

    def _take(self, message: WireJointState, when: Moment) -> None:
        self._others.take(message)
        _, now = when
        parts = self._joints.take(message, now)
        if not parts:
            return
        self._age = now - 1e-9 * message.stamp if message.stamp else 0.0
        if self._age <= SILENCE:
            for part in parts:
                self._silences[part].end(when)
        if not self._joints.complete:
            return
        self._sequence += 1
        for context in tuple(self._waiting):
            context.wake()

    def _now(self) -> float:
        return float(seconds(self._clock.now()))

    @property
    def others(self) -> Mapping[str, float]:
        """Where the joints of the robot's other groups are, by name [rad or m]."""
        self._untaken.take()
        return self._others.positions

    @property
    def silent(self) -> bool:
        """No joint states, or only old ones, for longer than `SILENCE`."""
        self._untaken.take()
        return not self._joints.complete or any(s.too_long for s in self._silences.values())

    def get(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST."""
        self._untaken.take()
        state = self._joints.state()
        if state is None or self.silent:
            raise SkillFailure(FailureCode.SERVER_LOST, self._lost())
        return state

    def await_next(self, context: GoalContext) -> None:
        """Wait for the next joint state, or a nudge, on behalf of a goal.

        Raises:
            Cancelled: the goal is to end.
            SkillFailure: SERVER_LOST, none has arrived for `SILENCE`.
        """
        self._untaken.take()
        sequence = self._sequence
        self._waiting.add(context)
        self._untaken.take()  # what came just now, before anybody waited
        try:
            context.wait_until(
                lambda: self._sequence != sequence or context.nudged, math.inf, lost=self._reason
            )
        except ServerLost as lost:
            raise SkillFailure(FailureCode.SERVER_LOST, str(lost)) from None
        finally:
            self._waiting.discard(context)

    def _reason(self) -> str | None:
        return self._lost() if self.silent else None

    def _lost(self) -> str:
        missing = self._joints.missing()
        silent = [part for part, silence in self._silences.items() if silence.too_long]
        if self._age > SILENCE:
            return (
                f"The joint states on {self._topic} are {self._age:.1f} s old by their stamps. See "
                "whether the robot's driver still hears the robot, and that the clocks of all "
                "machines agree (chrony; in a simulation use_sim_time)."
            )
        if self._joints.heard and (missing or len(silent) < len(self._silences)):
            lacks = missing or [joint for part in silent for joint in self._joints.parts[part]]
            return (
                f"No joint states of {named(lacks)} arrive on {self._topic}, though those of other "
                "joints do. Start the driver that tells of them, or correct the names in the "
                "robot's file."
            )
        return (
            f"No joint states of the robot arrive on {self._topic}. Start the robot's driver or "
            "the simulation again."
        )


CAUSE_PATIENCE = 0.5
"""[s] by which the state that explains the end of a motion may come later than that end."""


class DriverStates:
    """All that the robot's drivers tell of its state."""

    def __init__(self, states: Sequence[DriverState], now: Callable[[], float]) -> None:
        """`now` is the node's time [s]."""
        self._states, self.now = states, now

    def __bool__(self) -> bool:
        """Whether any driver tells anything."""
        return bool(self._states)

    def heard(self) -> bool:
        """Whether all of them know."""
        return all(state.heard() for state in self._states)

    def trouble(self) -> str | None:
        """Why the robot cannot be moved now and what to do; None: it can be."""
        return next(filter(None, (state.trouble() for state in self._states)), None)

    def check(self) -> None:
        """Raise `SkillFailure` EXECUTION_FAILED where the robot cannot be moved."""
        if trouble := self.trouble():
            raise SkillFailure(FailureCode.EXECUTION_FAILED, trouble)

    def pace(self) -> float:
        """Part of its speed at which the slowest goes through a trajectory, in 0..1."""
        return min((state.pace() for state in self._states), default=1.0)


class WatchedCommand:
    """A command that ends as soon as a driver says that the robot cannot be moved."""

    def __init__(self, command: Command, states: DriverStates) -> None:
        self._command, self._states = command, states
        self._cancelled = False
        self._failed_at: float | None = None

    def done(self) -> Done | None:
        """How it ended, or None; raises `SkillFailure` with the driver's own reason."""
        try:
            done = self._command.done()
        except SkillFailure:
            self._states.check()  # which tells more than that a controller is gone
            raise
        if self._cancelled or (done is not None and done.ok):
            return done
        self._states.check()
        if done is None or not self._states:
            return done
        if self._failed_at is None:
            self._failed_at = self._states.now()
        return done if self._states.now() - self._failed_at > CAUSE_PATIENCE else None

    def cancel(self) -> None:
        """Stop it; from here on `done` tells when it has stopped."""
        self._cancelled = True
        self._command.cancel()


class WatchedStream:
    """A stream that is told nothing while a driver says that the robot cannot be moved."""

    def __init__(self, stream: ArmStream, states: DriverStates) -> None:
        self._stream, self._states = stream, states
        self.lead, self.name = stream.lead, stream.name

    @property
    def last(self) -> StreamedMotion | None:
        """What was sent last."""
        return self._stream.last

    def send(self, motion: StreamedMotion, now: float) -> None:
        """Have the arm follow `motion`, where it can be moved."""
        if self._states.trouble() is None:
            self._stream.send(motion, now)

    def check(self) -> None:
        """Raise `SkillFailure` where the robot cannot be moved, or its controller gave up."""
        self._states.check()
        self._stream.check()


class ArmClient:
    """The skills' `Arm`: joint states, the driver of the arm, and the states of all drivers."""

    def __init__(
        self,
        state: RobotState,
        driver: Trajectories,
        states: DriverStates,
        on_start: Callable[[Trajectory], None] = lambda trajectory: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Both are called in the executor's thread: with a trajectory that starts, and at its end,
        however it ends.
        """
        self._state, self._driver, self._states = state, driver, states
        self._on_start, self._on_end = on_start, on_end

    def state(self) -> JointState:
        """Newest joint state; raises `SkillFailure` SERVER_LOST."""
        return self._state.get()

    def execute(self, trajectory: Trajectory) -> Command:
        """Send a trajectory to the driver; raises `SkillFailure` where the robot is stopped."""
        self._states.check()
        started = partial(self._on_start, trajectory)
        return WatchedCommand(self._driver.execute(trajectory, started, self._on_end), self._states)

    def pace(self) -> float:
        """Part of its speed at which the driver goes through a trajectory now."""
        return self._states.pace()
