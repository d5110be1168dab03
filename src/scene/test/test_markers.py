# SPDX-License-Identifier: Apache-2.0
"""Markers of objects, tracks and shapes, and that what vanishes is deleted."""

from dataclasses import replace

import numpy as np
import pytest
from geometry_msgs.msg import Pose
from std_msgs.msg import Header
from visualization_msgs.msg import Marker

from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from behavior_motion.object_state import ObjectState
from behavior_scene import ObjectClass, ObjectLibrary, Tracker, checked_detection
from behavior_scene.clouds.color import Hsv
from behavior_scene.library import Shape
from behavior_scene.node.markers import (
    REPEATED,
    STATE_COLORS,
    Drawn,
    MarkerLedger,
    object_markers,
    shape_markers,
    track_markers,
)
from behavior_scene.objects.snapshot import SceneObject
from behavior_scene.questions.questions import Answer, Question
from behavior_scene.questions.shown_shapes import SHOWN, ShownShape, ShownShapes

BLUE = (0.1, 0.2, 0.9, 1.0)


def obj(**changes):
    pose = np.eye(4)
    pose[:3, 3] = (1.0, 2.0, 3.0)
    made = SceneObject(
        name="cup",
        class_id="cup",
        state=ObjectState.TRACKED,
        world_T_object=pose,
        velocity=(0.0, 0.0, 0.0),
        covariance=(0.0,) * 36,
        shape=Shape("cylinder", (0.1, 0.04)),
        color=BLUE,
        confidence=0.9,
        last_seen=1.0,
    )
    return replace(made, **changes)


def color_of(marker):
    return pytest.approx((marker.color.r, marker.color.g, marker.color.b, marker.color.a))


def test_objects_show_shape_and_state():
    body, label = (drawn.marker for drawn in object_markers(obj()))
    assert (body.type, body.scale.x, body.scale.z) == (Marker.CYLINDER, 0.08, 0.1)
    assert color_of(body) == BLUE
    assert label.text == "cup"
    assert label.pose.position.z > 3.05
    for state, color in STATE_COLORS.items():
        body, label = (drawn.marker for drawn in object_markers(obj(state=state)))
        assert color_of(body) == color
        assert label.text == f"cup ({state.name.lower()})"
    (arrow, _) = (drawn.marker for drawn in object_markers(obj(shape=Shape("none", ()))))
    assert arrow.type == Marker.ARROW


def test_tracks_show_whether_they_are_believed_and_where_they_go():
    tracker = Tracker(ObjectLibrary({"ball": ObjectClass("ball")}))
    for step in range(40):
        detection = checked_detection(
            class_id="ball",
            stamp=1.0 + 0.1 * step,
            confidence=0.8,
            position=(0.05 * step, 0.0, 0.0),
            quaternion=(0, 0, 0, 1),
            world_T_frame=np.eye(4),
        )
        tracker.update([detection])
    (track,) = tracker.tracks.values()
    markers = {drawn.key: drawn.marker for drawn in track_markers(track)}
    assert "ball" in next(m.text for m in (d.marker for d in track_markers(track)) if m.text)
    start, end = markers[f"{track.name} motion"].points
    assert end.x - start.x == pytest.approx(0.25, abs=0.1)
    track.velocity = np.zeros(3)
    assert f"{track.name} motion" not in {drawn.key for drawn in track_markers(track)}


def shown(shape, answer, question=Question.CONTAINS_POINTS):
    return ShownShape("key", question, shape, np.eye(4), answer)


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        (Sphere(0.1), [Marker.SPHERE]),
        (Box((0.1, 0.2, 0.3)), [Marker.CUBE]),
        (Cylinder(0.1, 0.2), [Marker.CYLINDER]),
        (Capsule(0.1, 0.2), [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE]),
        (Mesh(vertices=np.vstack([np.zeros(3), np.eye(3)])), [Marker.TRIANGLE_LIST]),
    ],
)
def test_shapes_show_the_answer_and_what_was_found(shape, kinds):
    *parts, label = (drawn.marker for drawn in shape_markers(shown(shape, Answer(True, 7.0))))
    assert [part.type for part in parts] == kinds
    assert all(part.color.g > part.color.r for part in parts)
    assert label.text == "7 points"
    if kinds == [Marker.TRIANGLE_LIST]:
        assert len(parts[0].points) == 12
    no = Answer(False, 9.0, mean=Hsv(120.0, 0.5, 0.25))
    part, *_, label = (drawn.marker for drawn in shape_markers(shown(shape, no)))
    assert part.color.r > part.color.g
    assert label.text == "9 points\nhue 120 sat 0.50 val 0.25"
    frame = shown(shape, Answer(False, 0.25), Question.CONTAINS_FRAME)
    assert shape_markers(frame)[-1].marker.text == "0.250 m"


def drawn(*keys):
    return [Drawn("objects", key, Marker(pose=Pose())) for key in keys]


def actions(array):
    return [(marker.id, marker.action) for marker in array.markers]


def test_what_vanishes_is_deleted_some_times_and_numbers_stay():
    ledger, header = MarkerLedger(), Header(frame_id="world")
    first = actions(ledger.array(drawn("a", "b"), header))
    assert [action for _, action in first] == [Marker.ADD, Marker.ADD]
    number = first[1][0]
    assert actions(ledger.array(drawn("b"), header)) == [(number, Marker.ADD), (0, Marker.DELETE)]
    for _ in range(REPEATED - 1):
        assert (0, Marker.DELETE) in actions(ledger.array(drawn("b"), header))
    assert actions(ledger.array(drawn("b"), header)) == [(number, Marker.ADD)]
    again = actions(ledger.array(drawn("a", "b"), header))
    assert len({number for number, _ in again}) == 2
    assert {action for _, action in again} == {Marker.ADD}


def test_what_comes_back_is_not_deleted():
    ledger, header = MarkerLedger(), Header(frame_id="world")
    ledger.array(drawn("a"), header)
    ledger.array(drawn(), header)
    assert actions(ledger.array(drawn("a"), header)) == [(0, Marker.ADD)]


def test_shapes_are_shown_for_a_while_after_the_last_answer():
    shapes = ShownShapes()
    shapes.show(shown(Sphere(1.0), Answer(True, 1.0)), 10.0)
    shapes.show(shown(Sphere(2.0), Answer(True, 2.0)), 11.0)
    assert [each.answer.value for each in shapes.at(11.0 + SHOWN)] == [2.0]
    assert shapes.at(11.1 + SHOWN) == []
