# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import os
import threading

import pytest

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks import stack
from behavior_bringup.stacks.paths import runtime_dir
from behavior_bringup.stacks.state import (
    ProcessState,
    StackState,
    acquire_lock,
    is_locked,
    known_stacks,
    read_state,
    remove_state,
    stack_dir,
    write_state,
)
from behavior_bringup.stacks.supervisor import Plan
from behavior_packages.folders import own_missions


def test_the_state_survives_writing_and_reading() -> None:
    state = StackState(
        supervisor_pid=1,
        domain=50,
        world="w",
        log_dir="/log",
        arguments={"speed": 2.0},
        processes={"one": ProcessState(pid=2, created=3.5, restarts=1, exit_code=-9)},
    )
    folder = stack_dir()
    write_state(folder, state)
    assert read_state(folder) == state
    remove_state(folder)
    remove_state(folder)
    assert read_state(folder) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"processes": {"a": 1}}', "{}"])
def test_a_broken_state_counts_as_none(text: str) -> None:
    folder = stack_dir()
    (folder / "state.json").write_text(text, encoding="utf-8")
    assert read_state(folder) is None


def test_the_lock_says_who_is_up() -> None:
    folder = stack_dir("one")
    assert not is_locked(folder)
    lock = acquire_lock(folder)
    assert is_locked(folder)
    assert known_stacks() == ["one"]
    with pytest.raises(BringupError, match="already up"):
        acquire_lock(folder)
    os.close(lock)
    assert known_stacks() == []


def test_who_asks_whether_a_stack_is_up_keeps_none_from_starting() -> None:
    folder = stack_dir("asked")
    os.close(acquire_lock(folder))
    asking = os.open(folder / "lock", os.O_RDWR)
    fcntl.flock(asking, fcntl.LOCK_SH)
    done = threading.Timer(0.2, os.close, [asking])
    done.start()
    lock = acquire_lock(folder)
    done.join()
    assert is_locked(folder)
    os.close(lock)


def test_a_stack_that_has_not_written_its_state_yet_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = stack_dir("early")
    lock = acquire_lock(folder)
    state = StackState(supervisor_pid=2**22 + 1, domain=50, world="w", log_dir="/log")
    stopped: list[int] = []

    def end(pid: int) -> None:
        stopped.append(pid)
        threading.Timer(0.2, os.close, [lock]).start()  # let go of a little after its end

    monkeypatch.setattr(stack, "_stop_supervisor", end)
    threading.Timer(0.2, write_state, [folder, state]).start()
    assert stack.stop(stack.Stack("early"))
    assert stopped == [state.supervisor_pid]
    assert read_state(folder) is None


def test_a_stack_finds_missions_of_one_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []
    monkeypatch.setattr(stack, "launch_supervisor", plans.append)
    one = stack.Stack("one")
    arguments: tuple[dict[str, str], ...] = ({}, {"missions": str(runtime_dir())}, {"missions": ""})
    for given in arguments:
        stack.start(one, world="block_stacking", arguments=given)
    found = [plan.arguments["missions"] for plan in plans]
    assert found == [str(own_missions()), str(runtime_dir()), ""]
    assert own_missions().is_dir()
    own_missions().rmdir()
    own_missions().touch()  # none can be made there: it goes without
    stack.start(one, world="block_stacking", arguments={})
    assert plans[-1].arguments["missions"] == ""
