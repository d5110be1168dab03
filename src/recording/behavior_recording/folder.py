# SPDX-License-Identifier: Apache-2.0
"""Where recordings are. No ROS."""

from __future__ import annotations

import os
from pathlib import Path


def default_folder() -> Path:
    """Where recordings go that nobody has named a place for."""
    state = os.environ.get("BEHAVIOR_RUNTIME_DIR") or os.environ.get("XDG_STATE_HOME")
    folder = Path(state) if state else Path.home() / ".local" / "state"
    return folder / "behavior" / "recordings"


def black_box_name(domain: int, namespace: str) -> str:
    """What the folder of a robot's black box is called.

    Args:
        domain: its ROS domain
        namespace: of its nodes, like ``/left``; empty: none
    """
    return f"black_box_{domain}{namespace.rstrip('/').replace('/', '_')}"
