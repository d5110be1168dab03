# SPDX-License-Identifier: Apache-2.0
"""The topic ``/behavior/commands``: what anybody asked of the executor, and what it answered.

It is the audit: whoever records it knows who wanted what by which channel. The newest hundred are
kept for who comes late.
"""

from __future__ import annotations

from behavior_msgs.msg import OperatorCommand
from rclpy.node import Node

from behavior_executor.missions.mission import CONTROL_KINDS, MissionRequest
from behavior_ros.topics.qos import QOS_KEPT_EVENTS
from behavior_tree.shown_text import visible

LONGEST = 2_000
"""Characters of a command, and of an answer."""


class CommandLog:
    """Tells of commands, each with its number."""

    def __init__(self, node: Node, *, life: int) -> None:
        """Offer the topic.

        Args:
            node: through which it is published.
            life: number by which this executor's commands are told from others' [ns].
        """
        self._node = node
        self._life = life
        self._sequence = 0
        self._publisher = node.create_publisher(
            OperatorCommand, "behavior/commands", QOS_KEPT_EVENTS
        )

    def add(self, channel: str, command: str, *, accepted: bool, answer: str = "") -> None:
        """Tell of a command that was answered.

        Args:
            channel: topic, service or action by which it came.
            command: what was asked for, in words.
            accepted: whether it is, or was, done.
            answer: in words; why not.
        """
        self._sequence += 1
        message = OperatorCommand(
            life=self._life,
            sequence=self._sequence,
            channel=self._node.resolve_topic_name(channel),
            command=visible(command, LONGEST),
            accepted=accepted,
            answer=visible(answer, LONGEST),
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def destroy(self) -> None:
        """Offer the topic no more."""
        self._node.destroy_publisher(self._publisher)


def words_of(request: MissionRequest) -> str:
    """A request in words, as `RUN_BEHAVIOR stack_blocks (a1) {'blocks': '4'}`."""
    title = "" if request.kind in CONTROL_KINDS else f" {request.title}"
    values = f" {dict(request.parameters)}" if request.parameters else ""
    return f"{request.kind.name}{title} ({request.action_id}){values}"
