# SPDX-License-Identifier: Apache-2.0
"""Objects written to bytes are those that rclpy reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("behavior_msgs.msg")

from behavior_msgs.msg import SceneObject as SceneObjectMsg
from behavior_msgs.msg import SceneObjectArray
from rclpy.serialization import deserialize_message
from scipy.spatial.transform import Rotation
from shape_msgs.msg import SolidPrimitive

from behavior_motion.object_state import ObjectState
from behavior_ros import to_time
from behavior_scene.library import Shape
from behavior_scene.node.conversion import object_message
from behavior_scene.node.object_wire import write_snapshot
from behavior_scene.objects.snapshot import SceneObject, Snapshot

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.floats(-1e6, 1e6)
SHAPES = {
    "none": (0, 0),
    "box": (SolidPrimitive.BOX, 3),
    "sphere": (SolidPrimitive.SPHERE, 1),
    "cylinder": (SolidPrimitive.CYLINDER, 2),
}


def some(number, values=NUMBERS):
    return st.tuples(*[values] * number)


@st.composite
def objects(draw):
    pose = np.eye(4)
    pose[:3, 3] = draw(some(3))
    pose[:3, :3] = Rotation.from_rotvec(draw(some(3, st.floats(-2.0, 2.0)))).as_matrix()
    kind = draw(st.sampled_from(sorted(SHAPES)))
    # As singles, which is what the message has of them.
    color = tuple(np.float32(draw(some(4, st.floats(0.0, 1.0)))).tolist())
    return SceneObject(
        name=draw(TEXTS),
        class_id=draw(TEXTS),
        state=draw(st.sampled_from(ObjectState)),
        world_T_object=pose,
        velocity=draw(some(3)),
        covariance=draw(some(36)),
        shape=Shape(kind, draw(some(SHAPES[kind][1], st.floats(0.01, 9.0)))),
        color=color,
        confidence=float(np.float32(draw(st.floats(0.0, 1.0)))),
        last_seen=draw(st.floats(0.0, 2e9)),
        attached_link=draw(TEXTS),
        kind=draw(TEXTS),
        sources=tuple(draw(st.lists(TEXTS, max_size=3))),
        text=draw(TEXTS),
    )


def check(message, obj):
    """Every field, by its name."""
    told = {"name", "class_id", "state", "confidence", "attached_link", "kind", "text"}
    assert all(getattr(message, field) == getattr(obj, field) for field in told)
    p, q = message.pose.position, message.pose.orientation
    assert (p.x, p.y, p.z) == tuple(obj.world_T_object[:3, 3])
    turn = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    assert np.allclose(turn, obj.world_T_object[:3, :3], atol=1e-9)
    velocity, turning = message.velocity.linear, message.velocity.angular
    assert (velocity.x, velocity.y, velocity.z) == obj.velocity
    assert (turning.x, turning.y, turning.z) == (0.0, 0.0, 0.0)
    assert tuple(message.pose_covariance) == obj.covariance
    assert message.shape.type == SHAPES[obj.shape.kind][0]
    assert tuple(message.shape.dimensions) == obj.shape.size
    assert not message.shape.polygon.points
    assert (message.color.r, message.color.g, message.color.b, message.color.a) == obj.color
    assert message.last_seen == to_time(obj.last_seen)
    assert tuple(message.sources) == obj.sources
    told |= {"pose", "velocity", "pose_covariance", "shape", "color", "last_seen", "sources"}
    assert told == set(SceneObjectMsg.get_fields_and_field_types()), "fields nobody looks at"


@given(st.lists(objects(), max_size=4, unique_by=lambda obj: obj.name))
def test_all_that_is_written_of_a_snapshot_is_read(every):
    snapshot = Snapshot(revision=2**40, stamp=12.5, objects={obj.name: obj for obj in every})
    data = write_snapshot(snapshot, "world")
    message = deserialize_message(data, SceneObjectArray)
    assert (message.header.frame_id, message.revision) == ("world", 2**40)
    assert message.header.stamp == to_time(12.5)
    assert len(message.objects) == len(every)
    for read, obj in zip(message.objects, every, strict=True):
        check(read, obj)


@given(objects())
def test_one_object_is_the_same_as_in_a_snapshot(obj):
    check(object_message(obj), obj)
