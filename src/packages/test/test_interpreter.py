# SPDX-License-Identifier: Apache-2.0
"""Which Python runs our programs, and that they end up in it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from behavior_packages.interpreter import InterpreterError, environment_folder, interpreter
from behavior_packages.programs import no_such_package

PROGRAM = "import sys; from behavior_packages.programs import shown; sys.exit(shown.main())"
SHOWN = "import sys\ndef main():\n    print(sys.executable, *sys.argv[1:])\n    return 3\n"


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sourced distribution, whose Python is this one, and the environment beside it."""
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("BEHAVIOR_PYTHON", raising=False)
    python = tmp_path / "behavior_suite" / "jazzy" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return python


def test_the_environment_beside_the_distribution_runs_our_programs(distribution: Path) -> None:
    assert interpreter() == str(distribution)
    distribution.unlink()
    assert interpreter() == sys.executable


def test_a_virtual_environment_is_not_left(
    distribution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", "/somewhere/else")
    assert interpreter() == sys.executable


def test_without_a_distribution_there_is_nothing_beside_it(
    distribution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROS_DISTRO")
    assert environment_folder() is None
    assert interpreter() == sys.executable


def test_another_python_may_be_named(distribution: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEHAVIOR_PYTHON", sys.executable)
    assert interpreter() == sys.executable
    monkeypatch.setenv("BEHAVIOR_PYTHON", "/no/such/python")
    with pytest.raises(InterpreterError, match="'/no/such/python': unset it"):
        interpreter()


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python that is a script, which notes each start; the program is beside it."""
    python = tmp_path / "python"
    noted = tmp_path / "noted"
    python.write_text(f'#!/bin/sh\necho x >>"{noted}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "shown.py").write_text(SHOWN)
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("BEHAVIOR_PYTHON", str(python))
    return noted


def test_a_program_goes_on_in_the_other_python_once(started: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "--speed", "2 x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [sys.executable, "--speed", "2", "x"]
    assert done.returncode == 3
    assert started.read_text() == "x\n"


def test_a_python_that_is_not_there_is_one_sentence(started: Path) -> None:
    command = [sys.executable, "-c", PROGRAM]
    environment = {**os.environ, "BEHAVIOR_PYTHON": "/no/such"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "behavior: BEHAVIOR_PYTHON names no program: '/no/such': unset it, or let it name a Python"
    ]


def test_without_its_environment_a_program_says_what_brings_it(
    distribution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/nowhere")
    with pytest.raises(SystemExit, match=r"^no_such_package.node needs .* 'make environment' in"):
        no_such_package.node.main()


def test_an_entry_point_names_a_program_without_importing_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("behavior_packages.programs.enter", lambda: None)
    text = "behavior_packages.programs:no_such_package.node.main"
    program = EntryPoint("x", text, "console_scripts").load()
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        program()
