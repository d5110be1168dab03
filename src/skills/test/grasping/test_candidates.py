# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_motion.object_state import ObjectState
from behavior_skills.grasping.candidates import (
    POOL,
    TILT_LIMIT,
    Grasp,
    from_above,
    grasp_pose,
    grasps_for,
    leaning,
    neighbour_penalty,
    ranked_grasps,
    tilt_of,
)
from behavior_skills.interfaces import ObjectView

EDGE = 0.0515


def block(at=(0.5, 0.0, EDGE / 2), rotation=None, size=(EDGE,) * 3, shape="box"):
    pose = np.eye(4)
    pose[:3, 3] = at
    if rotation is not None:
        pose[:3, :3] = rotation.as_matrix()
    return ObjectView("block", ObjectState.TRACKED, pose, shape, size, 0.0)


def ranked(obj, neighbours=(), max_tilt=TILT_LIMIT, **kwargs):
    return ranked_grasps(obj, grasps_for(obj, 0.08), neighbours, max_tilt, **kwargs)


def test_a_cube_has_24_distinct_proper_grasps():
    grasps = grasps_for(block(), 0.08)
    assert len(grasps) == 24
    assert len({tuple(np.round(grasp.object_T_tool, 6).ravel()) for grasp in grasps}) == 24
    for grasp in grasps:
        assert np.linalg.det(grasp.object_T_tool[:3, :3]) == pytest.approx(1.0)
        assert grasp.width == pytest.approx(EDGE)


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "count"), [(0, 4), (20, 4), (25.8, 4), (25.9, 0), (30, 0)])
@given(direction=st.floats(0, 2 * math.pi))
@settings(deadline=None)
def test_tilted_block_offers_grasps_up_to_the_limit(degrees, count, direction):
    axis = np.array([math.cos(direction), math.sin(direction), 0.0])
    # Tilted about a horizontal axis that lies along one of the block's edges.
    yaw = Rotation.from_euler("z", direction)
    rotation = Rotation.from_rotvec(math.radians(degrees) * axis) * yaw
    assert len(ranked(block(rotation=rotation))) == count


def test_tilt_limit_is_that_of_the_facts():
    assert math.degrees(TILT_LIMIT) == pytest.approx(25.84, abs=0.005)


def test_neighbour_penalty_turns_the_fingers_away():
    # Base-direction alone would take the fingers along y, where a neighbour stands.
    obj = block(at=(0.5, 0.0, EDGE / 2))
    best = ranked(obj)[0]
    base_T_tool = obj.base_T_object @ best.object_T_tool
    assert abs(base_T_tool[1, 1]) == pytest.approx(1.0)
    neighbour = np.array([0.5, 0.06, EDGE / 2])
    penalty = neighbour_penalty(np.array([0.0, 1.0, 0.0]), obj.base_T_object[:3, 3], [neighbour])
    assert penalty == pytest.approx(-10 * math.exp(-0.08), abs=0.01)
    best = ranked(obj, [neighbour])[0]
    base_T_tool = obj.base_T_object @ best.object_T_tool
    assert abs(base_T_tool[0, 1]) == pytest.approx(1.0)


@given(st.floats(-math.pi, math.pi), st.floats(0.3, 0.7), st.floats(-0.4, 0.4))
@settings(deadline=None)
def test_best_grasp_points_the_tool_outward_and_down(yaw, x, y):
    obj = block(at=(x, y, EDGE / 2), rotation=Rotation.from_euler("z", yaw))
    tool = obj.base_T_object @ ranked(obj)[0].object_T_tool
    assert tilt_of(tool) == pytest.approx(0.0, abs=1e-6)
    outward = np.array([x, y, 0.0]) / math.hypot(x, y)
    assert tool[:3, 0] @ outward >= math.cos(math.radians(45)) - 1e-9


