# SPDX-License-Identifier: Apache-2.0
"""A whole tower, planned step by step as the skills do it, the cubes moved by hand."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from conftest import CUBE, down, let_go, take

from behavior_motion import MotionPlanner, Plan, PlanOptions

FINGERS = "panda_*finger"
CLEARANCE = 0.12


class Robot:
    """Follows plans perfectly."""

    def __init__(self, planner: MotionPlanner) -> None:
        self.planner = planner
        self.q = np.array(planner.robot.named["home"])
        self.times: list[float] = []

    def follow(self, plan: Plan) -> None:
        assert plan.ok, plan.message
        assert self.planner.is_plan_valid(plan)
        self.q = plan.trajectory.positions[-1]
        self.times.append(plan.planning_time)


def grasps(pose: np.ndarray) -> list[np.ndarray]:
    return [pose @ down(0, 0, 0, yaw) for yaw in (0, np.pi / 2, np.pi, -np.pi / 2)]


def above(pose: np.ndarray, height: float) -> np.ndarray:
    lifted = pose.copy()
    lifted[2, 3] += height
    return lifted


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1e-3, -5e-4], ids=["hovering", "pressed"])
def test_a_tower_of_four(table: MotionPlanner, gap: float) -> None:
    scene, robot = table.scene, Robot(table)
    open_hand, holding = PlanOptions(gripper_width=0.08), PlanOptions(gripper_width=CUBE)
    # Cubes rest on the table, or a little inside it, as under contact physics.
    for i in range(4):
        scene.move_object(f"cube_{i}", above(scene.object_pose(f"cube_{i}"), min(gap, 0)))
    for level in range(1, 4):
        name, below = f"cube_{level}", f"cube_{level - 1}"
        goals = grasps(scene.object_pose(name))
        reach = table.plan_to_pose(robot.q, [above(g, CLEARANCE) for g in goals], options=open_hand)
        robot.follow(reach)
        grasp = goals[reach.goal_index]
        robot.follow(table.plan_cartesian(robot.q, grasp, options=open_hand))
        take(table, name, robot.q)
        robot.follow(table.plan_cartesian(robot.q, above(grasp, CLEARANCE), options=holding))
        cube_T_tool = np.linalg.inv(scene.attached()[name].link_T_object)
        target = above(scene.object_pose(below), CUBE + gap)
        turns = [target @ down(0, 0, 0, y) @ down(0, 0, 0) for y in (0, np.pi / 2, -np.pi / 2)]
        places = [turn @ cube_T_tool for turn in turns]
        carry = table.plan_to_pose(robot.q, [above(p, CLEARANCE) for p in places], options=holding)
        robot.follow(carry)
        place = places[carry.goal_index]
        with scene.allowing([(name, below)]):
            robot.follow(table.plan_cartesian(robot.q, place, options=holding))
        let_go(table, name, robot.q)
        robot.follow(table.plan_cartesian(robot.q, above(place, CLEARANCE), options=open_hand))
    robot.follow(table.plan_to_joints(robot.q, table.robot.named["home"], options=open_hand))
    for level in range(1, 4):
        offset = scene.object_pose(f"cube_{level}") - scene.object_pose("cube_0")
        np.testing.assert_allclose(offset[:3, 3], [0, 0, level * (CUBE + gap)], atol=1e-4)
    print(f"median {1e3 * statistics.median(robot.times):.1f} ms, max {1e3 * max(robot.times):.1f}")
