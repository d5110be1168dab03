# SPDX-License-Identifier: Apache-2.0
"""Between ROS messages and the values of the navigation world; the only such place."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
from behavior_msgs.msg import (
    LocalizationResult,
    PathPlannerHealth,
    Route,
    SemanticRegion,
    SemanticRegionArray,
    TrajectoryStatus,
)
from geometry_msgs.msg import Point32, PoseArray, PoseStamped, TransformStamped, Twist
from geometry_msgs.msg import Pose as PoseMessage
from nav_msgs.msg import OccupancyGrid, Odometry, Path
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header

from behavior_motion.planar_pose import Points, Pose2D, yaw_of
from behavior_ros import to_time, upright_pose
from behavior_sim.navigation.config import NavigationConfig, RegionConfig
from behavior_sim.navigation.grid import Grid
from behavior_sim.navigation.localizer import Localization
from behavior_sim.navigation.path_planner import Maneuver, Plan
from behavior_sim.navigation.routes import PlannedRoute
from behavior_sim.navigation.system import OdometryEvent, TruthEvent
from behavior_sim.navigation.tracker import Tracking
from behavior_sim.navigation.world import REACH, Scan

MAP, ODOM, BASE = "map", "odom", "base_link"
"""Frames (REP-105)."""
_EVERY = 3
"""A path is published with every third point."""
_REGIONS = {
    "navigable": SemanticRegion.NAVIGABLE,
    "roi_obstacle": SemanticRegion.ROI_OBSTACLE,
    "restricted": SemanticRegion.RESTRICTED,
    "speed_zone": SemanticRegion.SPEED_ZONE,
    "stairs": SemanticRegion.STAIRS,
    "entrance": SemanticRegion.ENTRANCE,
    "dock": SemanticRegion.DOCK,
}


def header(now: float, frame: str = MAP) -> Header:
    """A header of time [s] and frame."""
    return Header(stamp=to_time(now), frame_id=frame)


def pose_message(pose: Pose2D) -> PoseMessage:
    """A pose in the plane."""
    return upright_pose("", pose.x, pose.y, pose.yaw).pose


def pose_from(message: Any) -> Pose2D:
    """The plane's part of a pose."""
    place, turn = message.position, message.orientation
    return Pose2D(place.x, place.y, yaw_of(turn.x, turn.y, turn.z, turn.w))


def finite(pose: Pose2D) -> bool:
    """Whether a pose is made of numbers."""
    return all(math.isfinite(value) for value in (pose.x, pose.y, pose.yaw))


def transform(now: float, parent: str, child: str, pose: Pose2D) -> TransformStamped:
    """Where a frame is in its parent."""
    message = TransformStamped(header=header(now, parent), child_frame_id=child)
    at = pose_message(pose)
    message.transform.translation.x, message.transform.translation.y = pose.x, pose.y
    message.transform.rotation = at.orientation
    return message


def odometry(now: float, event: OdometryEvent) -> Odometry:
    """What the wheels tell."""
    message = Odometry(header=header(now, ODOM), child_frame_id=BASE)
    message.pose.pose = pose_message(event.pose)
    message.twist.twist.linear.x = event.linear
    message.twist.twist.angular.z = event.angular
    return message


def truth(now: float, event: TruthEvent) -> Odometry:
    """Where the robot really is."""
    message = Odometry(header=header(now), child_frame_id=BASE)
    message.pose.pose = pose_message(event.robot)
    message.twist.twist.linear.x = event.linear
    message.twist.twist.angular.z = event.angular
    return message


def twist(linear: float, angular: float) -> Twist:
    """A velocity command."""
    message = Twist()
    message.linear.x, message.angular.z = linear, angular
    return message


def poses(now: float, items: list[Pose2D]) -> PoseArray:
    """Several poses in the map."""
    return PoseArray(header=header(now), poses=[pose_message(pose) for pose in items])


def laser_scan(now: float, scan: Scan) -> LaserScan:
    """A scan as its driver publishes it; the scanner sits in the middle of the base."""
    step = float(scan.angles[1] - scan.angles[0])
    ranges = np.where(scan.ranges < REACH, scan.ranges, np.inf)
    return LaserScan(
        header=header(now, BASE),
        angle_min=float(scan.angles[0]),
        angle_max=float(scan.angles[-1]),
        angle_increment=step,
        range_min=0.05,
        range_max=REACH,
        ranges=array("f", ranges.astype(np.float32).tobytes()),
    )


