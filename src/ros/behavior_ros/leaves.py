# SPDX-License-Identifier: Apache-2.0
"""Registers tree nodes made from ROS interfaces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rclpy.node import Node

from behavior_ros.node_models import NodeModel
from behavior_ros.transforms import TransformBuffer


def register_ros_nodes(
    factory: Any,
    node: Node,
    models: Iterable[NodeModel],
    *,
    transform_buffer: TransformBuffer | None = None,
) -> None:
    """Register one tree node per model with a BehaviorTreeFactory."""
    raise NotImplementedError
