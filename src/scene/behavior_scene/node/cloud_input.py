# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that receives point clouds, while somebody needs them.

Clouds are large and cameras draw them only for listeners, so the topic is subscribed to when points
are asked for, and left some seconds after the last question. A cloud counts once it is known where
its frame was when it was taken. What cannot be used is counted and explained on `/diagnostics`.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import PointCloud2

from behavior_motion.collision.shapes import Box
from behavior_ros import (
    OK,
    QOS_SENSOR,
    WARN,
    DiagnosticsPublisher,
    declare_all,
    read_only,
)
from behavior_scene.clouds.cloud import Cloud, CloudDefect, MalformedCloudError
from behavior_scene.clouds.color import Hsv
from behavior_scene.clouds.messages import cloud_from
from behavior_scene.clouds.points_in_shape import (
    PlacedShape,
    count_points,
    is_prepared,
    prepare,
    problem,
)
from behavior_scene.detections import Array
from behavior_scene.node.host import SceneHost
from behavior_scene.questions.questions import PlacedCloud
from behavior_tree.shown_text import visible

PARAMETERS = [
    read_only("points_topic", "camera/points", "sensor_msgs/PointCloud2 to count in"),
    read_only(
        "points_linger",
        10.0,
        "[s] wall time to go on listening after points were asked for",
        range=(0.0, 3600.0),
    ),
]
MOST_FIELDS = 64
"""Fields of a point."""
_LOOK = 0.05
"""[s] between two looks for transforms that came after their cloud."""
_PATIENCE = 0.5
"""[s] node time to wait for the transform of a cloud."""


