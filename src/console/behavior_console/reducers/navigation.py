# SPDX-License-Identifier: Apache-2.0
"""Where a mobile robot is and drives, as channels."""

from __future__ import annotations

import zlib
from typing import Any

from behavior_console.channels import Channels
from behavior_console.reducers.plain import numbers, point, pose, seconds, short

MOST_POSES = 2_000
MOST_CELLS = 4_000_000
_VERDICTS = ("unknown", "good", "bad")
_REGIONS = (
    "navigable",
    "roi_obstacle",
    "restricted",
    "speed_zone",
    "stairs",
    "entrance",
    "dock",
)


def take_map(channels: Channels, message: Any) -> None:
    """``nav_msgs/OccupancyGrid``: cells as zlib-compressed bytes, row by row, 255 unknown."""
    info = message.info
    if info.width * info.height > MOST_CELLS:
        cells, text = b"", f"the map has {info.width} x {info.height} cells, too many to show"
    else:
        cells, text = zlib.compress(bytes(each & 0xFF for each in message.data), 1), ""
    channels.set(
        "map",
        {
            "frame": message.header.frame_id,
            "t": seconds(message.header.stamp),
            "resolution": float(info.resolution),
            "width": int(info.width),
            "height": int(info.height),
            "origin": pose(info.origin),
            "cells": cells,
            "text": text,
        },
    )


def take_route(channels: Channels, message: Any) -> None:
    """``behavior_msgs/Route``."""
    channels.set(
        "route",
        {
            "id": message.route_id,
            "frame": message.path.header.frame_id,
            "points": _points(message.path),
            "edges": list(message.edges),
            "text": short(message.text),
        },
    )


def take_path(channels: Channels, message: Any) -> None:
    """``nav_msgs/Path``: what the planner plans to drive."""
    channels.set("path", {"frame": message.header.frame_id, "points": _points(message)})


def take_localization(channels: Channels, message: Any) -> None:
    """``behavior_msgs/LocalizationResult``."""
    covariance = message.pose.covariance
    verdict = message.status
    channels.set(
        "localization",
        {
            "frame": message.header.frame_id,
            "t": seconds(message.header.stamp),
            "pose": pose(message.pose.pose),
            "deviation": numbers(max(0.0, float(covariance[7 * i])) ** 0.5 for i in range(6)),
            "score": float(message.score),
            "verdict": _VERDICTS[verdict] if verdict < len(_VERDICTS) else "",
            "map_id": message.map_id,
        },
    )


def take_regions(channels: Channels, message: Any) -> None:
    """``behavior_msgs/SemanticRegionArray``."""
    channels.set(
        "regions",
        {
            "frame": message.header.frame_id,
            "regions": [
                {
                    "id": each.id,
                    "type": _REGIONS[each.type] if each.type < len(_REGIONS) else "",
                    "polygon": [point(corner) for corner in each.polygon.points],
                    "speed_limit": round(float(each.speed_limit), 3),
                }
                for each in message.regions
            ],
        },
    )


def take_people(channels: Channels, message: Any) -> None:
    """``geometry_msgs/PoseArray``."""
    poses = [pose(each) for each in message.poses[:MOST_POSES]]
    channels.set("people", {"frame": message.header.frame_id, "poses": poses})


def _points(path: Any) -> list[list[float]]:
    """At most so many of a path's points, evenly chosen, the last one among them."""
    step = max(1, -(-len(path.poses) // MOST_POSES))
    chosen = [*path.poses[::step], *path.poses[-1:]]
    return [point(each.pose.position) for each in chosen]
