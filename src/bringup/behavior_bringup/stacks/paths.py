# SPDX-License-Identifier: Apache-2.0
"""The folders of `behavior_packages.folders` as the command wants them."""

from __future__ import annotations

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


def journal_file(stack: str, world: str) -> Path:
    """Where the missions of a stack in a world are kept, also while it is down."""
    return folders.state_folder() / stack / f"{world}.journal"
