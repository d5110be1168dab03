# SPDX-License-Identifier: Apache-2.0
"""The py_trees releases that the engine supports, kept for its tests, which need no network."""

from __future__ import annotations

import shutil

from behavior_workspace.commands import run
from behavior_workspace.layout import Layout
from behavior_workspace.locks import locked
from behavior_workspace.python_environment import clean_environment

PY_TREES_VERSIONS = ("2.3.0", "2.4.0", "2.5.0", "2.6.0")


def ensure_py_trees_versions(layout: Layout) -> bool:
    """Put each release into a folder of its own in the cache.

    Returns:
        Whether anything was installed.

    Raises:
        SetupError: no network, no disk, or pip failed.
    """
    if not _missing(layout):
        return False
    layout.py_trees.mkdir(parents=True, exist_ok=True)
    with locked(layout.py_trees / "install.lock"):
        missing = _missing(layout)
        for version in missing:
            _install(layout, version)
    return bool(missing)


def _missing(layout: Layout) -> list[str]:
    return [v for v in PY_TREES_VERSIONS if not (layout.py_trees / v).is_dir()]


def _install(layout: Layout, version: str) -> None:
    half = layout.py_trees / f"{version}.part"  # only whole folders get the final name
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    run(
        [
            *(layout.python, "-m", "pip", "install", "--no-deps", "--only-binary=:all:"),
            *("--disable-pip-version-check", "--target", half, f"py_trees=={version}"),
        ],
        what=f"install py_trees {version} for the tests",
        log=layout.logs / f"py_trees-{version}.log",
        cwd=layout.root,
        env=clean_environment(),
    )
    half.rename(layout.py_trees / version)