class CloudInput:
    """The newest cloud, and a call for each new one."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        values = declare_all(host.node, PARAMETERS)
        self._given: str = values["points_topic"]
        self.topic: str = host.node.resolve_topic_name(self._given)
        """Resolved name."""
        self.linger: float = values["points_linger"]
        """[s] wall time to go on listening after points were asked for."""
        self.defects: Counter[CloudDefect] = Counter()
        """How many clouds could not be used, and why."""
        self.examples: dict[CloudDefect, str] = {}
        """The newest case of each in words."""
        self.accepted = 0
        self._newest: PlacedCloud | None = None
        self._pending: deque[Cloud] = deque()
        self._listeners: list[Callable[[], None]] = []
        self._wanted_until = 0.0
        self._subscription: Any = None
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer: Any = None
        self._diagnostics = DiagnosticsPublisher(host.node, "points")
        host.node.create_timer(1.0, self._report, clock=self._steady)
        host.points = self._points
        host.mean_color = self._mean_color

    @property
    def waiting(self) -> int:
        """Number of clouds whose transform is not there yet."""
        return len(self._pending)

    def on_cloud(self, listener: Callable[[], None]) -> None:
        """Have `listener` called after each new cloud."""
        self._listeners.append(listener)

    def listen(self) -> None:
        """Receive clouds from now on, and until some seconds after the last call."""
        self._wanted_until = time.monotonic() + self.linger
        if self._subscription is None:
            prepare()
            self._subscription = self._host.node.create_subscription(
                PointCloud2, self._given, self._on_cloud, QOS_SENSOR
            )
            self._timer = self._host.node.create_timer(_LOOK, self._look, clock=self._steady)

    def newest(self) -> PlacedCloud | None:
        """The newest cloud that is not too old, and from now on there will be more."""
        self.listen()
        if self._newest is None:
            return None
        limits, age = self._host.scene.parameters, self._host.now() - self._newest.cloud.stamp
        # One from the future was taken before the clock was set back.
        usable = -limits.future_tolerance <= age <= limits.maximum_age
        return self._newest if usable else None

    def newest_after(self, time: float) -> PlacedCloud | None:
        """The newest cloud if it was taken after a time [s]."""
        newest = self.newest()
        return newest if newest is not None and newest.cloud.stamp > time else None

    def no_points(self) -> str:
        """Why there is no cloud."""
        if self.examples:
            return f"No usable point cloud on {self.topic}: {list(self.examples.values())[-1]}."
        return (
            f"No point cloud on {self.topic} so far; the scene listens to it from now on. See that"
            " the camera runs, or set the parameter points_topic."
        )

    def _points(self) -> tuple[Array, float] | None:
        """For objects that are found in points."""
        newest = self.newest()
        if newest is None:
            return None
        return newest.cloud.points(newest.world_T_cloud), newest.cloud.stamp

    def _mean_color(self, world_T_box: Array, size: tuple[float, float, float]) -> Hsv | None:
        """For objects that are chosen by their colour."""
        newest = self.newest()
        if newest is None or newest.cloud.rgb is None or not min(size) > 0.0:
            return None
        pose: Array = np.asarray(np.linalg.solve(newest.world_T_cloud, world_T_box))
        return count_points(newest.cloud, [PlacedShape(Box(size), pose)])[0].mean

    def _on_cloud(self, message: PointCloud2) -> None:
        try:
            if len(message.fields) > MOST_FIELDS:
                raise MalformedCloudError(
                    CloudDefect.BAD_FIELDS,
                    f"{len(message.fields)} fields: at most {MOST_FIELDS} are read",
                )
            cloud = cloud_from(message)
            self._check_stamp(cloud.stamp)
        except MalformedCloudError as error:
            self._refuse(error.defect, f"from frame '{visible(message.header.frame_id)}': {error}")
            return
        self._pending.append(cloud)
        self._place()

    def _check_stamp(self, stamp: float) -> None:
        limits, age = self._host.scene.parameters, self._host.now() - stamp
        if age < -limits.future_tolerance:
            raise MalformedCloudError(
                CloudDefect.FROM_THE_FUTURE,
                f"stamped {-age:.2f} s ahead of this node's clock; synchronise the clocks",
            )
        if age > limits.maximum_age:
            raise MalformedCloudError(
                CloudDefect.FROM_THE_PAST,
                f"{age:.2f} s old, more than maximum_age {limits.maximum_age:g} s",
            )

    def _place(self) -> None:
        """Take over the newest cloud whose frame is known; older ones are of no use then."""
        for index in reversed(range(len(self._pending))):
            cloud = self._pending[index]
            pose = self._host.detector_pose(cloud.frame, cloud.stamp)
            if pose is not None:
                for _ in range(index + 1):
                    self._pending.popleft()
                self._newest = PlacedCloud(cloud, pose)
                self.accepted += 1
                for listener in self._listeners:
                    listener()
                return
        now = self._host.now()
        while self._pending and abs(now - self._pending[0].stamp) > _PATIENCE:
            cloud = self._pending.popleft()
            self._refuse(
                CloudDefect.UNKNOWN_FRAME,
                f"the pose of frame '{visible(cloud.frame)}' in '{self._host.frame}' at the"
                " cloud's time is not on /tf; see that the camera's transform is published",
            )

    def _refuse(self, defect: CloudDefect, text: str) -> None:
        self.defects[defect] += 1
        # The newest one last.
        self.examples.pop(defect, None)
        self.examples[defect] = text

    def _look(self) -> None:
        if self._pending:
            self._place()
        if time.monotonic() > self._wanted_until:
            node = self._host.node
            node.destroy_subscription(self._subscription)
            node.destroy_timer(self._timer)
            self._subscription = self._timer = self._newest = None
            self._pending.clear()

    def _report(self) -> None:
        refused = {defect.value: count for defect, count in self.defects.most_common()}
        explained = {f"{d.value}: newest case": text for d, text in self.examples.items()}
        where = f"listens to {self.topic}" if self._subscription else "nobody asks for points"
        if refused:
            where += f"; {sum(refused.values())} clouds could not be used: {', '.join(refused)}"
        slow = problem()
        if slow:
            where += f"; points are counted slowly, by numpy: {slow}"
        self._diagnostics.set(
            WARN if refused or slow else OK,
            where,
            accepted=self.accepted,
            compiled=is_prepared(),
            **refused,
            **explained,
        )
