# SPDX-License-Identifier: Apache-2.0
"""The skills' `SceneView` in ROS: newest snapshot of the scene, attach and detach."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from behavior_msgs.msg import SceneObjectArray
from behavior_msgs.srv import AttachObject
from rclpy.node import Node

from behavior_ros import QOS_LATCHED
from behavior_skills import conversion
from behavior_skills.execution import wait_for
from behavior_skills.interfaces import (
    Array,
    Failure,
    ObjectState,
    ObjectView,
    Runtime,
    SkillFailure,
)

SILENCE = 3.0
"""[s] of the node's clock without a snapshot after which the scene counts as lost ..."""
SILENCE_WALL = 1.0
"""[s] ... when as much wall time has passed too."""
SERVICE_TIMEOUT = 2.0
"""[s]"""


class SceneTopic:
    """Newest snapshot of the scene."""

    def __init__(self, node: Node, base_T_frame: Callable[[str], Array]) -> None:
        """`base_T_frame` gives the pose of the scene's frame; raises `SkillFailure`."""
        self._node, self._base_T_frame = node, base_T_frame
        self._message: SceneObjectArray | None = None
        self._views: tuple[SceneObjectArray | None, Mapping[str, ObjectView]] = (None, {})
        self._arrived = (0.0, 0.0)
        self.client = node.create_client(AttachObject, "/scene/attach")
        node.create_subscription(SceneObjectArray, "/scene/objects", self._on_message, QOS_LATCHED)

    def _on_message(self, message: SceneObjectArray) -> None:
        self._message, self._arrived = message, (self._now(), time.monotonic())

    def _now(self) -> float:
        return float(self._node.get_clock().now().nanoseconds) * 1e-9

    def objects(self) -> Mapping[str, ObjectView]:
        """Objects of the newest snapshot; raises `SkillFailure` SERVER_LOST."""
        message, (arrived, arrived_wall) = self._message, self._arrived
        silent = self._now() - arrived > SILENCE
        if message is None or (silent and time.monotonic() - arrived_wall > SILENCE_WALL):
            raise SkillFailure(
                Failure.SERVER_LOST,
                "No snapshots of the scene arrive on /scene/objects. Start the scene node and the "
                "detector again.",
            )
        if self._views[0] is not message:
            try:
                frame = self._base_T_frame(message.header.frame_id)
            except SkillFailure as failure:
                raise SkillFailure(
                    Failure.SERVER_LOST, f"The scene is useless: {failure}"
                ) from None
            self._views = (message, conversion.object_views(message, frame))
        return self._views[1]

    def usable(self) -> bool:
        """Tell whether there is a snapshot, in a frame that is known."""
        try:
            self.objects()
        except SkillFailure:
            return False
        return True

    def revision(self) -> int:
        """Revision of the newest snapshot."""
        return 0 if self._message is None else int(self._message.revision)


class SceneClient:
    """The scene as one goal sees it; waits tick with the goal's runtime."""

    def __init__(self, topic: SceneTopic, runtime: Runtime, node: Node) -> None:
        self._topic, self._runtime, self._node = topic, runtime, node

    def objects(self) -> Mapping[str, ObjectView]:
        """Objects of the newest snapshot; raises `SkillFailure` SERVER_LOST."""
        return self._topic.objects()

    def revision(self) -> int:
        """Revision of the newest snapshot."""
        return self._topic.revision()

    def attach(self, name: str, link: str) -> None:
        """Attach, and wait for a snapshot that shows it; raises `SkillFailure`."""
        self._call(AttachObject.Request(name=name, attach=True, link=link))
        self._wait_for_state(name, attached=True)

    def detach(self, name: str) -> None:
        """Detach, and wait for a snapshot that shows it; raises `SkillFailure`."""
        self._call(AttachObject.Request(name=name, attach=False))
        self._wait_for_state(name, attached=False)

    def _call(self, request: AttachObject.Request) -> None:
        client, executor = self._topic.client, self._node.executor
        if executor is None or not client.service_is_ready():
            raise _lost("is not there")
        answers: list[Any] = []

        def send() -> None:
            client.call_async(request).add_done_callback(lambda f: answers.append(f.result()))

        executor.create_task(send)
        if not wait_for(self._runtime, lambda: bool(answers), SERVICE_TIMEOUT):
            raise _lost("does not answer")
        if answers[0].code != 0:
            raise SkillFailure(Failure.EXECUTION_FAILED, f"The scene says: {answers[0].message}")

    def _wait_for_state(self, name: str, *, attached: bool) -> None:
        def shown() -> bool:
            thing = self._topic.objects().get(name)
            return thing is None or (thing.state is ObjectState.ATTACHED) == attached

        wait_for(self._runtime, shown, 0.5)


def _lost(how: str) -> SkillFailure:
    return SkillFailure(
        Failure.SERVER_LOST, f"The scene's service /scene/attach {how}. Start the scene node again."
    )
