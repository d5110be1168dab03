# SPDX-License-Identifier: Apache-2.0
"""The steps of pick and place one by one, for trees that compose their own.

/sample_grasp and /sample_place_pose tell ways, /select_reachable chooses one of them,
/check_grasped and /check_placed tell whether it worked; the arm is moved by /move_arm and /gripper.
"""

from __future__ import annotations

import numpy as np
from behavior_msgs.action import SelectReachable
from behavior_msgs.srv import CheckGrasped, CheckPlaced, SampleGrasp, SamplePlacePose

from behavior_ros import matrix_to_pose
from behavior_skills.arm.grasp_check import MOST_PATIENCE, GraspCheck, GraspCheckRequest
from behavior_skills.arm.pick import PickSkill
from behavior_skills.arm.select_reachable import SelectReachableRequest, SelectReachableSkill
from behavior_skills.arm.specified_place import SpecifiedPlaceSkill
from behavior_skills.goal_checks import invalid, planning_budget
from behavior_skills.interfaces import SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.skill_server import Part, SkillGoal, SkillServer
from behavior_skills.placement import post_place_pose

PLACED_PATIENCE = 3.0
"""[s]"""


def sample_grasp(goal: SkillGoal) -> SampleGrasp.Response:
    """Ways to grasp an object, the best first."""
    skill = PickSkill(goal.context, conversion.sample_grasp_request(goal.message))
    with planning_budget():
        ways = skill.sample()
    return SampleGrasp.Response(
        message=f"{len(ways)} ways to grasp it.",
        pre=[goal.stamped(pre) for pre, _, _ in ways],
        target=[goal.stamped(target) for _, target, _ in ways],
        grasp=[matrix_to_pose(grasp.object_T_tool) for _, _, grasp in ways],
        score=[grasp.score for _, _, grasp in ways],
    )


def sample_place_pose(goal: SkillGoal) -> SamplePlacePose.Response:
    """Places that nothing stands in."""
    skill = _place_skill(goal)
    with planning_budget():
        places = skill.sample()
    vector = np.array(skill.specification.post_place_vector or (), dtype=np.float64)
    posts = [post_place_pose(p.place, vector) for p in places] if len(vector) else []
    return SamplePlacePose.Response(
        message=f"{len(places)} places that nothing stands in.",
        pre=[goal.stamped(place.pre) for place in places],
        target=[goal.stamped(place.place) for place in places],
        post=[goal.stamped(post) for post in posts],
        share=float(skill.report.share if skill.report else 1.0),
    )


def check_grasped(goal: SkillGoal) -> CheckGrasped.Response:
    """Whether an object is in the gripper."""
    wanted = goal.message
    check = GraspCheck(
        goal.context,
        GraspCheckRequest(
            wanted.object_name, wanted.width, wanted.height, wanted.rise, wanted.patience
        ),
    )
    response = CheckGrasped.Response(message=f"'{wanted.object_name}' is in the gripper.")
    try:
        check.run()
    except SkillFailure as failure:
        conversion.fail(response, failure.failure, str(failure))
    response.gap, response.seen_height = float(check.gap), float(check.height)
    return response


def check_placed(goal: SkillGoal) -> CheckPlaced.Response:
    """Whether an object is placed, by a specification's success mode."""
    skill = _place_skill(goal)
    patience = goal.message.patience or PLACED_PATIENCE
    if not 0.0 < patience <= MOST_PATIENCE:
        raise invalid(f"patience is {goal.message.patience:g} s, give 0 to {MOST_PATIENCE:g}")
    mode = skill.specification.success_mode
    height = _tool_height(goal) if mode == "height" else 0.0
    pose = skill.check_placed(height, patience)
    return CheckPlaced.Response(
        message=f"It is placed by success_mode {mode}.", placed=goal.stamped(pose)
    )


def _tool_height(goal: SkillGoal) -> float:
    """Height of the tool when it let go, in the base frame [m]."""
    poses = goal.message.tool
    if len(poses) != 1:
        raise invalid(
            f"success_mode height needs the one pose of the tool when it let go, tool has "
            f"{len(poses)}"
        )
    return float(conversion.stamped_pose(poses[0], goal.frames)[2, 3])


def _place_skill(goal: SkillGoal) -> SpecifiedPlaceSkill:
    specification = conversion.place_specification(goal.message.parameters)
    if specification is None:
        raise invalid("parameters must be a place specification: objects: [thing, container], ...")
    return SpecifiedPlaceSkill(goal.context, specification, goal.base_T_world(), goal.warn)


def select_reachable(goal: SkillGoal) -> SelectReachable.Result:
    """Choose the first, or best, of several ways that can be reached."""
    wanted, result = goal.message, SelectReachable.Result(index=-1)
    request = SelectReachableRequest(
        target=tuple(conversion.stamped_pose(pose, goal.frames) for pose in wanted.target),
        pre=tuple(conversion.stamped_pose(pose, goal.frames) for pose in wanted.pre),
        plan=wanted.mode == SelectReachable.Goal.PLAN,
        in_order=wanted.in_order,
        may_touch=tuple(wanted.may_touch),
    )
    try:
        result.index = SelectReachableSkill(goal.context, request).run()
    except SkillFailure as failure:
        return conversion.fail(result, failure.failure, str(failure))
    result.message = f"Way {result.index} can be reached."
    result.chosen = [wanted.target[result.index]]
    if wanted.pre:
        result.chosen_pre = [wanted.pre[result.index]]
    return result


SAMPLE_GRASP = SkillServer(interface=SampleGrasp, work=sample_grasp)
# What is held is settled there: not while another goal takes it, or lets go of it.
SAMPLE_PLACE_POSE = SkillServer(interface=SamplePlacePose, work=sample_place_pose, needs=Part.ARM)
CHECK_GRASPED = SkillServer(interface=CheckGrasped, work=check_grasped)
CHECK_PLACED = SkillServer(interface=CheckPlaced, work=check_placed)
SELECT_REACHABLE = SkillServer(
    interface=SelectReachable,
    work=select_reachable,
    needs=Part.ARM,
    occupies=frozenset({Part.ARM}),
)
