# SPDX-License-Identifier: Apache-2.0
"""Recorded runs as the source of what pages show."""

from behavior_console.records.record_source import RecordSource
from behavior_console.records.shelf import RecordShelf

__all__ = ["RecordShelf", "RecordSource"]
