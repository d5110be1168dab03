# SPDX-License-Identifier: Apache-2.0
"""The virtual environment with the pinned wheels."""

from __future__ import annotations

import os
import shutil
import sys

from behavior_workspace.checks import GIGABYTE, check_disk
from behavior_workspace.commands import run
from behavior_workspace.digest import digest, is_stamped, write_stamp
from behavior_workspace.layout import Layout

DISK_NEEDED = 4 * GIGABYTE


def ensure_python_environment(layout: Layout) -> bool:
    """Make the virtual environment and install the requirement lists.

    Returns:
        Whether anything was done; False when the lists were installed before.

    Raises:
        SetupError: no disk, no network, or pip failed.
    """
    value = digest(
        (*layout.requirements, layout.constraints),
        base=layout.root,
        salt=(sys.version, str(layout.venv)),
    )
    stamp = layout.venv / "requirements.stamp"
    if is_stamped(stamp, value):
        return False
    check_disk(layout.root, DISK_NEEDED)
    env = clean_environment()
    if not _works(layout):
        # A folder left by an interrupted run, by another Python or in a checkout that was moved or
        # copied, whose programs are those of the other place, is of no use.
        shutil.rmtree(layout.venv, ignore_errors=True)
        run(
            [sys.executable, "-m", "venv", layout.venv],
            what="make the virtual environment",
            log=layout.logs / "venv.log",
            cwd=layout.root,
            env=env,
        )
    _pip_install(layout, env)
    write_stamp(stamp, value)
    return True


def clean_environment() -> dict[str, str]:
    """The caller's environment without what another ROS or Python environment put into it."""
    foreign = (
        "AMENT_PREFIX_PATH",
        "CMAKE_PREFIX_PATH",
        "COLCON_PREFIX_PATH",
        "LD_LIBRARY_PATH",
        "PYTHONHOME",
        "PYTHONPATH",
        "VIRTUAL_ENV",
    )
    env = {key: value for key, value in os.environ.items() if key not in foreign}
    # The wheels' start-up file re-executes Python to set the library path unless told that it is
    # set; pip needs no ROS library.
    env["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
    return env


def _works(layout: Layout) -> bool:
    pip = layout.venv / "bin" / "pip"
    if not (layout.python.exists() and pip.exists() and layout.site_packages.is_dir()):
        return False
    # The line that names its interpreter; where that is too long for one, the second.
    return any(f"{layout.venv}/" in line for line in pip.read_text().splitlines()[:2])


def _pip_install(layout: Layout, env: dict[str, str]) -> None:
    lists = [part for file in layout.requirements for part in ("-r", str(file))]
    # The constraints were recorded with 3.11; another Python resolves for itself.
    tested = sys.version_info[:2] == (3, 11)
    constraints = ["-c", str(layout.constraints)] if tested else []
    run(
        [
            *(str(layout.python), "-m", "pip", "install"),
            *("--disable-pip-version-check", "--no-input", "--retries", "2", "--timeout", "30"),
            *(*lists, *constraints),
        ],
        what="install the Python packages",
        log=layout.logs / "pip.log",
        cwd=layout.root,
        env=env,
    )
