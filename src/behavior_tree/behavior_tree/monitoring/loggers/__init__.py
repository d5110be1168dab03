# SPDX-License-Identifier: Apache-2.0
"""What a tree did, on the console, in files and as statistics. Nothing is paid without a logger."""

from behavior_tree.monitoring.loggers.base import StatusChangeLogger
from behavior_tree.monitoring.loggers.btlog import (
    BtLog,
    BtLogError,
    FileLogger,
    Transition,
    read_btlog,
)
from behavior_tree.monitoring.loggers.chrome_trace import MinitraceLogger
from behavior_tree.monitoring.loggers.console import StdCoutLogger
from behavior_tree.monitoring.loggers.observer import NodeStatistics, TreeObserver
from behavior_tree.monitoring.loggers.sqlite import SqliteLogger

__all__ = [
    "BtLog",
    "BtLogError",
    "FileLogger",
    "MinitraceLogger",
    "NodeStatistics",
    "SqliteLogger",
    "StatusChangeLogger",
    "StdCoutLogger",
    "Transition",
    "TreeObserver",
    "read_btlog",
]
