# SPDX-License-Identifier: Apache-2.0
"""Random trees on this engine and on BehaviorTree.CPP 4.8.2: how many differ.

    python benchmarks/tree_conformance.py --trees 20000 --seed 1 [--transitions]
    python benchmarks/tree_conformance.py --trees 20000 --seed 1 --kind entries

Kinds besides trees: ``entries`` is about the rules of types and conversions, ``scripts`` about the
grammar and the operators, right and wrong. Exit code 0 if none differs. A case is reported by its
own seed; ``--only SEED`` prints it.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src/behavior_tree/test"))

from conformance_entries import EntryGenerator, ScriptGenerator
from conformance_kit import Generator, difference, ours, run, silence, upstream

COLLECTED = 100
"""Trees after which what is still there, modules and caches, is left out of the collections that
end each run: they would take longer and longer."""
KINDS = {"trees": Generator, "entries": EntryGenerator, "scripts": ScriptGenerator}


def show(kind: str, seed: int) -> None:
    """Print a case and both traces."""
    case = KINDS[kind](seed).case()
    print(case.xml.replace("><", ">\n<"), "\n", case.results, "\n", case.steps)
    for module in (ours, upstream):
        with silence():
            trace = run(case, module, transitions=True)
        print(
            f"--- "
            f"{module.__name__}\n{trace.events}\n{trace.blackboards}\n{trace.transitions}\n{trace.error}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=KINDS, default="trees", help="what the cases are about")
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the run; tree i has seed * 1000003 + i"
    )
    parser.add_argument(
        "--transitions", action="store_true", help="compare all status transitions too (slower)"
    )
    parser.add_argument("--show", type=int, default=10, help="differences to print")
    parser.add_argument("--only", type=int, help="print the case of this seed")
    arguments = parser.parse_args()
    if arguments.only is not None:
        show(arguments.kind, arguments.only)
        return 0
    start, found = time.monotonic(), 0
    for index in range(arguments.trees):
        if index % COLLECTED == 0:
            gc.freeze()
        seed = arguments.seed * 1000003 + index
        what = difference(KINDS[arguments.kind](seed).case(), transitions=arguments.transitions)
        if what is not None:
            found += 1
            if found <= arguments.show:
                print(f"seed {seed}: {what}", flush=True)
    seconds = time.monotonic() - start
    print(f"{arguments.trees} trees, {found} differ, {seconds:.1f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
