# SPDX-License-Identifier: Apache-2.0
"""The onboard route planner: the shortest way over a graph of waypoints (Dijkstra)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import networkx
import numpy as np

from behavior_motion.planar_pose import Points, Pose2D
from behavior_sim.navigation.config import NavigationConfig, edge_id
from behavior_sim.navigation.grid import Grid

_START, _GOAL = "<start>", "<goal>"
_NEAREST = 3
"""Edges that an end of the way is joined to, as many as there are in reach."""
_REACH = 6.0
"""[m] from an end of the way to the graph."""
_HARD = 1.5
"""Metres off the graph count so much more than those on it."""


@dataclass(frozen=True, slots=True)
class PlannedRoute:
    """A way, or why there is none."""

    points: Points
    """[m] (n, 2) from the start to the goal; empty: none."""
    edges: list[str] = field(default_factory=list)
    text: str = ""
    """Why there is none."""

    @property
    def length(self) -> float:
        """[m]"""
        if len(self.points) < 2:
            return 0.0
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())


@dataclass(frozen=True, slots=True)
class _Foot:
    """Where an end of the way meets an edge."""

    start: str
    end: str
    place: Points
    gap: float
    """[m]"""


class RoutePlanner:
    """Plans ways over the waypoints of a world."""

    def __init__(self, config: NavigationConfig, walls: Grid) -> None:
        self._walls = walls
        self._radius = config.robot.radius
        self._places = {name: np.array(place) for name, place in config.waypoints.items()}
        self._graph = networkx.Graph()
        for start, end in config.edges:
            length = float(np.linalg.norm(self._places[end] - self._places[start]))
            self._graph.add_edge(start, end, weight=length, id=edge_id(start, end))
        self._ids = {data["id"] for _, _, data in self._graph.edges(data=True)}
        self._towards: dict[str, str] = {}

    def reset(self) -> None:
        """Forget the last route."""
        self._towards = {}

    def plan(self, start: Pose2D, goal: Pose2D, avoid: Iterable[str] = ()) -> PlannedRoute:
        """The shortest way that uses none of the edges to avoid.

        A start on an edge to avoid is left the way the robot came, if the last route tells which.
        """
        avoided = set(avoid)
        strangers = sorted(avoided - self._ids)
        if strangers:
            return _none(f"unknown edges to avoid: {', '.join(strangers)}")
        for what, pose in (("start", start), ("goal", goal)):
            if not self._walls.is_free(pose.x, pose.y, self._radius):
                return _none(
                    f"the {what} ({pose.x:.2f}, {pose.y:.2f}) is in an obstacle of the map"
                )
        graph = self._graph.copy()
        graph.remove_edges_from(
            [(a, b) for a, b, data in self._graph.edges(data=True) if data["id"] in avoided]
        )
        places = dict(self._places)
        feet = {
            node: self._join(graph, places, node, pose, avoided)
            for node, pose in ((_START, start), (_GOAL, goal))
        }
        for node, what in ((_START, "start"), (_GOAL, "goal")):
            if not feet[node]:
                return _none(f"no waypoint edge can be reached from the {what} within {_REACH:g} m")
        self._join_directly(graph, feet, places, avoided)
        try:
            nodes = networkx.dijkstra_path(graph, _START, _GOAL)
        except networkx.NetworkXNoPath:
            suffix = f" without {', '.join(sorted(avoided))}" if avoided else ""
            return _none(f"no way over the waypoints leads to the goal{suffix}")
        route = self._route(graph, places, nodes)
        self._remember(graph, places, nodes, avoided)
        return route

    def _join(
        self,
        graph: networkx.Graph,
        places: dict[str, Points],
        node: str,
        pose: Pose2D,
        avoided: set[str],
    ) -> list[_Foot]:
        """Join an end of the way to the edges nearest to it."""
        places[node] = pose.position
        feet = [
            foot
            for foot in sorted(self._feet(pose.position), key=lambda foot: foot.gap)[:_NEAREST]
            if foot.gap <= _REACH
            and self._walls.line_is_free(pose.position, foot.place, self._radius)
        ]
        for number, foot in enumerate(feet):
            name = f"{node}{number}"
            places[name] = foot.place
            graph.add_edge(node, name, weight=_HARD * foot.gap, id="")
            identity = edge_id(foot.start, foot.end)
            for end in self._ways_out(foot, identity in avoided and node == _START):
                way = float(np.linalg.norm(self._places[end] - foot.place))
                if identity not in avoided or node == _START:
                    graph.add_edge(name, end, weight=way, id=identity)
        return feet

    def _ways_out(self, foot: _Foot, avoided: bool) -> list[str]:
        """The ends of an edge that may be gone to from a foot on it."""
        if not avoided:
            return [foot.start, foot.end]
        # The end that the last route went for is where the obstacle is.
        shut = self._towards.get(edge_id(foot.start, foot.end))
        return [end for end in (foot.start, foot.end) if end != shut]

    def _remember(
        self,
        graph: networkx.Graph,
        places: dict[str, Points],
        nodes: list[str],
        avoided: set[str],
    ) -> None:
        """Keep which way each edge is driven; what is avoided now was driven another way before."""
        towards = {edge: end for edge, end in self._towards.items() if edge in avoided}
        for start, end in pairwise(nodes):
            identity = graph.edges[start, end]["id"]
            if not identity or identity in avoided:
                continue
            a, b = identity.split("-")
            way, edge = places[end] - places[start], self._places[b] - self._places[a]
            towards[identity] = b if way @ edge > 0.0 else a
        self._towards = towards

    def _join_directly(
        self,
        graph: networkx.Graph,
        feet: dict[str, list[_Foot]],
        places: dict[str, Points],
        avoided: set[str],
    ) -> None:
        """A way within one edge does not go by its ends."""
        for i, one in enumerate(feet[_START]):
            for j, other in enumerate(feet[_GOAL]):
                identity = edge_id(one.start, one.end)
                if (one.start, one.end) == (other.start, other.end) and identity not in avoided:
                    way = float(np.linalg.norm(other.place - one.place))
                    graph.add_edge(f"{_START}{i}", f"{_GOAL}{j}", weight=way, id=identity)

    def _feet(self, place: Points) -> list[_Foot]:
        feet = []
        for start, end in self._graph.edges():
            a, b = self._places[start], self._places[end]
            along = float(np.clip((place - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0))
            foot = a + along * (b - a)
            feet.append(_Foot(start, end, foot, float(np.linalg.norm(place - foot))))
        return feet

    @staticmethod
    def _route(graph: networkx.Graph, places: dict[str, Points], nodes: list[str]) -> PlannedRoute:
        points = [places[nodes[0]]]
        edges: list[str] = []
        for start, end in pairwise(nodes):
            identity = graph.edges[start, end]["id"]
            if identity and identity not in edges[-1:]:
                edges.append(identity)
            if math.dist(points[-1], places[end]) > 1e-3:
                points.append(places[end])
        if len(points) == 1:
            points.append(points[0])
        return PlannedRoute(np.array(points), edges)


def _none(text: str) -> PlannedRoute:
    return PlannedRoute(np.zeros((0, 2)), [], text)
