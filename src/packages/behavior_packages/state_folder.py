# SPDX-License-Identifier: Apache-2.0
"""Where what outlives a stack is kept, by whatever program of the suite."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["PROPOSALS", "proposals_folder", "state_folder"]

PROPOSALS = "BEHAVIOR_PROPOSALS"
"""Environment variable: folder of proposals."""


def state_folder() -> Path:
    """Where what outlives a stack is kept.

    $BEHAVIOR_RUNTIME_DIR where that is set, so that what runs there is on its own; else
    $XDG_STATE_HOME/behavior, else ~/.local/state/behavior.
    """
    if explicit := os.environ.get("BEHAVIOR_RUNTIME_DIR"):
        return Path(explicit)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "behavior"


def proposals_folder() -> Path:
    """Where proposals wait for a person, whether or not it is there yet."""
    explicit = os.environ.get(PROPOSALS)
    return Path(explicit).expanduser() if explicit else state_folder() / "proposals"
