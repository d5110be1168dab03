# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import pytest

from behavior_bringup.errors import BringupError
from behavior_bringup.state import (
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
