# SPDX-License-Identifier: Apache-2.0
"""The service ``/behavior/control_run`` and the topic ``/behavior/run_control``: an operator steps,
stops and mends the runs of missions, and orders those that wait.
"""

from __future__ import annotations

from behavior_msgs.msg import RunControlState
from behavior_msgs.srv import ControlRun
from rclpy.node import Node

from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.node.command_log import CommandLog
from behavior_executor.running.operator_control import ControlState, OperatorControl
from behavior_executor.running.queue_commands import VERB, is_queue_command, obey_queue_command
from behavior_ros import QOS_LATCHED, QOS_REQUESTS
from behavior_ros.topics.newest_publisher import NewestPublisher
from behavior_tree import BehaviorTreeError
from behavior_tree.shown_text import reason_text, visible

LONGEST_COMMAND = 10_000
"""Characters."""


class RunControlServer:
    """Hands commands on, and tells what waits for the next one."""

    def __init__(
        self, node: Node, operator: OperatorControl, queue: MissionQueue, commands: CommandLog
    ) -> None:
        """Serve.

        Args:
            node: through which it is served.
            operator: obeys.
            queue: of the missions that wait.
            commands: is told of what was asked for.
        """
        self._node = node
        self._operator = operator
        self._queue = queue
        self._commands = commands
        self._last = ControlState()
        self._topic = NewestPublisher(node, RunControlState, "behavior/run_control", QOS_LATCHED)
        self._topic.publish(self._message(self._last))
        self._service = node.create_service(
            ControlRun, "behavior/control_run", self._answer, qos_profile=QOS_REQUESTS
        )

    def destroy(self) -> None:
        """Serve no more."""
        self._node.destroy_service(self._service)
        self._topic.destroy()

    def publish_news(self) -> None:
        """Tell what has changed since it was told last."""
        state = self._operator.state
        if state != self._last:
            self._last = state
            self._topic.publish(self._message(state))

    def _answer(
        self, request: ControlRun.Request, answer: ControlRun.Response
    ) -> ControlRun.Response:
        command = request.command
        try:
            if len(command) > LONGEST_COMMAND:
                raise BehaviorTreeError(f"a command has at most {LONGEST_COMMAND} characters")
            answer.message = self._obey(command)
            answer.success = True
        except BehaviorTreeError as error:
            answer.message = reason_text(str(error))
        if command.strip() not in ("", VERB):  # these only ask
            done = answer.message if answer.success else f"refused: {answer.message}"
            self._node.get_logger().info(f"run control: '{visible(command)}': {done or 'done'}")
            self._commands.add(
                "behavior/control_run", command, accepted=answer.success, answer=answer.message
            )
        answer.state = self._message(self._operator.state)
        self.publish_news()
        return answer

    def _obey(self, command: str) -> str:
        if is_queue_command(command):
            return obey_queue_command(command, self._queue)
        return reason_text(self._operator.obey(command))

    def _message(self, state: ControlState) -> RunControlState:
        message = RunControlState(
            controlled=state.controlled,
            automatic=state.automatic,
            concurrent=state.concurrent,
            stands=state.stands,
            held=list(state.held),
            failed=list(state.failed),
            breakpoints=list(state.breakpoints),
            prepared=list(state.prepared),
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message
