# SPDX-License-Identifier: Apache-2.0
"""The supervisor with dummy processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks import stack as stacks
from behavior_bringup.stacks import supervisor
from behavior_bringup.stacks.stack import Stack, launch_supervisor, new_log_folder
from behavior_bringup.stacks.state import StackState
from behavior_bringup.stacks.supervisor import Plan

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)",
]
BROKEN = [sys.executable, "-c", "import sys; print('out of cheese'); sys.exit(7)"]
PARENT = [
    sys.executable,
    "-c",
    "import subprocess, sys, time;"
    "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
    "print(p.pid, flush=True); time.sleep(60)",
]


@pytest.fixture
def stack() -> Iterator[Stack]:
    stack = Stack("test")
    yield stack
    stacks.stop(stack)


def start(stack: Stack, respawn: bool = False, **commands: list[str]) -> StackState:
    log_dir = new_log_folder(stack.folder)
    plan = Plan(
        folder=str(stack.folder),
        domain=50,
        world="dummy",
        log_dir=str(log_dir),
        commands=commands,
        respawn=respawn,
    )
    launch_supervisor(plan)
    return present(stack)


def present(stack: Stack) -> StackState:
    state = stack.state()
    assert state is not None
    return state


def eventually(condition: Callable[[], bool], timeout: float = 50.0) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_starts_and_stops_everything_and_stopping_twice_is_fine(stack: Stack) -> None:
    state = start(stack, one=SLEEPER, two=SLEEPER)
    pids = [process.pid for process in state.processes.values()]
    assert stack.is_up
    assert all(psutil.pid_exists(pid) for pid in pids)
    assert stacks.stop(stack) is True
    assert all(gone(pid) for pid in [*pids, state.supervisor_pid])
    assert not stack.is_up
    assert stack.state() is None
    assert stacks.stop(stack) is False


def test_a_second_supervisor_is_refused(stack: Stack) -> None:
    first = start(stack, one=SLEEPER)
    with pytest.raises(BringupError, match="already up"):
        start(stack, one=SLEEPER)
    assert present(stack) == first


def test_processes_that_ignore_signals_are_killed(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = start(stack, stubborn=STUBBORN)
    log = Path(state.log_dir) / "stubborn.log"
    eventually(lambda: "ready" in log.read_text(encoding="utf-8"))
    assert stacks.stop(stack)
    assert gone(state.processes["stubborn"].pid)


def test_what_a_process_started_goes_with_it(stack: Stack) -> None:
    state = start(stack, parent=PARENT)
    log = Path(state.log_dir) / "parent.log"
    eventually(lambda: log.read_text(encoding="utf-8").strip().isdigit())
    grandchild = int(log.read_text(encoding="utf-8"))
    stacks.stop(stack)
    eventually(lambda: gone(grandchild))


def test_a_process_that_ends_is_noticed_with_its_last_words(stack: Stack) -> None:
    start(stack, one=SLEEPER, broken=BROKEN)
    watch = stack.watch()
    eventually(lambda: not present(stack).processes["broken"].running)
    with pytest.raises(BringupError, match=r"(?s)'broken' ended with exit code 7.*out of cheese"):
        watch.check()
    assert present(stack).processes["one"].running


def test_kill_and_respawn(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    start(stack, respawn=True, one=SLEEPER)
    watch = stack.watch()
    watch.check()
    pid = stacks.kill(stack, "one")
    eventually(lambda: present(stack).processes["one"].restarts == 1)
    process = present(stack).processes["one"]
    assert process.running
    assert process.pid != pid
    with pytest.raises(BringupError, match="SIGKILL"):
        watch.check()
    stack.watch().check()


def test_only_running_processes_can_be_killed(stack: Stack) -> None:
    with pytest.raises(BringupError, match="No stack is up"):
        stacks.kill(stack, "one")
    start(stack, one=SLEEPER)
    with pytest.raises(BringupError, match="choose one of one"):
        stacks.kill(stack, "two")


def test_nothing_survives_a_killed_supervisor(stack: Stack) -> None:
    state = start(stack, one=SLEEPER, stubborn=STUBBORN)
    log = Path(state.log_dir) / "stubborn.log"
    eventually(lambda: "ready" in log.read_text(encoding="utf-8"))
    os.kill(state.supervisor_pid, signal.SIGKILL)
    eventually(lambda: not stack.is_up)
    eventually(lambda: gone(state.processes["one"].pid))
    assert stacks.stop(stack) is True
    eventually(lambda: gone(state.processes["stubborn"].pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_stop_the_supervisor(stack: Stack, number: signal.Signals) -> None:
    state = start(stack, one=SLEEPER)
    os.kill(state.supervisor_pid, number)
    eventually(lambda: not stack.is_up)
    assert gone(state.processes["one"].pid)


def test_an_attached_stack_ends_with_its_owner(stack: Stack, tmp_path: Path) -> None:
    program = f"""
