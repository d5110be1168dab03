# SPDX-License-Identifier: Apache-2.0
"""The recorder: a process of its own that hears what a stack says and writes it down.

It subscribes to the serialized messages of every topic that there is, and looks for new ones twice
a second. Once a second everything is put on the disk, and ``/behavior/recording`` tells how much of
it is safe. The service ``/behavior/keep_recording`` keeps what a black box holds; so does a mission
that fails.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from behavior_msgs.msg import MissionFeedback, OperatorCommand, RecordingState, TreeRecord
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from behavior_recording import topics as names
from behavior_recording.black_box import BlackBox, FolderTaken, Limits
from behavior_recording.errors import RecordingError
from behavior_recording.folder import black_box_name, default_folder
from behavior_recording.mcap_file import McapFile
from behavior_recording.recorder import Recorder, Standing
from behavior_recording.schemas import SchemaError, schema_text
from behavior_recording.selection import Selection
from behavior_ros import QOS_LATCHED, QOS_REQUESTS, declare_all, read_only, run
from behavior_ros.topics.qos import QOS_KEPT_EVENTS

LOOK_PERIOD = 0.5
"""[s] between two looks at which topics there are."""
SECURE_PERIOD = 1.0
"""[s] after which a message is on the disk at the latest."""
AFTERMATH = 3.0
"""[s] that are recorded after a failure before the black box is kept."""
_DEPTH = 1_000

PARAMETERS = [
    read_only("output", "", "file of the recording; empty: a new one in the folder"),
    read_only("folder", "", "for files without a name, and the black box"),
    read_only("images", False, "record pictures and point clouds too"),
    read_only(
        "black_box",
        0.0,
        "[min] that are kept in a ring of files instead of one; 0: all in one file",
        range=(0.0, 1440.0),
    ),
    read_only("black_box_size", 256, "[MB] of the ring at most", range=(8, 100_000)),
    read_only("stop_on_problem", False, "end the process if nothing can be written"),
]


@dataclass
class _Heard:
    """A topic that is recorded."""

    topic: str
    message_type: str
    kind: Any
    """The class of its messages."""
    qos: QoSProfile
    """As it is asked for."""
    latched: bool = False
    """Somebody tells it once and for all."""
    subscription: Any = None
    take: Callable[[bytes, Any], None] | None = None
    """What becomes of a message."""


class RecorderNode(Node):  # type: ignore[misc]
    """Records until it is destroyed."""

    def __init__(self, *, node_name: str = "recorder", **kwargs: Any) -> None:
        """Begin the recording.

        Args:
            node_name: name of the node.
            kwargs: for ``rclpy.node.Node``.

        Raises:
            OSError: the file is there already, or cannot be written.
        """
        super().__init__(node_name, **kwargs)
        self._values = declare_all(self, PARAMETERS)
        self.problem = ""
        """Why nothing is recorded any more; empty: it is."""
        namespace = self.get_namespace().rstrip("/")
        self._selection = Selection(self._values["images"], namespace)
        self._heard: dict[str, _Heard] = {}
        self._left_out: set[str] = set()
        self._offer_less: set[str] = set()
        """Topics with publishers that are not heard, as they offer less than was asked for."""
        self._keep_at = 0.0
        self._why = ""
        try:
            self._open()
        except RecordingError as error:
            raise OSError(str(error)) from error
        self._state = self.create_publisher(RecordingState, "behavior/recording", QOS_LATCHED)
        for topic, kind, qos in (
            ("behavior/tree_record", TreeRecord, QOS_REQUESTS),
            ("behavior/commands", OperatorCommand, QOS_KEPT_EVENTS),
            ("mission/feedback", MissionFeedback, QOS_REQUESTS),
        ):
            message_type = f"behavior_msgs/msg/{kind.__name__}"
            self._subscribe(_Heard(self.resolve_topic_name(topic), message_type, kind, qos))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK_PERIOD, self._look, clock=steady)
        self.create_timer(SECURE_PERIOD, self._secure, clock=steady)
        if self._box is not None:  # a recorder beside it must not answer in its place
            self.create_service(Trigger, "behavior/keep_recording", self._on_keep)
        self._look()
        self._secure()

    def destroy_node(self) -> None:
        """Complete the recording, and destroy the node."""
        while self._heard:
            self._take_what_waits(self._heard.popitem()[1])
        try:
            if self._keep_at and self._box is not None:
                self._box.wait()
                self._keep(self._why)
            if not self.problem:
                self._target.finish()
                self.get_logger().info(f"recorded {self.path}")
        except RecordingError as error:
            self.get_logger().error(str(error))
        super().destroy_node()

    # -- what is written -------------------------------------------------------------------------

    def _open(self) -> None:
        folder = Path(self._values["folder"] or default_folder()).expanduser()
        output = self._values["output"]
        self._box: BlackBox | None = None
        if self._values["black_box"]:
            self._box = self._own_box(folder)
            self.path = self._box.folder
            self._target: Any = self._box
        else:
            name = f"{datetime.now():%Y%m%d-%H%M%S-%f}.mcap"
            self.path = Path(output).expanduser() if output else folder / name
            if not output:
                folder.mkdir(parents=True, exist_ok=True)
            self._target = McapFile(self.path, {"namespace": self._selection.namespace})
        self._recorder = Recorder(
            self._target,
            decode_record=lambda data: deserialize_message(data, TreeRecord),
            decode_command=lambda data: deserialize_message(data, OperatorCommand),
            decode_frames=lambda data: deserialize_message(data, TFMessage),
            now=time.time_ns,
        )
        if self._box is not None:
            self._box.prologue = self._recorder.begin_file

    def _own_box(self, folder: Path) -> BlackBox:
        """A black box in the robot's folder, or in one beside it while another is kept there."""
        name = black_box_name(self.context.get_domain_id(), self._selection.namespace)
        limits = Limits(60.0 * self._values["black_box"], self._values["black_box_size"] << 20)
        for number in count(1):
            path = folder / (name if number == 1 else f"{name}-{number}")
            try:
                return BlackBox(path, limits, warn=self.get_logger().error)
            except FolderTaken as error:
                self.get_logger().warning(str(error))
        raise AssertionError

    def _secure(self) -> None:
        if not self.problem:
            try:
                self._publish(self._recorder.secure())
            except RecordingError as error:
                self._give_up(error)
        if self._keep_at and time.monotonic() >= self._keep_at:
            try:
                if self._keep(self._why) is None:
                    return  # one is being kept: once more after it
            except RecordingError as error:  # the ring goes on
                self.get_logger().error(str(error))
            self._keep_at = 0.0

    def _publish(self, standing: Standing) -> None:
        message = RecordingState(
            file=str(self.path),
            safe_messages=standing.safe.messages,
            safe_bytes=standing.safe.bytes,
            life=standing.life,
            sequence=standing.sequence,
            lost=standing.lost,
            problem=self.problem,
        )
        message.header.stamp = Clock().now().to_msg()
        self._state.publish(message)

    def _give_up(self, error: Exception) -> None:
        """Record no more, and say why; the stack goes on."""
        self.problem = str(error)
        self.get_logger().error(f"the recording ends: {error}")
        self._target.abandon()
        self._publish(self._recorder.standing)
        if self._values["stop_on_problem"]:
            os.kill(os.getpid(), signal.SIGTERM)

    # -- what is heard ---------------------------------------------------------------------------

    def _look(self) -> None:
        """Subscribe to topics that have come."""
        for topic, _ in self.get_topic_names_and_types():
            if topic in self._heard or topic in self._left_out:
                continue
            publishers = self.get_publishers_info_by_topic(topic)
            if publishers and not self._begin_to_hear(topic, publishers):
                self._left_out.add(topic)
        while self._offer_less:
            self._ask_for_less(self._offer_less.pop())

    def _begin_to_hear(self, topic: str, publishers: list[Any]) -> bool:
        """Subscribe to a topic; returns whether it is recorded."""
        kinds = sorted({each.topic_type for each in publishers})
        kind = self._message_class(topic, kinds)
        if kind is None:
            return False
        try:
            latched = any(_is_latched(each.qos_profile) for each in publishers)
            self._subscribe(_Heard(topic, kinds[0], kind, _qos_for(publishers), latched))
        except Exception as error:  # whatever the middleware has against a type of somebody's
            self.get_logger().warning(f"{topic} is not recorded: {error}")
            return False
        return True

    def _message_class(self, topic: str, kinds: list[str]) -> Any:
        """What messages of a topic are made of; None: it is not recorded."""
        message_type = kinds[0]
        if not self._selection.takes(topic, message_type):
            return None
        try:
            if len(kinds) > 1:
                raise SchemaError(f"it has several types: {', '.join(kinds)}")
            schema_text(message_type)
            package, _, name = message_type.split("/")
            return getattr(import_module(f"{package}.msg"), name)
        except (SchemaError, ImportError, AttributeError) as error:
            self.get_logger().warning(f"{topic} is not recorded: {error}")
            return None

    def _subscribe(self, heard: _Heard) -> None:
        topic = heard.topic
        plain = self._selection.plain(topic)
        heard.take = partial(self._take, plain, heard.message_type, heard.latched)
        told = SubscriptionEventCallbacks(
            incompatible_qos=lambda _: self._offer_less.add(topic), use_default_callbacks=False
        )
        heard.subscription = self.create_subscription(
            heard.kind, topic, heard.take, heard.qos, raw=True, event_callbacks=told
        )
        self._heard[topic] = heard

    def _ask_for_less(self, topic: str) -> None:
        """Subscribe anew by what all publishers of a topic can serve.

        This may miss what is sent meanwhile; of a publisher that is not heard, all is missed.
        """
        before = self._heard[topic]
        publishers = [
            each
            for each in self.get_publishers_info_by_topic(topic)
            if each.topic_type == before.message_type
        ]
        if publishers:
            self._take_what_waits(before)
            self._subscribe(replace(before, qos=_qos_for(publishers)))
            self.destroy_subscription(before.subscription)

    def _take_what_waits(self, heard: _Heard) -> None:
        """Take what has arrived and no callback has come to: nobody sends it again."""
        assert heard.take is not None
        handle = heard.subscription.handle
        for _ in range(_DEPTH):
            with handle:
                found = handle.take_message(heard.kind, True)  # as bytes
            if found is None:
                return
            heard.take(*found)

    def _take(self, topic: str, message_type: str, latched: bool, data: bytes, info: Any) -> None:
        if self.problem:
            return
        try:
            self._recorder.take(
                topic,
                message_type,
                data,
                publish_time=info["source_timestamp"],
                latched=latched,
            )
        except RecordingError as error:
            self._give_up(error)
        if self._box is not None and topic == names.MISSION_FEEDBACK:
            self._watch(deserialize_message(data, MissionFeedback))

    # -- black box -------------------------------------------------------------------------------

    def _watch(self, feedback: Any) -> None:
        if feedback.state == MissionFeedback.FAILED and not self._keep_at:
            self._why = feedback.name
            self._keep_at = time.monotonic() + AFTERMATH

    def _keep(self, why: str) -> Path | None:
        """Keep the black box; raises RecordingError if that is not possible."""
        assert self._box is not None
        kept = self._box.keep(re.sub(r"[^A-Za-z0-9_-]+", "_", why)[:60] or "kept")
        if kept is not None:
            self.get_logger().info(f"the black box is kept: {kept}")
        return kept

    def _on_keep(self, request: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        if self._box is None:
            answer.message = f"all is recorded into {self.path}: there is no black box to keep"
            return answer
        try:
            kept = self._keep("on_request")
        except RecordingError as error:
            answer.message = str(error)
            return answer
        answer.success = kept is not None
        answer.message = str(kept) if kept else "it is being kept just now: ask again in a moment"
        return answer


def _is_latched(qos: QoSProfile) -> bool:
    return bool(qos.durability == DurabilityPolicy.TRANSIENT_LOCAL)


def _qos_for(publishers: list[Any]) -> QoSProfile:
    """What all publishers of a topic can serve, and as much of it as possible."""
    offers = [each.qos_profile for each in publishers]
    reliable = all(each.reliability == ReliabilityPolicy.RELIABLE for each in offers)
    latched = all(_is_latched(each) for each in offers)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=_DEPTH if reliable else 100,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def main() -> int:
    """Run the node until it is told to stop."""
    made: list[RecorderNode] = []

    def make() -> RecorderNode:
        made.append(RecorderNode())
        return made[-1]

    code = run([make])
    return code or int(any(node.problem for node in made))


if __name__ == "__main__":
    sys.exit(main())
