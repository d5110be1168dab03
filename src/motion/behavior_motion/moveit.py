# SPDX-License-Identifier: Apache-2.0
"""Place of the MoveIt backend (``moveit_py``), for full ROS 2 distributions."""

from __future__ import annotations

import importlib.util


def moveit_available() -> bool:
    """True where ``moveit_py`` can be imported."""
    return importlib.util.find_spec("moveit") is not None


def require_moveit() -> None:
    """Explain why the MoveIt backend cannot be used; always raises ``RuntimeError``."""
    if not moveit_available():
        raise RuntimeError(
            "backend 'moveit': the Python package 'moveit' is not importable; install "
            "ros-jazzy-moveit-py on a full ROS 2 distribution, or use backend 'embedded'"
        )
    raise RuntimeError(
        "backend 'moveit': not part of this release; use backend 'embedded', which offers the "
        "same interface"
    )
