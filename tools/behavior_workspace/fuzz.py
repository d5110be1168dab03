# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: draws inputs nobody has tried, for as long as it is given.

Random trees against BehaviorTree.CPP, random decider networks against their model, mutated
documents at the parsers, garbage at the Groot2 server, and every property test with new examples.
`make test` draws the same examples each time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from behavior_workspace.layout import Layout
from behavior_workspace.workspace import package_folders

TREES = 20_000
"""Cases of each kind that are compared with BehaviorTree.CPP."""


def programs(root: Path, *, seconds: float, seed: int) -> list[list[str]]:
    """Command lines of the fuzzers, each for about `seconds` where it works by time."""
    benchmarks = root / "benchmarks"
    conformance = [str(benchmarks / "tree_conformance.py"), f"--trees={TREES}", f"--seed={seed}"]
    parsers = [str(benchmarks / "fuzz_tree_parsers.py"), f"--seconds={seconds}", f"--seed={seed}"]
    networks = [str(benchmarks / "fuzz_decider_networks.py"), f"--seconds={seconds}"]
    server = [str(benchmarks / "fuzz_groot2_server.py"), f"--seconds={seconds}", f"--seed={seed}"]
    return [
        *([*conformance, f"--kind={kind}"] for kind in ("trees", "entries", "scripts")),
        *([*parsers, f"--target={target}"] for target in ("xml", "script")),
        [*networks, f"--seed={seed}"],
        server,
    ]


def property_tests(folder: Path, seed: int) -> int:
    """Run the property tests of a package with the examples of a seed; pytest's exit code."""
    options = [f"--hypothesis-seed={seed}", "--hypothesis-profile=fuzz"]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", *options, "test"]
    print(f"fuzz: in {folder}: {' '.join(command[1:])}", flush=True)
    return subprocess.run(command, cwd=folder, check=False).returncode


def main() -> int:
    """Entry point; the exit code is 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="time for each fuzzer [s]")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    options = parser.parse_args()
    layout = Layout.of(Path(__file__).resolve().parents[2])
    found = 0
    for words in programs(layout.root, seconds=options.seconds, seed=options.seed):
        print(f"fuzz: {' '.join(words)}", flush=True)
        done = subprocess.run([sys.executable, *words], cwd=layout.root, check=False)
        found += done.returncode != 0
    end, seed = time.monotonic() + options.seconds, options.seed
    while True:
        for folder in package_folders(layout):
            found += property_tests(folder, seed) not in (0, 5)  # 5: it has none
        seed += 1
        if time.monotonic() >= end:
            break
    print(f"fuzz: {found} of them found something" if found else "fuzz: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
