# SPDX-License-Identifier: Apache-2.0
"""The action ``/mission/execute``: a goal is a mission, its result says how that ended.

A mission that is refused ends at once, with the reason in its result; the goal of the action itself
is accepted all the same, since the rejection of a goal has no room for a reason.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionFeedback
from rclpy.action import CancelResponse, GoalResponse
from rclpy.node import Node

from behavior_executor.conversion import failure_message, request_from
from behavior_executor.missions.mission import (
    CONTROL_KINDS,
    Mission,
    MissionError,
    MissionRequest,
    State,
    ended_by,
)
from behavior_ros import BurstActionServer
from behavior_tree.shown_text import visible


class MissionGoals:
    """The goals of clients, until their missions end."""

    def __init__(
        self,
        node: Node,
        *,
        submit: Callable[[MissionRequest], Mission],
        cancel: Callable[[str], Mission],
        when_kept: Callable[[Mission, Callable[[], None]], None],
    ) -> None:
        """Serve the action.

        Args:
            node: through which it is served.
            submit: takes a mission, or carries a request out that acts on another one; raises
                MissionError.
            cancel: ends a mission; raises MissionError.
            when_kept: calls back once everything about a mission is on disk.
        """
        self._node = node
        self._submit = submit
        self._cancel = cancel
        self._when_kept = when_kept
        self._handles: dict[str, Any] = {}
        self._missions: dict[bytes, str] = {}
        self._closing = False
        self._server = BurstActionServer(
            node,
            ExecuteMission,
            "mission/execute",
            goal_callback=self._on_goal,
            handle_accepted_callback=self._take,
            cancel_callback=self._on_cancel,
        )

    @property
    def open(self) -> int:
        """How many goals wait for the end of their mission."""
        return len(self._handles)

    def begin_close(self) -> None:
        """Reject goals from now on."""
        self._closing = True

    def destroy(self) -> None:
        """Serve the action no more."""
        self._server.destroy()

    def publish(self, message: MissionFeedback) -> None:
        """Tell the client of a mission's progress, if it came as a goal."""
        handle = self._handles.get(message.action_id)
        if handle is None:
            return
        if message.state != State.WAITING:
            self._server.begin(handle)
        handle.publish_feedback(ExecuteMission.Feedback(feedback=message))

    def end(self, mission: Mission, duration: float) -> None:
        """Give the result of a mission that has ended; `duration` in seconds of node time."""
        handle = self._handles.pop(mission.action_id, None)
        if handle is None:
            return
        del self._missions[bytes(handle.goal_id.uuid)]
        result = ExecuteMission.Result(
            code=int(mission.code),
            message=mission.text,
            failure=failure_message(ended_by(mission.code, mission.text, mission.failure)),
            duration=duration,
        )
        self._server.finish(handle, result, succeeded=mission.state is State.FINISHED)

    def _on_goal(self, goal: ExecuteMission.Goal) -> GoalResponse:
        return GoalResponse.REJECT if self._closing else GoalResponse.ACCEPT

    def _take(self, handle: Any) -> None:
        """Take the mission of a goal that was accepted."""
        message = handle.request.mission
        try:
            request = request_from(message)
            if request.kind in CONTROL_KINDS:
                self._control(handle, request)
            else:
                self._run(handle, request)
        except MissionError as error:
            text = f"mission '{visible(message.name)}' refused: {error}"
            self._node.get_logger().warning(text)
            result = ExecuteMission.Result(
                code=int(error.code),
                message=str(error),
                failure=failure_message(ended_by(error.code, str(error))),
            )
            self._server.finish(handle, result)

    def _control(self, handle: Any, request: MissionRequest) -> None:
        mission = self._submit(request)
        text = f"mission '{mission.action_id}' is {mission.state.name}"
        result = ExecuteMission.Result(message=text)
        self._when_kept(mission, lambda: self._server.finish(handle, result))

    def _run(self, handle: Any, request: MissionRequest) -> None:
        # First, so that the client is told of what happens while it is taken.
        is_new = self._handles.setdefault(request.action_id, handle) is handle
        try:
            self._submit(request)
        except MissionError:
            if is_new:
                del self._handles[request.action_id]
            raise
        if request.action_id in self._handles:
            self._missions[bytes(handle.goal_id.uuid)] = request.action_id

    def _on_cancel(self, handle: Any) -> CancelResponse:
        action_id = self._missions.get(bytes(handle.goal_id.uuid))
        if action_id is not None:
            # Later, when the goal counts as being cancelled and may end so.
            self._node.executor.create_task(self._cancel_mission, action_id)
        return CancelResponse.ACCEPT

    def _cancel_mission(self, action_id: str) -> None:
        with contextlib.suppress(MissionError):  # it has ended meanwhile
            self._cancel(action_id)
