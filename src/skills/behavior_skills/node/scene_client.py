# SPDX-License-Identifier: Apache-2.0
"""The skills' `SceneView` in ROS: newest snapshot of the scene, attach and detach.

A goal may follow a change of the scene whose message has not arrived here yet: a freeze, a setup.
So a goal asks the scene for its revision before it first looks at objects or their frames, and
waits for a snapshot that is no older. Frames of objects are taken from the snapshot too, not from
TF, which arrives apart from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from behavior_msgs.msg import SceneObjectArray
from behavior_msgs.srv import AttachObject, QueryScene
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from behavior_ros import QOS_LATCHED, seconds
from behavior_ros.node.at_work import at_work
from behavior_ros.node.silence import Silence
from behavior_ros.topics.background import create_background_subscription
from behavior_ros.topics.unread import MOST_UNREAD, Unread
from behavior_skills.interfaces import (
    Array,
    FailureCode,
    GoalContext,
    ObjectView,
    SkillFailure,
)
from behavior_skills.node import conversion

SILENCE = 3.0
"""[s] of the node's clock without a snapshot after which the scene counts as lost ..."""
SILENCE_WALL = 1.0
"""[s] ... when as much wall time has passed too."""
TIMEOUT = 2.0
"""[s] of the node's clock for an answer of the scene, and for a snapshot that shows it ..."""
TIMEOUT_WALL = 2.0
"""[s] ... and of wall time: a simulation faster than real time gives the scene no less."""
FramePose = Callable[[str, float], Array]
"""base_T_frame of a frame at a time [s], 0: newest; raises `SkillFailure` UNKNOWN_FRAME."""


@dataclass(frozen=True, slots=True)
class _Views:
    """A snapshot in the robot's base frame."""

    message: SceneObjectArray
    objects: Mapping[str, ObjectView]
    frames: Mapping[str, Array]


@lru_cache(maxsize=2 * MOST_UNREAD)  # the groups of a robot, each a node, hear the same
def _snapshot(data: bytes) -> SceneObjectArray:
    """The snapshot of a message; it is shared, so do not change it."""
    return deserialize_message(data, SceneObjectArray)


class SceneTopic:
    """Newest snapshot of the scene."""

    def __init__(
        self,
        node: Node,
        base_T_frame: Callable[[str], Array],
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        """Subscribe.

        Args:
            node: that listens.
            base_T_frame: gives the pose of the scene's frame; raises `SkillFailure`.
            on_news: called, in any thread, when the scene says something that may be waited for.
        """
        self._node, self._base_T_frame, self.on_news = node, base_T_frame, on_news
        self._unread = Unread(self._take)
        self._message: SceneObjectArray | None = None
        self._views: _Views | None = None
        self._silence = Silence(
            lambda: seconds(node.get_clock().now()), SILENCE, wall_limit=SILENCE_WALL
        )
        self._names: set[str] = set()
        self.workers = at_work(node)
        self.attacher = node.create_client(AttachObject, "scene/attach")
        self.query = node.create_client(QueryScene, "scene/query")
        self.name = create_background_subscription(
            node, SceneObjectArray, "scene/objects", self._on_message, QOS_LATCHED, lasting=True
        ).topic_name

    def _on_message(self, data: bytes) -> None:
        self._unread.hear(data)
        self._silence.end()
        self.on_news()

    def _take(self, data: bytes) -> None:
        message = self._message = _snapshot(data)
        self._names.update(obj.name for obj in message.objects)

    def _newest(self) -> SceneObjectArray | None:
        """The newest snapshot, all that came before it having been read."""
        self._unread.read()
        return self._message

    def objects(self) -> Mapping[str, ObjectView]:
        """Things of the newest snapshot; raises `SkillFailure` SERVER_LOST."""
        return self._look().objects

    def frames(self) -> Mapping[str, Array]:
        """base_T_object of all objects that are not lost; raises `SkillFailure` SERVER_LOST."""
        return self._look().frames

    def was_object(self, name: str) -> bool:
        """Tell whether any snapshot so far had an object of this name."""
        self._unread.read()
        return name in self._names

    def _look(self) -> _Views:
        message = self._newest()
        if message is None or self._silence.too_long:
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"No snapshots of the scene arrive on {self.name}. Start the "
                "scene node and the detector again.",
            )
        views = self._views
        if views is None or views.message is not message:
            try:
                frame = self._base_T_frame(message.header.frame_id)
            except SkillFailure as failure:
                raise SkillFailure(
                    FailureCode.SERVER_LOST, f"The scene is useless: {failure}"
                ) from None
            views = self._views = _Views(
                message,
                conversion.object_views(message, frame),
                conversion.object_frames(message, frame),
            )
        return views

    def usable(self) -> bool:
        """Tell whether there is a snapshot, in a frame that is known, and somebody to ask."""
        if not self.query.service_is_ready():
            return False
        try:
            self.objects()
        except SkillFailure:
            return False
        return True

    def revision(self) -> int:
        """Revision of the newest snapshot."""
        message = self._newest()
        return 0 if message is None else int(message.revision)


