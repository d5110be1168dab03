# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the executor's own types; the only place that knows both."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable

from behavior_msgs.msg import Metric as MetricMsg
from behavior_msgs.msg import Metrics as MetricsMsg
from behavior_msgs.msg import (
    MissionAction,
    MissionFeedback,
    SceneObject,
    SceneObjectArray,
    TreeStatus,
)
from geometry_msgs.msg import PoseStamped
from shape_msgs.msg import SolidPrimitive

from behavior_executor.feedback import Progress
from behavior_executor.missions import (
    CONTROL_KINDS,
    Code,
    Kind,
    MissionError,
    MissionRequest,
    Policy,
)
from behavior_executor.scene_view import SceneSnapshot, SeenObject, tilt_of, yaw_of
from behavior_executor.statistics import Distribution, Metric
from behavior_executor.tree_run import Activity, TreeRun
from behavior_ros import seconds


def request_from(message: MissionAction) -> MissionRequest:
    """The request in a mission action; an empty identifier becomes a new one.

    Raises:
        MissionError: INVALID_REQUEST, with everything that is malformed.
    """
    problems: list[str] = []
    kinds = {int(kind) for kind in Kind}
    policies = {int(policy) for policy in Policy}
    if message.type not in kinds:
        problems.append(f"type {message.type} is none of {sorted(kinds)}")
    if message.policy not in policies:
        problems.append(f"policy {message.policy} is none of {sorted(policies)}")
    if message.type == Kind.RUN_BEHAVIOR and not message.name.strip():
        problems.append("name is empty: give the name of a mission")
    keys = [pair.key for pair in message.parameters]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    problems += [f"parameter '{key}' is given twice" for key in twice]
    if "" in keys:
        problems.append("a parameter has no key")
    if problems:
        raise MissionError(Code.INVALID_REQUEST, "malformed mission: " + "; ".join(problems))
    kind = Kind(message.type)
    return MissionRequest(
        action_id=message.action_id or ("" if kind in CONTROL_KINDS else uuid.uuid4().hex[:12]),
        kind=kind,
        name=message.name.strip(),
        policy=Policy(message.policy),
        priority=message.priority,
        parameters={pair.key: pair.value for pair in message.parameters},
    )


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
        statuses=bytes(int(status) for status, _ in run.changes.values()),
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
        objects={
            entry.name: _seen_object(entry)
            for entry in message.objects
            if entry.state != SceneObject.LOST
        },
    )


def pose_message(frame: str, x: float, y: float, z: float, yaw: float = 0.0) -> PoseStamped:
    """An upright pose; stamp 0 means "now" to its receiver."""
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y, message.pose.position.z = x, y, z
    message.pose.orientation.z = math.sin(yaw / 2.0)
    message.pose.orientation.w = math.cos(yaw / 2.0)
    return message


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
    )


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
