# SPDX-License-Identifier: Apache-2.0
"""Kinds of objects that are not detected but computed from others; see `base`."""

from behavior_scene.derived.base import (
    Derived,
    DerivedObject,
    NotDerivableError,
    View,
)
from behavior_scene.derived.composites import (
    CompositeApproach,
    CompositeHybrid,
    CustomFrame,
    GraspFrame,
)
from behavior_scene.derived.containers import ContainerInterior, StackSlot
from behavior_scene.derived.door import DoorFrame, DoorPanel
from behavior_scene.derived.table import ApproachTable
from behavior_scene.derived.zone import Zone

__all__ = [
    "ApproachTable",
    "CompositeApproach",
    "CompositeHybrid",
    "ContainerInterior",
    "CustomFrame",
    "Derived",
    "DerivedObject",
    "DoorFrame",
    "DoorPanel",
    "GraspFrame",
    "NotDerivableError",
    "StackSlot",
    "View",
    "Zone",
]
