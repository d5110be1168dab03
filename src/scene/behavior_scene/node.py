# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the scene: detections in, objects, frames, markers and answers out.

Subscribes `/detections`; publishes `/scene/objects`, `/scene/markers` and the objects' frames;
serves `/scene/attach`, `/scene/freeze`, `/scene/query`.
The node never stops on bad input: what cannot be used is counted on `/diagnostics`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from behavior_msgs.msg import SceneObjectArray
from behavior_msgs.srv import AttachObject, FreezeObjects, QueryScene
from rclpy.node import Node
from rclpy.time import Time
from vision_msgs.msg import Detection3DArray
from visualization_msgs.msg import MarkerArray

from behavior_ros import (
    OK,
    QOS_LATCHED,
    QOS_SENSOR,
    WARN,
    DiagnosticsPublisher,
    ParameterSpec,
    TransformError,
    create_transform_broadcaster,
    create_transform_buffer,
    declare_all,
    run,
    seconds,
    to_time,
)
from behavior_scene import conversion
from behavior_scene.detections import Array
from behavior_scene.library import LibraryError, ObjectLibrary, load_library
from behavior_scene.questions import Context, Question, answer
from behavior_scene.scene import Scene, SceneParameters, UnknownLinkError, UnknownObjectError

SUCCESS, UNKNOWN_OBJECT, UNKNOWN_LINK, BAD_QUESTION = 0, 101, 102, 102

_DEFAULTS = SceneParameters()
PARAMETERS = [
    ParameterSpec("frame", "world", "fixed frame of all objects"),
    ParameterSpec("library", "", "YAML file of the object library; empty: accept every class"),
    ParameterSpec(
        "stale_after", _DEFAULTS.stale_after, "[s] unseen for longer: STALE", range=(0.05, 3600.0)
    ),
    ParameterSpec(
        "lost_after", _DEFAULTS.lost_after, "[s] unseen for longer: LOST", range=(0.05, 3600.0)
    ),
    ParameterSpec(
        "attached_tolerance",
        _DEFAULTS.attached_tolerance,
        "[m] a held object seen further from the hand than this has left it",
        range=(0.001, 1.0),
    ),
    ParameterSpec(
        "maximum_age", _DEFAULTS.maximum_age, "[s] older images are refused", range=(0.01, 60.0)
    ),
    ParameterSpec("publish_rate", 15.0, "[Hz] at most", range=(0.1, 100.0)),
    ParameterSpec("idle_period", 0.5, "[s] publish at least this often", range=(0.05, 10.0)),
]


class SceneNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Keeps the scene; see the module's text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(kwargs.pop("node_name", "scene"), **kwargs)
        values = declare_all(self, PARAMETERS)
        self._frame: str = values["frame"]
        self._period = 1.0 / values["publish_rate"]
        self._published = -np.inf
        self._frame_poses: dict[str, Array] = {self._frame: np.eye(4)}
        self._transforms = create_transform_buffer(self)
        self._broadcaster = create_transform_broadcaster(self)
        self._scene = Scene(
            self._library(values["library"]),
            self._link_pose,
            SceneParameters(
                stale_after=values["stale_after"],
                lost_after=values["lost_after"],
                attached_tolerance=values["attached_tolerance"],
                maximum_age=values["maximum_age"],
            ),
        )
        self._objects = self.create_publisher(SceneObjectArray, "/scene/objects", QOS_LATCHED)
        self._markers = self.create_publisher(MarkerArray, "/scene/markers", QOS_LATCHED)
        self.create_subscription(Detection3DArray, "/detections", self._on_detections, QOS_SENSOR)
        self.create_service(AttachObject, "/scene/attach", self._on_attach)
        self.create_service(FreezeObjects, "/scene/freeze", self._on_freeze)
        self.create_service(QueryScene, "/scene/query", self._on_query)
        self.create_timer(values["idle_period"], self._on_idle)
        self._idle_period: float = values["idle_period"]
        self._diagnostics = DiagnosticsPublisher(self, "scene")
        self.create_timer(1.0, self._diagnose)

    def _library(self, path: str) -> ObjectLibrary:
        if not path:
            return ObjectLibrary()
        try:
            return load_library(path)
        except LibraryError as error:
            self.get_logger().error(f"{error} Going on without it: every class is accepted.")
            return ObjectLibrary()

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _on_detections(self, message: Detection3DArray) -> None:
        stamp, now = seconds(message.header.stamp), self._now()
        limit = self._scene.parameters.maximum_detections
        if len(message.detections) > 2 * limit:
            # What is converted here costs time; twice the limit still shows on the counter.
            message.detections = message.detections[: 2 * limit]
        used = self._scene.update(
            conversion.detections_from(message, self._detector_pose), stamp, now
        )
        if used and now - self._published >= 0.9 * self._period:
            self._publish(now)

    def _on_idle(self) -> None:
        now = self._now()
        if now - self._published >= self._idle_period or now < self._published:
            self._publish(now)

    def _publish(self, now: float) -> None:
        self._published = now
        snapshot = self._scene.snapshot(now)
        self._objects.publish(conversion.snapshot_message(snapshot, self._frame))
        self._broadcaster.send(conversion.object_transforms(snapshot, self._frame))
        if self._markers.get_subscription_count() > 0:
            self._markers.publish(conversion.marker_array(snapshot, self._frame))

    def _on_attach(
        self, request: AttachObject.Request, response: AttachObject.Response
    ) -> AttachObject.Response:
        response.code, response.message = SUCCESS, "ok"
        try:
            if request.attach:
                self._scene.attach(request.name, request.link)
            else:
                self._scene.detach(request.name)
        except UnknownObjectError:
            response.code, response.message = UNKNOWN_OBJECT, self._unknown_object(request.name)
        except UnknownLinkError:
            response.code = UNKNOWN_LINK
            response.message = (
                f"The pose of link '{request.link}' in '{self._frame}' is not known. Give a frame "
                "that is on /tf and see that the robot_state_publisher runs."
            )
        else:
            self._publish(self._now())
        return response

    def _on_freeze(
        self, request: FreezeObjects.Request, response: FreezeObjects.Response
    ) -> FreezeObjects.Response:
        response.code, response.message = SUCCESS, "ok"
        try:
            self._scene.freeze(request.names, request.freeze)
        except UnknownObjectError as error:
            response.code, response.message = UNKNOWN_OBJECT, self._unknown_object(error.args[0])
        else:
            self._publish(self._now())
        return response

    def _on_query(
        self, request: QueryScene.Request, response: QueryScene.Response
    ) -> QueryScene.Response:
        asked = request.question
        try:
            question = Question(asked.question)
        except ValueError:
            response.code = BAD_QUESTION
            response.message = (
                f"Question {asked.question} is not answered here; ask one of "
                f"{[f'{known.name}={known.value}' for known in Question]}."
            )
            return response
        context = Context(
            self._scene.snapshot(self._now()),
            lambda name: self._link_pose(name, None),
            self._scene.pose_at,
        )
        try:
            result = answer(
                context,
                question,
                asked.object,
                reference=asked.reference,
                minimum=asked.minimum,
                maximum=asked.maximum,
                since=seconds(asked.since),
            )
        except UnknownObjectError as error:
            response.code, response.message = UNKNOWN_OBJECT, self._unknown_object(error.args[0])
            return response
        response.code, response.message = SUCCESS, "ok"
        response.answer.answer, response.answer.value = bool(result.answer), float(result.value)
        return response

    def _unknown_object(self, name: str) -> str:
        known = sorted(self._scene.snapshot(self._now()).objects)
        return f"Object '{name}' is not in the scene. Known are {known}; see that it is in view."

    def _detector_pose(self, frame: str, stamp: float) -> Array | None:
        """Pose of a detector; the fixed frame costs no lookup."""
        if frame == self._frame:
            return self._frame_poses[frame]
        return self._link_pose(frame, stamp) if np.isfinite(stamp) else None

    def _link_pose(self, link: str, stamp: float | None) -> Array | None:
        """world_T_link at a time (None: newest), or None."""
        time = Time.from_msg(to_time(stamp)) if stamp else None
        try:
            matrix: Array = self._transforms.lookup_matrix(self._frame, link, time)
        except TransformError:
            return None
        return matrix

    def _diagnose(self) -> None:
        scene = self._scene
        refused = {defect.value: count for defect, count in scene.defects.most_common()}
        objects = scene.snapshot(self._now()).objects.values()
        states = {thing.name: thing.state.name for thing in objects}
        level = WARN if refused else OK
        message = (
            f"{sum(refused.values())} detections could not be used: {', '.join(refused)}"
            if refused
            else f"{len(states)} objects"
        )
        self._diagnostics.set(level, message, accepted=scene.accepted, **refused, **states)


def main(args: list[str] | None = None) -> int:
    """Entry point of `scene_node`."""
    return int(run([SceneNode], args))


if __name__ == "__main__":
    raise SystemExit(main())
