# SPDX-License-Identifier: Apache-2.0
"""Where running stacks leave their state, and what outlives them."""

from __future__ import annotations

import os
from pathlib import Path

PROPOSALS = "BEHAVIOR_PROPOSALS"
"""Environment variable: folder of proposals."""


class FolderError(RuntimeError):
    """A folder cannot be used; the message says what to do."""


def runtime_dir() -> Path:
    """Private folder of this user for the state and the logs of running stacks.

    $BEHAVIOR_RUNTIME_DIR, else $XDG_RUNTIME_DIR/behavior, else /tmp/behavior-UID.

    Raises:
        FolderError: it belongs to somebody else or cannot be made.
    """
    folder = _runtime_candidate()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except OSError as error:
        raise FolderError(
            f"The runtime folder {folder} cannot be made ({error.strerror}):"
            " set BEHAVIOR_RUNTIME_DIR to a folder of yours"
        ) from error
    if owner != os.getuid():
        raise FolderError(
            f"The runtime folder {folder} belongs to user {owner}:"
            " set BEHAVIOR_RUNTIME_DIR to a folder of yours"
        )
    return folder


def node_file(configured: str, namespace: str, name: str) -> Path:
    """A file that a node leaves for others; where none is configured, one of the runtime folder.

    Args:
        configured: path; empty: none.
        namespace: of the node; each robot has a file of its own.
        name: of the file.

    Raises:
        FolderError: the runtime folder cannot be used.
    """
    if configured:
        return Path(configured)
    return runtime_dir() / "-".join(filter(None, [*namespace.split("/"), name]))


def state_folder() -> Path:
    """Where what outlives a stack is kept.

    $BEHAVIOR_RUNTIME_DIR where that is set, so that what runs there is on its own; else
    $XDG_STATE_HOME/behavior, else ~/.local/state/behavior.
    """
    if explicit := os.environ.get("BEHAVIOR_RUNTIME_DIR"):
        return Path(explicit)
    return _of_user("XDG_STATE_HOME", "state")


def own_missions() -> Path:
    """Where missions are kept that a user makes, for all of his stacks; whether or not it is there.

    $BEHAVIOR_RUNTIME_DIR/own_missions where that is set, so that what runs there is on its own;
    else $XDG_DATA_HOME/behavior/missions, else ~/.local/share/behavior/missions.
    """
    if explicit := os.environ.get("BEHAVIOR_RUNTIME_DIR"):
        return Path(explicit) / "own_missions"
    return _of_user("XDG_DATA_HOME", "share") / "missions"


def proposals_folder() -> Path:
    """Where proposals wait for a person, whether or not it is there yet."""
    explicit = os.environ.get(PROPOSALS)
    return Path(explicit).expanduser() if explicit else state_folder() / "proposals"


def _of_user(variable: str, usual: str) -> Path:
    """Our folder in one of the XDG base directories; `usual` is its name below ~/.local."""
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / ".local" / usual) / "behavior"


def _runtime_candidate() -> Path:
    if explicit := os.environ.get("BEHAVIOR_RUNTIME_DIR"):
        return Path(explicit)
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session and os.access(session, os.W_OK):
        return Path(session) / "behavior"
    return Path(f"/tmp/behavior-{os.getuid()}")
