# SPDX-License-Identifier: Apache-2.0
"""The launch file in launch itself, on machines that have it: a ROS 2 distribution."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from behavior_ros.testing import own_domain

HERE = Path(__file__).parent
LAUNCH_FILE = HERE.parents[2] / "launch" / "bringup.launch.py"
NEEDED = ("launch", "launch_ros", "launch_testing")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.timeout(600),
]

LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

file, *words = sys.argv[1:]
service = LaunchService()
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(file), launch_arguments=[word.split(":=") for word in words])]))
sys.exit(service.run())
"""


class Launch:
    """A launch in a session of its own, as in a terminal."""

    def __init__(self, log: Path, *words: str) -> None:
        self._log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", LAUNCH, str(LAUNCH_FILE), *words],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "ROS_DOMAIN_ID": str(own_domain())},
                start_new_session=True,
            )

    def told(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 180.0
        while not condition():
            assert time.monotonic() < end, self.told()
            assert self.process.poll() is None, self.told()
            time.sleep(0.1)

    def process_of(self, name: str) -> int:
        """The newest process of that name."""
        return int(
            re.findall(rf"\[{name}-\d+\]: process started with pid \[(\d+)\]", self.told())[-1]
        )

    def is_up(self) -> bool:
        return all(f"[{name}]: transforms" in self.told() for name in ("scene", "skills"))

    def ends(self) -> int:
        return self.process.wait(120.0)

    def close(self) -> None:
        for process in (*psutil.Process(self.process.pid).children(recursive=True), self.process):
            process.kill()
        self.process.wait(240.0)


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launch]]:
    made: list[Launch] = []

    def start(*words: str) -> Launch:
        made.append(
            Launch(tmp_path / "launch.log", "world:=block_stacking", "headless:=true", *words)
        )
        return made[-1]

    yield start
    for each in made:
        if each.process.poll() is None:
            each.close()


def test_interrupts_of_a_terminal_end_everything_well(launch: Callable[..., Launch]) -> None:
    """A terminal interrupts every process, launch interrupts them again, an operator once more."""
    stack = launch()
    stack.until(stack.is_up)
    for _ in range(2):
        os.killpg(stack.process.pid, signal.SIGINT)
        time.sleep(0.2)
    assert stack.ends() == 0, stack.told()
    told = stack.told()
    for word in ("process has died", "Traceback", "nanobind", "leak", "escalating"):
        assert word not in told


def test_a_killed_process_comes_back_as_often_as_asked(launch: Callable[..., Launch]) -> None:
    stack = launch("respawn:=1")
    stack.until(stack.is_up)
    first = stack.process_of("skills")
    os.kill(first, signal.SIGKILL)
    stack.until(lambda: stack.process_of("skills") != first)
    os.kill(stack.process_of("skills"), signal.SIGKILL)
    stack.ends()
    assert "the process 'skills' ended" in stack.told() or "was required" in stack.told()


def test_launch_testing_brings_it_up_and_down() -> None:
    file = HERE / "launch" / "stack_launch.py"
    done = subprocess.run(
        [sys.executable, "-m", "launch_testing.launch_test", str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(own_domain())},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
