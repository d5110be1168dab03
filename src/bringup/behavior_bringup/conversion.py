# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and this package's own values; the only such place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from behavior_msgs.msg import (
    FailureCause,
    MissionAction,
    MissionFeedback,
    MissionRecord,
    MissionStep,
    SceneObject,
    SceneObjectArray,
)
from behavior_msgs.srv import DisturbWorld
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from shape_msgs.msg import SolidPrimitive
from visualization_msgs.msg import Marker, MarkerArray

from behavior_bringup.missions.mission_steps import Step
from behavior_bringup.missions.progress import Progress
from behavior_bringup.preview.live_state import BelievedObject, Sight
from behavior_executor.missions.mission import Code
from behavior_ros import pose_to_matrix, seconds, upright_pose
from behavior_sim.judging import Disturbance, WorldObject
from behavior_tree.cause import CauseKind

TERMINAL_STATES = (MissionFeedback.FINISHED, MissionFeedback.FAILED, MissionFeedback.CANCELED)

_STATES = {
    MissionFeedback.WAITING: "waiting",
    MissionFeedback.INITIALIZING: "initializing",
    MissionFeedback.RUNNING: "running",
    MissionFeedback.PAUSED: "paused",
    MissionFeedback.FINISHED: "finished",
    MissionFeedback.FAILED: "failed",
    MissionFeedback.CANCELED: "canceled",
}
_SIGHTS: dict[int, Sight] = {
    SceneObject.TRACKED: "tracked",
    SceneObject.STALE: "stale",
    SceneObject.FROZEN: "frozen",
    SceneObject.ATTACHED: "held",
    SceneObject.LOST: "lost",
}
_KINDS = {
    "move": DisturbWorld.Request.MOVE,
    "release": DisturbWorld.Request.RELEASE,
    "take_away": DisturbWorld.Request.TAKE_AWAY,
    "push": DisturbWorld.Request.PUSH,
}


def state_name(state: int) -> str:
    """A mission state in one word."""
    return _STATES.get(state, f"state {state}")


def mission_code(code: int) -> str:
    """Name of a reason of MissionFeedback."""
    return Code(code).name if code in list(Code) else f"code {code}"


def failure_row(failure: FailureCause) -> dict[str, Any]:
    """Why something failed, in plain values."""
    kinds = {getattr(FailureCause, each.name): each.value for each in CauseKind}
    return {
        "kind": kinds.get(failure.kind, ""),
        "node": failure.node,
        "sentence": failure.sentence,
        "evidence": failure.evidence,
        "remedy": failure.remedy,
    }


def record_row(record: MissionRecord) -> dict[str, Any]:
    """A mission of the journal in plain values."""
    return {
        "action_id": record.action_id,
        "mission": record.name,
        "state": state_name(record.state),
        "code": mission_code(record.code) if record.state in TERMINAL_STATES else "",
        "steps": record.steps_done,
        "interruptions": record.interruptions,
        "accepted": seconds(record.accepted),
        "started": seconds(record.started) or None,
        "ended": seconds(record.ended) or None,
        "why": record.text,
    }


def world_objects(message: SceneObjectArray) -> dict[str, WorldObject]:
    """The objects of a snapshot by name."""
    return {item.name: _world_object(item) for item in message.objects}


def _world_object(item: SceneObject) -> WorldObject:
    place, velocity = item.pose.position, item.velocity.linear
    return WorldObject(
        name=item.name,
        position=np.array([place.x, place.y, place.z]),
        speed=float(np.linalg.norm([velocity.x, velocity.y, velocity.z])),
        held=item.state == SceneObject.ATTACHED,
        class_id=item.class_id,
        size=_edges(item),
        rotation=pose_to_matrix(item.pose)[:3, :3],
    )


def believed_objects(message: SceneObjectArray) -> dict[str, BelievedObject]:
    """The objects of a snapshot by name, with how the scene knows them."""
    return {
        item.name: BelievedObject(
            name=item.name,
            class_id=item.class_id,
            pose=pose_to_matrix(item.pose),
            sight=_SIGHTS.get(item.state, "lost"),
            link=item.attached_link,
            derived=item.kind not in ("", "detected"),
        )
        for item in message.objects
    }


def _edges(item: SceneObject) -> tuple[float, float, float]:
    """Edges of the box around an object's shape [m]; small where it has none."""
    return box_edges(item) or (0.03, 0.03, 0.03)


