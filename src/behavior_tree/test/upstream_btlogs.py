# SPDX-License-Identifier: Apache-2.0
"""Writes a ``.btlog`` of both engines for each of `SHAPES`: ``upstream_btlogs.py FOLDER``.

A program of its own, because an exception that leaves a tick, or the end of Python, may end the
process of the binding.
"""

import os
import sys
import time
from pathlib import Path

from groot2_server import make_tree
from groot2_trees import SHAPES

STEPS = ("tick_exactly_once", "tick_exactly_once", "halt_tree", "tick_once", "tick_once")


def run_steps(tree) -> None:
    """Do them all, also after one that raises."""
    for step in STEPS:
        try:
            getattr(tree, step)()
        except RuntimeError as error:
            print(step, error)


def main() -> None:
    """Ours first: upstream's thread writes when it likes, so its file is awaited at that size."""
    import behaviortreepy

    import behavior_tree

    folder = Path(sys.argv[1])
    for shape in SHAPES:
        ours, theirs = folder / f"{shape} ours.btlog", folder / f"{shape}.btlog"
        tree = make_tree(behavior_tree, shape)
        with behavior_tree.FileLogger(tree, ours):
            run_steps(tree)
        tree = make_tree(behaviortreepy, shape)
        logger = behaviortreepy.FileLogger(tree, str(theirs))
        run_steps(tree)
        deadline = time.monotonic() + 20.0
        while theirs.stat().st_size < ours.stat().st_size and time.monotonic() < deadline:
            time.sleep(0.002)
        del logger
    os._exit(0)


if __name__ == "__main__":
    main()
