# SPDX-License-Identifier: Apache-2.0
"""`Reducers`: which message changes which channels, by the name of its topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from behavior_console.channels import Channels
from behavior_console.reducers import mission, navigation, scene
from behavior_console.reducers.tree import TreeReducer


@dataclass(frozen=True)
class Topic:
    """What is heard."""

    type: str
    """Like ``std_msgs/msg/String``."""
    latched: bool = False
    """Its newest message is kept for who comes late."""
    newest: int = 0
    """It comes often, and only so many messages of a moment count; 0: all do."""
    depth: int = 100
    """Messages that wait, or that are kept for who comes late."""


TOPICS: Mapping[str, Topic] = {
    "/behavior/tree_record": Topic("behavior_msgs/msg/TreeRecord", depth=2_000),
    "/mission/feedback": Topic("behavior_msgs/msg/MissionFeedback"),
    "/behavior/run_control": Topic("behavior_msgs/msg/RunControlState", latched=True, depth=1),
    "/behavior/commands": Topic("behavior_msgs/msg/OperatorCommand", latched=True),
    "/autonomy/level": Topic("behavior_msgs/msg/AutonomyLevel", latched=True, depth=1),
    "/diagnostics": Topic("diagnostic_msgs/msg/DiagnosticArray"),
    "/scene/objects": Topic("behavior_msgs/msg/SceneObjectArray", latched=True, newest=1, depth=1),
    "/joint_states": Topic("sensor_msgs/msg/JointState", newest=4),
    "/tf": Topic("tf2_msgs/msg/TFMessage", newest=20),
    "/tf_static": Topic("tf2_msgs/msg/TFMessage", latched=True),
    "/motion/planned_path": Topic("visualization_msgs/msg/MarkerArray", latched=True, depth=1),
    "/preview/path": Topic("visualization_msgs/msg/MarkerArray", latched=True, depth=1),
    "/scene/markers": Topic("visualization_msgs/msg/MarkerArray", latched=True, newest=1, depth=1),
    "/map": Topic("nav_msgs/msg/OccupancyGrid", latched=True, depth=1),
    "/route": Topic("behavior_msgs/msg/Route"),
    "/plan": Topic("nav_msgs/msg/Path", newest=1),
    "/localization/result": Topic("behavior_msgs/msg/LocalizationResult", newest=1),
    "/semantic_regions": Topic("behavior_msgs/msg/SemanticRegionArray", latched=True, depth=1),
    "/simulation/people": Topic("geometry_msgs/msg/PoseArray", newest=1),
}
"""All that is heard, by name without the robot's namespace."""


class Reducers:
    """Changes channels by messages.

    Args:
        channels: are changed.
        tree: knows the tree already that they show.
    """

    def __init__(self, channels: Channels, *, tree: TreeReducer | None = None) -> None:
        self._tree = tree or TreeReducer(channels)
        markers = {
            topic: partial(_markers, topic.removeprefix("/"))
            for topic, kind in TOPICS.items()
            if kind.type.endswith("/MarkerArray")
        }
        takers: dict[str, Callable[[Channels, Any], None]] = {
            "/mission/feedback": mission.take_feedback,
            "/behavior/run_control": mission.take_run_control,
            "/behavior/commands": mission.take_command,
            "/autonomy/level": mission.take_level,
            "/diagnostics": mission.take_diagnostics,
            "/scene/objects": scene.take_objects,
            "/joint_states": scene.take_joints,
            "/tf": scene.take_transforms,
            "/tf_static": scene.take_transforms,
            "/map": navigation.take_map,
            "/route": navigation.take_route,
            "/plan": navigation.take_path,
            "/localization/result": navigation.take_localization,
            "/semantic_regions": navigation.take_regions,
            "/simulation/people": navigation.take_people,
            **markers,
        }
        self._takers: dict[str, Callable[[Any], None]] = {
            topic: partial(taker, channels) for topic, taker in takers.items()
        }
        self._takers["/behavior/tree_record"] = self._tree.take

    def fork(self, channels: Channels) -> Reducers:
        """Others that know what these do and change other channels, which hold the same."""
        return Reducers(channels, tree=self._tree.fork(channels))

    def take(self, topic: str, message: Any) -> None:
        """Take in one message; those of other topics are passed over.

        Args:
            topic: name without the robot's namespace.
            message: has the fields of a ROS message.
        """
        if topic in self._takers:
            self._takers[topic](message)


def _markers(source: str, channels: Channels, message: Any) -> None:
    scene.take_markers(channels, message, source)
