# SPDX-License-Identifier: Apache-2.0
"""Driver `stop_topic`: a topic of std_msgs/Bool that tells of an emergency stop or the like."""

from __future__ import annotations

from std_msgs.msg import Bool

from behavior_ros import QOS_LATCHED, QOS_SENSOR
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role


class StopTopicOptions(Options):
    """The topic, and what it means."""

    topic: str
    stopped: bool = True
    """What it says while the robot is stopped."""
    says: str = "The emergency stop is pressed. Release it, and reset the robot."
    """What to tell then: what is the matter, and what to do."""
    latched: bool = False
    """Whether it is told once, to late listeners too, in place of again and again."""


class StopTopic:
    """Stopped, or not, or not heard of yet."""

    def __init__(self, parts: DriverParts, options: StopTopicOptions) -> None:
        self._options = options
        self._stopped: bool | None = None
        qos = QOS_LATCHED if options.latched else QOS_SENSOR
        self._subscription = parts.node.create_subscription(Bool, options.topic, self._take, qos)

    def _take(self, message: Bool) -> None:
        self._stopped = message.data is self._options.stopped

    def heard(self) -> bool:
        """Whether the robot has told."""
        return self._stopped is not None

    def trouble(self) -> str | None:
        """Why the robot cannot be moved, or None."""
        if self._stopped is None:
            return unheard(self._subscription.topic_name)
        return self._options.says if self._stopped else None

    def pace(self) -> float:
        """Always 1: nobody tells."""
        return 1.0


def unheard(topic: str) -> str:
    """What a state says of a robot that it has not heard of."""
    return (
        f"Nothing was heard on {topic}, which tells whether the robot may move. Start the robot's "
        "driver, or correct controllers.states in the robot's file."
    )


STOP_TOPIC = Driver(role=Role.STATE, options=StopTopicOptions, make=StopTopic)
