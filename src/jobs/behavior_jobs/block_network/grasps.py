# SPDX-License-Identifier: Apache-2.0
"""The 24 ways to grasp a cube, and which of them is best.

The tool's z axis points out of the hand, and its fingers close along y. Above the base, as the arm
stands at home, x points away from it: so a grasp is the better, the more its x axis does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from behavior_executor.scene_view import Matrix

MAX_TILT = 0.1
"""1 - cos of the angle between a grasp's approach and straight down: 25.8 degrees."""
LEANING = 0.3
"""The same for a block that leans, where no grasp is upright enough: 45.6 degrees."""
MARGIN = 0.006
"""[m] from the hand to other blocks; none where the grasp was chosen before."""
LEVEL = 0.3
"""Sine of the slope of the fingers' axis in the grasp of a block that leans."""
NEIGHBOURHOOD, NEIGHBOUR_WIDTH, NEIGHBOUR_WEIGHT = 0.25, 0.15, 10.0
"""[m], [m], -: blocks nearer than the first count against a finger on their side."""
TWISTED = -0.5
"""Cosine of the angle about its axis from which on a tool is turned in two steps."""
HIT = 100.0
"""What a block that the hand would hit counts."""
KEEP = 0.2
"""By how much another grasp must score better to take the place of the one chosen before."""


