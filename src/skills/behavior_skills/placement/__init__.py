# SPDX-License-Identifier: Apache-2.0
"""Where and how to put an object down, by the place skill's specification.

Pure mathematics without ROS and without a planner: orientations that meet filters
(`orientations`), poses over, in and beside a container (`poses`), which of them to take
(`selection`), what to do in which order (`commands`), and whether it worked (`success`). The
specification itself, as YAML, is `specification`.
"""

from behavior_skills.placement.boxes import OrientedBox, containment, intersection_over_union
from behavior_skills.placement.commands import Command, CommandKind, place_commands
from behavior_skills.placement.orientations import (
    DirectionConstraint,
    NoOrientation,
    OrientationReport,
    axis_filter,
    contradiction,
    random_rotations,
    sample_orientations,
    satisfied,
)
from behavior_skills.placement.poses import (
    Placement,
    PlaceScene,
    post_place_pose,
    sample_placements,
)
from behavior_skills.placement.selection import Reach, select_placement
from behavior_skills.placement.specification import (
    PlaceSpecification,
    SpecificationError,
    read_specification,
)
from behavior_skills.placement.success import PlacedState, placed

__all__ = [
    "Command",
    "CommandKind",
    "DirectionConstraint",
    "NoOrientation",
    "OrientationReport",
    "OrientedBox",
    "PlaceScene",
    "PlaceSpecification",
    "PlacedState",
    "Placement",
    "Reach",
    "SpecificationError",
    "axis_filter",
    "containment",
    "contradiction",
    "intersection_over_union",
    "place_commands",
    "placed",
    "post_place_pose",
    "random_rotations",
    "read_specification",
    "sample_orientations",
    "sample_placements",
    "satisfied",
    "select_placement",
]
