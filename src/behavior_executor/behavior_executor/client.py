# SPDX-License-Identifier: Apache-2.0
"""Missions from the client's side: list them, run one to its end, cancel.

For programs that have nothing else to do meanwhile, such as a command line::

    with MissionClient() as client:
        outcome = client.run("stack_blocks", on_feedback=lambda f: print(f.detail))
        print(outcome.message)

Every call blocks until its answer or its timeout, and spins the client's own node meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import rclpy
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import FailureCause, MissionAction, MissionFeedback, MissionRecord
from behavior_msgs.srv import ControlRun, ListMissionRecords, ListMissions
from diagnostic_msgs.msg import KeyValue
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from behavior_executor.missions.mission import Code, Policy
from behavior_ros import (
    QOS_REQUESTS,
    End,
    GoalOutcome,
    RemoteAction,
    RemoteGoal,
    remote_actions,
)
from behavior_ros.node.closing import destroy_node
from behavior_ros.process.interrupts import interrupts_held
from behavior_ros.process.local_transport import match_transport
from behavior_tree.monitoring.closing import Closing

ACTION = "mission/execute"
PREFLIGHT = "mission/preflight"
_CANCEL_PATIENCE = 3.0
"""[s] wall time that a mission has to end after it was cancelled."""
FeedbackCallback = Callable[[MissionFeedback], None]


class MissionClientError(Exception):
    """The executor does not answer, or went away."""


@dataclass(frozen=True)
class MissionInfo:
    """A mission that the executor can run."""

    name: str
    description: str
    """One line."""


@dataclass(frozen=True)
class MissionOutcome:
    """How a mission ended."""

    code: int
    """0 success, else one of ``behavior_msgs/MissionFeedback``'s reasons."""
    message: str
    """Plain words."""
    duration: float
    """[s] node time, which is simulated time where the executor uses it."""
    failure: FailureCause = field(default_factory=FailureCause)
    """Why it failed, as values."""

    @property
    def succeeded(self) -> bool:
        """Whether the mission reached its end with success."""
        return self.code == Code.SUCCESS


