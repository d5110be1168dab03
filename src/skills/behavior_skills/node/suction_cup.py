# SPDX-License-Identifier: Apache-2.0
"""A suction cup in ROS: the drivers of its pump and of its vacuum's sensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from behavior_motion.robot.robot_file import SuctionSection
from behavior_ros import seconds
from behavior_ros.node.silence import Silence
from behavior_skills.interfaces import Command, FailureCode, Pump, SkillFailure
from behavior_skills.node.drivers.driver import DriverParts, Role, make_driver

SILENCE = 0.5
"""[s] without a message of the vacuum, on the node's clock and the wall's: nobody knows."""
STANDSTILL = 20
"""So many times as long where the node's clock stands still, as that of a simulation that waits."""


class SuctionCup:
    """The skills' `Cup`.

    Args:
        parts: what its drivers are made with.
        config: of the robot's file.
        on_lost: called, in the executor's thread, when the vacuum is gone though the pump is on.

    Raises:
        DriverError: the file asks for drivers that are not there, or not so.
    """

    def __init__(
        self,
        parts: DriverParts,
        config: SuctionSection,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        node = parts.node
        self._on_lost = on_lost
        self._silence = Silence(
            lambda: seconds(node.get_clock().now()), SILENCE, standstill=STANDSTILL
        )
        self._vacuum: bool | None = None
        self._on = False
        self._topic = str(config.vacuum.options.get("topic", config.vacuum.driver))
        self._pump: Pump = make_driver(Role.PUMP, config.pump, parts)
        make_driver(Role.VACUUM, config.vacuum, replace(parts, heard=self._heard))

    def _heard(self, vacuum: bool) -> None:
        lost = self._on and self._vacuum is True and not vacuum
        self._vacuum = vacuum
        self._silence.end()
        if lost:
            self._on_lost()

    def vacuum(self) -> bool:
        """Whether it holds something; raises `SkillFailure` SERVER_LOST: its sensor is silent."""
        if self._vacuum is None or self._silence.too_long:
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The vacuum's sensor is silent on {self._topic}: nobody knows whether the cup "
                "holds something. Start the robot's driver or the simulation again.",
            )
        return self._vacuum

    def switch(self, on: bool) -> Command:
        """Switch the pump; raises `SkillFailure` SERVER_LOST: it is not there."""
        command = self._pump.switch(on)
        self._on = on
        return command


class NoFingers:
    """The skills' `Gripper` of a robot that has none."""

    def move(self, width: float, effort: float) -> Command:
        """Raise `SkillFailure` INVALID_REQUEST."""
        raise SkillFailure(
            FailureCode.INVALID_REQUEST,
            "There is no gripper with fingers here. With a suction cup use Reach or MoveArm, then "
            "MoveGripper.",
        )