import os, time
from behavior_bringup.stacks.stack import Stack, launch_supervisor, new_log_folder
from behavior_bringup.stacks.supervisor import Plan
stack = Stack("test")
launch_supervisor(Plan(folder=str(stack.folder), domain=50, world="dummy", parent=os.getpid(),
    log_dir=str(new_log_folder(stack.folder)), commands={{"one": {SLEEPER!r}}}))
time.sleep(60)
"""
    owner = subprocess.Popen([sys.executable, "-c", program])
    try:
        eventually(lambda: stack.state() is not None)
        pid = present(stack).processes["one"].pid
    finally:
        owner.kill()
        owner.wait(timeout=240)
    eventually(lambda: not stack.is_up)
    assert gone(pid)


def test_a_command_that_does_not_exist_is_an_error(stack: Stack) -> None:
    with pytest.raises(BringupError, match="does not start"):
        start(stack, one=["/nowhere/at/all"])
    assert not stack.is_up


def test_a_number_of_one_that_ended_before_is_not_hit_at_the_stop(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_dir = new_log_folder(stack.folder)
    commands = {"broken": BROKEN, "sleeper": SLEEPER}
    runs = supervisor.Supervisor(
        Plan(
            folder=str(stack.folder),
            domain=50,
            world="dummy",
            log_dir=str(log_dir),
            commands=commands,
        )
    )
    hit: list[int] = []
    kill = supervisor._kill_group
    monkeypatch.setattr(runs, "_write", lambda: None)  # no stack is up that its state would tell of
    monkeypatch.setattr(
        supervisor, "_kill_group", lambda group, number: (hit.append(group), kill(group, number))
    )
    broken, sleeper = (start_one(runs, name) for name in commands)
    broken.wait(50.0)
    runs._reap()
    assert hit == [broken.pid]
    runs._stop_all()
    assert hit == [broken.pid, sleeper.pid]
    assert gone(sleeper.pid)


def start_one(runs: supervisor.Supervisor, name: str) -> subprocess.Popen[bytes]:
    runs._start(name)
    return runs._children[name].process


@pytest.mark.parametrize("written", [False, True])
def test_nothing_is_left_of_a_start_that_is_interrupted(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    state = stacks.read_state

    def interrupted(folder: Path) -> StackState | None:
        if (found := state(folder)) is None and written:
            return None
        pids.extend(process.pid for process in found.processes.values()) if found else None
        raise KeyboardInterrupt

    pids: list[int] = []
    # Undone also where no process may be started and the test is skipped: the stack stops by it.
    with monkeypatch.context() as patch:
        patch.setattr(stacks, "read_state", interrupted)
        with pytest.raises(KeyboardInterrupt):
            start(stack, one=SLEEPER)
    lines = [child.cmdline() for child in psutil.Process().children()]
    assert not [line for line in lines if "behavior_bringup.stacks.supervisor" in line]
    assert not stack.is_up
    assert len(pids) == int(written)
    assert all(gone(pid) for pid in pids)


def test_only_the_newest_logs_are_kept(stack: Stack) -> None:
    folders = [new_log_folder(stack.folder) for _ in range(stacks.KEPT_LOG_FOLDERS + 3)]
    assert len(set(folders)) == len(folders)
    kept = list((stack.folder / "logs").iterdir())
    assert len(kept) == stacks.KEPT_LOG_FOLDERS
    assert folders[-1] in kept
