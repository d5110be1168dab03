# SPDX-License-Identifier: Apache-2.0
"""`behavior explain`: why a recorded run ended as it did, as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from behavior_recording.errors import RecordingError


class ExplainCommand:
    """Writes a page on a recorded run: what was asked, what happened, the first cause with its
    chain of reasons, timeline, tree, blackboard and pictures of the moment. It is one file that
    needs no internet.
    """

    help = "write a page on why a recorded run ended as it did"
    node = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        add = parser.add_argument
        add("file", type=Path, metavar="FILE", help="recording (.mcap), or log (.btlog)")
        add("--output", "-o", type=Path, metavar="PAGE.html", help="(beside the recording)")
        add("--run", type=int, metavar="N", dest="number", help="which run, from 1 (the last)")

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Do it; returns whether that worked, and a sentence."""
        from behavior_recording.explain.page import explain_page
        from behavior_recording.explain.postmortem import examine
        from behavior_recording.replay.history import open_history
        from behavior_recording.replay.story import chosen_run

        output = options.output or options.file.with_suffix(".html")
        try:
            history = open_history(options.file)
            try:
                found = examine(history, chosen_run(history, options.number))
                page = explain_page(found)
            finally:
                history.close()
        except RecordingError as error:
            return False, str(error)
        try:
            output.write_text(page, encoding="utf-8")
        except OSError as error:
            return False, f"{output} cannot be written: {error.strerror}"
        reason = found.cause.reason if found.cause is not None else ""
        why = f": {reason.rstrip('.')}" if reason else ""
        name = found.run.tree_id or "the run"
        ends = f". {history.damage}: it ends there" if history.damage else ""
        return True, f"{name} {found.verdict.word}{why}. The page is {output}{ends}"


COMMAND = ExplainCommand()
