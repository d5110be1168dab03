# SPDX-License-Identifier: Apache-2.0
"""Where and how to put an object down, by the place skill's specification.

Pure mathematics without ROS and without a planner: poses over, in and beside a container
(`poses`), which of them to take (`selection`), and whether it worked (`success`). The specification
itself, as YAML, is `specification`.
"""

from behavior_skills.placement.boxes import (
    OrientedBox,
    containment,
    intersection_over_union,
    intersection_volume,
)
from behavior_skills.placement.poses import (
    Placement,
    PlaceScene,
    post_place_pose,
    sample_placements,
)
from behavior_skills.placement.selection import Reach, select_placement
from behavior_skills.placement.specification import PlaceSpecification
from behavior_skills.placement.success import PlacedState, placed

__all__ = [
    "OrientedBox",
    "PlaceScene",
    "PlaceSpecification",
    "PlacedState",
    "Placement",
    "Reach",
    "containment",
    "intersection_over_union",
    "intersection_volume",
    "placed",
    "post_place_pose",
    "sample_placements",
    "select_placement",
]
