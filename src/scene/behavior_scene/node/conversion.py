# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the scene's own types; the only place that knows both."""

from __future__ import annotations

import math
from collections.abc import Callable

from behavior_msgs.msg import SceneObject as SceneObjectMsg
from behavior_msgs.msg import SceneObjectArray, SceneTrack, SceneTrackArray, Sighting
from geometry_msgs.msg import TransformStamped, Vector3
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import Header
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

from behavior_motion.object_state import ObjectState
from behavior_ros import matrix_to_pose, seconds, to_time
from behavior_ros.conversions import fill_pose, fill_transform
from behavior_scene.detections import Array, Defect, Detection, checked_detections
from behavior_scene.memory.store import Sighted
from behavior_scene.objects.snapshot import SceneObject, Snapshot
from behavior_scene.tracking.tracker import Tracker
from behavior_scene.tracking.tracks import Track

FramePose = Callable[[str, float], Array | None]
"""world_T_frame at a time [s], or None if it is not known."""

_PRIMITIVES = {
    "box": SolidPrimitive.BOX,
    "sphere": SolidPrimitive.SPHERE,
    "cylinder": SolidPrimitive.CYLINDER,
}


def detections_from(
    message: Detection3DArray,
    frame_pose: FramePose,
    *,
    detector: str = "",
    limit: int | None = None,
) -> list[Detection | Defect]:
    """One detection, or the reason why there is none, for each entry of the message.

    A detection may carry its own frame and stamp; where it does not, the array's count.

    Args:
        message: of a detector.
        frame_pose: world_T_frame at a time.
        detector: name of the detector.
        limit: of more entries the most confident are looked at, the others are too many.
    """
    entries = list(message.detections)
    best = [_best(entry) for entry in entries]
    chosen = _most_confident(best, limit)
    found: list[Detection | Defect] = [Defect.TOO_MANY] * (len(entries) - len(chosen))
    array_stamp = seconds(message.header.stamp)
    world_T_frames: dict[tuple[str, float], Array | None] = {}
    results: list[ObjectHypothesisWithPose] = []
    stamps, poses, sizes = [], [], []
    for index in chosen:
        header = entries[index].header
        stamp = seconds(header.stamp) or array_stamp
        at = (header.frame_id or message.header.frame_id, stamp)
        if at not in world_T_frames:
            world_T_frames[at] = frame_pose(*at)
        world_T_frame, result = world_T_frames[at], best[index]
        if world_T_frame is None:
            found.append(Defect.UNKNOWN_FRAME)
        elif result is None:
            found.append(Defect.NO_CLASS)
        else:
            results.append(result)
            stamps.append(stamp)
            poses.append(world_T_frame)
            sizes.append(entries[index].bbox.size)
    placed = [result.pose.pose for result in results]
    return found + checked_detections(
        class_ids=[result.hypothesis.class_id for result in results],
        stamps=stamps,
        confidences=[result.hypothesis.score for result in results],
        positions=[(p.position.x, p.position.y, p.position.z) for p in placed],
        quaternions=[
            (p.orientation.x, p.orientation.y, p.orientation.z, p.orientation.w) for p in placed
        ],
        world_T_frames=poses,
        sizes=[(size.x, size.y, size.z) for size in sizes],
        covariances=[result.pose.covariance for result in results],
        detector=detector,
    )


def _best(entry: Detection3D) -> ObjectHypothesisWithPose | None:
    """The surest hypothesis, if there is one."""
    results = entry.results
    return results[0] if len(results) == 1 else max(results, key=_score, default=None)


def _score(result: ObjectHypothesisWithPose) -> float:
    score = float(result.hypothesis.score)
    return score if math.isfinite(score) else 0.0


def _most_confident(best: list[ObjectHypothesisWithPose | None], limit: int | None) -> list[int]:
    """Indices of the entries to look at, in the order of the message."""
    if limit is None or len(best) <= limit:
        return list(range(len(best)))
    scores = [_score(result) if result is not None else -1.0 for result in best]
    return sorted(sorted(range(len(best)), key=lambda index: (-scores[index], index))[:limit])


def track_message(track: Track, now: float) -> SceneTrack:
    """One track as a message; `now` [s] is on the clock of the stamps."""
    frequency = track.history.frequency(now)
    x, y, z = track.velocity.tolist()
    length, width, height = track.size
    return SceneTrack(
        id=track.name,
        class_id=track.object_class.name,
        stable=track.confirmed,
        pose=matrix_to_pose(track.world_T_object),
        pose_covariance=track.covariance.ravel().tolist(),
        velocity=Vector3(x=x, y=y, z=z),
        size=Vector3(x=length, y=width, z=height),
        confidence=track.confidence,
        history=len(track.history),
        frequency=frequency if math.isfinite(frequency) else 0.0,
        last_seen=to_time(track.newest.stamp),
    )


def tracks_message(tracker: Tracker, now: float, frame: str) -> SceneTrackArray:
    """Everything that is followed, the longest history first, in the fixed frame `frame`."""
    tracks = sorted(tracker.tracks.values(), key=lambda track: -len(track.history))
    return SceneTrackArray(
        header=Header(stamp=to_time(now), frame_id=frame),
        tracks=[track_message(track, now) for track in tracks],
    )


def object_message(thing: SceneObject) -> SceneObjectMsg:
    """One object as a message."""
    message = SceneObjectMsg()
    message.name, message.class_id, message.state = thing.name, thing.class_id, int(thing.state)
    fill_pose(message.pose, thing.world_T_object)
    message.pose_covariance = list(thing.covariance)
    if thing.shape.kind != "none":  # of a mere frame: no type, no dimensions
        message.shape.type = _PRIMITIVES[thing.shape.kind]
        message.shape.dimensions = list(thing.shape.size)
    color, velocity = message.color, message.velocity.linear
    color.r, color.g, color.b, color.a = thing.color
    velocity.x, velocity.y, velocity.z = thing.velocity
    message.confidence, message.last_seen = thing.confidence, to_time(thing.last_seen)
    message.attached_link, message.kind = thing.attached_link, thing.kind
    message.sources, message.text = list(thing.sources), thing.text
    return message


def sighting_message(sighted: Sighted) -> Sighting:
    """Where an object was when."""
    message = Sighting(
        name=sighted.name, class_id=sighted.class_id, confidence=float(sighted.confidence)
    )
    message.pose.header.frame_id = sighted.frame
    message.pose.header.stamp = to_time(sighted.stamp)
    position, turn = message.pose.pose.position, message.pose.pose.orientation
    position.x, position.y, position.z = sighted.position
    turn.x, turn.y, turn.z, turn.w = sighted.quaternion
    return message


def snapshot_message(snapshot: Snapshot, frame: str) -> SceneObjectArray:
    """The whole scene as a message in the fixed frame `frame`."""
    return SceneObjectArray(
        header=Header(stamp=to_time(snapshot.stamp), frame_id=frame),
        revision=snapshot.revision,
        objects=[object_message(thing) for thing in snapshot.objects.values()],
    )


def object_transforms(snapshot: Snapshot, frame: str) -> list[TransformStamped]:
    """Frames of all objects that are not lost, as children of `frame`."""
    stamp = to_time(snapshot.stamp)
    messages = []
    for thing in snapshot.objects.values():
        if thing.state is not ObjectState.LOST:
            message = TransformStamped()
            message.header.stamp, message.header.frame_id = stamp, frame
            message.child_frame_id = thing.name
            fill_transform(message.transform, thing.world_T_object)
            messages.append(message)
    return messages
