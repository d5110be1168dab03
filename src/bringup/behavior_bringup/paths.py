# SPDX-License-Identifier: Apache-2.0
"""Where running stacks leave their state, and what outlives them."""

from __future__ import annotations

import os
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_packages.state_folder import state_folder


def runtime_dir() -> Path:
    """Private folder of this user for the state and the logs of running stacks.

    $BEHAVIOR_RUNTIME_DIR, else $XDG_RUNTIME_DIR/behavior, else /tmp/behavior-UID.

    Raises:
        BringupError: it belongs to somebody else or cannot be made.
    """
    folder = _runtime_candidate()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except OSError as error:
        raise BringupError(
            f"The runtime folder {folder} cannot be made ({error.strerror}):"
            " set BEHAVIOR_RUNTIME_DIR to a folder of yours"
        ) from error
    if owner != os.getuid():
        raise BringupError(
            f"The runtime folder {folder} belongs to user {owner}:"
            " set BEHAVIOR_RUNTIME_DIR to a folder of yours"
        )
    return folder


def own_missions() -> Path:
    """Where missions are kept that a user makes, for all of his stacks; whether or not it is there.

    $BEHAVIOR_RUNTIME_DIR/own_missions where that is set, so that what runs there is on its own;
    else $XDG_DATA_HOME/behavior/missions, else ~/.local/share/behavior/missions.
    """
    if explicit := os.environ.get("BEHAVIOR_RUNTIME_DIR"):
        return Path(explicit) / "own_missions"
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "behavior" / "missions"


def journal_file(stack: str, world: str) -> Path:
    """Where the missions of a stack in a world are kept, also while it is down."""
    return state_folder() / stack / f"{world}.journal"


def _runtime_candidate() -> Path:
    if explicit := os.environ.get("BEHAVIOR_RUNTIME_DIR"):
        return Path(explicit)
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session and os.access(session, os.W_OK):
        return Path(session) / "behavior"
    return Path(f"/tmp/behavior-{os.getuid()}")
