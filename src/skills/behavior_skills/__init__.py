# SPDX-License-Identifier: Apache-2.0
"""Skills of an arm with a gripper, and the action servers around them.

Everything exported here is free of ROS: skills are plain functions over the protocols of
`behavior_skills.interfaces`. `behavior_skills.node.skills_node` is the node around them.
"""

from behavior_motion.object_state import ObjectState
from behavior_skills.arm.context import Skill, SkillContext, Workspace
from behavior_skills.arm.gripper import GripperMode, GripperOutcome, GripperRequest, GripperSkill
from behavior_skills.arm.move_arm import ArmMode, MoveArmRequest, MoveArmSkill
from behavior_skills.arm.pick import PickParameters, PickRequest, PickSkill
from behavior_skills.arm.place import PlaceParameters, PlaceRequest, PlaceSkill
from behavior_skills.arm.planning import PlanningWorld, Speeds
from behavior_skills.arm.screw import ScrewParameters, ScrewRequest, ScrewSkill
from behavior_skills.arm.screw_motion import ScrewMotion
from behavior_skills.grasping.candidates import Grasp, grasps_for, ranked_grasps
from behavior_skills.interfaces import (
    FailureCode,
    Hand,
    HeldObject,
    JointState,
    ObjectView,
    SkillFailure,
)
from behavior_tree.cause import Cancelled

__all__ = [
    "ArmMode",
    "Cancelled",
    "FailureCode",
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
    "Skill",
    "SkillContext",
    "SkillFailure",
    "Speeds",
    "Workspace",
    "grasps_for",
    "ranked_grasps",
]
