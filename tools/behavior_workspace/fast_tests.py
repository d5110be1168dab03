# SPDX-License-Identifier: Apache-2.0
"""`make test-fast` and `make coverage`: the tests that need nothing but their own process.

Each package's tests run in a process of their own, as many beside each other as there are cores.
Which tests these are: see `pytest_plugin`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from behavior_workspace.layout import Layout
from behavior_workspace.workspace import package_folders

TIMEOUT = 60
"""[s] after which a fast test that hangs fails, and shows where it hangs."""


def package_name(folder: Path) -> str:
    """The Python package in the folder of a ROS package."""
    return next(folder.glob("behavior_*/__init__.py")).parent.name


def run_package(folder: Path, coverage: Path | None) -> subprocess.CompletedProcess[str]:
    """Run the fast tests of one package; with `coverage`, write there what they reached."""
    name = package_name(folder)
    command = [sys.executable, "-m", "pytest", "--fast", "-q", "-p", "no:cacheprovider"]
    command += [f"--timeout={TIMEOUT}", "test"]
    environment = dict(os.environ)
    if coverage is not None:
        command += [f"--cov={name}", "--cov-report=", "--hypothesis-profile=suite"]
        environment["COVERAGE_FILE"] = str(coverage / f".coverage.{name}")
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def run_all(folders: list[Path], coverage: Path | None = None) -> bool:
    """Run the fast tests of all packages and show what came of each; whether all passed."""
    good = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, done in zip(
            folders, pool.map(lambda folder: run_package(folder, coverage), folders), strict=True
        ):
            lines = done.stdout.strip().splitlines() or [done.stderr]
            print(f"{package_name(folder):20} {lines[-1].strip('= ')}", flush=True)
            if done.returncode != 0:
                good = False
                print(done.stdout, done.stderr, sep="\n", flush=True)
    return good


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
