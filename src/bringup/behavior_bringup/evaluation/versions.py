# SPDX-License-Identifier: Apache-2.0
"""What an episode was run with: the commit of the code, and the packages that compute."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from behavior_bringup.errors import BringupError

PACKAGES = (
    "behavior_bringup",
    "behavior_tree",
    "behavior_motion",
    "behavior_sim",
    "mujoco",
    "numpy",
    "scipy",
    "ompl",
    "pin",
    "coal",
    "toppra",
    "ruckig",
)
"""Packages of which another version may make another result."""

Versions = Mapping[str, str]
"""By name: `commit`, `python` and the packages; empty: it is not there."""


class VersionsDifferError(BringupError):
    """Episodes of two versions would stand in one evaluation."""


def present_versions() -> dict[str, str]:
    """Of this machine and process."""
    found = {"commit": commit(Path(__file__).parent), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = ""
    return found


def commit(folder: Path) -> str:
    """The commit of a checkout; one with changes has their digest behind a `+`.

    Empty where the folder is in no checkout, such as after an installation.
    """
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    if not head:
        return ""
    top = Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())
    changes = _git(top, "diff", "HEAD", "--", "*.py", "*.xml", "*.yaml", "*.msg", "*.srv")
    digest = f"+{hashlib.sha256(changes).hexdigest()[:8]}" if changes else ""
    return head.decode().strip() + digest


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""


def check_same(wanted: Versions, found: Versions, whose: str) -> None:
    """Make sure that two sets of versions agree.

    Args:
        wanted: those of the evaluation.
        found: others.
        whose: they are, for the message.

    Raises:
        VersionsDifferError: names the first that differs.
    """
    for name in sorted({*wanted, *found}, key=lambda name: (name != "commit", name)):
        ours, theirs = wanted.get(name, ""), found.get(name, "")
        if ours != theirs:
            raise VersionsDifferError(
                f"{whose} has {name} {theirs or 'none'}, but this evaluation"
                f" {ours or 'none'}: episodes of two versions do not stand in one evaluation;"
                " 'behavior evaluate compare' sets two beside each other"
            )
