# SPDX-License-Identifier: Apache-2.0
"""The verb `behavior console`: a recorded run in the page, or where the page of a stack is."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path
from typing import Any


class ConsoleCommand:
    """Shows a recorded run in the console's page, at any moment of it: tree, blackboard, scene and
    timeline. It needs neither a stack nor a robot. Ctrl-C ends it.
    """

    help = "look at a recorded run in the browser"
    node = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what it takes."""
        add = parser.add_argument
        add("--record", type=Path, metavar="FILE.mcap", required=True, help="the recording")
        add("--port", type=int, default=8090, help="of the page; the next free one (%(default)s)")

    def run(self, options: argparse.Namespace, stack: Any) -> tuple[bool, str]:
        """Do it; returns whether that worked, and a sentence."""
        from behavior_console.records.serving import serve_record
        from behavior_console.source import SourceError

        try:
            server = serve_record(options.record, port=options.port)
        except (SourceError, OSError) as error:
            return False, str(error)
        address = f"http://localhost:{server.port}/?layout=replay"
        print(f"{options.record} is shown at {address}; Ctrl-C ends it.", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.close()
        return True, ""


COMMAND = ConsoleCommand()