def box_edges(item: SceneObject) -> tuple[float, float, float] | None:
    """Edges of the box around an object's shape, along its own axes [m]; None where it has none."""
    sizes = list(item.shape.dimensions)
    if item.shape.type == SolidPrimitive.SPHERE:
        sizes = [2 * sizes[0]] * 3
    elif item.shape.type in (SolidPrimitive.CYLINDER, SolidPrimitive.CONE):
        sizes = [2 * sizes[1], 2 * sizes[1], sizes[0]]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) >= 3 else None


def path_marker(places: NDArray[np.float64], frame: str, name: str) -> MarkerArray:
    """A line through places (n, 3) [m]; without any, the order to remove the one of that name."""
    line = Marker(ns=name, type=Marker.LINE_STRIP, action=Marker.DELETE)
    line.header.frame_id = frame
    if len(places) > 1:
        line.action, line.scale.x, line.pose.orientation.w = Marker.ADD, 0.004, 1.0
        line.color.r, line.color.g, line.color.b, line.color.a = 0.75, 0.35, 0.95, 0.8
        line.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in places]
    return MarkerArray(markers=[line])


def mission_action(name: str, action_id: str, parameters: dict[str, str]) -> MissionAction:
    """The order to run a mission, refused when another one runs."""
    return MissionAction(
        action_id=action_id,
        type=MissionAction.RUN_BEHAVIOR,
        name=name,
        policy=MissionAction.POLICY_REJECT,
        parameters=[KeyValue(key=key, value=value) for key, value in parameters.items()],
    )


def sequence_action(
    steps: Sequence[Step], *, policy: str = "default", priority: int = 0
) -> MissionAction:
    """The order to do these steps; one alone is a mission of its own kind.

    Args:
        steps: what to do.
        policy: what becomes of it if another mission runs: default, reject, queue or replace.
        priority: 0..255; of the missions that wait the higher one runs first.
    """
    chosen = getattr(MissionAction, f"POLICY_{policy.upper()}")
    messages = [_step_message(step) for step in steps]
    if len(messages) != 1:
        return MissionAction(
            type=MissionAction.SEQUENCE, steps=messages, policy=chosen, priority=priority
        )
    (only,) = messages
    return MissionAction(
        policy=chosen,
        priority=priority,
        type=only.type,
        name=only.name,
        goal=only.goal,
        route=only.route,
        map_id=only.map_id,
        parameters=only.parameters,
    )


def control_action(kind: int, action_id: str) -> MissionAction:
    """The order to pause, resume or cancel a mission; empty: whichever runs."""
    return MissionAction(type=kind, action_id=action_id)


def _step_message(step: Step) -> MissionStep:
    message = MissionStep(
        parameters=[KeyValue(key=key, value=value) for key, value in step.texts.items()]
    )
    if step.navigate is not None:
        place = step.navigate
        message.type = MissionAction.NAVIGATE_TO_POSE
        message.goal = upright_pose(place.frame, place.x, place.y, place.yaw)
    elif step.route is not None:
        message.type = MissionAction.FOLLOW_ROUTE
        message.route.header.frame_id = step.frame
        message.route.poses = [upright_pose(step.frame, *numbers) for numbers in step.route]
    elif step.load_map is not None:
        message.type, message.map_id = MissionAction.LOAD_MAP, step.load_map
    else:
        message.type, message.name = MissionAction.RUN_BEHAVIOR, step.run or ""
    return message


def progress_of(feedback: MissionFeedback, *, summary: str, wall: float) -> Progress:
    """What to show of a mission's feedback."""
    return Progress(
        mission=feedback.name,
        state=state_name(feedback.state),
        # While it waits with its start, or for a lost server, the text says for what.
        summary=summary or feedback.detail or feedback.text,
        active_path=feedback.active_path,
        skill=feedback.skill,
        phase=feedback.phase,
        simulated=feedback.elapsed,
        wall=wall,
    )


def disturb_request(disturbance: Disturbance) -> DisturbWorld.Request:
    """The request of the simulation's service."""
    request = DisturbWorld.Request(kind=_KINDS[disturbance.kind], object=disturbance.object)
    place = disturbance.position
    request.pose.position.x, request.pose.position.y, request.pose.position.z = map(float, place)
    turn, yaw, tilt = request.pose.orientation, disturbance.yaw / 2, disturbance.tilt / 2
    turn.x, turn.y = math.cos(yaw) * math.sin(tilt), math.sin(yaw) * math.sin(tilt)
    turn.z, turn.w = math.sin(yaw) * math.cos(tilt), math.cos(yaw) * math.cos(tilt)
    request.impulse.x, request.impulse.y, request.impulse.z = map(float, disturbance.impulse)
    return request
