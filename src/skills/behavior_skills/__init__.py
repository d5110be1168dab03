# SPDX-License-Identifier: Apache-2.0
"""Skills of an arm with a gripper, and the action servers around them.

Everything exported here is free of ROS: skills are plain functions over the protocols of
`behavior_skills.interfaces`. `behavior_skills.node` is the node around them.
"""

from behavior_skills.grasping.candidates import Grasp, grasps_for, ranked_grasps
from behavior_skills.gripper_skill import GripperMode, GripperOutcome, GripperRequest, GripperSkill
from behavior_skills.interfaces import (
    Cancelled,
    Failure,
    Hand,
    HeldObject,
    JointState,
    ObjectState,
    ObjectView,
    SkillFailure,
)
from behavior_skills.move_arm_skill import ArmMode, MoveArmRequest, MoveArmSkill
from behavior_skills.pick_skill import PickParameters, PickRequest, PickSkill, Workspace
from behavior_skills.place_skill import PlaceParameters, PlaceRequest, PlaceSkill
from behavior_skills.planning import PlanningWorld, Speeds
from behavior_skills.screw_motion import ScrewMotion
from behavior_skills.screw_skill import ScrewParameters, ScrewRequest, ScrewSkill

__all__ = [
    "ArmMode",
    "Cancelled",
    "Failure",
    "Grasp",
    "GripperMode",
    "GripperOutcome",
    "GripperRequest",
    "GripperSkill",
    "Hand",
    "HeldObject",
    "JointState",
    "MoveArmRequest",
    "MoveArmSkill",
    "ObjectState",
    "ObjectView",
    "PickParameters",
    "PickRequest",
    "PickSkill",
    "PlaceParameters",
    "PlaceRequest",
    "PlaceSkill",
    "PlanningWorld",
    "ScrewMotion",
    "ScrewParameters",
    "ScrewRequest",
    "ScrewSkill",
    "SkillFailure",
    "Speeds",
    "Workspace",
    "grasps_for",
    "ranked_grasps",
]
