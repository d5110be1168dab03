# SPDX-License-Identifier: Apache-2.0
"""The manager that changes the map under the robot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from behavior_msgs.action import LoadTile
from behavior_msgs.msg import LoadTileRequest
from rclpy.node import Node
from std_msgs.msg import Header

from behavior_executor.managers.manager_node import input_parameters
from behavior_executor.missions.mission import Code, Kind, MissionRequest
from behavior_executor.missions.statistics import Metric
from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers.action_parameters import USE_TILE_LOADER
from behavior_navigation.rules.action_core import NAVIGATION_KINDS
from behavior_navigation.rules.map_change import LoadAnswer, MapChange, TileRequest
from behavior_navigation.rules.map_nodes import register_map_nodes
from behavior_navigation.rules.state import MapPhase
from behavior_ros import (
    QOS_COMMAND,
    AgeSince,
    End,
    GoalOutcome,
    Need,
    RemoteGoal,
    action_need,
    code_text,
    declare,
    read_only,
    remote_actions,
    seconds,
    to_time,
)
from behavior_tree import BehaviorTreeFactory
from behavior_tree.cause import Cause

PARAMETERS = (
    *input_parameters("load_tile_request", "map/load_tile_request", math.inf, "requests for tiles"),
    read_only(
        "tx_load_tile_request",
        "map_loader/load_tile",
        "action (behavior_msgs/LoadTile) of the map loader; its result is the load_tile_result",
    ),
    read_only(
        "load_tile_result.rx_message",
        "",
        "the same as tx_load_tile_request: the result is that action's; empty: as that says",
    ),
    read_only(
        "load_tile_result.max_timeout",
        20.0,
        "[s] node time that the map loader may take",
        range=(0.1, 3600.0),
    ),
    read_only(
        "server_timeout",
        2.0,
        "[s] wall time without a sign of life after which the map loader counts as lost",
        range=(0.1, 60.0),
    ),
    read_only(
        "tx_atlas_map_publisher",
        "map_republish",
        "topic (std_msgs/Header) that has the maps published again, as of its stamp",
    ),
)


class MapManager(NavigationManager):
    """Gives :class:`MapChange` its requests, and the map loader."""

    name = "map"

    def __init__(self, node: Node) -> None:
        """Subscribe and advertise."""
        super().__init__(node, PARAMETERS)
        own, values = self.manager_node, self.values
        self.change = MapChange(
            self.state,
            self,
            enabled=bool(declare(node, USE_TILE_LOADER)),
            load_timeout=values["load_tile_result.max_timeout"],
        )
        self._requests = self.input(
            "load_tile_request",
            LoadTileRequest,
            age_since=AgeSince.ARRIVAL,
            qos=QOS_COMMAND,
            callback=self._on_request,
        )
        action = values["load_tile_result.rx_message"] or values["tx_load_tile_request"]
        self._loader = remote_actions(own).action(LoadTile, action)
        self._publisher = own.create_publisher(
            Header, values["tx_atlas_map_publisher"], QOS_COMMAND
        )
        self._goal = LoadTile.Goal()
        """The newest."""
        self._sent: RemoteGoal | None = None
        self._navigates = False

    # -- what takes part in missions ---------------------------------------------------------------

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_navigation.rules.map_nodes`."""
        register_map_nodes(factory, self.change)

    def needs(self) -> Mapping[str, Sequence[Need]]:
        """The map loader, for whoever loads tiles."""
        return {"loadTile": [action_need(self._loader)]} if self.change.enabled else {}

    def pre_tick(self, now: float) -> None:
        """Take in the map loader's answer."""
        super().pre_tick(now)
        sent, outcome = self._sent, self._sent.outcome if self._sent else None
        if sent is None or outcome is None:
            return
        if outcome.end is End.LOST and not sent.accepted:
            self._send()  # it is not there yet, or was just being discovered
        else:
            self._sent = None
            self.change.answer(_answer(self._goal.request_id, outcome))

    def mission_started(self, request: MissionRequest) -> None:
        """A mission LOAD_MAP wants a tile; any other navigation tries again what failed."""
        self._navigates = request.kind in NAVIGATION_KINDS
        if request.kind is Kind.LOAD_MAP:
            self.change.request(TileRequest(request.map_id))
        self.change.mission_started()

    def mission_ended(self, code: Code) -> None:
        """A change in the middle of which the mission ended has failed."""
        self.change.mission_ended()

    def failure(self) -> Cause | None:
        """Why the map was not changed."""
        failed = self.state.map.phase is MapPhase.FAILED
        return self.state.map.failure(self.state.map.text) if failed and self._navigates else None

    # -- what the rules need -----------------------------------------------------------------------

    def load(self, request_id: int, tile: TileRequest) -> None:
        """Have the map loader load a tile, as soon as it is there."""
        self.stop_loading()
        self._goal = LoadTile.Goal(
            request_id=request_id, tile_id=tile.tile_id, map_url=tile.map_url
        )
        self._send()

    def stop_loading(self) -> None:
        """Cancel what is being loaded."""
        if self._sent is not None:
            self._sent.cancel()
            self._sent = None

    def republish(self, acquired: float) -> None:
        """Have the maps published again."""
        self._publisher.publish(Header(stamp=to_time(acquired), frame_id="map"))

    # -- reports -----------------------------------------------------------------------------------

    def metrics(self) -> list[Metric]:
        """Loads, changes, failures, and those of the inputs."""
        change = self.change
        counts = {
            "tile_loads": change.loads,
            "map_changes": change.changes,
            "map_failures": change.failures,
        }
        return [
            *(Metric(name, "", float(count), is_counter=True) for name, count in counts.items()),
            *self.input_metrics(),
        ]

    def problem(self) -> str:
        """Why the map was not changed."""
        state = self.state.map
        return f"the map was not changed: {state.text}" if state.phase is MapPhase.FAILED else ""

    def _on_request(self, message: LoadTileRequest) -> None:
        if not self.change.enabled:
            self.manager_node.get_logger().warning(
                f"tile '{message.tile_id}' is not loaded: the executor's parameter use_tile_loader "
                "is false"
            )
        elif not message.tile_id and not message.map_url:
            self.manager_node.get_logger().warning("a request names neither a tile nor a map_url")
        elif self.state.tiles and not message.map_url and message.tile_id not in self.state.tiles:
            self.manager_node.get_logger().warning(
                f"there is no tile '{message.tile_id[:100]}': choose among "
                f"{', '.join(self.state.tiles)}"
            )
        else:
            self.change.request(TileRequest(message.tile_id, message.map_url, message.id))

    def _send(self) -> None:
        """Have it sent once there is a server and no earlier goal is closing."""
        timeout = self.values["server_timeout"]
        self._sent = self._loader.send(
            self._goal,
            server_timeout=timeout,
            patient=True,
            on_end=self.wake,
        )


def _answer(number: int, outcome: GoalOutcome) -> LoadAnswer:
    """What the end of a goal says about a request."""
    result = outcome.result
    if result is None:
        kept = outcome.end is End.REJECTED
        return LoadAnswer(number, False, Cause.of(outcome.message).at("the map loader"), kept=kept)
    if result.request_id != number:
        return LoadAnswer(
            number, False, f"the map loader answered request {result.request_id} instead"
        )
    success = outcome.succeeded and result.code == LoadTile.Result.SUCCESS
    text = "" if success else result.message or _ended_with(result)
    kept = result.code in (LoadTile.Result.UNKNOWN_TILE, LoadTile.Result.INVALID_REQUEST)
    return LoadAnswer(number, success, text, seconds(result.acquired), kept=kept)


def _ended_with(result: Any) -> str:
    return f"the map loader ended with {code_text(type(result), result.code)}"
