# SPDX-License-Identifier: Apache-2.0
"""`make test-fast` and `make coverage`: the tests that need nothing but their own process.

Each package's tests run in a process of their own, as many beside each other as there are cores.
These processes part from one that has imported what costs seconds. Which tests these are: see
`pytest_plugin`.
"""

from __future__ import annotations

import argparse
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

TIMEOUT = 60
"""[s] after which a fast test that hangs fails, and shows where it hangs."""
IMPORTED_ONCE = [
    *("coal", "lxml.etree", "mujoco", "networkx", "numba", "pinocchio", "py_trees", "pydantic"),
    *("rclpy.action", "rich.console", "scipy.interpolate", "scipy.optimize", "toppra", "trimesh"),
]
"""None of our own, which `make coverage` wants to see imported."""


def package_name(folder: Path) -> str:
    """The Python package in the folder of a ROS package."""
    return next(folder.glob("behavior_*/__init__.py")).parent.name


def run_package(folder: Path, told: Path, coverage: Path | None) -> None:
    """Run the fast tests of one package in this process, and exit.

    Args:
        folder: of the package.
        told: file for what pytest prints.
        coverage: folder for what the tests reached; None: it is not measured.

    Raises:
        SystemExit: always, with pytest's exit code.
    """
    name = package_name(folder)
    arguments = ["--fast", "-q", "-p", "no:cacheprovider", f"--timeout={TIMEOUT}", "test"]
    if coverage is not None:
        arguments += [f"--cov={name}", "--cov-report=", "--hypothesis-profile=suite"]
        os.environ["COVERAGE_FILE"] = str(coverage / f".coverage.{name}")
    os.chdir(folder)
    sys.path.insert(0, str(folder))  # as `python -m pytest` does
    with told.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    raise SystemExit(pytest.main(arguments))


def run_all(folders: list[Path], coverage: Path | None = None) -> bool:
    """Run the fast tests of all packages and show what came of each; whether all passed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED_ONCE)

    def run(folder: Path, told: Path) -> bool:
        process = context.Process(target=run_package, args=(folder, told, coverage))
        process.start()
        process.join()
        text = told.read_text(encoding="utf-8", errors="replace").strip()
        last = text.rpartition("\n")[2].strip("= ")
        good = process.exitcode == 0
        shown = f"{package_name(folder):20} {last or f'ended with {process.exitcode}'}"
        print(shown if good else f"{shown}\n{text}", flush=True)
        return good

    # The longest first, so that no core waits for one of them at the end.
    folders = sorted(folders, key=_size_of_tests, reverse=True)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(os.cpu_count()) as pool:
        files = [Path(place) / str(number) for number in range(len(folders))]
        return all(list(pool.map(run, folders, files)))


def _size_of_tests(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("test/**/*.py"))


def report(root: Path, data: Path) -> None:
    """Print what part of each package's lines the tests reached."""
    coverage = [sys.executable, "-m", "coverage"]
    environment = {**os.environ, "COVERAGE_FILE": str(data / ".coverage")}
    subprocess.run([*coverage, "combine", "-q", str(data)], cwd=root, env=environment, check=True)
    for folder in package_folders(Layout.of(root)):
        include = f"--include={folder / package_name(folder)}/*"
        told = subprocess.run(
            [*coverage, "report", "--format=total", include],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"{package_name(folder):20} {told.stdout.strip() or 'no'} % of its lines")
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
    good = run_all(package_folders(layout), data)
    if data is not None:
        report(layout.root, data)
    print(f"{'all passed' if good else 'FAILED'} in {time.monotonic() - begin:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
