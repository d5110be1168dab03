# SPDX-License-Identifier: Apache-2.0
"""Mission requests as JSON text, for the journal. No ROS."""

from __future__ import annotations

import json
from typing import Any

from behavior_executor.missions.mission import Kind, MissionRequest, Policy
from behavior_motion.planar_pose import FramedPose, Pose2D


def request_to_text(request: MissionRequest) -> str:
    """The request as one line of JSON; what is not set is left out."""
    return json.dumps(_to_plain(request), separators=(",", ":"))


def request_from_text(text: str) -> MissionRequest:
    """What `request_to_text` wrote.

    Raises:
        ValueError: the text is something else; says what.
    """
    try:
        return _from_plain(json.loads(text))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no mission request: {type(error).__name__}: {error}") from error


def _to_plain(request: MissionRequest) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "id": request.action_id,
        "kind": int(request.kind),
        "name": request.name,
        "policy": int(request.policy),
        "priority": request.priority,
        "parameters": dict(request.parameters),
        "goal": _pose_to_plain(request.goal) if request.goal else None,
        "route": [_pose_to_plain(pose) for pose in request.route],
        "map": request.map_id,
        "steps": [_to_plain(step) for step in request.steps],
        "trees": dict(request.trees),
    }
    return {key: value for key, value in plain.items() if value or key in ("id", "kind")}


def _from_plain(plain: dict[str, Any]) -> MissionRequest:
    return MissionRequest(
        action_id=plain["id"],
        kind=Kind(plain["kind"]),
        name=plain.get("name", ""),
        policy=Policy(plain.get("policy", 0)),
        priority=plain.get("priority", 0),
        parameters=dict(plain.get("parameters", {})),
        goal=_pose_from_plain(plain["goal"]) if "goal" in plain else None,
        route=tuple(_pose_from_plain(pose) for pose in plain.get("route", ())),
        map_id=plain.get("map", ""),
        steps=tuple(_from_plain(step) for step in plain.get("steps", ())),
        trees=dict(plain.get("trees", {})),
    )


def _pose_to_plain(pose: FramedPose) -> list[Any]:
    return [pose.frame, pose.pose.x, pose.pose.y, pose.pose.yaw]


def _pose_from_plain(plain: list[Any]) -> FramedPose:
    frame, x, y, yaw = plain
    return FramedPose(str(frame), Pose2D(float(x), float(y), float(yaw)))