class MissionClient(Closing):
    """A client of one executor."""

    def __init__(
        self,
        *,
        node_name: str = "mission_client",
        namespace: str = "",
        context: Context | None = None,
        silence_limit: float = 10.0,
    ) -> None:
        """Create the client's node; rclpy is initialised if it was not.

        Args:
            node_name: name of the node.
            namespace: of the executor, where several robots share one ROS graph; empty: none.
            context: rclpy context; None: the default one.
            silence_limit: [s] wall time without any sign of life after which the executor counts
                as gone; it is asked for one now and then.
        """
        if context is None and not rclpy.ok():
            match_transport()
            rclpy.init()
        self._silence_limit = silence_limit
        self._node = Node(
            node_name,
            namespace=namespace,
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)
        self._action = remote_actions(self._node).action(ExecuteMission, ACTION)
        self._preflight = remote_actions(self._node).action(ExecuteMission, PREFLIGHT)
        self._list = self._client(ListMissions, "mission/list")
        self._history = self._client(ListMissionRecords, "mission/history")
        self._cancel = self._client(Trigger, "mission/cancel")
        self._control_run = self._client(ControlRun, "behavior/control_run")

    def close(self) -> None:
        """Destroy the node."""
        self._executor.shutdown(timeout_sec=1.0)
        destroy_node(self._node)

    def _client(self, kind: Any, name: str) -> Any:
        return self._node.create_client(kind, name, qos_profile=QOS_REQUESTS)

    def wait_for_executor(self, timeout: float = 10.0) -> None:
        """Wait until an executor takes missions.

        Raises:
            MissionClientError: none does within ``timeout`` seconds of wall time.
        """
        deadline = time.monotonic() + timeout
        while not self._action.ready():
            if time.monotonic() > deadline:
                raise MissionClientError(
                    f"no executor on {self._action.name} within {timeout:g} s; start the stack "
                    "with 'behavior up' and check that ROS_DOMAIN_ID is the same"
                )
            self._executor.spin_once(timeout_sec=0.05)

    def list(self, *, timeout: float = 10.0) -> list[MissionInfo]:
        """All missions that the executor can run.

        Raises:
            MissionClientError: no answer within ``timeout`` seconds of wall time.
        """
        answer = self._call(self._list, ListMissions.Request(), timeout)
        return [
            MissionInfo(name, description)
            for name, description in zip(answer.names, answer.descriptions, strict=True)
        ]

    def cancel(self, *, timeout: float = 10.0) -> str:
        """Cancel whichever mission runs; returns the executor's words.

        Raises:
            MissionClientError: no answer within ``timeout`` seconds of wall time, or none runs.
        """
        answer = self._call(self._cancel, Trigger.Request(), timeout)
        if not answer.success:
            raise MissionClientError(str(answer.message))
        return str(answer.message)

    def control_run(self, command: str = "", *, timeout: float = 10.0) -> ControlRun.Response:
        """Step, stop or mend the mission that runs, or prepare the next one.

        Args:
            command: a line as docs/run_control.md lists them; empty: only tell the state.
            timeout: [s] wall time.

        Returns:
            What was done, and the state of the control afterwards.

        Raises:
            MissionClientError: no answer within ``timeout``, or the command is refused.
        """
        answer = self._call(self._control_run, ControlRun.Request(command=command), timeout)
        if not answer.success:
            raise MissionClientError(str(answer.message))
        return answer

    def history(
        self, *, unfinished_only: bool = False, limit: int = 0, timeout: float = 10.0
    ) -> tuple[MissionRecord, ...]:
        """What the executor's journal holds, the newest first.

        Args:
            unfinished_only: leave out what has ended.
            limit: at most so many; 0: as many as one answer holds, which is 200.
            timeout: [s] wall time.


        Raises:
            MissionClientError: no answer within ``timeout`` seconds of wall time, or no journal.
        """
        request = ListMissionRecords.Request(unfinished_only=unfinished_only, limit=limit)
        answer = self._call(self._history, request, timeout)
        if answer.code:
            raise MissionClientError(str(answer.message))
        return tuple(answer.records)

    def run(
        self,
        name: str,
        *,
        parameters: Mapping[str, str] | None = None,
        policy: Policy = Policy.DEFAULT,
        priority: int = 0,
        action_id: str = "",
        on_feedback: FeedbackCallback | None = None,
        timeout: float | None = None,
    ) -> MissionOutcome:
        """Run the behavior of this name to its end; see `execute`.

        Args:
            name: of the mission.
            parameters: values for the tree's blackboard, as text.
            policy: what happens if another mission runs.
            priority: 0..255, among waiting missions.
            action_id: identifier; empty: the executor makes one.
            on_feedback: called with every feedback message.
            timeout: [s] wall time; then the mission is cancelled and its outcome is TIMED_OUT,
                unless it ends in another way just then.
        """
        mission = MissionAction(
            action_id=action_id,
            type=MissionAction.RUN_BEHAVIOR,
            name=name,
            policy=int(policy),
            priority=priority,
            parameters=[KeyValue(key=k, value=v) for k, v in (parameters or {}).items()],
        )
        return self.execute(mission, on_feedback=on_feedback, timeout=timeout)

    def execute(
        self,
        mission: MissionAction,
        *,
        on_feedback: FeedbackCallback | None = None,
        timeout: float | None = None,
    ) -> MissionOutcome:
        """Run a mission of any kind to its end, or pause, resume or cancel one.

        Args:
            mission: what to do.
            on_feedback: called with every feedback message.
            timeout: [s] wall time; then the mission is cancelled and its outcome is TIMED_OUT,
                unless it ends in another way just then.

        Returns:
            How it ended; a mission that was refused ends with a code as well.

        Raises:
            MissionClientError: there is no executor, or it went away.
            KeyboardInterrupt: as it came, after the mission was cancelled.
        """
        self.wait_for_executor()
        return self._run_goal(self._action, mission, on_feedback, timeout)

    def preflight(self, mission: MissionAction, *, timeout: float = 10.0) -> MissionOutcome:
        """Ask whether a mission could start now; nothing runs.

        Args:
            mission: as for `execute`.
            timeout: [s] wall time.

        Returns:
            Success, or what is wrong with the mission or missing on the robot.

        Raises:
            MissionClientError: there is no executor, or it went away.
        """
        self.wait_for_executor(timeout)
        return self._run_goal(self._preflight, mission, None, timeout)

    def _run_goal(
        self,
        action: RemoteAction,
        mission: MissionAction,
        on_feedback: FeedbackCallback | None,
        timeout: float | None,
    ) -> MissionOutcome:
        sent = action.send(
            ExecuteMission.Goal(mission=mission),
            server_timeout=self._silence_limit,
            on_feedback=lambda message: on_feedback(message.feedback) if on_feedback else None,
        )
        try:
            outcome = self._spin_until_end(sent, timeout)
        except KeyboardInterrupt:
            self._cancel_goal(sent)
            raise
        if outcome is None:
            outcome = self._cancel_goal(sent)
            told = f"not finished after {timeout:g} s; cancelled"
            if outcome is None:
                told += f", but {_CANCEL_PATIENCE:g} s later it has not ended: it may still run"
            if outcome is None or outcome.end is End.CANCELED:
                return MissionOutcome(Code.TIMED_OUT, told, float(timeout or 0))
        if outcome.end is End.REJECTED:
            raise MissionClientError("the executor rejected the goal: it is shutting down")
        if outcome.end is End.LOST:
            raise MissionClientError(
                f"{outcome.message}; what became of the mission say its log and "
                f"{self._history.service_name}"
            )
        result = outcome.result
        code = int(result.code)
        if code == Code.SUCCESS and not outcome.succeeded:  # the goal's end is what counts
            code = Code.TREE_FAILED
        return MissionOutcome(code, str(result.message), result.duration, result.failure)

    def _spin_until_end(self, sent: RemoteGoal, timeout: float | None) -> GoalOutcome | None:
        """Spin until the goal has ended; None: the timeout was over before."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with interrupts_held() as handle_interrupts:
            while sent.outcome is None and time.monotonic() <= deadline:
                self._executor.spin_once(timeout_sec=0.1)
                handle_interrupts()
        return sent.outcome

    def _cancel_goal(self, sent: RemoteGoal) -> GoalOutcome | None:
        """Cancel, and give the executor a moment to end the mission; None: it has not."""
        sent.cancel()
        return self._spin_until_end(sent, _CANCEL_PATIENCE)

    def _call(self, client: Any, request: Any, timeout: float) -> Any:
        self.wait_for_executor(timeout)
        return self._wait(client.call_async(request), timeout)

    def _wait(self, future: Future, timeout: float) -> Any:
        self._executor.spin_until_future_complete(future, timeout_sec=timeout)
        if not future.done():
            future.cancel()
            raise MissionClientError(f"the executor did not answer within {timeout:g} s")
        return future.result()
