# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import CUBE, at, down, joints
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion import (
    Box,
    Capsule,
    Cylinder,
    EmbeddedPlanner,
    HalfSpace,
    Mesh,
    MotionPlanner,
    RobotModel,
    Sphere,
)
from behavior_motion.collision.scene import CollisionRule, SceneSnapshot


def test_attached_object_keeps_its_relative_pose(table: MotionPlanner) -> None:
    scene, robot = table.scene, table.robot
    relative = at(0, 0, 0.05)
    scene.attach_object("cube_0", "panda_hand", link_T_object=relative)
    held = scene.attached()["cube_0"]
    np.testing.assert_array_equal(held.link_T_object, relative)
    assert held.touch_links == robot.gripper.touch_links
    with pytest.raises(KeyError, match="is attached"):
        scene.object_pose("cube_0")
    scene.add_object("cube_0", held.shape, at(0.5, 0, 0.5))
    assert scene.attached() == {}


def test_every_mistake_is_named(table: MotionPlanner) -> None:
    scene = table.scene
    with pytest.raises(KeyError, match="cube_0"):
        scene.move_object("cub_0", at(0, 0, 0))
    with pytest.raises(KeyError, match="panda_hand"):
        scene.attach_object("cube_0", "hand", link_T_object=at(0, 0, 0))
    with pytest.raises(KeyError, match="link or object"):
        scene.allow_collision("cube_9", "table")
    with pytest.raises(ValueError, match="link of the robot"):
        scene.add_object("panda_hand", Sphere(0.1), at(0, 0, 0))
    with pytest.raises(ValueError, match="rigid"):
        scene.add_object("x", Sphere(0.1), np.diag([2.0, 1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match=r"Sphere\.radius"):
        Sphere(-1.0)
    with pytest.raises(ValueError, match=r"Box\.size"):
        Box((0.1, 0.0, 0.1))
    with pytest.raises(ValueError, match=r"Mesh\.path"):
        Mesh("absent.stl")


def test_rules_latest_wins_and_end_with_their_block(table: MotionPlanner) -> None:
    scene = table.scene
    snapshot = scene.snapshot
    with scene.allowing([("cube_*", "panda_*finger")]):
        assert snapshot().allowed("panda_leftfinger", "cube_1")
        assert not snapshot().allowed("panda_hand", "cube_1")
        scene.allow_collision("cube_1", "panda_leftfinger", False)
        assert not snapshot().allowed("panda_leftfinger", "cube_1")
    assert not snapshot().allowed("panda_leftfinger", "cube_0")
    scene.allow_collision("table", "cube_0")
    scene.remove_object("cube_0")
    assert all("cube_0" not in (r.a, r.b) for r in snapshot().rules)


NAMES = st.sampled_from(["a", "b", "c", "ab", "*", "a*", "?"])


@given(st.lists(st.builds(CollisionRule, NAMES, NAMES, st.booleans()), max_size=12))
def test_the_latest_rule_that_matches_counts(rules: list[CollisionRule]) -> None:
    scene = SceneSnapshot(rules=tuple(rules))
    for x, y in itertools.product(("a", "b", "c", "ab"), repeat=2):
        matching = [rule.allowed for rule in rules if rule.matches(x, y)]
        assert scene.allowed(x, y) == (matching[-1] if matching else False)


def test_hundreds_of_rules_cost_no_more_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Robots come with that many; each is asked about for thousands of pairs."""
    rules = tuple(CollisionRule(f"link_{i}", f"link_{i + 1}", True) for i in range(500))
    scene, matched = SceneSnapshot(rules=rules), []
    monkeypatch.setattr(CollisionRule, "matches", lambda self, x, y: matched.append(self))
    assert scene.allowed("link_1", "link_0")
    assert not scene.allowed("link_0", "link_2")
    assert not matched


def test_nothing_allowed_is_no_change(table: MotionPlanner) -> None:
    """Each change of the rules costs the next check some milliseconds."""
    before = table.scene.snapshot()
    with table.scene.allowing([]):
        assert table.scene.snapshot() is before
    assert table.scene.snapshot() is before


def test_copies_and_revisions(table: MotionPlanner) -> None:
    scene = table.scene
    twin, revision = scene.copy(), scene.revision
    scene.remove_object("cube_0")
    assert scene.revision == revision + 1
    assert "cube_0" in twin.object_names()


TCP = down(0.5, 0.0, 0.5)


@pytest.mark.parametrize(
    ("shape", "reach"),
    [
        (Box((0.1, 0.1, 0.1)), 0.05),
        (Sphere(0.05), 0.05),
        (Cylinder(0.05, 0.1), 0.05),
        (Capsule(0.02, 0.06), 0.05),
        (Mesh(vertices=np.array(np.meshgrid(*[[-0.05, 0.05]] * 3)).reshape(3, -1).T), 0.05),
    ],
    ids=lambda s: type(s).__name__,
)
def test_shapes_stand_where_they_are_put(
    planner: MotionPlanner, shape: object, reach: float
) -> None:
    """The lowest point of the fingers is known: 9.5 mm below the tool's centre."""
    q = joints(planner, TCP)
    for gap in (0.004, -0.004):
        planner.scene.add_object("thing", shape, at(0.5, 0.0, 0.4905 - gap - reach))
        distance = planner.distance(q, gripper_width=0.0)
        assert distance.distance == pytest.approx(gap, abs=1e-4)
        assert planner.check_state(q, gripper_width=0.0).ok is (gap > 0)


def test_half_space_is_solid_below(planner: MotionPlanner) -> None:
    q = joints(planner, down(0.5, 0.0, 0.08))
    planner.scene.add_object("floor", HalfSpace(), at(0, 0, 0.0665))
    assert planner.distance(q, gripper_width=0.0).distance == pytest.approx(0.004, abs=1e-4)
    planner.scene.move_object("floor", at(0, 0, 0.0725))
    assert {b for _, b, _ in planner.check_state(q).pairs} == {"floor"}


def test_a_report_names_the_pair_and_the_depth(table: MotionPlanner) -> None:
    q = joints(table, down(0.5, 0.0, 0.2))
    table.scene.move_object("cube_0", at(0.5, 0.0, 0.25))
    report = table.check_state(q)
    assert not report.ok
    assert any(b == "cube_0" and d > 0.005 for _, b, d in report.pairs)
    assert "cube_0" in report.text
    assert "mm" in report.text
    table.scene.move_object("cube_0", at(0.5, 0.0, 0.05))
    assert table.check_state(q).ok
    outside = q.copy()
    outside[3] = 0.0
    assert "panda_joint4" in table.check_state(outside).text


def test_fingers_collide_by_width(table: MotionPlanner) -> None:
    q = joints(table, down(0.45, 0.2, CUBE / 2 + 0.02))
    assert table.check_state(q, gripper_width=0.08).ok
    assert not table.check_state(q, gripper_width=0.04).ok


def test_held_objects_collide_with_world_and_links(table: MotionPlanner) -> None:
    scene = table.scene
    q = joints(table, down(0.45, 0.2, 0.1))
    scene.attach_object("cube_0", "tool", link_T_object=at(0, 0, 0.0))
    assert table.check_state(q).ok
    low = joints(table, down(0.45, -0.1, 0.03))
    scene.attach_object("cube_0", "tool", link_T_object=at(0, 0, 0.02))
    report = table.check_state(low)
    assert {("cube_0", "table")} == {(a, b) for a, b, _ in report.pairs}
    scene.add_object("rod", Box((0.02, 0.02, 2.0)), at(2.0, 0.0, 0.0))
    scene.attach_object("rod", "tool", link_T_object=at(0, 0, -0.3))
    assert any("panda_link" in a for a, b, _ in table.check_state(q).pairs if b == "rod")


def test_the_base_may_stand_on_the_floor(planner: MotionPlanner) -> None:
    planner.scene.add_object("floor", HalfSpace(), at(0, 0, 0.0))
    assert planner.check_state(planner.robot.named["home"]).ok


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_moves_and_rebuilds_agree(robot: RobotModel, data: st.DataObject) -> None:
    """Whatever the history of the scene, answers equal those of a planner made afresh."""
    planner = EmbeddedPlanner(robot)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    for _ in range(6):
        action = data.draw(st.sampled_from(["add", "move", "remove", "attach", "detach", "allow"]))
        scene = planner.scene
        names, held = scene.object_names(), scene.attached()
        loose = [n for n in names if n not in held]
        pose = at(*rng.uniform([0.2, -0.4, 0.1], [0.6, 0.4, 0.7]))
        if action == "add" or not names:
            scene.add_object(f"o{rng.integers(5)}", Box((0.15, 0.1, 0.2)), pose)
        elif action == "move" and loose:
            scene.move_object(loose[0], pose)
        elif action == "remove":
            scene.remove_object(names[0])
        elif action == "attach" and loose:
            scene.attach_object(loose[-1], "panda_hand", link_T_object=at(0, 0, 0.2))
        elif action == "detach" and held:
            name, thing = next(iter(held.items()))
            scene.add_object(name, thing.shape, pose)
        elif action == "allow":
            scene.allow_collision(names[0], "panda_link*")
        fresh = EmbeddedPlanner(robot, scene.copy())
        for _ in range(5):
            q = robot.random_configuration(rng)
            ours, theirs = planner.check_state(q).pairs, fresh.check_state(q).pairs
            assert [p[:2] for p in ours] == [p[:2] for p in theirs]
            # How deep, coal tells to some tenths of a micrometre: it goes on from its last answer.
            np.testing.assert_allclose([p[2] for p in ours], [p[2] for p in theirs], atol=1e-6)
