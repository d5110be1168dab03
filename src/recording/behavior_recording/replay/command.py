# SPDX-License-Identifier: Apache-2.0
"""`behavior replay`: a run that is over, at any moment."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from behavior_recording.errors import RecordingError


class ReplayCommand:
    """Shows what an MCAP recording or a .btlog holds: on a terminal step by step, forwards and
    backwards; elsewhere as a list of all changes. Times count from the beginning of the recording.
    """

    help = "look at a recorded run: at any moment, beside another one, once more without a robot"
    node = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        add = parser.add_argument
        add("file", type=Path, metavar="FILE", help="recording (.mcap), or log (.btlog)")
        add("--run", type=int, metavar="N", dest="number", help="which run of it, from 1 (last)")
        add("--at", type=_seconds, metavar="S", help="tree and blackboard at this time [s]")
        add("--until", metavar="'NODE STATUS'", help="where a node comes to this: 'Pick FAILURE'")
        add("--changes", action="store_true", help="list all changes, on a terminal too")
        add("--json", action="store_true", help="machine-readable")
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("--compare", type=Path, metavar="FILE", help="where do two runs part?")
        modes.add_argument(
            "--rerun", action="store_true", help="run the tree once more on what was recorded"
        )
        modes.add_argument(
            "--with-tree", type=Path, metavar="XML", help="run this tree on what was recorded"
        )

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Do it; returns whether that worked, and a sentence."""
        from behavior_recording.replay.history import open_history
        from behavior_tree.errors import BehaviorTreeError

        try:
            history = open_history(options.file)
            try:
                done = _action(options)(history, options)
                return (False, f"{history.damage}: it ends there") if history.damage else done
            finally:
                history.close()
        except (RecordingError, BehaviorTreeError) as error:
            return False, str(error)


Action = Callable[[Any, argparse.Namespace], tuple[bool, str]]


def _action(options: argparse.Namespace) -> Action:
    if options.compare is not None:
        return _compare
    if options.rerun or options.with_tree is not None:
        return _rerun
    if options.at is not None or options.until is not None:
        return _moment
    plain = options.changes or options.json or not sys.stdin.isatty() or not sys.stdout.isatty()
    return _changes if plain else _play


def _compare(history: Any, options: argparse.Namespace) -> tuple[bool, str]:
    from behavior_recording.replay.comparing import compare
    from behavior_recording.replay.history import open_history
    from behavior_recording.replay.story import Story, chosen_run

    other = open_history(options.compare)
    try:
        first = Story.read(history, chosen_run(history, options.number))
        second = Story.read(other, chosen_run(other, None))
        comparison = compare(history, first, other, second)
    finally:
        other.close()
    if options.json:
        print(json.dumps(comparison.json(), indent=1, ensure_ascii=False))
    else:
        print("\n".join(comparison.lines()))
    return True, ""


def _rerun(history: Any, options: argparse.Namespace) -> tuple[bool, str]:
    from behavior_recording.replay.rerunning import rerun_run
    from behavior_recording.replay.story import chosen_run

    text, same = rerun_run(history, chosen_run(history, options.number), options.with_tree)
    print(text)
    return (True, "") if same or options.with_tree else (False, "it decided otherwise")


def _moment(history: Any, options: argparse.Namespace) -> tuple[bool, str]:
    from behavior_recording.replay.search import Wanted, find
    from behavior_recording.replay.text import moment_json, moment_lines

    time = None if options.at is None else history.start + round(options.at * 1e9)
    if options.until is not None:
        time = find(history, Wanted.read(options.until), after=time).time
    assert time is not None
    moment = history.moment(time)
    if moment is None:
        raise RecordingError(f"{history.path}: no tree was known yet at this time")
    if options.json:
        print(json.dumps(moment_json(history, moment), indent=1, ensure_ascii=False))
    else:
        print("\n".join(moment_lines(history, moment)))
    return True, ""


def _changes(history: Any, options: argparse.Namespace) -> tuple[bool, str]:
    from behavior_recording.replay.story import chosen_run
    from behavior_recording.replay.text import record_json, record_lines
    from behavior_recording.tree_document import TreeDocument

    run = None if options.number is None else chosen_run(history, options.number)
    start, end = (None, None) if run is None else (run.begin, run.end)
    tree = None
    for record in history.records(start=start, end=end):
        if record.kind.full:
            tree = TreeDocument.read(record.xml)
        if tree is None:
            continue
        if options.json:
            for each in record_json(history, tree, record):
                print(json.dumps(each, ensure_ascii=False))
        else:
            for line in record_lines(history, tree, record):
                print(line)
    return True, ""


def _play(history: Any, options: argparse.Namespace) -> tuple[bool, str]:
    from rich.console import Console

    from behavior_recording.replay.player import Player
    from behavior_recording.replay.story import Story, chosen_run

    run = chosen_run(history, options.number)
    player = Player(history, run, Story.read(history, run))

    def ask() -> str | None:
        try:
            return input("> ")
        except (EOFError, KeyboardInterrupt):
            return None

    player.play(Console(), ask)
    return True, ""


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not '{text}'")
    return value


COMMAND = ReplayCommand()
