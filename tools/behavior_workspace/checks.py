# SPDX-License-Identifier: Apache-2.0
"""What a machine must have before setup starts; each lack is one sentence with its remedy."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from behavior_workspace.errors import SetupError

OLDEST_PYTHON = (3, 11)
NEWEST_PYTHON = (3, 13)
TOOLS = {
    "gcc": ("gcc",),
    "g++": ("g++",),
    "cmake": ("cmake",),
    "make": ("make",),
}
"""Debian package to programs of which one must be there."""

GIGABYTE = 1_000_000_000


def check_python(version: tuple[int, int]) -> None:
    """Refuse interpreters for which no ROS wheels exist."""
    if not OLDEST_PYTHON <= version <= NEWEST_PYTHON:
        raise SetupError(
            f"Python {version[0]}.{version[1]} cannot be used: the wheels exist for 3.11 to "
            "3.13; install python3.11 and run `make PYTHON=python3.11 ...`"
        )


def check_machine(system: str, machine: str) -> None:
    """Refuse systems for which no ROS wheels exist."""
    if system != "Linux" or machine != "x86_64":
        raise SetupError(
            f"{system} on {machine} cannot be used: the ROS 2 wheels exist for Linux on x86-64 only"
        )


def check_tools(which: Callable[[str], str | None] = shutil.which) -> None:
    """Refuse machines without a compiler and build tools."""
    missing = [
        package for package, names in TOOLS.items() if not any(which(name) for name in names)
    ]
    if missing:
        raise SetupError(
            f"{', '.join(missing)} missing: install with "
            f"`apt-get install {' '.join(missing)}` and run it again"
        )


def check_python_parts(include: Path, version: tuple[int, int]) -> None:
    """Refuse interpreters without venv or without the headers that compiled packages need."""
    name = f"python{version[0]}.{version[1]}"
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupError(f"Python's venv is missing: install with `apt-get install {name}-venv`")
    if not (include / "Python.h").exists():
        raise SetupError(f"Python's headers are missing: install with `apt-get install {name}-dev`")


def check_disk(folder: Path, needed: int) -> None:
    """Refuse folders on disks with less than `needed` bytes free."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    if free < needed:
        raise SetupError(
            f"{existing} has {free / GIGABYTE:.1f} GB free and {needed / GIGABYTE:.1f} GB are "
            "needed; free some space and run it again"
        )


def check_all() -> None:
    """Run every check that does not depend on what is already set up."""
    version = (sys.version_info.major, sys.version_info.minor)
    check_machine(platform.system(), platform.machine())
    check_python(version)
    check_tools()
    check_python_parts(Path(sysconfig.get_path("include")), version)
