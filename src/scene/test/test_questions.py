# SPDX-License-Identifier: Apache-2.0
"""Questions as functions of a snapshot and a cloud."""

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Sphere
from behavior_motion.object_state import ObjectState
from behavior_scene import BadQuestionError, NoPointsError, Query, Question, answer
from behavior_scene.clouds.cloud import Cloud
from behavior_scene.clouds.color import HsvRange
from behavior_scene.library import Shape
from behavior_scene.objects.scene import UnknownObjectError
from behavior_scene.objects.snapshot import SceneObject, Snapshot
from behavior_scene.questions.questions import Context, PlacedCloud, counts


def placed(at, turn=None):
    pose = np.eye(4)
    pose[:3, 3] = at
    if turn is not None:
        pose[:3, :3] = turn.as_matrix()
    return pose


def obj(name, at, shape=("box", 0.1, 0.1, 0.1), turn=None, **changes):
    made = SceneObject(
        name=name,
        class_id=name,
        state=ObjectState.TRACKED,
        world_T_object=placed(at, turn),
        velocity=(0.0, 0.0, 0.0),
        covariance=(0.0,) * 36,
        shape=Shape(shape[0], tuple(shape[1:])),
        color=(1.0, 0.0, 0.0, 1.0),
        confidence=0.9,
        last_seen=10.0,
    )
    return replace(made, **changes)


FRAMES = {"base": np.eye(4), "hand": placed((0.4, 0.0, 0.3))}


def scene(*things, cloud=None, before=None):
    return Context(
        Snapshot(7, 10.0, MappingProxyType({each.name: each for each in things})),
        FRAMES.get,
        lambda name, time: placed(before),
        cloud=cloud,
    )


def ask(context, question, name, **options):
    return answer(context, Query(Question[question], name, **options))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("DISTANCE", math.hypot(0.3, 0.4, 0.3)),
        ("DISTANCE_XY", 0.5),
        ("DISTANCE_Z", -0.3),
        ("DISTANCE_Z_ABS", 0.3),
    ],
)
def test_distances_between_objects_and_frames(question, value):
    context = scene(obj("cup", (0.7, 0.4, 0.0)))
    found = ask(context, question, "cup", reference="hand", minimum=value - 0.01, maximum=1.0)
    assert found.answer
    assert found.value == pytest.approx(value)
    assert "within" in found.text
    assert "hand" in found.text
    below = ask(context, question, "cup", reference="hand", minimum=-9, maximum=value - 0.01)
    assert not below.answer
    assert "not within" in below.text


def test_reachable_goes_by_distance_and_says_so():
    found = ask(scene(obj("cup", (0.6, 0, 0))), "REACHABLE", "cup", reference="base", maximum=0.8)
    assert found.answer
    assert "nothing was planned" in found.text


def test_seen_by_bounds_or_by_the_rule_of_the_scene():
    context = scene(obj("fresh", (0, 0, 0), last_seen=9.5), obj("old", (0, 0, 0), last_seen=2))
    assert ask(context, "VISIBLE", "fresh").answer
    assert not ask(context, "STALE", "fresh").answer
    assert not ask(context, "VISIBLE", "old").answer
    assert ask(context, "STALE", "old").answer
    assert ask(context, "VISIBLE", "old", maximum=9.0).answer
    assert not ask(context, "VISIBLE", "fresh", maximum=0.4).answer
    assert ask(context, "STALE", "old", minimum=5.0, maximum=math.inf).value == pytest.approx(8.0)


def test_held_by_whom():
    held = obj("cup", (0, 0, 0), state=ObjectState.ATTACHED, attached_link="left_hand")
    assert ask(scene(held), "HELD", "cup").answer
    assert ask(scene(held), "HELD", "cup", reference="left_hand").answer
    found = ask(scene(held), "HELD", "cup", reference="right_hand")
    assert not found.answer
    assert "left_hand" in found.text


def test_moved_since():
    context = scene(obj("cup", (0.3, 0, 0)), before=(0.1, 0, 0))
    found = ask(context, "MOVED", "cup", since=5.0, minimum=0.15, maximum=9.0)
    assert found.answer
    assert found.value == pytest.approx(0.2)


