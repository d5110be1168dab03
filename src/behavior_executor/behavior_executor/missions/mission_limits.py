# SPDX-License-Identifier: Apache-2.0
"""How large a mission may be; measured before anything else is done with it."""

from __future__ import annotations

from behavior_msgs.msg import MissionAction, MissionStep

from behavior_ros.messages.limits import RequestSize

MOST_STEPS = 256
"""Of a sequence."""
MOST_POSES = 1_000
"""Of all routes of a mission together."""
MOST_PARAMETERS = 256
"""Of a mission and all its steps together."""


def oversize(message: MissionAction) -> list[str]:
    """What is too large in a mission; empty: nothing."""
    size = RequestSize()
    size.name("action_id", message.action_id)
    parts: list[MissionAction | MissionStep] = [message]
    if size.entries("steps", message.steps, MOST_STEPS):
        parts += message.steps
    poses = [pose for part in parts for pose in part.route.poses]
    parameters = [pair for part in parts for pair in part.parameters]
    for part in parts:
        size.name("name", part.name)
        size.name("map_id", part.map_id)
        size.name("frame of goal", part.goal.header.frame_id)
        size.name("frame of route", part.route.header.frame_id)
    if size.entries("poses", poses, MOST_POSES):
        for pose in poses:
            size.name("frame of a pose", pose.header.frame_id)
    if size.entries("parameters", parameters, MOST_PARAMETERS):
        for pair in parameters:
            size.name("key of a parameter", pair.key)
            size.text(f"parameter '{pair.key[:40]}'", pair.value)
    return size.problems
