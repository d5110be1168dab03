# SPDX-License-Identifier: Apache-2.0
"""Random decider networks, and whatever may happen to a tree: does what must hold, hold?

    python benchmarks/fuzz_decider_networks.py --networks 100000 --seed 1
    python benchmarks/fuzz_decider_networks.py --seconds 60 --kind lives

Kinds: ``decisions`` compares networks with a model of the sweep, in both modes; ``lives`` ticks,
halts, edits, saves, restores and breaks trees of all decider nodes and stock ones, and wants as
many enters as exits, one path, and no lock without its holder; ``restarts`` wants a tree that is
saved and restored between all steps to go on as one that is not. Exit code 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src/behavior_tree/test"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src/behavior_tree/test/decider"))

from random_networks import compare_decisions, live, lives_on

KINDS: dict[str, tuple[Callable[[int], object], float]] = {
    "decisions": (compare_decisions, 0.48),
    "lives": (live, 0.5),
    "restarts": (lives_on, 0.02),
}
"""What is done with a seed, and which share of the networks is of this kind."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=1_000_000_000, help="how many")
    parser.add_argument("--seconds", type=float, default=1e9, help="for how long at most [s]")
    parser.add_argument("--seed", type=int, default=0, help="network i has seed * 1000003 + i")
    parser.add_argument("--kind", choices=KINDS, help="default: all")
    parser.add_argument("--only", type=int, help="the network of this seed, of the kind")
    arguments = parser.parse_args()
    kinds = {arguments.kind: (KINDS[arguments.kind][0], 1.0)} if arguments.kind else KINDS
    if arguments.only is not None:
        for run, _ in kinds.values():
            run(arguments.only)
        return 0
    start, found, done = time.monotonic(), 0, 0
    first = arguments.seed * 1_000_003
    while done < arguments.networks and time.monotonic() - start < arguments.seconds:
        for kind, (run, share) in kinds.items():
            for _ in range(min(round(100 * share), arguments.networks - done)):
                done += 1
                try:
                    run(first + done)
                except Exception as error:
                    found += 1
                    print(f"{kind} {first + done}: {type(error).__name__}: {error}", flush=True)
    seconds = time.monotonic() - start
    print(f"{done} networks in {seconds:.0f} s, {found} of them do not hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
