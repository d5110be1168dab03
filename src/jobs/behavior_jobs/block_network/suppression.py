# SPDX-License-Identifier: Apache-2.0
"""Which blocks the arm may touch now: those that it works on, and those close to them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from behavior_executor.scene_view import Matrix

LOOK_AHEAD = 0.05
"""[m] The tool is sent no further ahead than this."""
FARTHEST = LOOK_AHEAD + 0.15
"""[m] from the tool of a block that it may touch, but for the held one."""


def may_touch(block: Matrix, target: Matrix, tool_height: float) -> bool:
    """Whether a block is no obstacle.

    Args:
        block: position of its centre [m].
        target: position that the tool is sent to next [m].
        tool_height: of the tool now [m].
    """
    distance = math.dist(block, target)
    beside = math.hypot(block[0] - target[0], block[1] - target[1])
    above = tool_height > block[2] + 0.05
    if distance < 0.1:
        return beside < 0.02 or above
    return distance < 0.15 and above


def command_ahead(tool: Matrix, aim: Matrix) -> Matrix:
    """Position that the tool is sent to next on its way to `aim`, both positions [m]."""
    way = aim - tool
    length = float(np.linalg.norm(way))
    return aim if length <= LOOK_AHEAD else tool + way * (LOOK_AHEAD / length)


def touchable(
    blocks: Mapping[str, Matrix], held: str, target: Matrix, tool_height: float
) -> tuple[str, ...]:
    """Names of the blocks (4x4) that are no obstacles, in order; the held one always is none."""
    return tuple(
        name
        for name in sorted(blocks)
        if name == held or may_touch(blocks[name][:3, 3], target, tool_height)
    )
