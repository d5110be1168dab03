# SPDX-License-Identifier: Apache-2.0
"""What the verbs about the files of evaluations do."""

from __future__ import annotations

import argparse
from pathlib import Path

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.comparison import compare, lines
from behavior_bringup.evaluation.figures import sureness
from behavior_bringup.evaluation.merge import merge
from behavior_bringup.evaluation.report_page import page
from behavior_bringup.evaluation.store import read
from behavior_bringup.terminal import print_json, say


def merge_files(options: argparse.Namespace) -> int:
    """Put the files of several shards of one evaluation into one file."""
    merged = merge(options.files, options.output)
    count = len(merged.records)
    say(f"{count} episodes of {len(options.files)} files are in {options.output}")
    if merged.twice:
        say(f"{merged.twice} were in several files and count once")
    if merged.missing:
        shown = ", ".join(str(seed) for seed in merged.missing[:10])
        more = f" and {len(merged.missing) - 10} more" if len(merged.missing) > 10 else ""
        say(f"{len(merged.missing)} planned episodes are missing: seeds {shown}{more}")
    say(sureness(merged.records))
    return 0


def report(options: argparse.Namespace) -> int:
    """Write an evaluation as one HTML file: success, times, failures by reason, recordings."""
    stored = read(options.file)
    output: Path = options.output or options.file.with_suffix(".html")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page(stored, output.parent), encoding="utf-8")
    except OSError as error:
        raise BringupError(f"{output} cannot be written: {error.strerror}") from error
    say(f"{len(stored.records)} episodes are shown in {output}")
    return 0


def compare_files(options: argparse.Namespace) -> int:
    """Compare two evaluations seed by seed, such as of two commits."""
    comparison = compare(read(options.first), read(options.second))
    if options.json:
        print_json(comparison.document())
    else:
        for line in lines(comparison):
            say(line)
    return 0
