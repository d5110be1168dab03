# SPDX-License-Identifier: Apache-2.0
"""`make test-fast` and `make coverage`: the tests that need nothing but their own process.

Each package's tests run in a process of their own, one more of them beside each other than there
are cores: some wait for a thread or a socket now and then.
These processes part from one that has imported what costs seconds. Which tests these are: see
`pytest_plugin`.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from behavior_workspace.layout import Layout
from behavior_workspace.workspace import package_folders

TIMEOUT = 300
"""[s] after which a fast test that hangs fails, and shows where it hangs."""
IMPORTED_ONCE = [
    *("coal", "lxml.etree", "mujoco", "networkx", "numba", "pinocchio", "py_trees", "pydantic"),
    *("rclpy.action", "rich.console", "scipy.interpolate", "scipy.optimize", "toppra", "trimesh"),
    *("behavior_msgs.action", "behavior_msgs.msg", "behavior_msgs.srv"),
    *("anyio.pytest_plugin", "hypothesis.extra.numpy", "hypothesis.stateful", "pytest_cov.plugin"),
    "behavior_workspace.compiler",
]
"""None of our own packages, which `make coverage` wants to see imported."""
OURS_IMPORTED_ONCE = ["behavior_tree.testing.plugin"]
"""What pytest imports in every package, unless it is measured what is reached."""
IMPORTED_BEFORE = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"


def package_name(folder: Path) -> str:
    """The Python package in the folder of a ROS package."""
    return next(folder.glob("behavior_*/__init__.py")).parent.name


def run_package(folder: Path, output: Path, coverage: Path | None) -> None:
    """Run the fast tests of one package in this process, and exit.

    Args:
        folder: of the package.
        output: file for what pytest prints.
        coverage: folder for what the tests reached; None: it is not measured.

    Raises:
        SystemExit: always, with pytest's exit code.
    """
    name = package_name(folder)
    arguments = ["--fast", "-q", "-p", "no:cacheprovider", f"--timeout={TIMEOUT}"]
    arguments += ["-W", IMPORTED_BEFORE, "test"]
    if coverage is not None:
        arguments += [f"--cov={name}", "--cov-report=", "--hypothesis-profile=suite"]
        os.environ["COVERAGE_FILE"] = str(coverage / f".coverage.{name}")
    os.chdir(folder)
    sys.path.insert(0, str(folder))  # as `python -m pytest` does
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    gc.freeze()  # what was imported before stays: pytest searches all there is for garbage, often
    raise SystemExit(pytest.main(arguments))


def run_all(folders: list[Path], coverage: Path | None = None, times: Path | None = None) -> bool:
    """Run the fast tests of all packages and show what came of each.

    Args:
        folders: of the packages.
        coverage: folder for what the tests reached; None: it is not measured.
        times: file that keeps how long each package took, so that the longest come first and no
            core waits for one of them at the end.

    Returns:
        whether all passed.
    """
    took = _read(times)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED_ONCE + (OURS_IMPORTED_ONCE if coverage is None else []))

    def run(folder: Path, output: Path) -> bool:
        process = context.Process(target=run_package, args=(folder, output, coverage))
        begin = time.monotonic()
        process.start()
        process.join()
        took[folder.name] = time.monotonic() - begin
        text = output.read_text(encoding="utf-8", errors="replace").strip()
        last = text.rpartition("\n")[2].strip("= ")
        good = process.exitcode == 0
        shown = f"{package_name(folder):20} {last or f'ended with {process.exitcode}'}"
        print(shown if good else f"{shown}\n{text}", flush=True)
        return good

    folders = sorted(folders, key=lambda each: took.get(each.name, math.inf), reverse=True)
    with (
        tempfile.TemporaryDirectory() as place,
        ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool,
    ):
        files = [Path(place) / str(number) for number in range(len(folders))]
        good = all(list(pool.map(run, folders, files)))
    if times is not None:
        times.write_text(json.dumps(took), encoding="utf-8")
    return good


def _read(times: Path | None) -> dict[str, float]:
    """Seconds by package; nothing where they are not kept, or torn."""
    if times is None or not times.exists():
        return {}
    try:
        kept = json.loads(times.read_text(encoding="utf-8"))
        return {str(name): float(each) for name, each in kept.items()}
    except (ValueError, TypeError, AttributeError):  # an interrupted run wrote it
        return {}


def report(root: Path, data: Path) -> None:
    """Print what part of each package's lines the tests reached."""
    coverage = [sys.executable, "-m", "coverage"]
    environment = {**os.environ, "COVERAGE_FILE": str(data / ".coverage")}
    subprocess.run([*coverage, "combine", "-q", str(data)], cwd=root, env=environment, check=True)
    for folder in package_folders(Layout.of(root)):
        include = f"--include={folder / package_name(folder)}/*"
        output = subprocess.run(
            [*coverage, "report", "--format=total", include],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"{package_name(folder):20} {output.stdout.strip() or 'no'} % of its lines")
    html = data / "html"
    subprocess.run(
        [*coverage, "html", "-q", "-d", str(html)], cwd=root, env=environment, check=True
    )
    print(f"line by line: {html / 'index.html'}")


def main() -> int:
    """Entry point; the exit code is 0 when all passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", action="store_true", help="measure what the tests reach")
    options = parser.parse_args()
    layout = Layout.of(Path(__file__).resolve().parents[2])
    data = layout.root / "build" / "coverage" if options.coverage else None
    if data is not None:
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
    begin = time.monotonic()
    times = layout.build.with_name("fast_tests.json")
    good = run_all(package_folders(layout), data, times)
    if data is not None:
        report(layout.root, data)
    print(f"{'all passed' if good else 'FAILED'} in {time.monotonic() - begin:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
