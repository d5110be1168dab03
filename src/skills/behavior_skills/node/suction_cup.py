# SPDX-License-Identifier: Apache-2.0
"""A suction cup in ROS: its pump's service, and the topic of its vacuum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from behavior_motion.robot.robot_file import SuctionSection
from behavior_ros import QOS_SENSOR, seconds
from behavior_ros.silence import Silence
from behavior_skills.interfaces import Command, Done, FailureCode, SkillFailure

SILENCE = 0.5
"""[s] without a message of the vacuum, on the node's clock and the wall's: nobody knows."""
STANDSTILL = 20
"""So many times as long where the node's clock stands still, as that of a simulation that waits."""


class SuctionCup:
    """The skills' `Cup`.

    Args:
        node: that listens and calls.
        config: names of service and topic.
        on_lost: called, in the executor's thread, when the vacuum is gone though the pump is on.
    """

    def __init__(
        self, node: Node, config: SuctionSection, on_lost: Callable[[], None] = lambda: None
    ) -> None:
        self._node, self._config, self._on_lost = node, config, on_lost
        self._silence = Silence(
            lambda: seconds(node.get_clock().now()), SILENCE, standstill=STANDSTILL
        )
        self._vacuum: bool | None = None
        self._on = False
        self._pump = node.create_client(SetBool, config.pump)
        node.create_subscription(Bool, config.vacuum, self._on_vacuum, QOS_SENSOR)

    def _on_vacuum(self, message: Bool) -> None:
        lost = self._on and self._vacuum is True and not message.data
        self._vacuum = message.data
        self._silence.end()
        if lost:
            self._on_lost()

    def vacuum(self) -> bool:
        """Whether it holds something; raises `SkillFailure` SERVER_LOST: its sensor is silent."""
        if self._vacuum is None or self._silence.too_long:
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The vacuum's sensor is silent on {self._config.vacuum}: nobody knows whether the "
                "cup holds something. Start the robot's driver or the simulation again.",
            )
        return self._vacuum

    def switch(self, on: bool) -> Command:
        """Switch the pump; raises `SkillFailure` SERVER_LOST: it is not there."""
        executor = self._node.executor
        if executor is None or not self._pump.service_is_ready():
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The pump's service {self._config.pump} is not there. Start the robot's driver or "
                "the simulation again.",
            )
        self._on = on
        command = _Switching()

        def send() -> None:
            answer = self._pump.call_async(SetBool.Request(data=on))
            answer.add_done_callback(lambda future: command.end(future.result()))

        executor.create_task(send)
        return command


class _Switching:
    """A request to the pump, as the skills' `Command`."""

    def __init__(self) -> None:
        self._done: Done | None = None

    def done(self) -> Done | None:
        """How it ended, or None."""
        return self._done

    def end(self, answer: Any) -> None:
        """Take in the pump's answer."""
        self._done = Done(bool(answer.success), str(answer.message))

    def cancel(self) -> None:
        """Nothing to do: it ends at once."""


class NoFingers:
    """The skills' `Gripper` of a robot that has none."""

    def move(self, width: float, effort: float) -> Command:
        """Raise `SkillFailure` INVALID_REQUEST."""
        raise SkillFailure(
            FailureCode.INVALID_REQUEST,
            "The robot has a suction cup and no fingers. Use Reach or MoveArm, then MoveGripper.",
        )
