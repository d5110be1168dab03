# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the executor's own types; the only place that knows both."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from behavior_msgs.msg import (
    FailureCause,
    MissionAction,
    MissionFeedback,
    MissionRecord,
    MissionStep,
    SceneObject,
    SceneObjectArray,
    TreeStatus,
)
from behavior_msgs.msg import Metric as MetricMsg
from behavior_msgs.msg import Metrics as MetricsMsg
from geometry_msgs.msg import Pose
from nav_msgs.msg import Path
from shape_msgs.msg import SolidPrimitive

from behavior_executor.missions.mission import (
    CONTROL_KINDS,
    STEP_KINDS,
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
)
from behavior_executor.missions.mission_limits import oversize
from behavior_executor.missions.statistics import Distribution, Metric
from behavior_executor.running.feedback import Progress
from behavior_executor.running.tree_run import Activity, TreeRun
from behavior_executor.scene_view import SceneBody, SceneSnapshot, SeenObject, tilt_of
from behavior_motion.collision.convex import ConvexShape, convex_shape
from behavior_motion.errors import MotionError
from behavior_motion.planar_pose import FramedPose, Pose2D, yaw_of
from behavior_ros import pose_to_matrix, seconds, to_time
from behavior_tree import Cause, FailureReason, NodeStatus
from behavior_tree.shown_text import LONGEST_REASON, listed, reason_text, visible

_NUMBERS = {status: int(status) for status in NodeStatus}
QUATERNION_TOLERANCE = 0.01
"""How far the length of an orientation may be from 1; clients round."""


def request_from(message: MissionAction) -> MissionRequest:
    """The request in a mission action; an empty identifier becomes a new one.

    Raises:
        MissionError: INVALID_REQUEST, with everything that is malformed.
    """
    problems = oversize(message)
    if problems:
        raise MissionError(Code.INVALID_REQUEST, "oversize mission: " + listed(problems))
    policies = {int(policy) for policy in Policy}
    if message.policy not in policies:
        problems.append(f"policy {message.policy} is none of {sorted(policies)}")
    kind = _kind(message.type, frozenset(Kind), problems)
    action_id = message.action_id
    if kind not in CONTROL_KINDS and not action_id:
        action_id = uuid.uuid4().hex[:12]
    steps: list[MissionRequest] = []
    if kind is Kind.SEQUENCE:
        if not message.steps:
            problems.append("steps is empty: a sequence has at least one")
        if message.parameters:
            problems.append("a sequence has no parameters of its own: give them to its steps")
        for number, step in enumerate(message.steps, 1):
            found: list[str] = []
            step_kind = _kind(step.type, STEP_KINDS, found)
            steps.append(_part(step, step_kind, f"{action_id}#{number}", found))
            problems += [f"step {number}: {text}" for text in found]
    request = _part(message, kind, action_id, problems)
    if problems:
        raise MissionError(Code.INVALID_REQUEST, "malformed mission: " + listed(problems))
    return replace(
        request, policy=Policy(message.policy), priority=message.priority, steps=tuple(steps)
    )


def _kind(number: int, allowed: frozenset[Kind], problems: list[str]) -> Kind | None:
    if number in allowed:
        return Kind(number)
    known = ", ".join(f"{int(kind)} ({kind.name})" for kind in sorted(allowed))
    problems.append(f"type {number} is none of {known}")
    return None


def _part(
    message: MissionAction | MissionStep, kind: Kind | None, action_id: str, problems: list[str]
) -> MissionRequest:
    """What a mission action and a step of a sequence have in common."""
    name = message.name.strip()
    if kind is Kind.RUN_BEHAVIOR and not name:
        problems.append("name is empty: give the name of a mission")
    if kind is Kind.LOAD_MAP and not message.map_id.strip():
        problems.append("map_id is empty: give the name of a map or tile")
    goal: FramedPose | None = None
    route: tuple[FramedPose, ...] = ()
    if kind is Kind.NAVIGATE_TO_POSE:
        goal = _framed(message.goal.header.frame_id, message.goal.pose, "goal", problems)
    if kind is Kind.FOLLOW_ROUTE:
        route = _route(message.route, problems)
    keys = Counter(pair.key for pair in message.parameters)
    problems += [f"parameter '{key}' is given twice" for key in sorted(keys) if keys[key] > 1]
    if "" in keys:
        problems.append("a parameter has no key")
    return MissionRequest(
        action_id=action_id,
        kind=kind or Kind.RUN_BEHAVIOR,
        name=name,
        parameters={pair.key: pair.value for pair in message.parameters},
        goal=goal,
        route=route,
        map_id=message.map_id.strip() if kind is Kind.LOAD_MAP else "",
    )


