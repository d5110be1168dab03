# SPDX-License-Identifier: Apache-2.0
"""The robot as one URDF text that other programs can show, such as RViz."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from behavior_bringup.errors import BringupError
from behavior_motion.robot.robot_file import load_robot_file
from behavior_motion.robot.urdf import robot_urdf


def robot_description(file: Path) -> str:
    """URDF of a robot file, with mounted parts, extra frames, and meshes as file addresses.

    Args:
        file: such as those in config/robots.

    Raises:
        BringupError: the file or what it names is not there, or wrong.
    """
    try:
        root = robot_urdf(load_robot_file(file))
    except (OSError, ValueError, KeyError) as error:
        raise BringupError(f"{file}: the robot cannot be read: {error}") from error
    return ElementTree.tostring(root, encoding="unicode")
