# SPDX-License-Identifier: Apache-2.0
"""Simulated worlds: physics by MuJoCo, controllers, detections, recordings, and their node.

Everything but ``node``, ``messages`` and ``controller_action_server`` is free of ROS.
"""

from behavior_sim.config import WorldConfig, WorldError, load_world, parse_world
from behavior_sim.detection import Detection, DetectionFrame, Detector, DetectorConfig
from behavior_sim.goals import Ending, Goal, InvalidGoal, Outcome
from behavior_sim.gripper_controller import GripperController
from behavior_sim.joint_trajectory_controller import (
    JointTrajectoryController,
    Tolerances,
    TrajectoryPoints,
)
from behavior_sim.layouts import UnknownLayout
from behavior_sim.recording import Recorder, Recording, RecordingError
from behavior_sim.resources import find_world
from behavior_sim.simulation import Simulation
from behavior_sim.world import InvalidDisturbance, UnknownObject, World

__all__ = [
    "Detection",
    "DetectionFrame",
    "Detector",
    "DetectorConfig",
    "Ending",
    "Goal",
    "GripperController",
    "InvalidDisturbance",
    "InvalidGoal",
    "JointTrajectoryController",
    "Outcome",
    "Recorder",
    "Recording",
    "RecordingError",
    "Simulation",
    "Tolerances",
    "TrajectoryPoints",
    "UnknownLayout",
    "UnknownObject",
    "World",
    "WorldConfig",
    "WorldError",
    "find_world",
    "load_world",
    "parse_world",
]
