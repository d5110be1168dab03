# SPDX-License-Identifier: Apache-2.0
"""What there is to see in 3D: objects, joints, frames and markers, as channels."""

from __future__ import annotations

from typing import Any

from behavior_console.channels import Channels
from behavior_console.reducers.plain import color, numbers, point, pose, quaternion, seconds, short

_STATES = ("tracked", "stale", "frozen", "attached", "lost")
_SHAPES = ("none", "box", "sphere", "cylinder", "cone", "prism")
MOST_POINTS = 2_000
"""Of one marker."""
MOST_MARKERS = 500
_DELETE, _DELETE_ALL = 2, 3


def take_objects(channels: Channels, message: Any) -> None:
    """``behavior_msgs/SceneObjectArray``."""
    stamp = seconds(message.header.stamp)
    frame = message.header.frame_id
    found = {each.name: _object_row(each, frame, stamp) for each in message.objects}
    channels.replace("objects", found)


def _object_row(each: Any, frame: str, stamp: float) -> dict[str, Any]:
    covariance = each.pose_covariance
    deviations = [max(0.0, float(covariance[7 * axis])) ** 0.5 for axis in range(6)]
    seen = seconds(each.last_seen)
    return {
        "frame": frame,
        "class": each.class_id,
        "state": _STATES[each.state] if each.state < len(_STATES) else "",
        "pose": pose(each.pose),
        "velocity": point(each.velocity.linear),
        # Standard deviations x y z [m], roll pitch yaw [rad]; all 0: unknown.
        "deviation": numbers(deviations),
        "shape": _SHAPES[each.shape.type] if each.shape.type < len(_SHAPES) else "none",
        "size": numbers(each.shape.dimensions),
        "color": color(each.color),
        "confidence": float(each.confidence),
        "seen": seen or None,
        "link": each.attached_link,
        "kind": each.kind,
        "sources": list(each.sources),
        "text": short(each.text),
        "t": stamp,
    }


def take_joints(channels: Channels, message: Any) -> None:
    """``sensor_msgs/JointState``: positions [rad or m] by name; several drivers may tell theirs."""
    with channels.lock:
        before = channels.value("joints") or {}
        positions = dict(zip(message.name, numbers(message.position), strict=False))
        channels.set("joints", {**before, **positions})


def take_transforms(channels: Channels, message: Any) -> None:
    """``tf2_msgs/TFMessage``: parent, xyz [m], quaternion xyzw of each frame."""
    channels.patch(
        "transforms",
        {
            each.child_frame_id: [
                each.header.frame_id,
                point(each.transform.translation),
                quaternion(each.transform.rotation),
            ]
            for each in message.transforms
        },
    )


def take_markers(channels: Channels, message: Any, source: str) -> None:
    """``visualization_msgs/MarkerArray`` of one topic."""
    with channels.lock:
        for marker in message.markers[:MOST_MARKERS]:
            if marker.action == _DELETE_ALL:
                mine = (key for key in channels.value("markers") if key.startswith(f"{source}:"))
                channels.patch("markers", dict.fromkeys(mine))
                continue
            key = f"{source}:{marker.ns}:{marker.id}"
            row = None if marker.action == _DELETE else _marker_row(marker)
            channels.patch("markers", {key: row})


def _marker_row(marker: Any) -> dict[str, Any]:
    return {
        "frame": marker.header.frame_id,
        "type": int(marker.type),
        "pose": pose(marker.pose),
        "scale": point(marker.scale),
        "color": color(marker.color),
        "points": [point(each) for each in marker.points[:MOST_POINTS]],
        "text": short(marker.text),
    }
