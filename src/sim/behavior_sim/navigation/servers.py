# SPDX-License-Identifier: Apache-2.0
"""Route planner, semantic regions, map loader and base, as nodes."""

from __future__ import annotations

from typing import Any

from behavior_msgs.action import LoadTile
from behavior_msgs.msg import Route, RouteRequest, SemanticRegionArray
from geometry_msgs.msg import PoseArray, Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import CancelResponse
from rclpy.task import Future
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from behavior_ros import QOS_COMMAND, QOS_LATCHED, BurstActionServer, to_time
from behavior_sim.navigation import messages
from behavior_sim.navigation.host import Host, WorldNode
from behavior_sim.navigation.map_loader import Loaded
from behavior_sim.navigation.system import MapChanged, OdometryEvent, TruthEvent
from behavior_sim.navigation.world import Scan, UnknownName


class BaseNode(WorldNode):
    """The base's drivers: ``/cmd_vel`` in, ``/odom``, ``/scan`` and the transform to base_link out.

    What only a simulation knows comes with it: ``/simulation/truth`` and ``/simulation/people``.
    """

    def __init__(self, host: Host) -> None:
        super().__init__("base_driver", host)
        self._odometry = self.create_publisher(Odometry, "odom", QOS_COMMAND)
        self._scans = self.create_publisher(LaserScan, "scan", QOS_COMMAND)
        self._truth = self.create_publisher(Odometry, "simulation/truth", QOS_COMMAND)
        self._people = self.create_publisher(PoseArray, "simulation/people", QOS_COMMAND)
        self.create_subscription(Twist, "cmd_vel", self._on_command, QOS_COMMAND)
        host.system.on(OdometryEvent, self._publish_odometry)
        host.system.on(Scan, self._publish_scan)
        host.system.on(TruthEvent, self._publish_truth)

    def _on_command(self, message: Twist) -> None:
        with self.host.lock:
            self.host.system.drive(message.linear.x, message.angular.z)

    def _publish_odometry(self, event: OdometryEvent) -> None:
        host = self.host
        host.send(messages.transform(host.now, messages.ODOM, messages.BASE, event.pose))
        host.flush()
        self._odometry.publish(messages.odometry(host.now, event))

    def _publish_scan(self, scan: Scan) -> None:
        host = self.host
        if self._scans.get_subscription_count() > 0:
            self._scans.publish(messages.laser_scan(host.now, scan))
        frames = host.system.world.frames
        host.send(
            *(messages.transform(host.now, messages.MAP, name, at) for name, at in frames.items())
        )

    def _publish_truth(self, event: TruthEvent) -> None:
        host = self.host
        self._truth.publish(messages.truth(host.now, event))
        people = [person.pose for person in host.system.world.people.values()]
        self._people.publish(messages.poses(host.now, people))


class RoutePlannerNode(WorldNode):
    """The onboard route planner: ``/route_request`` in, ``/route`` out; an empty one says why."""

    def __init__(self, host: Host) -> None:
        super().__init__("route_planner", host)
        self._routes = self.create_publisher(Route, "route", QOS_COMMAND)
        self.create_subscription(RouteRequest, "route_request", self._on_request, QOS_COMMAND)
        self.create_service(Trigger, "route_planner/reset", self._on_reset)

    def _on_request(self, message: RouteRequest) -> None:
        host, system = self.host, self.host.system
        goal, start = (messages.pose_from(item.pose) for item in (message.goal, message.start))
        frame = message.goal.header.frame_id
        with host.lock:
            if frame in system.world.frames:
                goal = system.world.frames[frame] @ goal
            if not messages.finite(goal) or not (message.use_robot_pose or messages.finite(start)):
                return
            planned = system.request_route(
                None if message.use_robot_pose else start, goal, list(message.avoid_edges)
            )
            if planned is not None:
                self._routes.publish(messages.route(host.now, message.id, planned))

    def _on_reset(self, _request: Any, response: Any) -> Any:
        with self.host.lock:
            self.host.system.routes.reset()
        response.success, response.message = True, "the last route is forgotten"
        return response


class SemanticRegionsNode(WorldNode):
    """The regions of the tile in force, on ``/semantic_regions``."""

    def __init__(self, host: Host) -> None:
        super().__init__("semantic_regions", host)
        self._regions = self.create_publisher(SemanticRegionArray, "semantic_regions", QOS_LATCHED)
        host.system.on(MapChanged, self._publish)

    def _publish(self, event: MapChanged) -> None:
        self._regions.publish(messages.regions(self.host.now, self.host.system.config, event.tile))


class MapLoaderNode(WorldNode):
    """Loads tiles (``/map_loader/load_tile``) and publishes the one in force on ``/map``."""

    def __init__(self, host: Host) -> None:
        super().__init__("map_loader", host)
        self._maps = self.create_publisher(OccupancyGrid, "map", QOS_LATCHED)
        self.create_subscription(Header, "map_republish", self._on_republish, QOS_COMMAND)
        self._goals: dict[int, tuple[Any, Future]] = {}
        self._count = 0
        BurstActionServer(
            self,
            LoadTile,
            "map_loader/load_tile",
            work=self._execute,
            cancel_callback=self._on_cancel,
        )
        host.system.on(MapChanged, self._publish)
        host.system.on(Loaded, self._hand_back)
        host.system.on(TruthEvent, self._publish_progress)

    def _publish(self, event: MapChanged) -> None:
        self._maps.publish(messages.occupancy(self.host.now, self.host.system.loader.grid))

    def _on_republish(self, _: Header) -> None:
        with self.host.lock:
            self.host.system.republish_maps()

    async def _execute(self, handle: Any) -> Any:
        goal = handle.request
        result = LoadTile.Result(request_id=goal.request_id, tile_id=goal.tile_id)
        if not goal.tile_id:
            result.code, result.message = LoadTile.Result.INVALID_REQUEST, "name a tile in tile_id"
            return result
        self._count += 1
        number, done = self._count, Future()
        self._goals[number] = (handle, done)
        try:
            with self.host.lock:
                replaced = self.host.system.loader.load(self.host.now, number, goal.tile_id)
        except UnknownName as error:
            del self._goals[number]
            result.code, result.message = LoadTile.Result.UNKNOWN_TILE, str(error)
            return result
        if replaced is not None:
            self._goals[replaced.request_id][1].set_result(replaced)
        loaded = await done
        del self._goals[number]
        result.code, result.message = int(loaded.code), loaded.message
        result.acquired = to_time(loaded.time)
        return result

    def _on_cancel(self, handle: Any) -> CancelResponse:
        for number, (other, done) in self._goals.items():
            if other.goal_id == handle.goal_id:
                with self.host.lock:
                    loader = self.host.system.loader
                    ended = loader.cancel(self.host.now) if loader.request_id == number else None
                if ended is None:
                    return CancelResponse.REJECT
                done.set_result(ended)
        return CancelResponse.ACCEPT

    def _hand_back(self, loaded: Loaded) -> None:
        """Let the node's thread end the goal."""
        entry = self._goals.get(loaded.request_id)
        if entry is not None and self.executor is not None:
            self.executor.create_task(entry[1].set_result, loaded)

    def _publish_progress(self, _: TruthEvent) -> None:
        progress = self.host.system.loader.progress(self.host.now)
        if progress > 0.0:
            for handle, _done in list(self._goals.values()):
                if handle.is_active:
                    handle.publish_feedback(LoadTile.Feedback(progress=progress))
