# SPDX-License-Identifier: Apache-2.0
"""Driver `controller_activity`: the controller manager's list of who is active."""

from __future__ import annotations

from typing import Any

from behavior_ros import QOS_LATCHED
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role
from behavior_skills.node.drivers.stop_topic import unheard

ACTIVE = "active"


class ControllerActivityOptions(Options):
    """The topic of controller_manager_msgs/ControllerManagerActivity, and what has to be active."""

    controllers: tuple[str, ...]
    hardware: tuple[str, ...] = ()
    """Components of ros2_control."""
    topic: str = "controller_manager/activity"


class ControllerActivity:
    """What the controller manager said last."""

    def __init__(self, parts: DriverParts, options: ControllerActivityOptions) -> None:
        if not options.controllers:
            raise ValueError("controllers is empty, name those that must be active")
        self._options = options
        kind, _ = load_interface("controller_manager_msgs/msg/ControllerManagerActivity", "msg")
        self._controllers: dict[str, str] | None = None
        self._hardware: dict[str, str] = {}
        self._subscription = parts.node.create_subscription(
            kind, options.topic, self._take, QOS_LATCHED
        )

    def _take(self, message: Any) -> None:
        self._hardware = {each.name: each.state.label for each in message.hardware_components}
        self._controllers = {each.name: each.state.label for each in message.controllers}

    def heard(self) -> bool:
        """Whether the robot has told."""
        return self._controllers is not None

    def trouble(self) -> str | None:
        """Why the robot cannot be moved, or None."""
        if self._controllers is None:
            return unheard(self._subscription.topic_name)
        for name in self._options.hardware:
            if (state := self._hardware.get(name, "not loaded")) != ACTIVE:
                return (
                    f"The hardware '{name}' of ros2_control is {state}. See the driver's log, then "
                    f"ros2 control set_hardware_component_state {name} active."
                )
        for name in self._options.controllers:
            if (state := self._controllers.get(name, "not loaded")) != ACTIVE:
                return (
                    f"The controller '{name}' is {state}. See why, then ros2 control "
                    f"switch_controllers --activate {name}."
                )
        return None

    def pace(self) -> float:
        """Always 1: nobody tells."""
        return 1.0


CONTROLLER_ACTIVITY = Driver(
    role=Role.STATE, options=ControllerActivityOptions, make=ControllerActivity
)
