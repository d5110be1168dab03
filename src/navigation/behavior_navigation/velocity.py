# SPDX-License-Identifier: Apache-2.0
"""Velocity commands in either of the two message types that bases and planners use."""

from __future__ import annotations

import math
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped

from behavior_ros import ParameterSpec, read_only

VELOCITY_TYPES: dict[str, type[Twist] | type[TwistStamped]] = {
    "twist": Twist,
    "twist_stamped": TwistStamped,
}


def velocity_parameter(name: str, what: str) -> ParameterSpec:
    """The parameter that names the message type of velocity commands."""
    return read_only(name, "twist", f"message type of {what}", choices=tuple(VELOCITY_TYPES))


def twist_of(message: Any) -> Twist:
    """The velocity in a message of either type."""
    return message.twist if isinstance(message, TwistStamped) else message


def components(twist: Twist) -> tuple[float, ...]:
    """All six components [m/s, rad/s]."""
    linear, angular = twist.linear, twist.angular
    return (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)


def is_finite(twist: Twist) -> bool:
    """Whether every component is a number."""
    return all(map(math.isfinite, components(twist)))


def is_zero(twist: Twist, tolerance: float = 1e-6) -> bool:
    """Whether it commands no motion; tolerance in m/s and rad/s."""
    return all(abs(component) <= tolerance for component in components(twist))
