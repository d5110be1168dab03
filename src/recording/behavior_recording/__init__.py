# SPDX-License-Identifier: Apache-2.0
"""Recordings of runs: one MCAP file with all that a robot's trees saw, decided and did.

* `behavior_recording.recording`: `Recording` reads a file, also one whose writer was killed, at any
  moment of it.
* `behavior_recording.tree_recording`: `TreeRecording` records a tree of this process, without ROS.
* `behavior_recording.torn_file`: `complete` completes a file whose writer was killed.

The layout of the files is described in docs/recording.md.
"""

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
