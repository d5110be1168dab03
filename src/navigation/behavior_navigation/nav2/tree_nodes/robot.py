# SPDX-License-Identifier: Apache-2.0
"""What Nav2's nodes ask of the robot: where it is, how fast it drives, what it is sent."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, ClassVar

from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from std_msgs.msg import String

from behavior_ros import TransformBuffer, TransformError, create_transform_buffer, seconds
from behavior_ros.leaves.leaf_hub import leaf_hub
from behavior_ros.messages.rotations import rotate
from behavior_ros.node.node_parts import node_parts
from behavior_tree import (
    DecoratorNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    SyncActionNode,
    ports_list,
)


class Robot:
    """What is known of the robot; whatever is asked for is subscribed to then."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._transforms: TransformBuffer | None = None
        self._odometry: deque[Odometry] | None = None
        """The two newest messages, from when they were first asked for."""

    def position(self, frame: str, robot: str) -> tuple[float, float] | None:
        """Where a frame is in another [m]; None: not known."""
        found = self.pose(frame, robot)
        return None if found is None else (found.pose.position.x, found.pose.position.y)

    def pose(self, frame: str, robot: str) -> PoseStamped | None:
        """Where a frame is in another; None: not known."""
        found = self._transform(frame, robot)
        if found is None:
            return None
        pose, place = PoseStamped(header=found.header), found.transform.translation
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = place.x, place.y, place.z
        pose.pose.orientation = found.transform.rotation
        return pose

    def place(self, frame: str, pose: PoseStamped) -> tuple[float, float] | None:
        """Where a pose of any frame is in another frame [m]; None: not known."""
        found = self._transform(frame, pose.header.frame_id)
        if found is None:
            return None
        origin, turn, point = found.transform.translation, found.transform.rotation, pose.pose
        place = rotate(
            (turn.x, turn.y, turn.z, turn.w), (point.position.x, point.position.y, point.position.z)
        )
        return origin.x + place[0], origin.y + place[1]

    def acceleration(self) -> float:
        """How fast it gets faster along x by its two newest odometries [m/s²]; 0 before them."""
        if self._odometry is None:
            self._odometry = deque(maxlen=2)
            cache = leaf_hub(self._node).message_cache(Odometry, "odom", latched=False)
            cache.add_callback(self._odometry.append)
        if len(self._odometry) < 2:
            return 0.0
        before, now = self._odometry
        passed = seconds(now.header.stamp) - seconds(before.header.stamp)
        gained = now.twist.twist.linear.x - before.twist.twist.linear.x
        return float(gained / passed) if passed > 0.0 else 0.0

    def _transform(self, frame: str, other: str) -> TransformStamped | None:
        if self._transforms is None:
            self._transforms = create_transform_buffer(self._node)
        try:
            return self._transforms.lookup_transform(frame, other)
        except TransformError:
            return None

    def speed(self) -> float:
        """How fast it drives by its odometry [m/s]; 0 before it tells."""
        odometry = self.newest(Odometry, "odom")
        if odometry is None:
            return 0.0
        velocity = odometry.twist.twist.linear
        return math.hypot(velocity.x, velocity.y)

    def newest(self, kind: Any, topic: str, *, latched: bool = False) -> Any:
        """The newest message of a topic; None before the first."""
        return leaf_hub(self._node).message_cache(kind, topic, latched=latched).newest()


def robot_of(node: Node) -> Robot:
    """What is known of the robot of a node."""
    return node_parts(node).shared(Robot, lambda: Robot(node))


class GoalUpdater(DecoratorNode):
    """Before each tick of its child, `output_goal` becomes the newest goal of the topic
    ``goal_update`` if that is at least as new as `input_goal`, which it is otherwise; likewise
    `output_goals` of ``goals_update``.
    """

    ports = ports_list(
        InputPort("input_goal", Any, None, "goal as it was"),
        InputPort("input_goals", Any, None, "goals as they were"),
        OutputPort("output_goal", Any, description="goal as it is"),
        OutputPort("output_goals", Any, description="goals as they are"),
    )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        """Take where goals arrive."""
        super().__init__(name, config)
        self._robot = robot
        if robot is not None:  # what is sent before the first tick counts
            self._newest()

    def tick(self) -> NodeStatus:
        """Choose the goals, and tick the child."""
        for port, sent in self._newest().items():
            given = self.get_input(f"input_{port}", None)
            chosen = sent if _newer(sent, given) else given
            if chosen is not None:
                self.set_output(f"output_{port}", chosen)
        return self._tick_child()

    def _newest(self) -> dict[str, Any]:
        assert self._robot is not None
        found = {"goal": self._robot.newest(PoseStamped, "goal_update")}
        if _GOALS is not None:
            found["goals"] = self._robot.newest(_GOALS, "goals_update")
        return found


def _newer(sent: Any, given: Any) -> bool:
    """Whether a goal that was sent replaces the one given; one that has no stamp never does."""
    if sent is None or not getattr(sent, "goals", True) or seconds(sent.header.stamp) == 0.0:
        return False
    return given is None or seconds(sent.header.stamp) >= seconds(given.header.stamp)


def _goals_type() -> Any:
    import nav_msgs.msg

    return getattr(nav_msgs.msg, "Goals", None)


_GOALS = _goals_type()
"""nav_msgs/Goals; None on a Jazzy older than it."""


class Selector(SyncActionNode):
    """Writes what somebody has chosen on a topic, and before that the default; FAILURE without one.
    A kind of its own says what is chosen: `selector`.
    """

    chosen: ClassVar[str]
    """Such as ``planner``."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Return the ports."""
        what = cls.chosen.replace("_", " ")
        topic = f"{cls.chosen}_selector"
        return ports_list(
            InputPort(f"default_{cls.chosen}", str, "", f"{what} while nobody has chosen one"),
            InputPort("topic_name", str, topic, "topic on which one is chosen, std_msgs/String"),
            OutputPort(f"selected_{cls.chosen}", str, description=f"the chosen {what}"),
        )

    def __init__(self, name: str, config: NodeConfig, robot: Robot | None) -> None:
        """Take where choices arrive."""
        super().__init__(name, config)
        self._robot = robot
        if robot is not None and self.is_literal("topic_name"):
            self._newest()

    def tick(self) -> NodeStatus:
        """Write it."""
        message = self._newest()
        found = message.data if message is not None else self.get_input(f"default_{self.chosen}")
        if not found:
            self.set_failure_reason(f"nobody has chosen a {self.chosen.replace('_', ' ')}")
            return NodeStatus.FAILURE
        self.set_output(f"selected_{self.chosen}", found)
        return NodeStatus.SUCCESS

    def _newest(self) -> Any:
        assert self._robot is not None
        return self._robot.newest(String, self.get_input("topic_name"), latched=True)


def selector(what: str) -> type[Selector]:
    """The class of Nav2's selector of a plugin."""
    name = "".join(part.capitalize() for part in what.split("_"))
    return type(f"{name}Selector", (Selector,), {"chosen": what})


SELECTORS = [
    selector(what)
    for what in (
        *("planner", "controller", "smoother"),
        *("goal_checker", "progress_checker", "path_handler"),
    )
]
