# SPDX-License-Identifier: Apache-2.0
"""Objects as serialized messages: ten snapshots a second, each with all of them.

It is half of the work of filling messages and having them serialized.
"""

from __future__ import annotations

from shape_msgs.msg import SolidPrimitive

from behavior_ros import to_time
from behavior_ros.messages.rotations import pose_numbers
from behavior_ros.messages.wire import WireWriter
from behavior_scene.objects.snapshot import SceneObject, Snapshot

_PRIMITIVES = {
    "box": SolidPrimitive.BOX,
    "sphere": SolidPrimitive.SPHERE,
    "cylinder": SolidPrimitive.CYLINDER,
}


def write_snapshot(snapshot: Snapshot, frame: str) -> bytes:
    """The `behavior_msgs/SceneObjectArray` of a snapshot; `frame` is that of all poses."""
    wire = WireWriter()
    wire.stamp(to_time(snapshot.stamp))
    wire.text(frame)
    wire.numbers("Q", snapshot.revision)
    wire.numbers("I", len(snapshot.objects))
    for obj in snapshot.objects.values():
        _write(wire, obj)
    return wire.message()


def write_object(obj: SceneObject) -> bytes:
    """The `behavior_msgs/SceneObject` of one object."""
    wire = WireWriter()
    _write(wire, obj)
    return wire.message()


def _write(wire: WireWriter, obj: SceneObject) -> None:
    wire.text(obj.name)
    wire.text(obj.class_id)
    wire.numbers("B", int(obj.state))
    pose, standstill = pose_numbers(obj.world_T_object), (0.0, 0.0, 0.0)
    wire.numbers("49d", *pose, *obj.velocity, *standstill, *obj.covariance)
    is_body = obj.shape.kind != "none"  # a mere frame has no type, no dimensions
    wire.numbers("B", _PRIMITIVES[obj.shape.kind] if is_body else 0)
    _write_numbers(wire, obj.shape.size if is_body else ())
    wire.numbers("I", 0)  # points of a polygon, which is the base of a prism
    wire.numbers("5f", *obj.color, obj.confidence)
    wire.stamp(to_time(obj.last_seen))
    wire.text(obj.attached_link)
    wire.text(obj.kind)
    wire.numbers("I", len(obj.sources))
    for source in obj.sources:
        wire.text(source)
    wire.text(obj.text)


def _write_numbers(wire: WireWriter, numbers: tuple[float, ...]) -> None:
    wire.numbers("I", len(numbers))
    if numbers:
        wire.numbers(f"{len(numbers)}d", *numbers)
