# SPDX-License-Identifier: Apache-2.0
"""Shared memory of killed processes is given back, that of living ones is left alone."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from behavior_bringup.stacks.shared_memory import FOLDER, YOUNG, is_abandoned, sweep
from behavior_ros.testing import own_domain

LIVING, DEAD, FRESH = (f"fastrtps_{digit * 16}" for digit in "abc")

PARTICIPANT = """
import sys
import rclpy
from rclpy.node import Node
rclpy.init()
node = Node("to_be_killed")
print("up", flush=True)
sys.stdin.read()
"""


def age(file: Path, seconds: float) -> None:
    then = file.stat().st_mtime - seconds
    os.utime(file, (then, then))


def test_only_what_nobody_holds_is_removed(tmp_path: Path) -> None:
    for name in (LIVING, DEAD, FRESH, "fastrtps_port7411", "other"):
        (tmp_path / name).touch()
        lock = tmp_path / f"{name}_el"
        lock.touch()
        age(lock, 0.0 if name == FRESH else 2 * YOUNG)
    with (tmp_path / f"{LIVING}_el").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert sweep(tmp_path) == 1
        assert not (tmp_path / DEAD).exists()
        assert not (tmp_path / f"{DEAD}_el").exists()
        for name in (LIVING, FRESH, "fastrtps_port7411", "other"):
            assert (tmp_path / name).exists()
            assert (tmp_path / f"{name}_el").exists()
    assert sweep(tmp_path) == 1  # its owner has ended


def test_where_there_is_no_shared_memory_nothing_happens(tmp_path: Path) -> None:
    assert sweep(tmp_path / "absent") == 0


@pytest.mark.skipif(not FOLDER.is_dir(), reason="there is no shared memory in /dev/shm")
def test_fast_dds_holds_its_lock_as_long_as_it_lives() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARTICIPANT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, ROS_DOMAIN_ID=str(own_domain())),
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "up"
    maps = Path(f"/proc/{process.pid}/maps").read_text(encoding="ascii")
    locks = [
        FOLDER / f"{name}_el"
        for name in set(re.findall(r"/dev/shm/(fastrtps_[0-9a-f]{16})\b", maps))
    ]
    own = [lock for lock in locks if lock.exists()]
    assert own
    assert not any(is_abandoned(lock) for lock in own)
    process.kill()
    process.communicate(timeout=240)
    abandoned = [lock for lock in own if is_abandoned(lock)]
    assert abandoned
    for lock in abandoned:
        age(lock, 2 * YOUNG)
    sweep()
    assert not any(lock.exists() for lock in abandoned)
