# SPDX-License-Identifier: Apache-2.0
"""The skills on one group of a robot's joints: an arm beside another, a torso, a head."""

import numpy as np
import pytest
from fakes import ROBOT_FILE, FakeWorld, context_of

from behavior_motion import create_planner, load_robot
from behavior_motion.robot.robot_file import load_robot_file
from behavior_ros.messages.joint_state_wire import WireJointState
from behavior_skills.arm.look import LookRequest, LookSkill
from behavior_skills.arm.move_arm import ArmMode, MoveArmRequest, MoveArmSkill
from behavior_skills.arm.planning import GROUND, PlanningWorld
from behavior_skills.interfaces import FailureCode, Hand, SkillFailure
from behavior_skills.node.joint_states import OtherJoints

TIAGO = ROBOT_FILE.parent / "tiago_pro.yaml"

pytestmark = pytest.mark.slow


def rig_of(group, **joints):
    """World, planning world and hand of one group; joints of the others, which may be changed."""
    planner = create_planner(load_robot(TIAGO, group=group), "embedded")
    world = FakeWorld(planner.robot)
    return world, PlanningWorld(planner, 0.0, lambda: joints), Hand()


@pytest.fixture(scope="module")
def head():
    return rig_of("head", torso_lift_joint=0.1)


def test_a_torso_is_lifted():
    rig = rig_of("torso")
    MoveArmSkill(context_of(rig), MoveArmRequest(ArmMode.NAMED, named_target="high")).run()
    assert rig[0].q == pytest.approx([0.35], abs=1e-3)
    MoveArmSkill(context_of(rig), MoveArmRequest(ArmMode.JOINTS, joints=(0.2,))).run()
    assert rig[0].q == pytest.approx([0.2], abs=1e-3)
    # At the URDF's 0.035 m/s that takes seconds, and no longer than it must.
    assert rig[0].time == pytest.approx(0.4 / 0.035 / 0.8, abs=3.0)


def test_a_head_looks_at_a_point_ahead_of_it(head):
    skill = LookSkill(context_of(head), LookRequest(np.array([1.0, 0.4, -0.3])))
    skill.run()
    assert skill.error < 0.02
    sight = head[1].planner.robot.forward_kinematics(head[0].q)
    line = np.array([1.0, 0.4, -0.3]) - sight[:3, 3]
    assert sight[:3, 2] @ line / np.linalg.norm(line) > np.cos(0.02)


def test_a_head_cannot_look_behind_it(head):
    with pytest.raises(SkillFailure) as caught:
        LookSkill(context_of(head), LookRequest(np.array([-1.0, 0.1, 0.0]))).run()
    assert caught.value.failure is FailureCode.OUT_OF_TOLERANCE


def test_what_an_arm_does_not_move_is_where_it_was_told_to_be():
    joints = {"torso_lift_joint": 0.1}
    right = load_robot_file(TIAGO, group="right_arm")
    joints |= dict(zip(right.arm.joints, right.named["home"], strict=True))
    rig = rig_of("left_arm")
    world = PlanningWorld(rig[1].planner, 0.0, lambda: joints)
    scene = rig[1].planner.scene
    heights = []
    for joints["torso_lift_joint"] in (0.1, 0.3):
        world.sync({}, None)
        heights.append(world.ground_height())
        assert heights[-1] == pytest.approx(scene.object_pose(GROUND)[2, 3])
        assert "robot/arm_right_5_link_0" in scene.object_names()
    assert heights[0] - heights[1] == pytest.approx(0.2)
    assert heights[0] == pytest.approx(-(0.0762 + 0.215 + 0.5545 + 0.1), abs=1e-6)
    before = scene.object_pose("robot/arm_right_7_link_0")
    joints["arm_right_1_joint"] -= 0.3
    world.sync({}, None)
    assert not np.allclose(scene.object_pose("robot/arm_right_7_link_0"), before, atol=0.01)


def test_joints_of_other_groups_are_heard_of():
    others = OtherJoints(load_robot_file(TIAGO, group="torso").other_joints)
    nothing = np.zeros(0)

    def tell(**joints):
        positions = np.array(list(joints.values()))
        others.take(WireJointState(0, tuple(joints), positions, nothing, nothing))

    tell(arm_left_1_joint=0.5, torso_lift_joint=0.1, wheel=3.0)
    tell(head_1_joint=np.nan, arm_left_1_joint=0.6)
    others.take(WireJointState(0, ("head_2_joint",), nothing, nothing, nothing))
    assert others.positions == {"arm_left_1_joint": 0.6}
