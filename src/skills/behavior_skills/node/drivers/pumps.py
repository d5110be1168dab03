# SPDX-License-Identifier: Apache-2.0
"""Drivers of a suction cup's pump: `set_bool`, `set_io` and `digital_output`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from behavior_ros import QOS_LATCHED
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.interfaces import Command, Done, FailureCode, SkillFailure
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role


class SetBoolOptions(Options):
    """The service."""

    service: str


class SetBoolPump:
    """A pump that a service of std_srvs/SetBool switches."""

    def __init__(self, parts: DriverParts, options: SetBoolOptions) -> None:
        self._node = parts.node
        self._client = parts.node.create_client(SetBool, options.service)

    def switch(self, on: bool) -> Command:
        """Call the service; raises `SkillFailure` SERVER_LOST."""
        return call(self._node, self._client, SetBool.Request(data=on), lambda a: str(a.message))


class SetIoOptions(Options):
    """The service, and the output that the pump hangs on."""

    service: str
    pin: int
    """0 to 7 digital, 8 to 15 configurable, 16 and 17 of the tool."""
    inverted: bool = False
    """Whether it pumps while the output is off."""


class SetIoPump:
    """A pump on a digital output that a service of ur_msgs/SetIO sets."""

    def __init__(self, parts: DriverParts, options: SetIoOptions) -> None:
        self._type, _ = load_interface("ur_msgs/srv/SetIO", "srv")
        if not 0 <= options.pin <= self._type.Request.PIN_TOOL_DOUT1:
            raise ValueError(f"pin {options.pin} is no digital output; give 0 to 17")
        self._node, self._options = parts.node, options
        self._client = parts.node.create_client(self._type, options.service)

    def switch(self, on: bool) -> Command:
        """Call the service; raises `SkillFailure` SERVER_LOST."""
        request = self._type.Request()
        request.fun, request.pin = request.FUN_SET_DIGITAL_OUT, self._options.pin
        request.state = float(on is not self._options.inverted)
        why = f"output {request.pin} was not set; see whether the robot runs under remote control"
        return call(self._node, self._client, request, lambda answer: why)


class DigitalOutputOptions(Options):
    """The topic."""

    topic: str
    inverted: bool = False
    """Whether it pumps while the output is false."""


class DigitalOutputPump:
    """A pump on a topic of std_msgs/Bool, which nobody acknowledges: its sensor has to tell."""

    def __init__(self, parts: DriverParts, options: DigitalOutputOptions) -> None:
        self._options = options
        self._publisher = parts.node.create_publisher(Bool, options.topic, QOS_LATCHED)

    def switch(self, on: bool) -> Command:
        """Publish it; raises `SkillFailure` SERVER_LOST where nobody listens."""
        if self._publisher.get_subscription_count() == 0:
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"Nobody listens to the pump's topic {self._publisher.topic_name}. Start the "
                "robot's driver, or correct gripper.suction.pump in the robot's file.",
            )
        self._publisher.publish(Bool(data=on is not self._options.inverted))
        return Switching(Done(True))


class Switching:
    """A request to a pump, as the skills' `Command`."""

    def __init__(self, ended: Done | None = None) -> None:
        self._done = ended

    def done(self) -> Done | None:
        """How it ended, or None."""
        return self._done

    def end(self, done: Done) -> None:
        """Take in the pump's answer."""
        self._done = done

    def cancel(self) -> None:
        """Nothing to do: it ends at once."""


def call(node: Node, client: Any, request: Any, say: Callable[[Any], str]) -> Switching:
    """Call a service whose answer has `success`, from a worker's thread.

    Args:
        node: that calls.
        client: of the service.
        request: to send.
        say: makes of the answer why it did not do.

    Raises:
        SkillFailure: SERVER_LOST, it is not there.
    """
    executor = node.executor
    if executor is None or not client.service_is_ready():
        raise SkillFailure(
            FailureCode.SERVER_LOST,
            f"The pump's service {client.service_name} is not there. Start the robot's driver or "
            "the simulation again.",
        )
    command = Switching()

    def send() -> None:
        def answered(future: Any) -> None:
            answer = future.result()
            command.end(Done(bool(answer.success), say(answer)))

        client.call_async(request).add_done_callback(answered)

    executor.create_task(send)
    return command


SET_BOOL = Driver(role=Role.PUMP, options=SetBoolOptions, make=SetBoolPump)
SET_IO = Driver(role=Role.PUMP, options=SetIoOptions, make=SetIoPump)
DIGITAL_OUTPUT = Driver(role=Role.PUMP, options=DigitalOutputOptions, make=DigitalOutputPump)