class SceneClient:
    """The scene as one goal sees it; waits tick with the goal."""

    def __init__(self, topic: SceneTopic, goal_context: GoalContext, node: Node) -> None:
        self._topic, self._goal_context, self._node = topic, goal_context, node
        self._is_current = False

    def objects(self) -> Mapping[str, ObjectView]:
        """Things of the newest snapshot; raises `SkillFailure` SERVER_LOST."""
        self._catch_up()
        return self._topic.objects()

    def revision(self) -> int:
        """Revision of the newest snapshot."""
        return self._topic.revision()

    def base_T_frame(self, frame: str, stamp: float, look_up: FramePose) -> Array:
        """Pose of a frame in the robot's base frame; objects are where the scene has them.

        Args:
            frame: name of an object or any other frame.
            stamp: at which time [s]; 0: now. Past poses are not asked of the scene.
            look_up: the same on TF.

        Raises:
            SkillFailure: UNKNOWN_FRAME, or SERVER_LOST: the scene does not tell.
        """
        if stamp > 0.0:
            return look_up(frame, stamp)
        if not self._topic.was_object(frame):
            try:
                return look_up(frame, stamp)
            except SkillFailure:
                # It may be an object that the scene has had for a moment only.
                if not self._topic.query.service_is_ready():
                    raise
        self._catch_up()
        frames = self._topic.frames()
        if frame in frames:
            return frames[frame]
        if self._topic.was_object(frame):
            raise SkillFailure(
                FailureCode.UNKNOWN_FRAME,
                f"'{frame}' is an object that the scene has lost or deleted. Its objects are "
                f"{sorted(frames)}.",
            )
        return look_up(frame, stamp)

    def attach(self, name: str, link: str) -> None:
        """Attach, and wait for a snapshot that shows it; raises `SkillFailure`."""
        self._change(AttachObject.Request(name=name, attach=True, link=link))

    def detach(self, name: str) -> None:
        """Detach, and wait for a snapshot that shows it; raises `SkillFailure`."""
        self._change(AttachObject.Request(name=name, attach=False))

    def _change(self, request: AttachObject.Request) -> None:
        answer = self._call(self._topic.attacher, request)
        if answer.code != 0:
            raise SkillFailure(FailureCode.EXECUTION_FAILED, f"The scene says: {answer.message}")
        self._await_revision(answer.revision)

    def _catch_up(self) -> None:
        """Wait once for a snapshot no older than the scene is now."""
        if not self._is_current:
            # Whatever the question: the answer tells the revision.
            response = self._call(self._topic.query, QueryScene.Request())
            self._await_revision(response.answer.revision)
            self._is_current = True

    def _await_revision(self, revision: int) -> None:
        if not self._comes(lambda: self._topic.revision() >= revision):
            raise SkillFailure(
                FailureCode.SERVER_LOST,
                f"The scene is at revision {revision}, but its newest snapshot on "
                f"{self._topic.name} has {self._topic.revision()}. See that the "
                "scene node publishes.",
            )

    def _comes(self, condition: Callable[[], bool]) -> bool:
        """Wait for what the scene is to do; whether it did.

        What is asked of another process counts as work of this one until the answer is there: a
        simulation that waits for those who compute waits for it too.
        """
        silence = Silence(self._goal_context.now, TIMEOUT, wall_limit=TIMEOUT_WALL)
        self._topic.workers.begin()
        try:
            while not condition():
                if silence.too_long:
                    return False
                self._goal_context.tick()
        finally:
            self._topic.workers.end()
        return True

    def _call(self, client: Any, request: Any) -> Any:
        executor = self._node.executor
        if executor is None or not client.service_is_ready():
            raise _lost(client.service_name, "is not there")
        answers: list[Any] = []

        def take(answer: Any) -> None:
            answers.append(answer.result())
            self._topic.on_news()

        def send() -> None:
            client.call_async(request).add_done_callback(take)

        executor.create_task(send)
        if not self._comes(lambda: bool(answers)):
            raise _lost(client.service_name, "does not answer")
        return answers[0]


def _lost(service: str, how: str) -> SkillFailure:
    return SkillFailure(
        FailureCode.SERVER_LOST, f"The scene's service {service} {how}. Start the scene node again."
    )
