# SPDX-License-Identifier: Apache-2.0
"""Recordings of runs: one MCAP file with all that a robot's trees saw, decided and did.

* `behavior_recording.recording`: `Recording` reads a file, also one whose writer was killed, at any
  moment of it.
* `behavior_recording.tree_recording`: `TreeRecording` records a tree of this process, without ROS.
* `behavior_recording.torn_file`: `complete` completes a file whose writer was killed.

The layout of the files is described in docs/recording.md.

Names are imported when they are first used: the command line offers its verbs without loading them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from behavior_recording.errors import RecordingError
    from behavior_recording.moments import RecordedEntry, RecordedRecord, StatusChange, TreeMoment
    from behavior_recording.recording import (
        Gap,
        RecordedCommand,
        RecordedMessage,
        RecordedRun,
        Recording,
        Topic,
    )
    from behavior_recording.torn_file import complete
    from behavior_recording.tree_document import RecordedNode, TreeDocument
    from behavior_recording.tree_recording import TreeRecording

__all__ = [
    "Gap",
    "RecordedCommand",
    "RecordedEntry",
    "RecordedMessage",
    "RecordedNode",
    "RecordedRecord",
    "RecordedRun",
    "Recording",
    "RecordingError",
    "StatusChange",
    "Topic",
    "TreeDocument",
    "TreeMoment",
    "TreeRecording",
    "complete",
]

_HOMES = {
    "errors": ("RecordingError",),
    "moments": ("RecordedEntry", "RecordedRecord", "StatusChange", "TreeMoment"),
    "recording": (
        "Gap",
        "RecordedCommand",
        "RecordedMessage",
        "RecordedRun",
        "Recording",
        "Topic",
    ),
    "torn_file": ("complete",),
    "tree_document": ("RecordedNode", "TreeDocument"),
    "tree_recording": ("TreeRecording",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name of the package on its first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the package."""
    return sorted({*globals(), *__all__})
