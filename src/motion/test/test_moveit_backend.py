# SPDX-License-Identifier: Apache-2.0
"""The MoveIt backend against stand-ins: messages, mirrored scene, pipelines, failures.

Where MoveIt is installed, the other tests of this folder run on it as well (see conftest).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import CUBE, LEFT, RIGHT, at, down, joints, let_go, take

pytest.importorskip("sensor_msgs", reason="the ROS 2 wheels or a distribution are needed")

import fake_moveit

from behavior_motion import (
    Box,
    Capsule,
    Cylinder,
    ErrorCode,
    HalfSpace,
    HeightField,
    Mesh,
    OrientationConstraint,
    PlanOptions,
    PointCloud,
    RobotModel,
    Sphere,
    create_planner,
)
from behavior_motion.moveit import moveit_available


@pytest.fixture
def fake(robot: RobotModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[fake_moveit.FakeMoveIt]:
    for name, module in fake_moveit.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield fake_moveit.FakeMoveIt(robot)
    for name in [n for n in sys.modules if n.startswith("behavior_motion.moveit.")]:
        del sys.modules[name]  # they hold the stand-ins


@pytest.fixture
def moveit(robot: RobotModel, fake: fake_moveit.FakeMoveIt) -> Any:
    from behavior_motion.moveit.planner import MoveItPlanner

    return MoveItPlanner(robot, moveit=fake.moveit_py)


def with_table(planner: Any) -> Any:
    planner.scene.add_object("table", Box((1.2, 1.6, 0.05)), at(0.5, 0.0, -0.025))
    for i, (x, y) in enumerate([(0.45, 0.2), (0.5, -0.2), (0.6, 0.1), (0.6, -0.1)]):
        planner.scene.add_object(f"cube_{i}", Box((CUBE,) * 3), at(x, y, CUBE / 2 + 1e-4))
    return planner


def with_wall(planner: Any) -> Any:
    planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    return planner


def test_a_direct_way_is_the_pilz_pipelines(moveit: Any, fake: Any) -> None:
    planner = with_table(moveit)
    start = planner.robot.named["home"]
    plan = planner.plan_to_pose(start, [down(0.5, 0.0, 0.3)])
    assert plan.ok, plan.message
    assert [request.pipeline for request in fake.requests] == ["pilz_industrial_motion_planner"]
    assert fake.requests[0].planner == "PTP"
    end = planner.robot.forward_kinematics(plan.trajectory.positions[-1])
    assert np.allclose(end, down(0.5, 0.0, 0.3), atol=1e-5)
    assert planner.is_plan_valid(plan)


def test_a_way_around_an_obstacle_is_the_ompl_pipelines(moveit: Any, fake: Any) -> None:
    planner = with_wall(moveit)
    start = joints(planner, LEFT)
    plan = planner.plan_to_pose(start, [RIGHT], options=PlanOptions(allowed_planning_time=10.0))
    assert plan.ok, plan.message
    assert fake.requests[-1].pipeline == "ompl"
    assert fake.requests[-1].goals >= 1
    assert planner.is_plan_valid(plan)
    limits = planner.robot.velocity_limits
    assert np.all(np.abs(plan.trajectory.velocities) <= limits + 1e-6)


def test_waypoints_go_through_moveit_too(moveit: Any, fake: Any) -> None:
    planner = with_table(moveit)
    start = planner.robot.named["home"]
    targets = [down(0.45, 0.2, 0.3), down(0.5, 0.0, 0.35), down(0.45, -0.2, 0.3)]
    plan = planner.plan_waypoints(start, targets)
    assert plan.ok, plan.message
    assert len(plan.waypoint_times) == 3
    assert len(fake.requests) >= 3


def test_every_shape_arrives(moveit: Any, fake: Any, robot: RobotModel) -> None:
    corner = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    grid = np.zeros((4, 5))
    grid[1, 2] = 0.1
    objects = {
        "box": Box((0.1, 0.2, 0.3)),
        "ball": Sphere(0.07),
        "can": Cylinder(radius=0.03, height=0.2),
        "pill": Capsule(radius=0.03, height=0.2),
        "floor": HalfSpace(),
        "tetra": Mesh(vertices=corner),
        "bumps": HeightField(grid, (0.4, 0.4)),
        "cloud": PointCloud(np.array([[0, 0, 0], [0.001, 0, 0], [0.05, 0.01, 0]]), 0.02),
    }
    places = {name: at(0.5 + 0.35 * i, 1.5, 0.3) for i, name in enumerate(objects)}
    places["floor"] = at(0, 0, -0.4)
    for name, shape in objects.items():
        moveit.scene.add_object(name, shape, places[name])
    plan = moveit.plan_to_pose(robot.named["home"], [down(0.5, 0.0, 0.3)])
    assert plan.ok, plan.message
    assert set(fake.parts) == set(objects)
    assert len(fake.parts["pill"]) == 3
    assert len(fake.parts["cloud"]) == 2
    scene = fake.planner.scene
    box = scene.object_shape("box/0")
    assert box.size == (0.1, 0.2, 0.3)
    assert np.allclose(scene.object_pose("box/0"), places["box"])
    assert scene.object_shape("can/0").height == 0.2
    assert np.allclose(scene.object_pose("pill/1")[:3, 3], places["pill"][:3, 3] + [0, 0, 0.1])
    floor = scene.object_pose("floor/0")[2, 3] + scene.object_shape("floor/0").size[2] / 2
    assert floor == pytest.approx(-0.4)
    assert np.asarray(scene.object_shape("bumps/0").vertices)[:, 2].max() == pytest.approx(0.1)
    assert len(np.asarray(scene.object_shape("tetra/0").triangles)) == 4


def test_changes_alone_are_sent(moveit: Any, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[list[str]] = []
    real = fake.new_planning_scene_message

    def noted(message: Any) -> bool:
        sent.append([f"{o.operation[0]}{o.id}" for o in message.world.collision_objects])
        return bool(real(message))

    monkeypatch.setattr(fake, "new_planning_scene_message", noted)
    start, goal = moveit.robot.named["home"], [down(0.5, 0.0, 0.3)]
    moveit.scene.add_object("a", Sphere(0.05), at(0.5, 0.6, 0.1))
    moveit.scene.add_object("b", Sphere(0.05), at(0.5, -0.6, 0.1))
    moveit.plan_to_pose(start, goal)
    moveit.plan_to_pose(start, goal)
    moveit.scene.move_object("a", at(0.5, 0.7, 0.1))
    moveit.scene.remove_object("b")
    moveit.plan_to_pose(start, goal)
    assert sent == [["0a", "0b"], [], ["1b", "0a"]]


def test_a_held_object_moves_with_the_hand_and_comes_back(moveit: Any, fake: Any) -> None:
    planner = with_wall(moveit)
    start = joints(planner, LEFT)
    planner.scene.add_object("stick", Box((0.02, 0.02, 0.12)), LEFT)
    take(planner, "stick", start)
    plan = planner.plan_to_pose(start, [down(0.5, 0.3, 0.3)])
    assert plan.ok, plan.message
    assert set(fake.planner.scene.attached()) == {"stick/0"}
    assert fake.matrix["stick", planner.robot.gripper.touch_links[0]]
    assert not fake.matrix["stick", "wall"]
    let_go(planner, "stick", plan.trajectory.positions[-1])
    with planner.scene.allowing([("stick", "panda_*")]):
        back = planner.plan_to_pose(plan.trajectory.positions[-1], [LEFT])
    assert back.ok, back.message
    assert fake.planner.scene.attached() == {}
    assert "stick" in fake.parts


def test_moveit_plans_with_what_the_hand_holds_and_with_the_fingers_gap(
    moveit: Any, fake: Any
) -> None:
    """MoveIt takes the start state for the scene's: what is not attached to it is not there."""
    start = joints(moveit, LEFT)
    moveit.scene.add_object("stick", Box((0.02, 0.02, 0.12)), LEFT)
    take(moveit, "stick", start)
    options = PlanOptions(gripper_width=0.02)
    assert moveit.plan_to_pose(start, [down(0.5, 0.3, 0.3)], options=options).ok
    assert fake.requests[-1].attached == {"stick"}
    assert fake.requests[-1].width == pytest.approx(0.02)
    let_go(moveit, "stick", start)
    # Joint states that come between change the scene's state, and not the request.
    fake.scene_state.joint_positions = dict.fromkeys(fake.all_joints, 0.01)
    with moveit.scene.allowing([("stick", "*")]):
        assert moveit.plan_to_pose(start, [down(0.5, 0.3, 0.3)]).ok
    assert fake.requests[-1].attached == set()
    assert fake.requests[-1].width == pytest.approx(moveit.robot.gripper.open_width)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: m.get_planning_component("panda_arm").plan(parameters=None), TypeError),
        (lambda m: m.get_planning_component(7), TypeError),
        (lambda m: m.get_planning_scene_monitor().current_state, AttributeError),
        (lambda m: m.get_planning_scene_monitor().read_only(True), TypeError),
        (lambda m: m.get_planning_component("panda_arm").set_start_state(), ValueError),
        (lambda m: setattr(m, "scene", None), AttributeError),
    ],
)
def test_calls_that_the_bindings_lack_are_refused(fake: Any, call: Any, error: Any) -> None:
    with pytest.raises(error):
        call(fake.moveit_py)