def cube_grasps(offset: float = 0.0) -> Matrix:
    """Tool in the cube's frame, (24, 4, 4): six faces, four turns each.

    Args:
        offset: of the tool from the cube's centre towards the face [m].
    """
    axes = [sign * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
    grasps = []
    for face, fingers in itertools.product(axes, axes):
        if abs(face @ fingers) > 0.5:
            continue
        grasp = np.eye(4)
        grasp[:3, 2], grasp[:3, 1], grasp[:3, 3] = -face, fingers, offset * face
        grasp[:3, 0] = np.cross(grasp[:3, 1], grasp[:3, 2])
        grasps.append(grasp)
    return np.array(grasps)


CUBE_ROTATIONS = cube_grasps()[:, :3, :3]


def nearest_cube_rotation(rotation: Matrix) -> Matrix:
    """The rotation that is nearest to one and turns a cube into itself, both 3x3."""
    nearest: Matrix = CUBE_ROTATIONS[np.argmax(np.tensordot(CUBE_ROTATIONS, rotation, axes=2))]
    return nearest


def upright(grasps: Matrix, max_tilt: float = MAX_TILT) -> NDArray[np.bool_]:
    """Which grasps (N, 4, 4) come from above, (N,)."""
    result: NDArray[np.bool_] = 1.0 + grasps[:, 2, 2] <= max_tilt
    return result


def reach_score(grasps: Matrix, direction: Sequence[float]) -> Matrix:
    """How well the grasps' x axes point into a direction, -1..1, (N,)."""
    wanted = np.asarray(direction) / math.hypot(*direction)
    score: Matrix = grasps[:, :3, 0] @ wanted
    return score


def neighbour_penalty(grasps: Matrix, position: Matrix, others: Sequence[Matrix]) -> Matrix:
    """How much fingers get in the way of other blocks, 0 or less, (N,).

    Args:
        grasps: in the frame of the scene, (N, 4, 4).
        position: of the block [m].
        others: positions of the others [m].
    """
    penalty = np.zeros(len(grasps))
    for other in others:
        away = other - position
        distance = float(np.linalg.norm(away))
        if 0.0 < distance < NEIGHBOURHOOD:
            along = grasps[:, :3, 1] @ (away / distance)
            near = math.exp(-0.5 * (distance / NEIGHBOUR_WIDTH) ** 2)
            penalty -= NEIGHBOUR_WEIGHT * near * along**2
    return penalty


@dataclass(frozen=True, slots=True)
class Hand:
    """The open hand, as boxes in the axes of the tool [m]."""

    half_thickness: float = 0.033
    """Of the hand along x."""
    half_width: float = 0.103
    """Of the hand along y."""
    above: float = 0.036
    """Of the tool's centre, where the hand begins."""
    finger_half_thickness: float = 0.012
    """Of a finger along x."""
    finger_inside: float = 0.039
    """Along y, where an open finger begins."""
    finger_outside: float = 0.064
    """Along y, where it ends."""
    finger_below: float = 0.012
    """The tool's centre, where it ends."""

    def hits(self, grasp: Matrix, block: Matrix, edge: float, margin: float) -> bool:
        """Whether the hand at a grasp hits a block.

        Args:
            grasp: of another block, from above, 4x4.
            block: 4x4; seen from above it is a square.
            edge: of it [m].
            margin: that is kept [m].
        """
        away = block[:3, 3] - grasp[:3, 3]
        top = away[2] + 0.5 * edge
        if top < -self.finger_below - margin:
            return False
        ahead, beside = abs(float(grasp[:3, 0] @ away)), abs(float(grasp[:3, 1] @ away))
        # Half of the square's extent along the grasp's axes.
        axes = grasp[:2, :2].T @ block[:2, :2]
        along_x, along_y = 0.5 * edge * (np.abs(axes[:, 0]) + np.abs(axes[:, 1])) + margin
        if top > self.above and (
            ahead < self.half_thickness + along_x and beside < self.half_width + along_y
        ):
            return True
        return bool(
            ahead < self.finger_half_thickness + along_x
            and self.finger_inside - along_y < beside < self.finger_outside + along_y
        )


@dataclass(frozen=True, slots=True, eq=False)
class BestGrasp:
    """The grasp chosen of 24."""

    index: int
    """Which of `cube_grasps`."""
    pose: Matrix
    """Of the tool, 4x4 [m]."""
    hindered_by: tuple[str, ...] = ()
    """Blocks that the hand would hit; empty: it is free."""


def best_grasp(
    block: Matrix,
    local: Matrix,
    direction: Sequence[float],
    others: Mapping[str, Matrix],
    *,
    hand: Hand,
    edge: float,
    max_tilt: float = MAX_TILT,
    margin: float = MARGIN,
    before: int | None = None,
) -> BestGrasp | None:
    """The best grasp of a block from above; None: it leans too much.

    Args:
        block: 4x4 [m].
        local: `cube_grasps`.
        direction: in which the tool's x axis is to point.
        others: the other blocks, 4x4 [m].
        hand: that grasps.
        edge: of all blocks [m].
        max_tilt: see `MAX_TILT`.
        margin: from the hand to other blocks [m].
        before: index of the grasp that was chosen before, kept while it is about as good.
    """
    world = block @ local
    able = np.flatnonzero(upright(world, max_tilt))
    if not len(able):
        able = np.flatnonzero(upright(world, LEANING) & (np.abs(world[:, 2, 1]) <= LEVEL))
    if not len(able):
        return None
    grasps = world[able]
    positions = [other[:3, 3] for other in others.values()]
    score = reach_score(grasps, direction)
    score = score + neighbour_penalty(grasps, block[:3, 3], positions)
    hits = []
    for index, grasp in zip(able, grasps, strict=True):
        kept = 0.0 if index == before else margin
        hit = (name for name, other in others.items() if hand.hits(grasp, other, edge, kept))
        hits.append(tuple(hit))
    score = score - HIT * np.array([len(names) for names in hits])
    best = int(np.argmax(score))
    if before is not None and before in able:
        again = int(np.searchsorted(able, before))
        if score[again] >= score[best] - KEEP:
            best = again
    return BestGrasp(int(able[best]), grasps[best], hits[best])


def untwisted(target: Matrix, tool: Matrix) -> Matrix:
    """Where to send a tool that is turned about its own axis by more than 120 degrees, both 4x4.

    The shortest turn may lead the last joint the wrong way round, into the end of its range. So the
    tool is first turned away from the base, where that joint is in the middle of it.
    """
    if tool[:3, 0] @ target[:3, 0] >= TWISTED:
        return target
    out = np.array([target[0, 3], target[1, 3], 0.0])
    out /= np.linalg.norm(out)
    if out @ target[:3, 0] < TWISTED:
        return target
    z = target[:3, 2]
    x = out - (out @ z) * z
    between = np.array(target)
    between[:3, 0] = x / np.linalg.norm(x)
    between[:3, 1] = np.cross(z, between[:3, 0])
    return between
