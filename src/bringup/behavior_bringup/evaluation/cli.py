# SPDX-License-Identifier: Apache-2.0
"""`behavior evaluate ...`: what it takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from behavior_bringup.arguments import argument_types, completion
from behavior_bringup.arguments.options import (
    add_cameras,
    add_namespace,
    add_parameters,
    add_seed,
    add_speed,
    add_world,
)
from behavior_bringup.evaluation.defaults import CORES, FAST, PER_STACK
from behavior_bringup.evaluation.shard import Shard

_EVALUATE = """\
Run a mission from many seeded start states and print how often it succeeds.

Every episode resets the world; with --disturb something happens meanwhile that makes the job
harder: things are moved or taken away, a door is pushed shut. Each episode is written down as
it ends; after Ctrl-C, --resume goes on. Some jobs take options of their own, and count the
parts of their episodes, such as `behavior evaluate stack_bins --bins 100`.
'behavior evaluate report', 'merge' and 'compare' work on the files.
"""
_MERGE = """\
Put the files of several shards of one evaluation into one file.

Each episode counts once. Files of different evaluations or versions are refused.
"""
_REPORT = "Write an evaluation as one HTML file: success, times, failures by reason, recordings."
_COMPARE = """\
Compare two evaluations seed by seed, such as of two commits.

Outcomes by McNemar's test, times by Wilcoxon's: how probable is it that chance alone makes such a
difference?
"""

COMMANDS = ("merge", "report", "compare")
"""Words behind `evaluate` that are no job."""


def joined(arguments: Sequence[str]) -> list[str]:
    """A command line on which `evaluate merge` and the like are one word, as they are one verb."""
    words = list(arguments)
    if words[:1] == ["evaluate"] and words[1:2] and words[1] in COMMANDS:
        words[:2] = [" ".join(words[:2])]
    return words


def shard(text: str) -> Shard:
    """I/N, with I from 0 to N - 1."""
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count) <= 10**6):
        raise argparse.ArgumentTypeError(
            f"must look like I/N with I from 0 to N - 1, such as 0/4, not '{text}'"
        )
    return Shard(int(index), int(count))


def cluster(text: str) -> str:
    """Address of a Ray cluster; `ray` alone is one on this machine."""
    if text != "ray" and not text.startswith("ray://"):
        raise argparse.ArgumentTypeError(f"must be ray or ray://HOST:PORT, not '{text}'")
    return text


def add_evaluate(subparsers: Any) -> None:
    """Add the verbs to the command's subparsers."""
    _add_run(subparsers)
    _add_merge(subparsers)
    _add_report(subparsers)
    _add_compare(subparsers)


def _add_run(subparsers: Any) -> None:
    evaluate = subparsers.add_parser(
        "evaluate",
        help="measure how often a mission succeeds",
        description=_EVALUATE,
    )
    name = evaluate.add_argument("mission", metavar="NAME", help="as for 'behavior demo'")
    completion.offer(name, completion.job_names)
    add_world(evaluate, "as for 'behavior demo'")
    add_namespace(evaluate, "as for 'behavior demo'")
    evaluate.add_argument(
        "--episodes", type=argument_types.count, default=20, metavar="N", help="how many (20)"
    )
    add_seed(evaluate)
    add_cameras(evaluate)
    add_speed(evaluate, default=FAST)
    evaluate.add_argument("--disturb", action="store_true", help="disturb every episode")
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    evaluate.add_argument(
        "--recordings",
        choices=("failed", "all", "none"),
        default="failed",
        help="of which episodes recordings are kept (failed)",
    )
    evaluate.add_argument(
        "--resume", action="store_true", help="go on with the episodes of an interrupted evaluation"
    )
    evaluate.add_argument(
        "--variation", type=Path, metavar="FILE", help="what differs from episode to episode"
    )
    evaluate.add_argument(
        "--search",
        default="",
        metavar="NAME",
        help="look for the value of this factor of FILE at which the job breaks, with so many"
        " episodes for each value",
    )
    _add_places(evaluate)
    add_parameters(evaluate)
    evaluate.set_defaults(run=_later("verbs", "evaluate"), extra=())


def _add_places(evaluate: argparse.ArgumentParser) -> None:
    """Where, and in what, episodes run."""
    evaluate.add_argument(
        "--jobs",
        type=argument_types.count,
        metavar="K",
        help="episodes at once (1; on a cluster as many as it has room for)",
    )
    evaluate.add_argument(
        "--on",
        type=cluster,
        metavar="CLUSTER",
        help="run them on a Ray cluster: ray://HOST:PORT, or ray for that of RAY_ADDRESS, else one"
        " on this machine",
    )
    evaluate.add_argument(
        "--cores",
        type=argument_types.positive,
        default=CORES,
        metavar="N",
        help=f"that an episode needs, on a cluster ({CORES:g})",
    )
    evaluate.add_argument(
        "--shard",
        type=shard,
        default=Shard(),
        metavar="I/N",
        help="run only the I-th of N equal parts, I from 0; goes on with its own file",
    )
    evaluate.add_argument(
        "--per-stack",
        type=argument_types.count,
        default=PER_STACK,
        metavar="N",
        help=f"episodes after which a fresh stack comes up ({PER_STACK})",
    )
    evaluate.add_argument(
        "--memory",
        type=argument_types.positive,
        metavar="MB",
        help="end an episode whose processes take more",
    )
    evaluate.add_argument(
        "--runner",
        default="",
        metavar="MODULE:FUNCTION",
        help="runs the episodes in place of a stack; see docs/evaluation.md",
    )


def _add_merge(subparsers: Any) -> None:
    merge = subparsers.add_parser(
        "evaluate merge",
        help="put the files of several shards together",
        description=_MERGE,
    )
    merge.add_argument("files", nargs="+", type=Path, metavar="FILE", help="of the shards")
    merge.add_argument("--output", type=Path, required=True, metavar="FILE", help="to write")
    merge.set_defaults(run=_later("file_verbs", "merge_files"))


def _add_report(subparsers: Any) -> None:
    report = subparsers.add_parser(
        "evaluate report", help="an evaluation as a page", description=_REPORT
    )
    report.add_argument("file", type=Path, metavar="FILE", help="of an evaluation")
    report.add_argument(
        "--output", type=Path, metavar="PAGE", help="to write (FILE with the suffix .html)"
    )
    report.set_defaults(run=_later("file_verbs", "report"))


def _add_compare(subparsers: Any) -> None:
    compare = subparsers.add_parser(
        "evaluate compare",
        help="two evaluations, seed by seed",
        description=_COMPARE,
    )
    compare.add_argument("first", type=Path, metavar="A", help="file of an evaluation")
    compare.add_argument("second", type=Path, metavar="B", help="of another one, same seeds")
    compare.add_argument("--json", action="store_true", help="for programs")
    compare.set_defaults(run=_later("file_verbs", "compare_files"))


def _later(module: str, verb: str) -> Callable[[argparse.Namespace], int]:
    """A verb whose module is imported when it is run: numpy and scipy take long to load."""

    def run(options: argparse.Namespace) -> int:
        function = getattr(import_module(f"behavior_bringup.evaluation.{module}"), verb)
        return int(function(options))

    return run
