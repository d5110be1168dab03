# SPDX-License-Identifier: Apache-2.0
"""Which topics are recorded. No ROS."""

from __future__ import annotations

from dataclasses import dataclass

from behavior_recording import topics as names

LARGE_TYPES = frozenset(
    f"sensor_msgs/msg/{name}" for name in ("Image", "CompressedImage", "PointCloud", "PointCloud2")
)
LEFT_OUT = frozenset(
    {
        names.RECORDING,
        # In files these are made of the records of the tree.
        names.TREE_XML,
        names.TREE_STATE,
        names.TREE_LOG,
        "/behavior/tree_status",
        # Each simulation step has one; messages bear their stamps.
        "/clock",
        "/parameter_events",
    }
)


@dataclass(frozen=True)
class Selection:
    """A choice of topics."""

    images: bool = False
    """Pictures and point clouds too."""
    namespace: str = ""
    """Of the robot, like ``/left``; empty: none. What belongs to another robot is left out."""

    def plain(self, topic: str) -> str:
        """The name under which a topic is recorded: that without the robot's namespace."""
        return topic.removeprefix(self.namespace) if self._is_inside(topic) else topic

    def takes(self, topic: str, message_type: str) -> bool:
        """Whether a topic is recorded.

        Args:
            topic: absolute name
            message_type: like ``std_msgs/msg/String``
        """
        if "/_" in topic or (message_type in LARGE_TYPES and not self.images):
            return False
        if self.namespace and not self._is_inside(topic):
            return False
        return self.plain(topic) not in LEFT_OUT

    def _is_inside(self, topic: str) -> bool:
        return bool(self.namespace) and topic.startswith(f"{self.namespace}/")
