# SPDX-License-Identifier: Apache-2.0
"""The interface packages, built once per set of definitions and kept for all checkouts.

Building them is the slow part of setup, and they change seldom: the result is kept in the user's
cache under a digest of everything that determines it.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from behavior_workspace.checks import GIGABYTE, check_disk
from behavior_workspace.commands import run
from behavior_workspace.digest import digest
from behavior_workspace.environment import build_environment
from behavior_workspace.layout import Layout
from behavior_workspace.locks import locked

DISK_NEEDED = GIGABYTE // 2
C_GENERATORS = Path(__file__).resolve().parent / "c_generators"
"""Stands before the CMake configuration of ROS's generators."""
BUILD_RECIPE = "2"
"""Part of the digest; raised when the build below changes what it produces."""


def interface_prefix(layout: Layout) -> Path:
    """Where the interface packages of this checkout are, or will be, installed."""
    definitions = [
        file
        for package in layout.interface_packages
        for file in package.rglob("*")
        if file.suffix in {".msg", ".srv", ".action", ".idl"}
        or file.name in {"CMakeLists.txt", "package.xml"}
    ]
    value = digest(
        (*definitions, layout.root / "requirements-ros.txt"),
        base=layout.root,
        salt=(
            *(BUILD_RECIPE, sys.implementation.cache_tag, platform.machine()),
            *_build_versions(layout.constraints),
        ),
    )
    return layout.cache / value


def _build_versions(constraints: Path) -> list[str]:
    """Of what the build generates code with and compiles against; other wheels do not matter."""
    lines = constraints.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("ros-")]


def ensure_interfaces(layout: Layout) -> bool:
    """Build the interface packages unless the cache has them.

    Returns:
        Whether anything was built.

    Raises:
        SetupError: no disk, or the build failed.
    """
    prefix = interface_prefix(layout)
    if _is_complete(prefix):
        return False
    check_disk(layout.cache, DISK_NEEDED)
    layout.cache.mkdir(parents=True, exist_ok=True)
    with locked(prefix.with_suffix(".lock")):
        if _is_complete(prefix):
            return False
        _build(layout, prefix)
    return True


def _is_complete(prefix: Path) -> bool:
    return (prefix / "complete").exists()


def _build(layout: Layout, prefix: Path) -> None:
    # What a build that was stopped has compiled is there for the next one of the same definitions.
    work = layout.root / "build" / "interfaces" / prefix.name
    for other in work.parent.glob("*/"):
        if other != work:
            shutil.rmtree(other, ignore_errors=True)
    env = build_environment(layout)
    jobs = str(os.cpu_count() or 1)
    env |= {"CMAKE_BUILD_PARALLEL_LEVEL": jobs, "MAKEFLAGS": f"-j{jobs}"}
    run(
        [
            layout.venv / "bin" / "colcon",
            *("--log-base", str(layout.logs / "colcon_interfaces")),
            *("build", "--merge-install", "--build-base", str(work)),
            *("--install-base", str(prefix)),
            *("--base-paths", *(str(package) for package in layout.interface_packages)),
            # Unoptimised: the generated code is not worth the minutes that -O2 takes here.
            *("--cmake-args", "--no-warn-unused-cli", "-DBUILD_TESTING=OFF"),
            *("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0"),
            f"-DPython3_EXECUTABLE={layout.python}",
            f"-Drosidl_default_generators_DIR={C_GENERATORS}",
            f"-DGENERATORS={layout.venv / 'share' / 'rosidl_default_generators' / 'cmake'}",
        ],
        what="build the interface packages",
        log=layout.logs / "interfaces.log",
        cwd=layout.root,
        env=env,
    )
    shutil.rmtree(work.parent, ignore_errors=True)
    (prefix / "complete").touch()