def _route(message: Path, problems: list[str]) -> tuple[FramedPose, ...]:
    if not message.poses:
        problems.append("route has no poses: give at least the goal")
    frame = message.header.frame_id
    poses = []
    for number, stamped in enumerate(message.poses, 1):
        own, what = stamped.header.frame_id, f"pose {number} of route"
        if own and frame and own != frame:
            problems.append(f"{what} is in frame '{own}', the route in '{frame}': use one frame")
        poses.append(_framed(frame or own, stamped.pose, what, problems))
    return tuple(pose for pose in poses if pose is not None)


def _framed(frame: str, pose: Pose, what: str, problems: list[str]) -> FramedPose | None:
    """A pose in the plane; None, and what is wrong with it, if it is none."""
    position, q = pose.position, pose.orientation
    before = len(problems)
    if not frame.strip():
        problems.append(f"{what} has no frame: set frame_id, for example to 'map'")
    if not all(map(math.isfinite, (position.x, position.y, position.z))):
        problems.append(f"position of {what} is not finite")
    norm = math.hypot(q.x, q.y, q.z, q.w)
    if not math.isfinite(norm):
        problems.append(f"orientation of {what} is not finite")
    elif abs(norm - 1.0) > QUATERNION_TOLERANCE:
        problems.append(
            f"orientation of {what} is no unit quaternion, its length is {norm:.3g}: "
            "w = 1 and the rest 0 means no rotation"
        )
    if len(problems) > before:
        return None
    return FramedPose(frame.strip(), Pose2D(position.x, position.y, yaw_of(q.x, q.y, q.z, q.w)))


def feedback_message(progress: Progress) -> MissionFeedback:
    """The state of a mission as a message; the header is left to the caller."""
    return MissionFeedback(
        action_id=progress.action_id,
        name=progress.name,
        state=int(progress.state),
        code=int(progress.code),
        text=progress.text,
        progress=progress.progress,
        elapsed=progress.elapsed,
        active_path=progress.active_path,
        skill=progress.skill,
        phase=progress.phase,
        detail=progress.detail,
        distance_remaining=progress.distance_remaining,
        planner_mode=progress.planner_mode,
        reroutes=progress.reroutes,
        autonomy=progress.autonomy,
        failure=failure_message(progress.failure),
    )


def failure_message(failure: FailureReason | None) -> FailureCause:
    """Why something failed as a message, of bounded length; None: it did not."""
    if failure is None:
        return FailureCause()
    cause = failure.cause or Cause.of(failure.text)
    return FailureCause(
        kind=getattr(FailureCause, cause.kind.name),
        node=visible(failure.path, LONGEST_REASON),
        sentence=reason_text(cause.sentence),
        evidence=reason_text(cause.evidence),
        remedy=reason_text(cause.remedy),
    )


def record_message(mission: Mission) -> MissionRecord:
    """What the journal holds of a mission, as a message."""
    return MissionRecord(
        action_id=mission.action_id,
        name=mission.request.title,
        type=int(mission.request.kind),
        state=int(mission.state),
        code=int(mission.code),
        text=mission.text,
        steps_done=mission.steps_done,
        accepted=to_time(mission.accepted_at),
        started=to_time(mission.started_at or 0.0),
        ended=to_time(mission.ended_at or 0.0),
        interruptions=mission.interruptions,
    )


