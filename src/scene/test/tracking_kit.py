# SPDX-License-Identifier: Apache-2.0
"""Detections for tests of the tracker."""

import numpy as np

from behavior_scene import Detection, checked_detection, checked_detections


def seen(
    class_id="thing",
    at=(0.0, 0.0, 0.0),
    stamp=0.0,
    confidence=0.9,
    *,
    turn=(0, 0, 0, 1),
    size=(0.0, 0.0, 0.0),
    deviation=0.0,
    detector="",
):
    """One detection; `deviation` [m] of the position, told by the detector if not 0."""
    detection = checked_detection(
        class_id=class_id,
        stamp=stamp,
        confidence=confidence,
        position=at,
        quaternion=turn,
        world_T_frame=np.eye(4),
        size=size,
        covariance=np.diag([deviation**2] * 3 + [0.0] * 3).ravel(),
        detector=detector,
    )
    assert isinstance(detection, Detection), detection
    return detection


def at(track):
    """Position of a track [m]."""
    return track.world_T_object[:3, 3]


def many(places, stamp=0.0, confidences=None, class_id="thing"):
    """Detections at places (N x 3) [m], checked together."""
    count = len(places)
    return checked_detections(
        class_ids=[class_id] * count,
        stamps=[stamp] * count,
        confidences=[0.9] * count if confidences is None else confidences,
        positions=places,
        quaternions=[(0.0, 0.0, 0.0, 1.0)] * count,
        world_T_frames=[np.eye(4)] * count,
        sizes=[(0.0, 0.0, 0.0)] * count,
        covariances=np.zeros((count, 36)),
    )