def test_pairs_that_may_touch_are_told(moveit: Any, fake: Any) -> None:
    planner = with_table(moveit)
    start = planner.robot.named["home"]
    with planner.scene.allowing([("cube_*", "panda_leftfinger")]):
        planner.plan_to_pose(start, [down(0.5, 0.0, 0.3)])
        assert fake.matrix["cube_2", "panda_leftfinger"]
        assert fake.matrix["panda_leftfinger", "cube_2"]
    assert planner.plan_to_pose(start, [down(0.5, 0.0, 0.35)]).ok
    assert not fake.matrix["cube_2", "panda_leftfinger"]
    assert fake.matrix["panda_link0", "panda_link1"]  # what the SRDF allows stays


def test_what_no_motion_changes_is_no_collision(moveit: Any, fake: Any) -> None:
    """The base on its table, and what the hand holds beside the flange, as in our own world."""
    planner = with_table(moveit)
    start = joints(planner, LEFT)
    hand = planner.robot.forward_kinematics(start, "panda_hand")
    planner.scene.add_object("stick", Box((0.02, 0.02, 0.3)), LEFT)
    planner.scene.add_object("cap", Sphere(0.02), LEFT)
    for name in ("stick", "cap"):
        take(planner, name, start)
    assert planner.plan_to_pose(start, [down(0.5, 0.3, 0.3)]).ok
    assert fake.matrix["table", "panda_link0"]
    assert not fake.matrix["table", "panda_link1"]
    assert fake.matrix["stick", "panda_link7"]
    assert fake.matrix["stick", "cap"]
    assert not fake.matrix["stick", "panda_link6"]
    assert not fake.matrix["stick", "table"]
    held = fake.planner.scene.attached()["stick/0"]
    assert held.link == "panda_hand"  # `tool` is a frame of ours
    np.testing.assert_allclose(hand @ held.link_T_object, LEFT, atol=1e-5)


