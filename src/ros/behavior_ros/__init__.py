# SPDX-License-Identifier: Apache-2.0
"""Thin layer on rclpy: everything the suite's nodes have in common."""

from behavior_ros.actions.burst_action_client import BurstActionClient
from behavior_ros.actions.burst_action_server import BurstActionServer
from behavior_ros.actions.goal_context import GoalContext, ServerLost, WaitTimeout
from behavior_ros.actions.goal_identifier import mark_of
from behavior_ros.actions.remote_action import RemoteAction, RemoteActions, remote_actions
from behavior_ros.actions.remote_goal import End, GoalOutcome, RemoteGoal
from behavior_ros.actions.worker_action_server import WorkerActionServer
from behavior_ros.leaves.needs import Need, action_need, service_need, topic_need
from behavior_ros.leaves.node_models import NodeModel, load_node_models
from behavior_ros.leaves.registration import register_ros_nodes, ros_node_manifests
from behavior_ros.messages.conversions import (
    matrix_to_pose,
    matrix_to_transform,
    pose_to_matrix,
    seconds,
    to_duration,
    to_nanoseconds,
    to_time,
    transform_to_matrix,
    upright_pose,
)
from behavior_ros.messages.interfaces import code_text
from behavior_ros.node.companions import register_companion, with_companions
from behavior_ros.node.parameters import (
    ParameterError,
    ParameterSpec,
    declare,
    declare_all,
    read_only,
)
from behavior_ros.process.entry import run
from behavior_ros.topics.diagnostics import ERROR, OK, STALE, WARN, DiagnosticsPublisher
from behavior_ros.topics.message_cache import AgeSince, MessageCache
from behavior_ros.topics.newest_entry import NewestEntry
from behavior_ros.topics.qos import (
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    QOS_REQUESTS,
    QOS_SENSOR,
)
from behavior_ros.transforms.buffers import (
    TransformBroadcaster,
    TransformBuffer,
    create_static_transform_broadcaster,
    create_transform_broadcaster,
    create_transform_buffer,
)
from behavior_ros.transforms.transform_tree import TransformError, TransformTree
from behavior_tree.cause import Cancelled

__all__ = [
    "ERROR",
    "OK",
    "QOS_COMMAND",
    "QOS_EVENT_LOG",
    "QOS_LATCHED",
    "QOS_REQUESTS",
    "QOS_SENSOR",
    "STALE",
    "WARN",
    "AgeSince",
    "BurstActionClient",
    "BurstActionServer",
    "Cancelled",
    "DiagnosticsPublisher",
    "End",
    "GoalContext",
    "GoalOutcome",
    "MessageCache",
    "Need",
    "NewestEntry",
    "NodeModel",
    "ParameterError",
    "ParameterSpec",
    "RemoteAction",
    "RemoteActions",
    "RemoteGoal",
    "ServerLost",
    "TransformBroadcaster",
    "TransformBuffer",
    "TransformError",
    "TransformTree",
    "WaitTimeout",
    "WorkerActionServer",
    "action_need",
    "code_text",
    "create_static_transform_broadcaster",
    "create_transform_broadcaster",
    "create_transform_buffer",
    "declare",
    "declare_all",
    "load_node_models",
    "mark_of",
    "matrix_to_pose",
    "matrix_to_transform",
    "pose_to_matrix",
    "read_only",
    "register_companion",
    "register_ros_nodes",
    "remote_actions",
    "ros_node_manifests",
    "run",
    "seconds",
    "service_need",
    "to_duration",
    "to_nanoseconds",
    "to_time",
    "topic_need",
    "transform_to_matrix",
    "upright_pose",
    "with_companions",
]