def tree_status_message(
    action_id: str, run: TreeRun, activity: Activity, duration: float
) -> TreeStatus:
    """What the last tick did, as a message; the header is left to the caller.

    A node that was ticked shows the result of its tick, also where its parent has reset it since.
    """
    return TreeStatus(
        action_id=action_id,
        tree_id=run.tree_id,
        tick=run.ticks,
        status=int(run.status),
        uids=list(run.changes),
        statuses=bytes([_NUMBERS[status] for status, _ in run.changes.values()]),
        ticked=[ticked for _, ticked in run.changes.values()],
        active_path=activity.active_path,
        duration=duration,
    )


def metrics_message(component: str, metrics: Iterable[Metric]) -> MetricsMsg:
    """Metrics as a message; the header is left to the caller."""
    return MetricsMsg(component=component, metrics=[_metric_message(metric) for metric in metrics])


def snapshot_from(message: SceneObjectArray) -> SceneSnapshot:
    """The scene in a message, without the objects that it has lost."""
    return SceneSnapshot(
        stamp=seconds(message.header.stamp),
        frame=message.header.frame_id,
        revision=message.revision,
        objects={
            entry.name: _seen_object(entry)
            for entry in message.objects
            if entry.state != SceneObject.LOST
        },
        bodies={body.name: body for body in map(_body, message.objects) if body is not None},
    )


def _seen_object(message: SceneObject) -> SeenObject:
    position, q = message.pose.position, message.pose.orientation
    return SeenObject(
        name=message.name,
        x=position.x,
        y=position.y,
        z=position.z,
        size=_size(message.shape),
        tilt=tilt_of(q.x, q.y, q.z, q.w),
        held=message.state == SceneObject.ATTACHED,
        class_id=message.class_id,
        yaw=yaw_of(q.x, q.y, q.z, q.w),
        stale=message.state == SceneObject.STALE,
        derived=message.kind not in ("", "detected"),
    )


def _body(message: SceneObject) -> SceneBody | None:
    """An object as a body; None: its pose is none."""
    try:
        pose = pose_to_matrix(message.pose)
    except ValueError:
        return None
    return SceneBody(
        name=message.name,
        pose=pose,
        shape=_shape(int(message.shape.type), tuple(message.shape.dimensions)),
        last_seen=seconds(message.last_seen),
        attached_link=message.attached_link if message.state == SceneObject.ATTACHED else "",
        lost=message.state == SceneObject.LOST,
    )


@lru_cache(maxsize=256)
def _shape(kind: int, dimensions: tuple[float, ...]) -> ConvexShape | None:
    """A shape, None where the scene does not know it."""
    names = {
        SolidPrimitive.BOX: "box",
        SolidPrimitive.SPHERE: "sphere",
        SolidPrimitive.CYLINDER: "cylinder",
    }
    try:
        return convex_shape(names[kind], dimensions)
    except (KeyError, MotionError):
        return None


def _size(shape: SolidPrimitive) -> tuple[float, float, float]:
    """Edge lengths of a shape's bounding box [m]; 0 for shapes without dimensions."""
    numbers = list(shape.dimensions)
    if shape.type == SolidPrimitive.BOX and len(numbers) == 3:
        return numbers[0], numbers[1], numbers[2]
    if shape.type == SolidPrimitive.SPHERE and len(numbers) == 1:
        return 2.0 * numbers[0], 2.0 * numbers[0], 2.0 * numbers[0]
    if shape.type in (SolidPrimitive.CYLINDER, SolidPrimitive.CONE) and len(numbers) == 2:
        return 2.0 * numbers[1], 2.0 * numbers[1], numbers[0]
    return 0.0, 0.0, 0.0


def _metric_message(metric: Metric) -> MetricMsg:
    message = MetricMsg(name=metric.name, unit=metric.unit)
    if isinstance(metric.value, Distribution):
        message.kind = MetricMsg.HISTOGRAM
        message.value = metric.value.mean
        message.samples = metric.value.samples
        message.median = metric.value.median
        message.p99 = metric.value.p99
        message.maximum = metric.value.maximum
    else:
        message.kind = MetricMsg.COUNTER if metric.is_counter else MetricMsg.GAUGE
        message.value = metric.value
    return message
