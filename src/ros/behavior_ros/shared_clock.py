# SPDX-License-Identifier: Apache-2.0
"""One subscription of ``/clock`` for all nodes of a process.

rclpy has one per node: every message would be received, decoded and waited for as often as there
are nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node


def share_clock(nodes: Sequence[Node]) -> None:
    """Have the first node on simulated time set the clocks of the others, which hear it no more.

    Call it when all nodes are made. One that is switched to simulated time later has a
    subscription of its own again; the first one's ``use_sim_time`` must stay as it is.

    Args:
        nodes: of one process
    """
    simulated = [node for node in nodes if node._time_source.ros_time_is_active]
    for node in simulated[1:]:
        source = node._time_source
        if source._clock_sub is not None:
            node.destroy_subscription(source._clock_sub)
            source._clock_sub = None
        for clock in source._associated_clocks:
            simulated[0]._time_source.attach_clock(clock)
