# SPDX-License-Identifier: Apache-2.0
"""Route requests answered by Nav2: by its route server, or by its planner where it has no graph."""

from __future__ import annotations

import sys
from typing import Any

from behavior_msgs.msg import Route, RouteRequest
from rclpy.node import Node
from std_srvs.srv import Trigger

from behavior_navigation.nav2.interfaces import error_name, nav2_interface
from behavior_ros import (
    QOS_COMMAND,
    End,
    GoalOutcome,
    RemoteGoal,
    declare_all,
    read_only,
    remote_actions,
    run,
)

PARAMETERS = (
    read_only(
        "planner",
        "path",
        "path: ComputePathToPose, a free path; route: ComputeRoute, a way over the route graph",
        choices=("path", "route"),
    ),
    read_only("compute_path_action", "compute_path_to_pose", "of the planner server"),
    read_only("compute_route_action", "compute_route", "of the route server"),
    read_only("planner_id", "", "planner plugin; empty: Nav2's default"),
    read_only(
        "edges_service",
        "route_server/DynamicEdgesScorer/adjust_edges",
        "service (nav2_msgs/DynamicEdges) that closes edges to avoid; empty: they are not avoided",
    ),
)


class Nav2RoutePlanner(Node):  # type: ignore[misc] # rclpy has no type information
    """``/route_request`` in, ``/route`` out. The newest request counts."""

    def __init__(self, *, node_name: str = "route_planner", **kwargs: Any) -> None:
        """Make the clients.

        Raises:
            ParameterError: Nav2's messages are not there.
        """
        super().__init__(node_name, **kwargs)
        self._values = values = declare_all(self, PARAMETERS)
        self._over_graph = values["planner"] == "route"
        name = "ComputeRoute" if self._over_graph else "ComputePathToPose"
        self._type = nav2_interface("action", name, node_name)
        action = values["compute_route_action" if self._over_graph else "compute_path_action"]
        self._planner = remote_actions(self).action(self._type, action)
        self._edges = self._edge_client(values["edges_service"])
        self._closed: set[int] | None = set()
        """Edges that are closed; None: not known, since the server has not answered yet."""
        self._touched: set[int] = set()
        """Edges that may be closed."""
        self._goal: RemoteGoal | None = None
        self._request: RouteRequest | None = None
        """That is being worked on."""
        self._routes = self.create_publisher(Route, "route", QOS_COMMAND)
        self.create_subscription(RouteRequest, "route_request", self._on_request, QOS_COMMAND)
        self.create_service(Trigger, "route_planner/reset", self._on_reset)

    def _edge_client(self, service: str) -> Any:
        if not self._over_graph or not service:
            return None
        self._edges_type = nav2_interface("srv", "DynamicEdges", self.get_name())
        return self.create_client(self._edges_type, service)

    def _on_request(self, request: RouteRequest) -> None:
        if self._is_computed(request):
            return  # a planner may need longer than whoever asks waits before asking again
        self._give_up()
        self._request = request
        if not self._planner.ready():
            self._refuse(request.id, f"nobody serves {self._planner.name}: is Nav2 active?")
            return
        closed = {int(edge) for edge in request.avoid_edges if edge.isdigit()}
        if self._edges is not None and closed != self._closed:
            self._adjust(closed, request)
        else:
            self._compute(request)

    def _adjust(self, closed: set[int], request: RouteRequest) -> None:
        """Close the edges to avoid and open those closed before, then compute."""
        if not self._edges.service_is_ready():
            name = self._edges.srv_name
            self._refuse(request.id, f"nobody serves {name}, which closes the edges to avoid")
            return
        change = self._edges_type.Request()
        change.closed_edges = sorted(closed - (self._closed or set()))
        change.opened_edges = sorted(self._touched - closed)
        self._touched |= closed
        self._closed, number = None, request.id

        def adjusted(future: Any) -> None:
            if request is not self._request:
                return  # of a newer one the edges are asked for too, or of a reset nothing
            if future.exception() is None and future.result().success:
                self._closed, self._touched = closed, set(closed)
                self._compute(request)
            else:
                self._refuse(number, "the route server did not close the edges to avoid")

        self._edges.call_async(change).add_done_callback(adjusted)

    def _compute(self, request: RouteRequest) -> None:
        goal = self._type.Goal()
        goal.goal, goal.start = request.goal, request.start
        goal.use_start = not request.use_robot_pose
        if self._over_graph:
            goal.use_poses = True
        else:
            goal.planner_id = self._values["planner_id"]
        self._goal = self._planner.send(
            goal, on_end=lambda outcome: self._answer(request.id, outcome)
        )

    def _answer(self, number: int, outcome: GoalOutcome) -> None:
        if outcome.end is End.CANCELED:
            return  # by us: it says nothing about whether there is a way
        result = outcome.result
        if not outcome.succeeded or not result.path.poses:
            code = error_name(self._type, result.error_code) if result is not None else ""
            text = getattr(result, "error_msg", "") or outcome.message or code
            self._refuse(number, f"Nav2 found no route: {text or outcome.end.value}")
            return
        route = Route(request_id=number, route_id=f"nav2_{number}", path=result.path)
        route.header.stamp = self.get_clock().now().to_msg()
        route.header.frame_id = result.path.header.frame_id
        if self._over_graph:
            route.edges = [str(edge.edgeid) for edge in result.route.edges]
        self._routes.publish(route)

    def _refuse(self, number: int, text: str) -> None:
        route = Route(request_id=number, text=text)
        route.header.stamp = self.get_clock().now().to_msg()
        self._routes.publish(route)

    def _is_computed(self, request: RouteRequest) -> bool:
        """Whether a request repeats the one that is being worked on, which answers both."""
        if request.cause != RouteRequest.RETRY or self._request is None:
            return False
        if self._goal is None or self._goal.outcome is not None:
            return False
        before = self._request
        same_goal = (request.goal.header.frame_id, request.goal.pose) == (
            before.goal.header.frame_id,
            before.goal.pose,
        )
        return same_goal and list(request.avoid_edges) == list(before.avoid_edges)

    def _give_up(self) -> None:
        self._request = None
        if self._goal is not None:
            self._goal.cancel()
        self._goal = None

    def _on_reset(self, _request: Any, response: Any) -> Any:
        self._give_up()
        response.success, response.message = True, "no route is being computed"
        return response


def main(args: list[str] | None = None) -> int:
    """Run the node until interrupted."""
    return run([Nav2RoutePlanner], args)


if __name__ == "__main__":
    sys.exit(main())
