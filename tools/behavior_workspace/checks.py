# SPDX-License-Identifier: Apache-2.0
"""What a machine must have before setup starts; what it lacks is one sentence with its remedy."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

from behavior_workspace.errors import SetupError

OLDEST_PYTHON = (3, 11)
NEWEST_PYTHON = (3, 13)
PROGRAMS = ("git", "make", "gcc", "g++", "cmake")
"""What setup and the tests call; each comes with the Debian package of its name."""

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


def missing_packages(
    *, which: Callable[[str], str | None], include: Path, has_venv: bool, version: tuple[int, int]
) -> list[str]:
    """Debian packages that the machine lacks.

    Args:
        which: finds a program, as `shutil.which`.
        include: where the interpreter's headers should be.
        has_venv: whether the interpreter can make virtual environments with pip in them.
        version: the interpreter's.
    """
    python = f"python{version[0]}.{version[1]}"
    missing = [program for program in PROGRAMS if which(program) is None]
    if not has_venv:
        missing.append(f"{python}-venv")
    if not (include / "Python.h").exists():
        missing.append(f"{python}-dev")
    return missing


def check_packages(missing: Sequence[str]) -> None:
    """Refuse machines that lack Debian packages, all of them in one sentence."""
    if missing:
        raise SetupError(
            f"{', '.join(missing)} missing: install with "
            f"`apt-get install {' '.join(missing)}` and run it again"
        )


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
    check_packages(
        missing_packages(
            which=shutil.which,
            include=Path(sysconfig.get_path("include")),
            has_venv=importlib.util.find_spec("ensurepip") is not None,
            version=version,
        )
    )
