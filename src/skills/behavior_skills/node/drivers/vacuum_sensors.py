# SPDX-License-Identifier: Apache-2.0
"""Drivers that tell whether a cup holds something: `vacuum_topic`, `pressure_topic` and
`digital_input`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Self

from pydantic import Field, model_validator
from sensor_msgs.msg import FluidPressure
from std_msgs.msg import Bool, Float32, Float64

from behavior_ros import QOS_SENSOR
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role


class VacuumTopicOptions(Options):
    """The topic."""

    topic: str
    inverted: bool = False
    """Whether false means that the cup holds something."""


class VacuumTopic:
    """A topic of std_msgs/Bool."""

    def __init__(self, parts: DriverParts, options: VacuumTopicOptions) -> None:
        self._heard, self._inverted = parts.heard, options.inverted
        parts.node.create_subscription(Bool, options.topic, self._take, QOS_SENSOR)

    def _take(self, message: Bool) -> None:
        self._heard(message.data is not self._inverted)


class PressureTopicOptions(Options):
    """The topic, and from where on its pressure is a vacuum; give one of below and above."""

    topic: str
    type: Literal["sensor_msgs/FluidPressure", "std_msgs/Float32", "std_msgs/Float64"] = (
        "sensor_msgs/FluidPressure"
    )
    below: float | None = None
    """Pressure, in the topic's unit, below which the cup holds: of absolute pressures ..."""
    above: float | None = None
    """... and above which: of sensors that tell how strong the vacuum is."""
    hysteresis: float = Field(default=0.0, ge=0.0)
    """By which it has to be beyond that again before the cup holds nothing any more."""

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if (self.below is None) == (self.above is None):
            raise ValueError("give one of below and above")
        return self


class PressureTopic:
    """A topic with a pressure."""

    def __init__(self, parts: DriverParts, options: PressureTopicOptions) -> None:
        self._heard, self._options = parts.heard, options
        self._holds = False
        types = {"FluidPressure": FluidPressure, "Float32": Float32, "Float64": Float64}
        kind = types[options.type.rpartition("/")[2]]
        parts.node.create_subscription(kind, options.topic, self._take, QOS_SENSOR)

    def _take(self, message: Any) -> None:
        options = self._options
        value = message.fluid_pressure if isinstance(message, FluidPressure) else message.data
        if math.isnan(value):
            return  # a sensor that measures nothing is silent
        margin = options.hysteresis if self._holds else 0.0
        if options.below is not None:
            self._holds = value < options.below + margin
        elif options.above is not None:
            self._holds = value > options.above - margin
        self._heard(self._holds)


class DigitalInputOptions(Options):
    """The topic, and the input that the vacuum's switch hangs on."""

    topic: str
    pin: int
    inverted: bool = False
    """Whether the input is off while the cup holds something."""


class DigitalInput:
    """A digital input on a topic of ur_msgs/IOStates."""

    def __init__(self, parts: DriverParts, options: DigitalInputOptions) -> None:
        kind, _ = load_interface("ur_msgs/msg/IOStates", "msg")
        self._heard, self._options = parts.heard, options
        parts.node.create_subscription(kind, options.topic, self._take, QOS_SENSOR)

    def _take(self, message: Any) -> None:
        for each in message.digital_in_states:
            if each.pin == self._options.pin:
                self._heard(each.state is not self._options.inverted)


VACUUM_TOPIC = Driver(role=Role.VACUUM, options=VacuumTopicOptions, make=VacuumTopic)
PRESSURE_TOPIC = Driver(role=Role.VACUUM, options=PressureTopicOptions, make=PressureTopic)
DIGITAL_INPUT = Driver(role=Role.VACUUM, options=DigitalInputOptions, make=DigitalInput)
