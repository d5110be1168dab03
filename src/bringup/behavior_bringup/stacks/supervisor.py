# SPDX-License-Identifier: Apache-2.0
"""Runs the processes of a stack as its children, and leaves none behind.

`python -m behavior_bringup.stacks.supervisor PLAN.json` starts what the plan names, writes the
stack's state on every change, and ends on SIGINT or SIGTERM, or when the process that it serves
ends. It stops its children with SIGINT, then SIGTERM, then SIGKILL. Should it be killed itself,
the kernel ends its children (Linux).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.shared_memory import sweep
from behavior_bringup.stacks.state import (
    ProcessState,
    StackState,
    acquire_lock,
    is_locked,
    remove_state,
    write_state,
)

# Seconds that children get after SIGINT, and after SIGTERM.
INTERRUPT_DEADLINE, TERMINATE_DEADLINE = 6.0, 2.0
# A process that keeps dying is restarted after ever longer pauses [s].
FIRST_PAUSE, LONGEST_PAUSE, HEALTHY_AFTER = 0.5, 8.0, 10.0

_EVENTS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a supervisor has to run."""

    folder: str
    """Folder of the stack, where its state is written."""
    domain: int
    world: str
    log_dir: str
    commands: dict[str, list[str]]
    namespace: str = ""
    """Of all nodes; empty: none."""
    arguments: dict[str, Any] = field(default_factory=dict)
    respawn: bool = False
    """Restart a process that ends by itself."""
    parent: int | None = None
    """Stop when the process of this number is no longer the parent."""
    beside: str | None = None
    """Folder of another stack; stop when that is no longer up."""

    def write(self, file: Path) -> None:
        """Write the plan as JSON."""
        file.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Plan:
        """Read what `write` wrote."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))


@dataclass(kw_only=True)
class _Child:
    """A running child and when to start it again."""

    process: subprocess.Popen[bytes]
    started: float
    pause: float = FIRST_PAUSE
    restart_at: float | None = None


class Supervisor:
    """Starts, watches, restarts and stops the processes of a plan."""

    def __init__(self, plan: Plan) -> None:
        """Take the plan; nothing runs before `run`."""
        self._plan = plan
        self._children: dict[str, _Child] = {}
        self._state = StackState(
            supervisor_pid=os.getpid(),
            domain=plan.domain,
            world=plan.world,
            log_dir=plan.log_dir,
            namespace=plan.namespace,
            arguments=plan.arguments,
            respawn=plan.respawn,
        )

    def run(self) -> None:
        """Run until told to stop.

        Raises:
            BringupError: another supervisor runs in the same folder.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, _EVENTS)
        folder = Path(self._plan.folder)
        lock = acquire_lock(folder)
        sweep()
        try:
            for name in self._plan.commands:
                self._start(name)
            self._write()
            self._watch()
        finally:
            self._stop_all()
            remove_state(folder)
            os.close(lock)

    def _start(self, name: str, *, pause: float = FIRST_PAUSE) -> None:
        log = Path(self._plan.log_dir) / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                self._plan.commands[name],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_prepare_child,  # noqa: PLW1509 - this process has one thread
            )
        self._children[name] = _Child(process=process, started=time.monotonic(), pause=pause)
        before = self._state.processes.get(name)
        self._state.processes[name] = ProcessState(
            pid=process.pid,
            created=_creation_time(process.pid),
            restarts=before.restarts + 1 if before else 0,
            last_exit_code=before.last_exit_code if before else None,
        )

    def _watch(self) -> None:
        while True:
            event = signal.sigtimedwait(_EVENTS, self._wait_time())
            if event is not None and event.si_signo != signal.SIGCHLD:
                return
            if self._plan.parent is not None and os.getppid() != self._plan.parent:
                return
            if self._plan.beside is not None and not is_locked(Path(self._plan.beside)):
                return
            self._reap()
            self._restart_due()

    def _wait_time(self) -> float:
        due = [child.restart_at for child in self._children.values() if child.restart_at]
        return min([0.5, *(max(0.0, at - time.monotonic()) for at in due)])

    def _reap(self) -> None:
        for name, child in self._children.items():
            code = child.process.poll()
            state = self._state.processes[name]
            if code is None or not state.running:
                continue
            state.exit_code = state.last_exit_code = code
            _kill_group(child.process.pid, signal.SIGKILL)  # what it started goes with it
            sweep()
            print(f"process '{name}' ended with exit code {code}", flush=True)
            if self._plan.respawn:
                healthy = time.monotonic() - child.started > HEALTHY_AFTER
                child.pause = FIRST_PAUSE if healthy else min(2 * child.pause, LONGEST_PAUSE)
                child.restart_at = time.monotonic() + child.pause
            self._write()

    def _restart_due(self) -> None:
        for name, child in list(self._children.items()):
            if child.restart_at is not None and time.monotonic() >= child.restart_at:
                self._start(name, pause=child.pause)
                self._write()

    def _stop_all(self) -> None:
        self._state.stopping = True
        self._write()
        # Of one that ended before all went with it, and its number may be another one's by now.
        left = [
            child
            for name, child in self._children.items()
            if self._state.processes[name].exit_code is None
        ]
        for number, deadline in (
            (signal.SIGINT, INTERRUPT_DEADLINE),
            (signal.SIGTERM, TERMINATE_DEADLINE),
            (signal.SIGKILL, TERMINATE_DEADLINE),
        ):
            running = [child.process for child in left if child.process.poll() is None]
            for process in running:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(number)
            end = time.monotonic() + deadline
            for process in running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=max(0.0, end - time.monotonic()))
        for child in left:
            _kill_group(child.process.pid, signal.SIGKILL)

    def _write(self) -> None:
        write_state(Path(self._plan.folder), self._state)


def _prepare_child() -> None:
    """In the child before its program starts: unblock signals, end with the supervisor."""
    # A shell starts background jobs with SIGINT ignored, which programs would inherit.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _EVENTS)
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


def _creation_time(pid: int) -> float:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


def _kill_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def main() -> int:
    """Run the plan named on the command line."""
    try:
        Supervisor(Plan.read(Path(sys.argv[1]))).run()
    except BringupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
