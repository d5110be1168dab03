# SPDX-License-Identifier: Apache-2.0
"""The arm's and the gripper's skills: goals become requests, ends become results."""

from __future__ import annotations

from behavior_msgs.action import Look, MoveArm, MoveGripper, Pick, Place, Screw

from behavior_ros import matrix_to_pose
from behavior_skills.arm.gripper import GripperSkill
from behavior_skills.arm.look import LookSkill
from behavior_skills.arm.move_arm import MoveArmSkill
from behavior_skills.arm.pick import PickSkill
from behavior_skills.arm.place import PlaceParameters, PlaceSkill
from behavior_skills.arm.screw import ScrewSkill
from behavior_skills.arm.specified_place import SpecifiedPlaceSkill
from behavior_skills.arm.suction import SuctionSkill
from behavior_skills.interfaces import SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.skill_server import Part, SkillGoal, SkillServer
from behavior_skills.placement import PlaceSpecification


def pick(goal: SkillGoal) -> Pick.Result:
    """Grasp an object and lift it."""
    request = conversion.pick_request(goal.message)
    for warning in request.specification.warnings() if request.specification else ():
        goal.warn(f"pick: {warning}")
    grasp = matrix_to_pose(PickSkill(goal.context, request).run())
    return Pick.Result(message=f"Holding '{request.name}'.", grasp=grasp)


def place(goal: SkillGoal) -> Place.Result:
    """Put the held object down, at a pose or by a specification."""
    specification = conversion.place_specification(goal.message.parameters)
    if specification is not None:
        return _place_by(specification, goal)
    request = conversion.place_request(goal.message, goal.frames)
    parameters = conversion.place_parameters(goal.message.parameters, PlaceParameters())
    pose = PlaceSkill(goal.context, request, parameters=parameters).run()
    return Place.Result(message="It rests at the target.", placed=goal.stamped(pose))


def _place_by(specification: PlaceSpecification, goal: SkillGoal) -> Place.Result:
    skill = SpecifiedPlaceSkill(goal.context, specification, goal.base_T_world(), goal.warn)
    pose = skill.run()
    share = skill.report.share if skill.report else 1.0
    return Place.Result(
        message=f"It is placed by success_mode {specification.success_mode}; the filters let "
        f"{100 * share:.2g} % of all orientations pass.",
        placed=goal.stamped(pose),
    )


def move_arm(goal: SkillGoal) -> MoveArm.Result:
    """Move the arm to joints, poses, along a path or a recording."""
    robot = goal.context.world.planner.robot
    request = conversion.move_arm_request(
        goal.message, goal.frames, robot.joint_names, goal.recording_directory
    )
    skill = MoveArmSkill(goal.context, request)
    result = MoveArm.Result(message="The arm is there.")
    try:
        skill.run()
    except SkillFailure as failure:
        conversion.fail(result, failure.failure, str(failure))
    result.fraction = skill.fraction
    return result


def screw(goal: SkillGoal) -> Screw.Result:
    """Turn something about an axis, and move along it."""
    request = conversion.screw_request(goal.message, goal.frames)
    skill = ScrewSkill(goal.context, request)
    result = Screw.Result()
    try:
        skill.run()
        result.message = "The way is free." if request.preview else "The tool is there."
    except SkillFailure as failure:
        conversion.fail(result, failure.failure, str(failure))
    result.fraction = skill.fraction
    if skill.motion is not None:
        result.duration = skill.motion.duration
        result.path = [goal.stamped(pose) for pose in skill.motion.waypoints()]
    if request.preview and skill.trajectory is not None:
        goal.show(skill.trajectory)
    return result


def look(goal: SkillGoal) -> Look.Result:
    """Turn a frame on the arm so that it looks at something."""
    skill = LookSkill(goal.context, conversion.look_request(goal.message, goal.frames))
    skill.run()
    return Look.Result(message="It looks at the target.", error=skill.error)


def gripper(goal: SkillGoal) -> MoveGripper.Result:
    """Open, close or set the fingers, or switch the suction cup."""
    request, cup = conversion.gripper_request(goal.message), goal.context.cup
    if cup is not None:
        outcome = SuctionSkill(goal.context, request, cup).run()
        return MoveGripper.Result(message=goal.context.hand.text, holding=outcome.holding)
    outcome = GripperSkill(goal.context, request).run()
    return MoveGripper.Result(
        message=f"The gap is {1e3 * outcome.width:.1f} mm.",
        width=outcome.width,
        holding=outcome.holding,
    )


_ARM = frozenset({Part.ARM})
_GRIPPER = frozenset({Part.GRIPPER})
PICK = SkillServer(interface=Pick, work=pick, needs=Part.ARM, occupies=_ARM | _GRIPPER)
PLACE = SkillServer(interface=Place, work=place, needs=Part.ARM, occupies=_ARM | _GRIPPER)
MOVE_ARM = SkillServer(interface=MoveArm, work=move_arm, needs=Part.ARM, occupies=_ARM)
SCREW = SkillServer(interface=Screw, work=screw, needs=Part.ARM, occupies=_ARM)
LOOK = SkillServer(interface=Look, work=look, needs=Part.ARM, occupies=_ARM)
GRIPPER = SkillServer(interface=MoveGripper, work=gripper, needs=Part.GRIPPER, occupies=_GRIPPER)