def test_what_moves_may_touch_what_it_might_before(moveit: Any, fake: Any) -> None:
    planner = with_table(moveit)
    start = planner.robot.named["home"]
    planner.scene.allow_collision("cube_2", "panda_leftfinger")
    for y in (0.1, 0.12):
        planner.scene.move_object("cube_2", at(0.6, y, CUBE / 2 + 1e-4))
        assert planner.plan_to_pose(start, [down(0.5, 0.0, 0.3)]).ok
        assert fake.matrix["cube_2", "panda_leftfinger"]


def test_the_allowed_time_is_that_of_all_parts_of_a_request(moveit: Any, fake: Any) -> None:
    now, search = 0.0, fake._search

    def slow_search(pipeline: str, seconds: float) -> Any:
        nonlocal now
        now += 0.375
        return search(pipeline, seconds)

    moveit.clock, fake._search = lambda: now, slow_search
    targets = [down(0.45, 0.2, 0.3), down(0.5, 0.0, 0.35), down(0.45, -0.2, 0.3), LEFT]
    plan = moveit.plan_waypoints(
        moveit.robot.named["home"], targets, options=PlanOptions(allowed_planning_time=1.0)
    )
    assert plan.code is ErrorCode.TIMED_OUT
    assert "waypoint 3: MoveIt found no path within 1 s (no time left)" in plan.message
    assert [request.seconds for request in fake.requests] == [1.0, 0.625, 0.25]


