# SPDX-License-Identifier: Apache-2.0
"""What `make test-fast` leaves out, what `make coverage` prints, and that `make test` is the same
in every run."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from behavior_workspace import fast_tests, fuzz

REPOSITORY = Path(__file__).resolve().parents[2]

TESTS = """
import asyncio
import multiprocessing
import os
import subprocess

import pytest


def test_of_a_function():
    assert 1 + 1 == 2


@pytest.mark.slow
def test_that_computes():
    raise AssertionError("left out")


def test_with_a_program():
    subprocess.run(["true"], check=True)


def test_with_a_worker():
    multiprocessing.get_context("spawn").Process(target=print).start()


def test_with_a_fork():
    os.fork()


@pytest.fixture
def node():
    from rclpy.node import Node

    return Node("n")


def test_with_a_node(node):
    raise AssertionError("skipped before")


def test_with_a_program_in_a_task():
    async def waits_for_it():
        task = asyncio.create_task(asyncio.create_subprocess_exec("true"))
        await asyncio.Event().wait()  # for what the task would say

    asyncio.run(waits_for_it())


def test_with_a_program_that_is_cleaned_up_badly():
    started = None
    try:
        started = subprocess.Popen(["true"])
    finally:
        started.wait()
"""

DRAWS = """
from hypothesis import given, settings, strategies as st

drawn = []


@settings(max_examples=5)
@given(st.integers())
def test_draws(number):
    drawn.append(number)


def test_tell():
    print("drawn", drawn)
"""


def pytest_in(folder, text, *options):
    (folder / "test_it.py").write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_it.py"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def test_processes_nodes_and_slow_tests_are_left_out(tmp_path):
    done = pytest_in(tmp_path, TESTS, "--fast", "-rs")
    assert done.returncode == 0, done.stdout
    assert re.search(r"1 passed, 6 skipped, 1 deselected", done.stdout), done.stdout
    assert done.stdout.count("starts a process") >= 1
    assert "needs a ROS graph" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_property_tests_draw_the_same_in_every_run_unless_they_fuzz(tmp_path):
    def drawn(*options):
        done = pytest_in(tmp_path, DRAWS, "-s", *options)
        assert done.returncode == 0, done.stdout
        return re.search(r"drawn (\[.*\])", done.stdout)[1]

    assert drawn() == drawn()
    fuzzed = [drawn("--hypothesis-profile=fuzz", f"--hypothesis-seed={n}") for n in (1, 2)]
    assert fuzzed[0] != fuzzed[1]


MANY = """
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

counts = {"own": 0, "default": 0, "machine": 0}


@settings(max_examples=80)
@given(st.integers())
def test_own(number):
    counts["own"] += 1


@given(st.integers())
def test_default(number):
    counts["default"] += 1


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        counts["machine"] += 1

    @rule()
    def step(self):
        pass


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=80, stateful_step_count=2)


def test_tell():
    print("counts", *counts.values())
"""


def test_fast_tests_draw_few_examples_however_many_are_asked_for(tmp_path):
    def counts(*options):
        done = pytest_in(tmp_path, MANY, "-s", *options)
        assert done.returncode == 0, done.stdout
        return [int(n) for n in re.search(r"counts (.*)", done.stdout)[1].split()]

    assert max(counts("--fast")) <= 12
    assert min(counts()[:2]) >= 80
    assert min(counts("--fast", "--hypothesis-profile=suite")[:2]) >= 80


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "src" / "thing"
    (folder / "behavior_thing").mkdir(parents=True)
    (folder / "test").mkdir()
    (folder / "setup.py").touch()
    (folder / "behavior_thing" / "__init__.py").write_text("def one():\n    return 1\n")
    return folder


def test_a_package_s_tests_are_run_and_told_of(package, capfd):
    test = package / "test" / "test_thing.py"
    test.write_text(
        "import behavior_thing\n\ndef test_one():\n    assert behavior_thing.one() == 1\n"
    )
    coverage = package / "coverage"
    coverage.mkdir()
    assert fast_tests.run_all([package], coverage)
    assert "1 passed" in capfd.readouterr().out
    assert (coverage / ".coverage.behavior_thing").exists()
    test.write_text("def test_one():\n    assert 1 == 2\n")
    assert not fast_tests.run_all([package])
    assert "assert 1 == 2" in capfd.readouterr().out


def test_the_fuzzers_are_there_and_take_their_options():
    for program, *options in fuzz.programs(REPOSITORY, seconds=1.0, seed=2):
        output = Path(program).read_text()
        for option in options:
            assert f'"{option.partition("=")[0]}"' in output, (program, option)


def test_torn_times_of_an_earlier_run_are_no_hindrance(package, tmp_path, capfd):
    (package / "test" / "test_thing.py").write_text("def test_one():\n    pass\n")
    times = tmp_path / "fast_tests.json"
    for text in ('{"thing": 1.', "[1]", '{"thing": null}'):
        times.write_text(text)
        assert fast_tests.run_all([package], times=times)
    assert '"thing"' in times.read_text()
