# SPDX-License-Identifier: Apache-2.0
"""The rules of navigation actions as parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from behavior_navigation.rules.action_core import ActionRules
from behavior_navigation.rules.goal_check import GoalRule
from behavior_navigation.rules.goal_watch import GoalFrameRule
from behavior_navigation.rules.maneuver import Horizons
from behavior_navigation.rules.route_exchange import RouteRule
from behavior_navigation.rules.tiles import TileRule, read_tiles
from behavior_ros import ParameterError, ParameterSpec, read_only


def _length(name: str, default: float, description: str) -> ParameterSpec:
    return read_only(name, default, description, range=(0.0, 1e5))


def _time(name: str, default: float, description: str) -> ParameterSpec:
    return read_only(name, default, description, range=(0.0, 1e6))


def _ticks(name: str, default: int, description: str) -> ParameterSpec:
    return read_only(name, default, description, range=(1, 10**6))


USE_TILE_LOADER = read_only("use_tile_loader", False, "maps are changed by loading tiles")
"""A parameter of the executor itself, declared in case that the executor did not."""

RULE_PARAMETERS = (
    _length("goal_translation_threshold", 0.25, "[m] from the goal at which it is reached"),
    read_only(
        "goal_yaw_threshold",
        0.0,
        "[rad] from the goal's heading at which it is reached; 0: any heading will do",
        range=(0.0, math.pi),
    ),
    _ticks("goal_ticks", 2, "ticks in a row for which the robot must be at the goal"),
    _length("goal_speed_threshold", 0.1, "[m/s] of the robot at the goal at most"),
    read_only(
        "require_final_maneuver",
        True,
        "the goal is reached only once the planner was told the goal itself",
    ),
    _length("maneuver_front_horizon", 10.0, "[m] of the route ahead that a maneuver tells"),
    _length("maneuver_rear_horizon", 1.0, "[m] of the route behind that a maneuver tells"),
    read_only(
        "largest_lateral_offset",
        2.0,
        "[m] from the route; beyond, the robot's place is searched along all of it",
        range=(0.01, 1e5),
    ),
    _time("route_wait_threshold", 20.0, "[s] after which there is no route"),
    read_only(
        "route_retry_period", 4.0, "[s] between two requests for one route", range=(0.1, 1e6)
    ),
    _time("reroute_cooldown", 5.0, "[s] between two routes around an obstacle"),
    _length("reroute_lookahead", 3.0, "[m] of the way ahead that counts as blocked then"),
    _length("goal_change_translation", 0.2, "[m] by which a goal must move to count as changed"),
    read_only(
        "goal_change_rotation",
        0.3,
        "[rad] by which a goal must turn to count as changed",
        range=(0.0, math.pi),
    ),
    _ticks("goal_change_ticks", 3, "ticks for which a goal must have changed"),
    _time("goal_change_period", 1.0, "[s] between two changes of a goal"),
    _time("goal_frame_timeout", 3.0, "[s] for which a goal's frame may be unknown (max_timeout)"),
    read_only(
        "tiles",
        [""],
        "tiles of the map in omap_frame, as name;x_min;y_min;x_max;y_max [m]; empty: one map",
    ),
    _length("tile_lookahead", 1.5, "[m] ahead; a tile that ends within is changed"),
    _length("tile_margin", 0.3, "[m] that the robot may be outside of its tile"),
)


def action_rules(where: str, values: Mapping[str, Any], *, use_tiles: bool) -> ActionRules:
    """The rules in the values of :data:`RULE_PARAMETERS` and of the names of the frames.

    Args:
        where: names the node in errors.
        values: by name.
        use_tiles: maps are changed at all; otherwise there is one map, whatever `tiles` says.

    Raises:
        ParameterError: the tiles are malformed.
    """
    try:
        tiles = read_tiles(values["tiles"])
    except ValueError as error:
        raise ParameterError(f"{where}: parameter tiles: {error}") from error
    return ActionRules(
        robot_frame=values["robot_frame"],
        map_frame=values["omap_frame"],
        horizons=Horizons(
            front=values["maneuver_front_horizon"],
            rear=values["maneuver_rear_horizon"],
            largest_offset=values["largest_lateral_offset"],
        ),
        goal=GoalRule(
            translation=values["goal_translation_threshold"],
            rotation=values["goal_yaw_threshold"] or math.inf,
            ticks=values["goal_ticks"],
            speed=values["goal_speed_threshold"],
            require_final_maneuver=values["require_final_maneuver"],
        ),
        frame=GoalFrameRule(
            translation=values["goal_change_translation"],
            rotation=values["goal_change_rotation"],
            ticks=values["goal_change_ticks"],
            period=values["goal_change_period"],
            max_timeout=values["goal_frame_timeout"],
        ),
        route=RouteRule(
            wait_threshold=values["route_wait_threshold"],
            retry_period=values["route_retry_period"],
        ),
        tiles=TileRule(tiles if use_tiles else (), values["tile_lookahead"], values["tile_margin"]),
        reroute_cooldown=values["reroute_cooldown"],
        reroute_lookahead=values["reroute_lookahead"],
    )
