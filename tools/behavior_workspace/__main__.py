# SPDX-License-Identifier: Apache-2.0
"""`python3 -m behavior_workspace`: set this checkout up, or do nothing when it is."""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable
from pathlib import Path

from behavior_workspace.checks import check_all
from behavior_workspace.environment import write_environment
from behavior_workspace.errors import SetupError
from behavior_workspace.interfaces import ensure_interfaces, interface_prefix
from behavior_workspace.layout import Layout
from behavior_workspace.page import ensure_page
from behavior_workspace.py_trees_versions import ensure_py_trees_versions
from behavior_workspace.python_environment import ensure_python_environment
from behavior_workspace.wheel_fixes import mend_wheels
from behavior_workspace.workspace import ensure_workspace, python_path


def set_up(layout: Layout) -> None:
    """Bring the checkout into a state in which everything runs.

    Raises:
        SetupError: what keeps it from that.
    """
    check_all()
    _step("Python packages (about a minute)", lambda: _python_packages(layout))
    _step("interface packages (about two minutes)", lambda: ensure_interfaces(layout))
    _step("py_trees releases for the tests", lambda: ensure_py_trees_versions(layout))
    page_step(layout)
    _step("workspace", lambda: ensure_workspace(layout))
    prefixes = [layout.install, interface_prefix(layout)]
    write_environment(layout, prefixes=prefixes, python_path=python_path(layout))


def _python_packages(layout: Layout) -> bool:
    done = ensure_python_environment(layout)
    mend_wheels(layout)
    return done


def page_step(layout: Layout) -> None:
    """Build the console's page; everything else runs without it, so a failure is only printed."""
    try:
        _step("the console's page (half a minute)", lambda: ensure_page(layout))
    except SetupError as error:
        print(f"\nsetup: {error}\nsetup: the rest goes on; `make page` tries it again", flush=True)


def _step(name: str, ensure: Callable[[], bool]) -> None:
    print(f"setup: {name} ...", end="", flush=True)
    start = time.monotonic()
    done = ensure()
    print(f" done in {time.monotonic() - start:.0f} s" if done else " up to date", flush=True)


def main() -> int:
    """Entry point; the exit code is 0 when the checkout is set up."""
    layout = Layout.of(Path(__file__).parents[2])
    try:
        set_up(layout)
    except SetupError as error:
        print(f"\nsetup: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        text = "the disk is full; free some space and run it again" if full else str(error)
        print(f"\nsetup: {text}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted; run it again, it continues where it stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
