# SPDX-License-Identifier: Apache-2.0
"""The folders of `behavior_packages.folders` as the command wants them."""

from __future__ import annotations

import os
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_packages import folders


def runtime_dir() -> Path:
    """Private folder of this user for the state and the logs of running stacks.

    Raises:
        BringupError: it belongs to somebody else or cannot be made.
    """
    try:
        return folders.runtime_dir()
    except folders.FolderError as error:
        raise BringupError(str(error)) from error


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
    return folders.state_folder() / stack / f"{world}.journal"