def occupancy(now: float, grid: Grid) -> OccupancyGrid:
    """A grid: 100 occupied, 0 free."""
    message = OccupancyGrid(header=header(now))
    info = message.info
    info.map_load_time = to_time(now)
    info.resolution = grid.resolution
    info.height, info.width = grid.occupied.shape
    info.origin = pose_message(Pose2D(grid.x, grid.y))
    message.data = array("b", (100 * grid.occupied).astype(np.int8).tobytes())
    return message


def localization_result(now: float, event: Localization) -> LocalizationResult:
    """A result of the localizer."""
    message = LocalizationResult(
        header=header(now), score=event.score, status=int(event.status), map_id=event.tile
    )
    message.pose.pose = pose_message(event.pose)
    covariance = np.zeros((6, 6))
    covariance[0, 0] = covariance[1, 1] = event.deviation[0] ** 2
    covariance[5, 5] = event.deviation[1] ** 2
    message.pose.covariance = covariance.ravel()
    return message


def path(now: float, points: Points) -> Path:
    """A polyline as poses that look along it."""
    message = Path(header=header(now))
    if not len(points):
        return message
    ways = np.diff(points, axis=0)
    yaws = np.arctan2(ways[:, 1], ways[:, 0]) if len(ways) else np.zeros(1)
    yaws = np.append(yaws, yaws[-1]) if len(ways) else yaws
    message.poses = [
        PoseStamped(
            header=message.header, pose=pose_message(Pose2D(float(x), float(y), float(yaw)))
        )
        for (x, y), yaw in zip(points, yaws, strict=True)
    ]
    return message


def plan_path(now: float, plan: Plan) -> Path:
    """A plan as others see it."""
    thinned = plan.points[::_EVERY]
    if len(plan.points) and (len(plan.points) - 1) % _EVERY:
        thinned = np.vstack([thinned, plan.points[-1]])
    return path(now, thinned)


def health(now: float, plan: Plan) -> PathPlannerHealth:
    """Outcome of a planning cycle."""
    status = PathPlannerHealth.SUCCESS if plan.succeeded else PathPlannerHealth.FAILURE
    return PathPlannerHealth(
        header=header(now),
        cycle=plan.cycle,
        status=status,
        reason=int(plan.reason),
        reroute_recommended=plan.reroute,
        mode_used=int(plan.mode),
        compute_time=plan.compute_time,
        text=plan.text,
    )


def trajectory_status(now: float, tracking: Tracking) -> TrajectoryStatus:
    """Solver status of a tracking cycle."""
    return TrajectoryStatus(header=header(now), status=int(tracking.status))


def route(now: float, request_id: int, planned: PlannedRoute) -> Route:
    """Answer to a route request."""
    return Route(
        header=header(now),
        request_id=request_id,
        route_id=f"route_{request_id}" if len(planned.points) else "",
        path=path(now, planned.points),
        edges=planned.edges,
        text=planned.text,
    )


def maneuver_from(message: Any) -> Maneuver | None:
    """What to drive along; None for one without a path, or with one that is not of numbers."""
    points = np.array(
        [[pose.pose.position.x, pose.pose.position.y] for pose in message.path.poses]
    ).reshape(-1, 2)
    goal = pose_from(message.goal.pose)
    if not len(points) or not np.isfinite(points).all() or not finite(goal):
        return None
    if len(points) == 1:
        points = np.vstack([points, points])
    if message.is_final:
        # The goal need not lie on the route.
        points = np.vstack([points, goal.position])
    place = max(0.0, float(message.s_robot - message.s_start))
    return Maneuver(points, goal, bool(message.is_final), int(message.id), place)


def regions(now: float, config: NavigationConfig, tile: str) -> SemanticRegionArray:
    """The regions that touch a tile."""
    left, low, right, high = config.tiles[tile]

    def touches(region: RegionConfig) -> bool:
        corners = np.array(region.polygon)
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        return bool(x1 >= left and x0 <= right and y1 >= low and y0 <= high)

    return SemanticRegionArray(
        header=header(now),
        map_id=tile,
        regions=[
            _region(name, region) for name, region in config.regions.items() if touches(region)
        ],
    )


def _region(name: str, region: RegionConfig) -> SemanticRegion:
    message = SemanticRegion(
        id=name, type=_REGIONS[region.type], speed_limit=float(region.speed_limit)
    )
    message.polygon.points = [Point32(x=float(x), y=float(y)) for x, y in region.polygon]
    return message