def test_leaning_keeps_the_fingers_flat_and_comes_behind_the_plain_grasp():
    obj = block()
    grasps = ranked(obj, lean=True)
    assert grasps[0].lean == 0.0
    assert any(grasp.lean > 0 for grasp in grasps)
    for grasp in grasps:
        assert tilt_of(obj.base_T_object @ grasp.object_T_tool) <= TILT_LIMIT + 1e-9
    plain = grasps_for(obj, 0.08)[0]
    for grasp in leaning(plain):
        np.testing.assert_allclose(grasp.object_T_tool[:3, 1], plain.object_T_tool[:3, 1])


def test_too_thick_objects_offer_only_the_faces_that_fit():
    assert grasps_for(block(size=(0.1, 0.1, 0.1)), 0.08) == []
    flat = block(size=(0.2, 0.04, 0.1))
    for grasp in grasps_for(flat, 0.08):
        assert grasp.width == pytest.approx(0.04)
        assert abs(grasp.object_T_tool[1, 1]) == pytest.approx(1.0)


def test_tall_box_is_held_below_its_top():
    tall = block(at=(0.5, 0, 0.1), size=(0.04, 0.04, 0.2))
    tool = tall.base_T_object @ ranked(tall)[0].object_T_tool
    assert tool[2, 3] == pytest.approx(0.2 - 0.03)


def test_upright_cylinder_is_taken_from_above_and_a_lying_one_across():
    can = block(shape="cylinder", size=(0.1, 0.03))
    upright = ranked(can)
    assert len(upright) == 8
    assert len({tuple(np.round(g.object_T_tool[:3, 1], 6)) for g in upright}) == 8
    lying = block(shape="cylinder", size=(0.1, 0.03), rotation=Rotation.from_euler("x", 90, True))
    for grasp in ranked(lying):
        tool = lying.base_T_object @ grasp.object_T_tool
        axis = lying.base_T_object[:3, 2]
        assert abs(tool[:3, 1] @ axis) < 1e-6


def test_ball_is_taken_from_above():
    ball = block(shape="sphere", size=(0.03,))
    assert len(ranked(ball)) == 4


def test_without_a_limit_every_side_is_offered_those_from_above_first():
    obj = block()
    tilts = [
        tilt_of(obj.base_T_object @ grasp.object_T_tool) for grasp in ranked(obj, max_tilt=math.pi)
    ]
    assert len(tilts) == POOL
    assert tilts[0] == pytest.approx(0.0, abs=1e-6)
    assert any(tilt > math.radians(80) for tilt in tilts)


def test_of_grasps_that_nobody_chose_those_from_above_count_where_there_are_any():
    assert len(from_above(block(), grasps_for(block(), 0.08))) == 4
    tilted = block(rotation=Rotation.from_euler("x", 45, True))
    assert len(from_above(tilted, grasps_for(tilted, 0.08))) == 24


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_pool_is_the_best_by_score_and_posture_breaks_ties(seed):
    rng = np.random.default_rng(seed)
    obj = block()
    poses = [grasp.object_T_tool for grasp in grasps_for(obj, 0.08)]
    scores = rng.integers(0, 8, 60).astype(float)
    offered = [Grasp(poses[i % 24], 0.0, score=value) for i, value in enumerate(scores)]
    pool = ranked_grasps(obj, offered, [])
    assert [grasp.score for grasp in pool] == sorted(scores)[:POOL]
    plain = [Grasp(grasp.object_T_tool, 0.0) for grasp in pool if grasp.score == pool[0].score]
    alone = ranked_grasps(obj, plain, [])
    for first, again in zip(pool, alone, strict=False):
        assert np.array_equal(first.object_T_tool, again.object_T_tool)


def test_the_best_score_comes_first_however_uncomfortable():
    obj = block()
    good = [Grasp(grasp.object_T_tool, 0.0, score=1.0) for grasp in ranked(obj, lean=True)] * 3
    from_below = Grasp(grasp_pose([0, 0, 1], [0, 1, 0], 0.0), 0.0, score=0.5)
    assert ranked_grasps(obj, [*good, from_below], [])[0] is from_below
