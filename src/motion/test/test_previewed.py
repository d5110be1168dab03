# SPDX-License-Identifier: Apache-2.0
"""Motions of a preview, done again where nothing has changed, and planned anew where it has."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import CUBE, LEFT, RIGHT, at, down, joints

from behavior_motion import (
    Box,
    JointLimits,
    MotionPlanner,
    OrientationConstraint,
    Plan,
    PlanOptions,
    Sphere,
)
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_motion.planning.motion_rows import motion_of_row, motion_row
from behavior_motion.planning.planner import PlanRequest, RequestKind
from behavior_motion.planning.previewed import (
    PlannedMotion,
    PreviewedMotions,
    PreviewTolerances,
    bent,
)
from behavior_motion.trajectories.timing import time_straight

OPTIONS = PlanOptions(seed=4, max_velocity_scaling_factor=0.8)
OTHER_DICE = PlanOptions(seed=77, max_velocity_scaling_factor=0.8, allowed_planning_time=3.0)


class Rehearsal:
    """A planner in a scene with a wall and a cube, and what it tells."""

    def __init__(self, planner: EmbeddedPlanner) -> None:
        self.planner = planner
        self.kept: list[PlannedMotion] = []
        self.told: list[tuple[bool, str]] = []
        planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
        planner.scene.add_object("red_block", Box((CUBE,) * 3), at(0.5, 0.3, CUBE / 2))
        planner.on_planned = self.kept.append

    def approve(self) -> None:
        """From now on what was kept is to be done again, as if it came from elsewhere."""
        rows = json.loads(json.dumps([motion_row(motion) for motion in self.kept]))
        self.planner.on_planned = None
        self.planner.previewed = PreviewedMotions(
            [motion_of_row(row) for row in rows], lambda done, why: self.told.append((done, why))
        )


@pytest.fixture
def rehearsal(planner: MotionPlanner) -> Iterator[Rehearsal]:
    if not isinstance(planner, EmbeddedPlanner):
        pytest.skip("another planner keeps no motions")
    yield Rehearsal(planner)
    planner.previewed = planner.on_planned = None


def start_of(planner: MotionPlanner) -> np.ndarray:
    return joints(planner, LEFT)


def around_the_wall(planner: MotionPlanner, options: PlanOptions = OPTIONS) -> Plan:
    return planner.plan_to_joints(start_of(planner), joints(planner, RIGHT), options=options)


def test_what_was_previewed_is_done_again_instead_of_planned(rehearsal: Rehearsal) -> None:
    planner = rehearsal.planner
    first, other = around_the_wall(planner), around_the_wall(planner, OTHER_DICE)
    assert first.trajectory is not None
    assert other.trajectory is not None
    assert other.trajectory.duration != pytest.approx(first.trajectory.duration, abs=1e-3)
    rehearsal.kept.pop()
    rehearsal.approve()
    again = around_the_wall(planner, OTHER_DICE)
    assert rehearsal.told == [(True, "")]
    assert again.trajectory is not None
    assert again.trajectory.positions == pytest.approx(first.trajectory.positions, abs=1e-5)
    assert again.trajectory.duration == pytest.approx(first.trajectory.duration, rel=1e-3)


def test_small_differences_bend_it_within_all_limits(rehearsal: Rehearsal) -> None:
    """Noise of the start, the goal and the objects: it begins and ends where it has to now."""
    planner, rng = rehearsal.planner, np.random.default_rng(5)
    goal = joints(planner, RIGHT)
    planner.plan_to_joints(start_of(planner), goal, options=OPTIONS)
    planner.plan_to_pose(start_of(planner), [RIGHT], options=OPTIONS)
    low = down(*(LEFT[:3, 3] - [0.0, 0.0, 0.08]))
    planner.plan_cartesian(start_of(planner), [low], options=PlanOptions(max_cartesian_speed=0.1))
    assert len(rehearsal.kept) == 3
    rehearsal.approve()
    start = start_of(planner) + rng.uniform(-0.01, 0.01, 7)
    to = goal + rng.uniform(-0.01, 0.01, 7)
    planner.scene.move_object("red_block", at(0.506, 0.3, CUBE / 2))
    limits = JointLimits.of(planner.robot, 0.8, None)
    nearer = RIGHT.copy()
    nearer[:3, 3] += 0.004
    deeper = low.copy()
    deeper[2, 3] -= 0.008
    slow = PlanOptions(max_cartesian_speed=0.1)
    plans = [
        (planner.plan_to_joints(start, to, options=OPTIONS), None),
        (planner.plan_to_pose(start, [nearer], options=OPTIONS), nearer),
        (planner.plan_cartesian(start, [deeper], options=slow), deeper),
    ]
    assert [done for done, _ in rehearsal.told] == [True] * 3, rehearsal.told
    for plan, pose in plans:
        motion = plan.trajectory
        assert motion is not None
        assert motion.positions[0] == pytest.approx(start, abs=1e-9)
        if pose is None:
            assert motion.positions[-1] == pytest.approx(to, abs=1e-9)
        else:
            tool = planner.robot.forward_kinematics(motion.positions[-1])
            assert tool == pytest.approx(pose, abs=1e-5)
        assert np.abs(motion.velocities[[0, -1]]).max() < 1e-6
        assert limits.slowdown(motion) <= 1.0 + 1e-6
    line = plans[-1][0].trajectory
    assert line is not None
    places = [planner.robot.forward_kinematics(q)[:3, 3] for q in line.positions]
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / np.diff(line.times)
    assert speeds.max() <= 0.1 + 1e-6


@pytest.mark.parametrize("kind", [RequestKind.WAYPOINTS, RequestKind.CARTESIAN])
def test_targets_on_the_way_are_passed_from_another_start_too(
    rehearsal: Rehearsal, kind: RequestKind
) -> None:
    planner, start = rehearsal.planner, start_of(rehearsal.planner)
    targets = [down(0.45, 0.3, 0.3), down(0.4, 0.2, 0.35), down(0.45, 0.15, 0.3)]
    plan = planner.plan_waypoints if kind is RequestKind.WAYPOINTS else planner.plan_cartesian
    first = plan(start, targets)
    rehearsal.approve()
    again = plan(start + 0.02, targets)
    assert rehearsal.told == [(True, "")]
    assert first.trajectory is not None
    assert again.trajectory is not None
    for before, time in zip(first.waypoint_times, again.waypoint_times, strict=True):
        passed = again.trajectory.sample(time)[0]
        assert passed == pytest.approx(first.trajectory.sample(before)[0], abs=1e-4)


def test_what_the_bend_would_slow_down_much_is_planned_anew(rehearsal: Rehearsal) -> None:
    planner, start = rehearsal.planner, start_of(rehearsal.planner)
    planner.plan_waypoints(start, [start, joints(planner, down(0.45, 0.3, 0.3))])
    rehearsal.approve()
    again = planner.plan_waypoints(start + 0.02, [start, joints(planner, down(0.45, 0.3, 0.3))])
    ((done, why),) = rehearsal.told
    assert not done
    assert "times as long from here" in why
    assert again.trajectory is not None
    passed = again.trajectory.sample(again.waypoint_times[0])[0]
    assert passed == pytest.approx(start, abs=1e-4)


def test_a_gentle_joint_is_not_slowed_down_by_the_way_through_json() -> None:
    """The torso of TIAGo Pro: its knots, rounded to 0.1 um, asked for twice the time."""
    gentle = JointLimits(("lift",), np.array([0.028]), np.array([0.1]), np.array([1.0]))
    lift = time_straight(np.array([0.1]), np.array([0.05]), gentle)
    assert lift.duration > 1.0
    request = PlanRequest(RequestKind.JOINTS, (np.array([0.05]),), "lift_link", OPTIONS)
    row = json.dumps(motion_row(PlannedMotion(request=request, trajectory=lift)))
    again = motion_of_row(json.loads(row)).trajectory
    assert gentle.slowdown(again) == gentle.slowdown(lift)
    assert gentle.slowdown(lift) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
def test_what_differs_is_told_and_the_motion_planned_anew(rehearsal: Rehearsal) -> None:
    planner = rehearsal.planner
    around_the_wall(planner)
    rehearsal.approve()

    def why(plan: Plan) -> str:
        assert plan.ok
        (done, text), rehearsal.told[:] = rehearsal.told[-1], []
        assert done is False
        return text

    def told_of(plan: Plan) -> list[tuple[bool, str]]:
        assert plan is not None
        said, rehearsal.told[:] = list(rehearsal.told), []
        return said

    planner.scene.move_object("red_block", at(0.523, 0.3, CUBE / 2))
    assert why(around_the_wall(planner)) == "red_block is 23 mm from where it was previewed"
    planner.scene.move_object("red_block", at(0.5, 0.3, CUBE / 2) @ down(0, 0, 0, 0.5))
    assert "red_block is turned by" in why(around_the_wall(planner))
    planner.scene.attach_object("red_block", planner.robot.tool_frame, link_T_object=np.eye(4))
    assert why(around_the_wall(planner)) == "red_block is there no more"
    planner.scene.add_object("red_block", Box((CUBE,) * 3), at(0.5, 0.3, CUBE / 2))
    planner.scene.add_object("new", Box((CUBE,) * 3), at(0.3, 0.5, CUBE / 2))
    assert why(around_the_wall(planner)) == "new is there now"
    planner.scene.remove_object("new")
    start, goal = start_of(planner), joints(planner, RIGHT)
    away = start + 0.06
    assert "at the start a joint is 0.060" in why(
        planner.plan_to_joints(away, goal, options=OPTIONS)
    )
    assert "at the goal a joint is 0.060" in why(
        planner.plan_to_joints(start, goal - 0.06, options=OPTIONS)
    )
    slower = PlanOptions(max_velocity_scaling_factor=0.3)
    assert why(around_the_wall(planner, slower)) == "such a motion was not previewed"
    held = PlanOptions(max_velocity_scaling_factor=0.8, path_constraints=OrientationConstraint(3.0))
    assert why(around_the_wall(planner, held)) == "such a motion was not previewed"
    # What is not possible at all says nothing of the preview.
    below = joints(planner, RIGHT)
    below[1] = 1.7
    assert told_of(planner.plan_to_joints(start, below, options=OPTIONS)) == []
    assert told_of(around_the_wall(planner)) == [(True, "")]


def test_what_stands_around_may_be_elsewhere_for_a_robot_that_drives(rehearsal: Rehearsal) -> None:
    planner = rehearsal.planner
    first = around_the_wall(planner)
    rehearsal.approve()
    assert planner.previewed is not None
    planner.previewed.tolerances = PreviewTolerances(around=0.1)
    planner.scene.move_object("red_block", at(0.523, 0.3, CUBE / 2))
    again = around_the_wall(planner, OTHER_DICE)
    assert rehearsal.told == [(True, "")]
    assert first.trajectory is not None
    assert again.trajectory is not None
    assert again.trajectory.positions == pytest.approx(first.trajectory.positions, abs=1e-9)


def test_a_ball_is_turned_no_way(rehearsal: Rehearsal) -> None:
    planner = rehearsal.planner
    planner.scene.add_object("ball", Sphere(0.02), at(0.4, 0.4, 0.02))
    around_the_wall(planner)
    rehearsal.approve()
    planner.scene.move_object("ball", at(0.4, 0.4, 0.02) @ down(0, 0, 0, 0.6))
    around_the_wall(planner)
    assert rehearsal.told == [(True, "")]


def test_of_motions_that_go_the_same_way_the_one_among_these_things_is_done(
    rehearsal: Rehearsal,
) -> None:
    planner = rehearsal.planner
    around_the_wall(planner)
    planner.scene.move_object("red_block", at(0.6, 0.4, CUBE / 2))
    around_the_wall(planner)
    rehearsal.approve()
    for place in (at(0.6, 0.4, CUBE / 2), at(0.5, 0.3, CUBE / 2)):
        planner.scene.move_object("red_block", place)
        around_the_wall(planner)
    assert rehearsal.told == [(True, "")] * 2


def test_what_is_in_its_way_now_is_found_by_the_check(rehearsal: Rehearsal) -> None:
    """An object within its tolerance may still block a motion that came close to it."""
    planner = rehearsal.planner
    first = around_the_wall(planner)
    assert first.trajectory is not None
    rehearsal.approve()
    middle, _, _ = first.trajectory.sample(0.5 * first.trajectory.duration)
    elbow = planner.robot.link_poses(middle)["panda_hand"]
    with_block = [
        PlannedMotion(
            request=motion.request,
            trajectory=motion.trajectory,
            objects={**motion.objects, "late": elbow},
        )
        for motion in (planner.previewed.motions if planner.previewed else ())
    ]
    planner.previewed = PreviewedMotions(
        with_block, lambda done, why: rehearsal.told.append((done, why))
    )
    planner.scene.add_object("late", Box((0.03, 0.03, 0.03)), elbow)
    again = around_the_wall(planner)
    assert rehearsal.told == [(False, "the previewed motion is not free any more")]
    assert again.trajectory is not None
    assert planner.is_plan_valid(again)


def test_a_bend_keeps_rest_and_continuity() -> None:
    times = np.linspace(0.0, 1.0, 21)
    step = times**3 * (10 - 15 * times + 6 * times**2)
    speed = 30 * times**2 * (1 - times) ** 2
    change = 60 * times * (1 - times) * (1 - 2 * times)
    from behavior_motion import Trajectory

    plain = Trajectory(("a",), times, step[:, None], speed[:, None], change[:, None])
    moved = bent(plain, np.array([0.1]), np.array([1.3]))
    # The same step, from 0.1 to 1.3.
    assert moved.positions[:, 0] == pytest.approx(0.1 + 1.2 * step)
    assert moved.velocities[:, 0] == pytest.approx(1.2 * speed)
    assert moved.accelerations[:, 0] == pytest.approx(1.2 * change)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "dance"),
        ("positions", [[0.0] * 7]),
        ("times", [0.0, float("nan")]),
        ("targets", []),
        ("targets", [[1.0, 2.0]]),
        ("goal_index", 3),
        ("options", {"max_velocity_scaling_factor": 4.0, "path_constraints": None}),
        ("options", None),
        ("objects", {"red": [[0.0]]}),
        ("joint_names", None),
    ],
)
def test_rows_from_elsewhere_are_checked(rehearsal: Rehearsal, field: str, value: object) -> None:
    around_the_wall(rehearsal.planner)
    row = motion_row(rehearsal.kept[0])
    assert motion_of_row(row).request.kind is rehearsal.kept[0].request.kind
    with pytest.raises(ValueError, match="no planned motion"):
        motion_of_row({**row, field: value})