QUARTER = Rotation.from_euler("z", 90, degrees=True)
TILT = Rotation.from_euler("x", 45, degrees=True)


@pytest.mark.parametrize(
    ("upper", "lower", "on_top"),
    [
        (("box", 0.1, 0.1, 0.1), ("box", 0.1, 0.1, 0.1), 0.1),
        (("sphere", 0.05), ("cylinder", 0.3, 0.2), 0.2),
        (("cylinder", 0.1, 0.05), ("sphere", 0.2), 0.25),
    ],
)
def test_on_top_of_wants_contact_and_the_centre_above(upper, lower, on_top):
    def found(x, z):
        return ask(
            scene(obj("a", (x, 0, z), upper), obj("b", (0, 0, 0), lower)),
            "ON_TOP_OF",
            "a",
            reference="b",
        )

    assert found(0.0, on_top).answer
    assert "touches" in found(0.0, on_top).text
    assert found(0.0, on_top + 0.1).value == pytest.approx(0.1)
    assert "hovers" in found(0.0, on_top + 0.1).text
    assert "reaches into" in found(0.0, on_top - 0.1).text
    beside = found(0.5, on_top)
    assert not beside.answer
    assert math.isnan(beside.value)
    assert not found(0.0, -on_top).answer


def test_on_top_of_a_box_that_lies_on_its_edge():
    lower = obj("b", (0, 0, 0), ("box", 0.4, 0.2, 0.2), TILT)
    top = 0.1 * math.sqrt(2.0)
    assert ask(scene(obj("a", (0, 0, top + 0.05)), lower), "ON_TOP_OF", "a", reference="b").answer
    # Beyond the upright footprint, but above the tilted box.
    lies = obj("a", (0, 0.12, top - 0.12 + 0.05))
    assert ask(scene(lies, lower), "ON_TOP_OF", "a", reference="b").answer


@pytest.mark.parametrize(
    ("shape", "turn", "inside", "outside"),
    [
        (("box", 0.4, 0.2, 0.2), None, (0.19, 0, 0), (0.21, 0, 0)),
        (("box", 0.4, 0.1, 0.1), QUARTER, (0, 0.19, 0), (0.19, 0, 0)),
        (("sphere", 0.2), None, (0.11, 0.11, 0.11), (0.12, 0.12, 0.12)),
        (("cylinder", 0.4, 0.1), None, (0, 0, 0.19), (0.08, 0.08, 0)),
    ],
)  # fmt: skip
def test_inside_by_the_oriented_shape(shape, turn, inside, outside):
    bin_ = obj("bin", (1, 1, 1), shape, turn)
    for offset, expected in ((inside, True), (outside, False)):
        found = ask(scene(obj("a", np.add(1, offset)), bin_), "INSIDE", "a", reference="bin")
        assert found.answer is expected
        assert (found.value < 0) is expected


def test_a_shape_contains_a_frame_where_it_is_placed():
    cup = obj("cup", (0.4, 0.0, 0.0), turn=Rotation.from_euler("y", 90, degrees=True))
    options = {"reference": "hand", "shape": Cylinder(radius=0.02, height=0.5)}
    # 0.3 m along the cup's -x axis, which points up: there the cylinder lies across.
    found = ask(
        scene(cup), "CONTAINS_FRAME", "cup", name_T_shape=placed((-0.3, 0.0, 0.24)), **options
    )
    assert found.answer
    assert found.value == pytest.approx(0.24)
    assert not ask(scene(cup), "CONTAINS_FRAME", "cup", **options).answer


def cloud_of(points, colors=None, world_T_cloud=None):
    world_T_cloud = np.eye(4) if world_T_cloud is None else world_T_cloud
    local = (np.asarray(points) - world_T_cloud[:3, 3]) @ world_T_cloud[:3, :3]
    x, y, z = (local[None, :, axis].astype(np.float32) for axis in range(3))
    rgb = None if colors is None else np.array([colors], dtype=np.uint32)
    return PlacedCloud(Cloud("camera", 9.9, x, y, z, rgb), world_T_cloud)


RED, BLUE = 0xFF1000, 0x0000FF


