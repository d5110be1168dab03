# SPDX-License-Identifier: Apache-2.0
"""The parameter `robot` of the nodes that need to know the robot."""

from __future__ import annotations

from behavior_ros import ParameterError, ParameterSpec

ROBOT = ParameterSpec("robot", "", "robot file, such as those in config/robots")


def robot_file(value: str) -> str:
    """Value of the parameter.

    Raises:
        ParameterError: it is empty.
    """
    if not value:
        raise ParameterError("parameter robot is empty: name the robot's YAML file")
    return value
