# SPDX-License-Identifier: Apache-2.0
"""Between messages of routes, maneuvers and regions and what the rules work with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from behavior_msgs.msg import Maneuver as ManeuverMsg
from behavior_msgs.msg import Route, RouteRequest, SemanticRegion, SemanticRegionArray
from geometry_msgs.msg import Point32, PoseStamped
from nav_msgs.msg import Path

from behavior_motion.planar_pose import Pose2D, yaw_of
from behavior_navigation.rules.action_core import LARGEST
from behavior_navigation.rules.maneuver import Maneuver
from behavior_navigation.rules.polyline import Points
from behavior_navigation.rules.regions import Region, RegionIndex
from behavior_navigation.rules.route_exchange import RouteAnswer, RouteQuestion
from behavior_ros import seconds, upright_pose


def planar(pose: Any) -> Pose2D:
    """The planar part of a ``geometry_msgs/Pose``."""
    q = pose.orientation
    return Pose2D(pose.position.x, pose.position.y, yaw_of(q.x, q.y, q.z, q.w))


def stamped_pose(frame: str, pose: Pose2D, stamp: Any) -> PoseStamped:
    """A pose with its frame and time."""
    message = upright_pose(frame, pose.x, pose.y, pose.yaw)
    message.header.stamp = stamp
    return message


def route_request(question: RouteQuestion, frame: str, stamp: Any) -> RouteRequest:
    """A request that starts at the robot, wherever it will be then."""
    message = RouteRequest(
        id=question.id,
        goal=stamped_pose(frame, question.goal, stamp),
        use_robot_pose=True,
        avoid_edges=list(question.avoid_edges),
        cause=int(question.cause),
    )
    message.header.frame_id, message.header.stamp = frame, stamp
    return message


def route_answer(message: Route, place_of: Callable[[str], Pose2D | None]) -> RouteAnswer:
    """What a route message says, in the frame of routes.

    Args:
        message: the route.
        place_of: where a frame is in the frame of routes; None: unknown.
    """
    frame = message.path.header.frame_id or message.header.frame_id
    text = message.text
    points: tuple[tuple[float, float], ...] = ()
    if message.path.poses:
        place = place_of(frame)
        if place is None:
            text = f"the route is in frame '{frame}', which is not known"
        else:
            corners = (place @ planar(stamped.pose) for stamped in message.path.poses)
            points = tuple((corner.x, corner.y) for corner in corners)
            if not all(abs(x) <= LARGEST and abs(y) <= LARGEST for x, y in points):
                points = ()
                text = f"the route has points that are on no map: coordinates reach {LARGEST:g} m"
    return RouteAnswer(
        request_id=message.request_id,
        stamp=seconds(message.header.stamp),
        route_id=message.route_id or f"route {message.request_id}",
        points=points,
        edges=tuple(message.edges),
        text=text,
    )


def maneuver_message(maneuver: Maneuver, number: int, frame: str, stamp: Any) -> ManeuverMsg:
    """A maneuver as a message; each pose of its path looks to the next one."""
    message = ManeuverMsg(
        id=number,
        route_id=maneuver.route_id,
        path=path_message(maneuver.path, maneuver.goal.yaw, frame, stamp),
        goal=stamped_pose(frame, maneuver.goal, stamp),
        is_final=maneuver.is_final,
        s_start=maneuver.s_start,
        s_robot=maneuver.s_robot,
        s_end=maneuver.s_end,
        route_length=maneuver.route_length,
        lateral_offset=maneuver.lateral_offset,
        regions=[region_message(region) for region in maneuver.regions],
    )
    message.header.frame_id, message.header.stamp = frame, stamp
    return message


def path_message(points: Points, last_yaw: float, frame: str, stamp: Any) -> Path:
    """Points (m, 2) [m] as a path; ``last_yaw`` [rad] is the heading of the last pose."""
    steps = np.diff(points, axis=0)
    yaws = [*np.arctan2(steps[:, 1], steps[:, 0]).tolist(), last_yaw]
    path = Path()
    path.header.frame_id, path.header.stamp = frame, stamp
    path.poses = [
        stamped_pose(frame, Pose2D(x, y, yaw), stamp)
        for (x, y), yaw in zip(points.tolist(), yaws, strict=True)
    ]
    return path


def region_message(region: Region) -> SemanticRegion:
    """A region as a message."""
    message = SemanticRegion(id=region.id, type=region.type, speed_limit=region.speed_limit)
    message.polygon.points = [Point32(x=x, y=y) for x, y in region.polygon.tolist()]
    return message


def region_index(
    message: SemanticRegionArray, place_of: Callable[[str], Pose2D | None]
) -> RegionIndex | None:
    """The regions of a map, in the frame of routes; None: their frame is not known.

    Corners that are no numbers are left out, so that what they had enclosed stays closed.
    """
    place = place_of(message.header.frame_id)
    if place is None:
        return None
    return RegionIndex([_region(region, place) for region in message.regions])


def broken_regions(message: SemanticRegionArray) -> list[str]:
    """Identifiers of regions with corners that are no numbers, or with fewer than three."""
    whole = (3 <= len(_corners(each)) == len(each.polygon.points) for each in message.regions)
    return [each.id for each, is_whole in zip(message.regions, whole, strict=True) if not is_whole]


def _corners(region: SemanticRegion) -> list[Point32]:
    return [p for p in region.polygon.points if math.isfinite(p.x) and math.isfinite(p.y)]


def _region(message: SemanticRegion, place: Pose2D) -> Region:
    corners = [place @ Pose2D(p.x, p.y) for p in _corners(message)]
    polygon = np.array([[c.x, c.y] for c in corners], dtype=np.float64).reshape(-1, 2)
    return Region(message.id, message.type, polygon, message.speed_limit)