def test_an_axis_to_be_kept_is_a_path_constraint_of_moveit(moveit: Any, fake: Any) -> None:
    start = joints(moveit, LEFT)
    level = OrientationConstraint(0.3, axis=(0.0, 0.0, 1.0), link_name="panda_hand")
    options = PlanOptions(path_constraints=level, allowed_planning_time=10.0)
    plan = moveit.plan_to_pose(start, [down(0.5, 0.0, 0.3)], options=options)
    assert plan.ok, plan.message
    constraint = fake.requests[-1].constraints[0]
    assert constraint.link_name == "panda_hand"
    assert constraint.header.frame_id == moveit.robot.base_frame
    assert constraint.absolute_x_axis_tolerance == pytest.approx(0.3)
    assert constraint.absolute_z_axis_tolerance == pytest.approx(2 * np.pi)
    assert constraint.parameterization == 1


def test_an_axis_that_moveit_has_no_form_for_is_kept_all_the_same(moveit: Any, fake: Any) -> None:
    start = joints(moveit, LEFT)
    level = OrientationConstraint(0.3, axis=(0.0, 0.6, 0.8))
    options = PlanOptions(path_constraints=level, allowed_planning_time=10.0)
    plan = moveit.plan_to_pose(start, [down(0.5, 0.3, 0.3)], options=options)
    assert plan.ok, plan.message
    assert fake.requests == []


def test_failures_of_moveit_become_codes_with_a_sentence(moveit: Any, fake: Any) -> None:
    fake.error = -6
    start = moveit.robot.named["home"]
    plan = moveit.plan_to_pose(
        start, [down(0.5, 0.0, 0.3)], options=PlanOptions(allowed_planning_time=0.5)
    )
    assert plan.code in (ErrorCode.TIMED_OUT, ErrorCode.PLANNING_FAILED)
    assert "error code -6" in plan.message


@pytest.mark.slow
def test_a_path_that_only_moveit_takes_for_free_is_refused(moveit: Any, fake: Any) -> None:
    planner = with_wall(moveit)
    start, goal = joints(planner, LEFT), joints(planner, RIGHT)
    fake._search = lambda pipeline, seconds: np.linspace(start, goal, 20)
    plan = planner.plan_to_joints(start, goal, options=PlanOptions(allowed_planning_time=1.0))
    assert not plan.ok
    assert "refused by the final check" in plan.message


def test_a_scene_that_moveit_refuses(moveit: Any, fake: Any) -> None:
    start, goal = moveit.robot.named["home"], [down(0.5, 0.0, 0.3)]
    hand, scene = moveit.robot.gripper.link, moveit.scene
    for i, name in enumerate(("gone", "moved", "held", "let go")):
        scene.add_object(name, Sphere(0.02), at(0.5, 0.6 + 0.1 * i, 0.1))
    take(moveit, "let go", start, hand)
    assert moveit.plan_to_pose(start, goal).ok
    fake.refuses_scenes = True
    scene.remove_object("gone")
    scene.move_object("moved", at(0.5, -0.6, 0.1))
    scene.add_object("let go", Sphere(0.02), at(0.5, -0.7, 0.1))
    take(moveit, "held", start, hand)
    scene.add_object("refused", Sphere(0.02), at(0.5, -0.8, 0.1))
    with pytest.raises(RuntimeError, match="refused the planning scene"):
        moveit.plan_to_pose(start, goal)
    # What it has taken of that counts as taken: else it would refuse whatever comes.
    fake.refuses_scenes = False
    scene.remove_object("refused")
    assert moveit.plan_to_pose(start, goal).ok
    assert set(fake.parts) == {"moved", "held", "let go"}
    assert fake.attached == {"held"}
    for name in ("moved", "let go"):
        np.testing.assert_allclose(
            fake.planner.scene.object_pose(f"{name}/0"), scene.object_pose(name), atol=1e-9
        )


def test_questions_are_answered_as_by_the_embedded_planner(moveit: Any, robot: RobotModel) -> None:
    other = with_table(create_planner(robot, "embedded"))
    planner = with_table(moveit)
    q = robot.named["home"]
    assert planner.distance(q).distance == pytest.approx(other.distance(q).distance)
    assert planner.inverse_kinematics(LEFT, seed=q).ok
    line = planner.plan_cartesian(joints(planner, LEFT), [down(0.5, 0.3, 0.25)])
    assert line.fraction == 1.0


@pytest.mark.skipif(moveit_available(), reason="MoveIt is installed")
def test_without_moveit_the_remedy_is_named(robot: RobotModel) -> None:
    with pytest.raises(RuntimeError, match="ros-jazzy-moveit-py"):
        create_planner(robot, "moveit")
