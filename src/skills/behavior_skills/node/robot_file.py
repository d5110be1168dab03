# SPDX-License-Identifier: Apache-2.0
"""The parameter `robot` of the nodes that need to know the robot."""

from __future__ import annotations

from behavior_motion import RobotModel, load_robot
from behavior_motion.robot.model import robot_file_fault
from behavior_ros import ParameterError, ParameterSpec

ROBOT = ParameterSpec("robot", "", "robot file, such as those in config/robots")
GROUP = ParameterSpec("group", "", "which of the robot file's groups; empty: its only arm")


def robot_of(value: str, group: str = "") -> RobotModel:
    """The robot that the parameter names, or one group of it.

    Raises:
        ParameterError: it is empty, or there is no such robot; the message names file and fault.
    """
    if not value:
        raise ParameterError("parameter robot is empty: name the robot's YAML file")
    try:
        return load_robot(value, group=group or None)
    except (OSError, ValueError, KeyError) as error:
        raise ParameterError(f"parameter robot: {robot_file_fault(value, error)}") from error
