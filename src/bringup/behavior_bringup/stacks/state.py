# SPDX-License-Identifier: Apache-2.0
"""What is written down about a running stack, so that other commands find it.

Every stack has a folder `RUNTIME/NAME` with `state.json`, the log folders, and a file `lock` that
its supervisor holds locked as long as it lives: the lock, not a process number, says whether a
stack is up.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.paths import runtime_dir

DEFAULT_STACK = "default"


@dataclass(kw_only=True)
class ProcessState:
    """One process as its supervisor sees it."""

    pid: int
    created: float
    """[s] start time of the process, which tells it from a later one of the same number."""
    restarts: int = 0
    exit_code: int | None = None
    """None while it runs; minus the signal's number when a signal ended it."""
    last_exit_code: int | None = None
    """How its newest end went, also after a restart."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.exit_code is None


@dataclass(kw_only=True)
class StackState:
    """A running stack."""

    supervisor_pid: int
    domain: int
    world: str
    log_dir: str
    namespace: str = ""
    """Of all its nodes, like /left; empty: none."""
    arguments: dict[str, Any] = field(default_factory=dict)
    processes: dict[str, ProcessState] = field(default_factory=dict)
    stopping: bool = False
    respawn: bool = False
    """Whether processes that end are restarted."""


def stack_dir(name: str = DEFAULT_STACK) -> Path:
    """Folder of the stack of that name, which is made."""
    folder = runtime_dir() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def known_stacks() -> list[str]:
    """Names of the stacks that are up."""
    folders = [path for path in runtime_dir().iterdir() if (path / "lock").exists()]
    return sorted(path.name for path in folders if is_locked(path))


def is_locked(folder: Path) -> bool:
    """Whether a supervisor is alive there."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def acquire_lock(folder: Path) -> int:
    """Hold the folder's lock until this process ends; returns the descriptor.

    Raises:
        BringupError: another supervisor holds it.
    """
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        if is_locked(folder):
            os.close(descriptor)
            raise BringupError(f"A stack is already up in {folder}: 'behavior down' stops it")
        time.sleep(0.01)  # somebody asks just now whether it is up, which takes a lock too


def write_state(folder: Path, state: StackState) -> None:
    """Replace the state file at once, so that a reader never sees half of it."""
    temporary = folder / ".state.json.new"
    temporary.write_text(json.dumps(asdict(state), indent=2), encoding="utf-8")
    temporary.replace(folder / "state.json")


def read_state(folder: Path) -> StackState | None:
    """The state last written there, None when there is none or it is not readable."""
    try:
        data = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        return _state_of(data)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remove_state(folder: Path) -> None:
    """Forget the state; logs stay."""
    (folder / "state.json").unlink(missing_ok=True)


def _state_of(data: Mapping[str, Any]) -> StackState:
    processes = {name: ProcessState(**item) for name, item in data["processes"].items()}
    return StackState(**{**data, "processes": processes})
