# SPDX-License-Identifier: Apache-2.0
"""The cameras of a simulated world as a ROS node of its own process.

It draws the states that the simulation publishes on `/simulation/state`. For each camera NAME of
the world: `/NAME/color` (rgb8), `/NAME/depth` (32FC1), `/NAME/mask` (16UC1), `/NAME/detections`
(class, confidence and mask value of each object found), `/NAME/points` (with colours),
`/NAME/camera_info`, and the frame `NAME_optical_frame`. What nobody subscribes to is not drawn;
while nobody subscribes to anything, not even the state is.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from vision_msgs.msg import Detection2DArray

from behavior_packages.bounded_yaml import read_yaml
from behavior_ros import (
    ERROR,
    OK,
    WARN,
    DiagnosticsPublisher,
    ParameterSpec,
    create_static_transform_broadcaster,
    declare_all,
    read_only,
    run,
    to_nanoseconds,
)
from behavior_sim.cameras.camera_process import (
    CameraError,
    CameraFrame,
    CameraProcess,
    CameraRequest,
)
from behavior_sim.node import camera_messages as messages
from behavior_sim.worlds.camera_config import CameraConfig, CameraNoise
from behavior_sim.worlds.config import WorldConfig, replaced_noise
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.world_parameter import world_of
from behavior_tree.shown_text import reason_text

_LOOK = 0.2
"""[s] of wall time between looks at who subscribes."""
_RETRY = 5.0
"""[s] of wall time before a drawing process that failed is started again."""

PARAMETERS = [
    read_only("world", "", "Name of the simulated world, or its YAML file."),
    read_only("seed", 0, "Of the noise.", range=(0, 2**31 - 1)),
    ParameterSpec(
        "noise",
        "{}",
        "YAML mapping of noise values that replace those of all cameras, see CameraNoise.",
    ),
]


@dataclass(frozen=True)
class _State:
    nanoseconds: int
    names: list[str]
    qpos: np.ndarray[Any, np.dtype[np.float64]]


class _Camera:
    """Publishers and schedule of one camera."""

    def __init__(self, node: Node, name: str, config: CameraConfig) -> None:
        self.name, self.config = name, config
        newest = QoSProfile(depth=5)  # reliable, so that either kind of subscriber is served
        kinds = {
            "color": Image,
            "depth": Image,
            "mask": Image,
            "detections": Detection2DArray,
            "points": PointCloud2,
            "camera_info": CameraInfo,
        }
        self._publishers = {
            what: node.create_publisher(kind, f"{name}/{what}", newest)
            for what, kind in kinds.items()
        }
        self._taken = -1
        self.pending: deque[tuple[int, CameraFrame]] = deque()
        """Frames under way and the time [ns] at which they arrive."""

    def wants(self, *topics: str) -> bool:
        """Whether somebody listens to one of the topics."""
        return any(self._publishers[topic].get_subscription_count() > 0 for topic in topics)

    @property
    def watched(self) -> bool:
        """Whether somebody wants pictures."""
        return self.wants("color", "depth", "mask", "detections", "points")

    def due(self, nanoseconds: int) -> bool:
        """Whether a picture is due; one is for each period that time has entered."""
        period = int(nanoseconds * self.config.rate / 1e9 + 1e-6)
        if period == self._taken:
            return False
        self._taken = period
        return True

    def publish(self, frame: CameraFrame) -> None:
        """Send what is wanted of a frame."""
        header = messages.camera_header(frame)
        senders: dict[str, Callable[[], Any]] = {
            "camera_info": lambda: messages.info_message(header, self.config),
            "detections": lambda: messages.detections_message(header, frame),
            "mask": lambda: messages.image_message(header, frame.mask, "16UC1"),
            "depth": lambda: messages.image_message(header, frame.depth, "32FC1"),
        }
        if frame.rgb is not None:
            rgb = frame.rgb
            senders["color"] = lambda: messages.image_message(header, rgb, "rgb8")
            senders["points"] = lambda: messages.cloud_message(header, frame, self.config)
        for topic, make in senders.items():
            if self.wants(topic):
                self._publishers[topic].publish(make())


class CameraNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Cameras of a simulated world; see the module's text.

    Raises:
        FileNotFoundError: no such world, or the robot's model is not installed.
        ParameterError: the world's description is wrong, or has no cameras.
    """

    def __init__(self, node_name: str = "cameras", **kwargs: Any) -> None:
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        self._config = world_of(values["world"], cameras=True)
        self._seed: int = values["seed"]
        self._noise = _noise(self._config, values["noise"])
        self._cameras = [_Camera(self, name, c) for name, c in self._config.cameras.items()]
        self._static = create_static_transform_broadcaster(self)
        self._static.send(
            [messages.mount_transform(name, c) for name, c in self._config.cameras.items()]
        )
        self._diagnostics = DiagnosticsPublisher(self, "cameras", "mujoco")
        self._diagnostics.set(OK, "nobody looks")
        self._frames = self._skipped = 0
        self._waiting: _State | None = None
        self._arrived = threading.Condition()
        self._stopping = False
        self._subscription: Any = None
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._on_parameters)
        self.create_timer(_LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._thread = threading.Thread(target=self._work, name="cameras", daemon=True)
        self._thread.start()

    def destroy_node(self) -> None:
        """End the drawing and go."""
        with self._arrived:
            self._stopping = True
            self._arrived.notify()
        self._thread.join(5.0)
        super().destroy_node()

    def _look(self) -> None:
        """Listen to the simulation just while somebody listens to the cameras."""
        watched = any(camera.watched for camera in self._cameras)
        if watched and self._subscription is None:
            self._subscription = self.create_subscription(
                JointState, "simulation/state", self._on_state, QoSProfile(depth=1)
            )
        elif not watched and self._subscription is not None:
            self.destroy_subscription(self._subscription)
            self._subscription = None
            self._diagnostics.set(OK, "nobody looks", frames=self._frames, skipped=self._skipped)

    def _on_state(self, message: JointState) -> None:
        state = _State(
            to_nanoseconds(message.header.stamp), list(message.name), np.array(message.position)
        )
        with self._arrived:
            # Only the newest is drawn: late pictures are worse than few.
            self._skipped += self._waiting is not None
            self._waiting = state
            self._arrived.notify()

    def _check_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == "noise":
                try:
                    _noise(self._config, parameter.value)
                except WorldError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name == "noise":
                self._noise = _noise(self._config, parameter.value)

    # -- in the worker's thread ---------------------------------------------------------------

    def _work(self) -> None:
        process: CameraProcess | None = None
        while (state := self._next_state()) is not None:
            try:
                process = process or CameraProcess(self._config)
                self._draw(process, state)
            except CameraError as error:
                self.get_logger().error(reason_text(f"cameras: {error}"))
                self._diagnostics.set(ERROR, f"nothing can be drawn: {error}")
                if process is not None:
                    process.close()
                process = None
                self._pause(_RETRY)
        if process is not None:
            process.close()

    def _next_state(self) -> _State | None:
        with self._arrived:
            while self._waiting is None and not self._stopping:
                self._arrived.wait()
            state, self._waiting = self._waiting, None
            return None if self._stopping else state

    def _pause(self, duration: float) -> None:
        """Wait [s, wall], or until the node goes."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._stopping, duration)

    def _draw(self, process: CameraProcess, state: _State) -> None:
        if state.names != process.coordinates:
            raise CameraError(
                f"the simulation runs another world than {self._config.name}; give both the same"
            )
        now = state.nanoseconds
        due = {
            camera.name: camera.wants("color", "points")
            for camera in self._cameras
            if camera.watched and camera.due(now)
        }
        start = time.monotonic()
        noise = self._noise
        if due:
            request = CameraRequest(
                nanoseconds=now, qpos=state.qpos, cameras=due, seed=self._seed, noise=noise
            )
            for frame in process.render(request):
                camera = next(c for c in self._cameras if c.name == frame.camera)
                camera.pending.append((now + round(noise[camera.name].latency * 1e9), frame))
        for camera in self._cameras:
            while camera.pending and camera.pending[0][0] <= now:
                camera.publish(camera.pending.popleft()[1])
                self._frames += 1
        if due:
            self._report(process, time.monotonic() - start)

    def _report(self, process: CameraProcess, duration: float) -> None:
        period = 1.0 / max(camera.config.rate for camera in self._cameras)
        slow = duration > period
        self._diagnostics.set(
            WARN if slow else OK,
            "slower than the cameras' rate; pictures are left out" if slow else "drawing",
            backend=process.backend,
            duration=duration,
            frames=self._frames,
            skipped=self._skipped,
        )


def _noise(config: WorldConfig, text: str) -> dict[str, CameraNoise]:
    """Noise of each camera with what the parameter replaces.

    Raises:
        WorldError: the text is no YAML, or a value is wrong.
    """
    try:
        changes = read_yaml(text) or {}
    except yaml.YAMLError as error:
        raise WorldError(f"parameter noise is no YAML: {error}") from error
    return replaced_noise(config, changes, "parameter noise")


def main() -> int:
    """Run the node until interrupted."""
    return int(run([CameraNode]))


if __name__ == "__main__":
    sys.exit(main())
