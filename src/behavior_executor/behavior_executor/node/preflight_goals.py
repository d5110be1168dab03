# SPDX-License-Identifier: Apache-2.0
"""The action ``/mission/preflight``: could this mission start now? It is asked, and does not run.

A goal is a mission as for ``/mission/execute``. It succeeds if the mission could start; otherwise
its result tells what is wrong with the request, or what is missing. What is there it tells in lines
of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_msgs.action import ExecuteMission
from rclpy.node import Node

from behavior_executor.conversion import failure_message, request_from
from behavior_executor.missions.mission import (
    CONTROL_KINDS,
    Code,
    MissionError,
    MissionRequest,
    ended_by,
)
from behavior_executor.running.preflight import Finding
from behavior_ros import BurstActionServer
from behavior_tree.shown_text import reason_text


class PreflightGoals:
    """Answers each question at once."""

    def __init__(self, node: Node, *, ask: Callable[[MissionRequest], Finding]) -> None:
        """Serve the action.

        Args:
            node: through which it is served.
            ask: whether a mission could start. Raises MissionError.
        """
        self._ask = ask
        self._server = BurstActionServer(
            node, ExecuteMission, "mission/preflight", handle_accepted_callback=self._answer
        )

    def destroy(self) -> None:
        """Serve the action no more."""
        self._server.destroy()

    def _answer(self, handle: Any) -> None:
        why = None
        try:
            request = request_from(handle.request.mission)
            if request.kind in CONTROL_KINDS:
                raise MissionError(Code.INVALID_REQUEST, f"{request.kind.name} is no mission")
            found = self._ask(request)
            code, text, why = Code.SUCCESS, found.text, found.failure
        except MissionError as error:
            code, text = error.code, str(error)
        if why is not None:
            code = Code.SERVER_LOST
        result = ExecuteMission.Result(
            code=int(code),
            message=reason_text(text),
            failure=failure_message(ended_by(code, text, why)),
        )
        self._server.finish(handle, result)
