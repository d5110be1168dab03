# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the scene's own types; the only place that knows both."""

from __future__ import annotations

import math
from collections.abc import Callable

from behavior_msgs.msg import SceneObject as SceneObjectMsg
from behavior_msgs.msg import SceneTrack, SceneTrackArray, Sighting
from geometry_msgs.msg import Vector3
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from behavior_ros import matrix_to_pose, to_time
from behavior_scene.detections import Array, Defect, Detection, checked_detections
from behavior_scene.memory.store import Sighted
from behavior_scene.node.detection_wire import Hypothesis, WireDetections
from behavior_scene.node.object_wire import write_object
from behavior_scene.objects.snapshot import SceneObject
from behavior_scene.tracking.tracker import Tracker
from behavior_scene.tracking.tracks import Track

FramePose = Callable[[str, float], Array | None]
"""world_T_frame at a time [s], or None if it is not known."""

_SECOND = 1_000_000_000


def detections_from(
    image: WireDetections,
    frame_pose: FramePose,
    *,
    detector: str = "",
    limit: int | None = None,
) -> list[Detection | Defect]:
    """One detection, or the reason why there is none, for each entry of an image.

    A detection may carry its own frame and stamp; where it does not, the array's count.

    Args:
        image: of a detector.
        frame_pose: world_T_frame at a time.
        detector: name of the detector.
        limit: of more entries the most confident are looked at, the others are too many.
    """
    entries = image.entries
    best = [max(entry.hypotheses, key=_score, default=None) for entry in entries]
    chosen = _most_confident(best, limit)
    found: list[Detection | Defect] = [Defect.TOO_MANY] * (len(entries) - len(chosen))
    world_T_frames: dict[tuple[str, float], Array | None] = {}
    results: list[Hypothesis] = []
    stamps, poses, sizes = [], [], []
    for index in chosen:
        entry = entries[index]
        stamp = (entry.stamp or image.stamp) / _SECOND
        at = (entry.frame or image.frame, stamp)
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
            sizes.append(entry.size)
    return found + checked_detections(
        class_ids=[result.class_id for result in results],
        stamps=stamps,
        confidences=[result.score for result in results],
        positions=[result.pose[:3] for result in results],
        quaternions=[result.pose[3:] for result in results],
        world_T_frames=poses,
        sizes=sizes,
        covariances=[result.covariance for result in results],
        detector=detector,
    )


def _score(result: Hypothesis) -> float:
    return result.score if math.isfinite(result.score) else 0.0


def _most_confident(best: list[Hypothesis | None], limit: int | None) -> list[int]:
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


def object_message(obj: SceneObject) -> SceneObjectMsg:
    """One object as a message."""
    message: SceneObjectMsg = deserialize_message(write_object(obj), SceneObjectMsg)
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
