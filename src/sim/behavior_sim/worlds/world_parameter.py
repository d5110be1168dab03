# SPDX-License-Identifier: Apache-2.0
"""The world that a node's parameter names."""

from __future__ import annotations

from behavior_ros import ParameterError
from behavior_sim.worlds.config import WorldConfig, load_world
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.resources import find_world


def world_of(name: str, *, cameras: bool = False) -> WorldConfig:
    """Read a world.

    Args:
        name: value of the parameter: name or file.
        cameras: whether it must have cameras.

    Raises:
        FileNotFoundError: there is no such world.
        ParameterError: its description is wrong, or lacks the cameras.
    """
    try:
        config = load_world(find_world(name))
    except WorldError as error:
        raise ParameterError(f"parameter world: {error}") from error
    if cameras and not config.cameras:
        raise ParameterError(
            f"parameter world is {name}: world {config.name} has no cameras; describe some under "
            "`cameras` in its file as those in config/worlds do, or do without"
        )
    return config
