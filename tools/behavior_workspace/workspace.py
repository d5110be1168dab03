# SPDX-License-Identifier: Apache-2.0
"""`colcon build` of the suite's Python packages.

They are installed as links to the checkout, so that an edit needs no build; only a change of what
a package installs (its manifests, data files, entry points) does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from behavior_workspace.commands import run
from behavior_workspace.digest import digest, is_stamped, write_stamp
from behavior_workspace.environment import build_environment, variables
from behavior_workspace.interfaces import interface_prefix
from behavior_workspace.layout import Layout

MANIFESTS = ("package.xml", "setup.py", "setup.cfg", "behavior.yaml")
DATA_FOLDERS = ("config", "launch", "trees")


def package_folders(layout: Layout) -> list[Path]:
    """Folders of the Python packages, in a stable order."""
    candidates = [layout.root / "tools", *sorted((layout.root / "src").iterdir())]
    return [folder for folder in candidates if (folder / "setup.py").exists()]


def python_path(layout: Layout) -> list[Path]:
    """What makes linked packages and their entry points importable."""
    linked = sorted(info.parent for info in layout.build.glob("*/*.egg-info"))
    version = layout.site_packages.parent.name
    return [*linked, interface_prefix(layout) / "lib" / version / "site-packages"]


def ensure_workspace(layout: Layout) -> bool:
    """Build the Python packages unless nothing that they install changed.

    Returns:
        Whether anything was built.

    Raises:
        SetupError: the build failed.
    """
    value = digest(
        _inputs(layout), base=layout.root, salt=(str(layout.root), str(interface_prefix(layout)))
    )
    stamp = layout.install / "workspace.stamp"
    if is_stamped(stamp, value):
        return False
    build_workspace(layout)
    write_stamp(stamp, value)
    return True


def build_workspace(layout: Layout) -> None:
    """Run `colcon build` on the Python packages.

    Raises:
        SetupError: the build failed.
    """
    env = build_environment(layout)
    env |= variables(
        layout, prefixes=[interface_prefix(layout)], python_path=python_path(layout)[-1:]
    )
    run(
        [
            layout.venv / "bin" / "colcon",
            *("--log-base", str(layout.root / "log"), "build"),
            *("--merge-install", "--symlink-install"),
            *("--build-base", str(layout.build)),
            *("--install-base", str(layout.install)),
            *("--base-paths", *(str(folder) for folder in package_folders(layout))),
        ],
        what="build the packages",
        log=layout.logs / "workspace.log",
        cwd=layout.root,
        env=env,
    )


def _inputs(layout: Layout) -> Iterator[Path]:
    for folder in package_folders(layout):
        yield from (folder / name for name in MANIFESTS if (folder / name).exists())
    for name in DATA_FOLDERS:
        yield from (file for file in (layout.root / name).rglob("*") if file.is_file())
