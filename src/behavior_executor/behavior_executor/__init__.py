# SPDX-License-Identifier: Apache-2.0
"""Missions as behavior trees: what runs, what waits, how it ends.

This module exports the parts without ROS. The others live in modules of their own, so that nobody
pays for ROS who does not use it: the node in :mod:`behavior_executor.node`, the client side in
:mod:`behavior_executor.client`, the base class of managers in :mod:`behavior_executor.manager`.

A mission is a tree file (:mod:`~behavior_executor.catalogue`). One runs at a time
(:mod:`~behavior_executor.mission_queue`); :mod:`~behavior_executor.core` ticks its tree and ends it
for one clear reason; :mod:`~behavior_executor.tree_run` watches one tree.
"""

from behavior_executor.catalogue import MissionCatalogue, MissionEntry, MissionParameter
from behavior_executor.core import ExecutorCore, Listener, Settings
from behavior_executor.feedback import FeedbackGate, Progress, progress_of
from behavior_executor.mission_queue import MissionQueue
from behavior_executor.missions import (
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)
from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_executor.statistics import Distribution, Histogram, Metric, TickStatistics
from behavior_executor.tree_run import Activity, TreeRun

__all__ = [
    "Activity",
    "Code",
    "Distribution",
    "ExecutorCore",
    "FeedbackGate",
    "Histogram",
    "Kind",
    "Listener",
    "Metric",
    "Mission",
    "MissionCatalogue",
    "MissionEntry",
    "MissionError",
    "MissionParameter",
    "MissionQueue",
    "MissionRequest",
    "Policy",
    "Progress",
    "SceneSnapshot",
    "SeenObject",
    "Settings",
    "State",
    "TickStatistics",
    "TreeRun",
    "progress_of",
]