def test_points_are_counted_and_coloured_in_the_shape_at_the_object():
    camera = placed((1, 0, 1), Rotation.from_euler("xyz", (100, 20, 5), degrees=True))
    points = [(0.4, 0.0, 0.01), (0.4, 0.02, 0.0), (0.4, 0.0, -0.01), (0.9, 0.0, 0.0)]
    cloud = cloud_of(points, [RED, RED, BLUE, BLUE], camera)
    context = scene(obj("cup", (0.4, 0.0, 0.0)), cloud=cloud)
    ball = {"shape": Sphere(0.05), "minimum": 2, "maximum": 3}
    found = ask(context, "CONTAINS_POINTS", "cup", **ball)
    assert found.answer
    assert found.value == 3
    assert "3 points in the sphere at cup" in found.text
    red = HsvRange(hue_min=340, hue_max=30)
    assert not ask(context, "CONTAINS_POINTS", "cup", color=red, **ball).answer
    violet = ask(context, "CONTAINS_POINTS", "cup", color=HsvRange(hue_min=300), **ball)
    assert violet.answer
    assert violet.mean.hue == pytest.approx(332, abs=8)
    nothing = ask(context, "CONTAINS_POINTS", "hand", shape=Sphere(0.01), color=red)
    assert not nothing.answer
    assert "no points" in nothing.text
    grey = scene(obj("cup", (0.4, 0.0, 0.0)), cloud=cloud_of(points))
    without = ask(grey, "CONTAINS_POINTS", "cup", color=red, **ball)
    assert not without.answer
    assert "no colours" in without.text


unit = st.floats(-1, 1)


@settings(deadline=None, max_examples=40)
@given(st.tuples(unit, unit, unit), st.tuples(unit, unit, unit), st.integers(0, 2**32 - 1))
def test_where_the_camera_stands_does_not_change_the_count(turn, at, seed):
    points = np.random.default_rng(seed).uniform(0, 0.6, (400, 3))
    camera = placed(at, Rotation.from_rotvec(3 * np.array(turn)))
    shapes = [Sphere(0.2), Box((0.3, 0.2, 0.1)), Capsule(0.1, 0.2), Cylinder(0.1, 0.3)]
    queries = [Query(Question.CONTAINS_POINTS, "hand", shape=shape) for shape in shapes]
    local = points - FRAMES["hand"][:3, 3]
    from behavior_motion.collision.convex import signed_distance

    found = counts(scene(cloud=cloud_of(points, None, camera)), queries)
    for shape, count in zip(shapes, found, strict=True):
        depth = signed_distance(shape, local)
        sure, unsure = (depth < -1e-6).sum(), (abs(depth) <= 1e-6).sum()  # points are float32
        assert sure <= count.count <= sure + unsure


def test_what_is_not_known_is_named_with_what_is():
    context = scene(obj("blue_cup", (0, 0, 0)))
    for question, name, options in (
        ("DISTANCE", "blue_cup", {"reference": "blue_cap"}),
        ("HELD", "blue_cap", {}),
        ("CONTAINS_FRAME", "blue_cap", {"reference": "hand", "shape": Sphere(1)}),
    ):
        with pytest.raises(UnknownObjectError) as raised:
            ask(context, question, name, **options)
        assert raised.value.args[0] == "blue_cap"
    assert "Did you mean 'blue_cup'?" in context.unknown("blue_cap")
    with pytest.raises(NoPointsError):
        ask(context, "CONTAINS_POINTS", "blue_cup", shape=Sphere(1))


@pytest.mark.parametrize(
    ("question", "options", "text"),
    [
        ("DISTANCE", {}, "reference is empty"),
        ("DISTANCE", {"name": "", "reference": "b"}, "object is empty"),
        ("CONTAINS_FRAME", {"reference": "b"}, "shape is missing"),
        ("MOVED", {"minimum": 2.0, "maximum": 1.0}, "minimum <= maximum"),
        ("MOVED", {"maximum": math.nan}, "minimum <= maximum"),
    ],
)
def test_bad_questions_are_refused_in_words(question, options, text):
    with pytest.raises(BadQuestionError, match=text):
        Query(Question[question], **{"name": "a", **options})


def test_what_is_remembered_rather_than_seen_is_said():
    context = scene(obj("cup", (0, 0, 0), state=ObjectState.LOST))
    assert "(cup is lost)" in ask(context, "DISTANCE", "cup", reference="hand", maximum=9).text
