# SPDX-License-Identifier: Apache-2.0
"""Where the robot's YAML file is when no parameter says so."""

from __future__ import annotations

from pathlib import Path


def default_robot_file() -> str:
    """The suite's Panda: of the installed bringup, else of the source tree around this file.

    Raises:
        FileNotFoundError: neither is there.
    """
    candidates = [parent / "config" / "robots" / "panda.yaml" for parent in Path(__file__).parents]
    try:
        from ament_index_python.packages import get_package_share_directory

        share = Path(get_package_share_directory("behavior_bringup"))
        candidates.insert(0, share / "config" / "robots" / "panda.yaml")
    except LookupError:
        pass  # Not installed: the source tree will do.
    for candidate in candidates:
        if candidate.is_file():
            return str(candidate)
    raise FileNotFoundError("No robot file found: set the parameter `robot` to a robot YAML file.")
