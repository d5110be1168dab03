# SPDX-License-Identifier: Apache-2.0
"""Random orientations of the tool that meet constraints on directions.

Every constraint has one form: a direction `u` fixed in the tool, a
direction `v` fixed in the base, and bounds on the cosine of the angle between them,

    low <= v . (R u) <= high,

where R turns tool coordinates into base coordinates. An axis filter, the alignment of an axis of
the held object with one of the container, and the alignment of the tool with a plane are all of
it. For a uniformly (Haar) distributed R the cosine is uniform in [-1, 1], so one constraint alone
accepts the share (high - low) / 2.

Sampling is constructive: the tightest constraint is met by construction, the others by rejection.
The result has the distribution that plain rejection from Haar would give, without its emptiness.
Where rejection leaves nothing, random orientations are turned until they meet the constraints:
that finds the single orientation that two exact filters leave, and where it finds none the
constraints that pull against each other are named.
"""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_motion import check_interrupted
from behavior_skills.interfaces import Array

Convention = Literal["legacy", "cone"]

AXES = {"x": 0, "y": 1, "z": 2}
DIRECTIONS = {
    "forward": (0, 1.0),
    "backward": (0, -1.0),
    "leftward": (1, 1.0),
    "rightward": (1, -1.0),
    "upward": (2, 1.0),
    "downward": (2, -1.0),
}
"""Base axis and sign of each named direction."""
BATCH = 3000
"""Rotations drawn at a time."""
MAX_BATCHES = 12
"""After so many batches without enough rotations there are as many as there are."""
STARTS = 128
"""Random orientations that are turned towards the constraints."""
TURNS = 60
"""Steps of that."""
_SLACK = 1e-12
"""Of a cosine: what rounding may take away."""
_TOUCH = 1e-7
"""[rad] by which two bands may miss each other: angles come from cosines."""


class NoOrientation(ValueError):
    """No orientation meets all constraints; the message says which ones and what to try."""


@dataclass(frozen=True, slots=True)
class DirectionConstraint:
    """Bounds on the cosine of the angle between a tool direction and a base direction."""

    name: str
    """As the user wrote it, for messages."""
    tool: tuple[float, float, float]
    """Unit vector in the tool frame."""
    base: tuple[float, float, float]
    """Unit vector in the base frame."""
    low: float
    high: float

    @property
    def share(self) -> float:
        """Share of all rotations that meet this constraint alone."""
        return max(0.0, self.high - self.low) / 2.0


@dataclass(frozen=True, slots=True)
class OrientationReport:
    """How the orientations were found."""

    drawn: int
    """Rotations drawn, all of which met the tightest constraint."""
    accepted: int
    """Of these, how many met all."""
    share: float
    """Estimated share of all rotations that meet the constraints."""


def axis_filter(axis: str, value: Sequence[object], convention: Convention) -> DirectionConstraint:
    """A filter of the specification, such as ``filter_z_dir: [downward, 140]``.

    Args:
        axis: x, y or z of the tool.
        value: direction and one angle, or direction and two angles in any order [deg], 0..180.
        convention: `legacy`: angles count from the positive base axis, also for backward,
            rightward and downward, so ``[downward, 140]`` is within 40 degrees of straight down.
            `cone`: angles count from the named direction.

    Raises:
        ValueError: unknown direction, wrong number of angles or an angle out of range.
    """
    name = f"filter_{axis}_dir: {reprlib.repr(list(value))}"
    if len(value) not in (2, 3) or str(value[0]) not in DIRECTIONS:
        raise ValueError(
            f"{name} must be [direction, angle] or [direction, angle, angle] with a direction of "
            f"{', '.join(DIRECTIONS)}."
        )
    row, sign = DIRECTIONS[str(value[0])]
    angles = sorted(_angle(name, angle) for angle in value[1:])
    cosines = sorted(math.cos(math.radians(angle)) for angle in angles)
    base, tool = [0.0] * 3, [0.0] * 3
    tool[AXES[axis]] = 1.0
    if convention == "cone":
        base[row] = sign
        low, high = cosines[0], (cosines[1] if len(cosines) == 2 else 1.0)
    else:
        base[row] = 1.0
        if len(cosines) == 2:
            low, high = cosines
        else:
            low, high = (cosines[0], 1.0) if sign > 0 else (-1.0, cosines[0])
    return DirectionConstraint(name, _triple(tool), _triple(base), low, high)


def surprising(axis: str, value: Sequence[object], convention: Convention) -> str | None:
    """A warning about a legacy filter that probably says something else than was meant."""
    if convention != "legacy" or len(value) != 2 or DIRECTIONS[str(value[0])][1] > 0:
        return None
    angle = float(str(value[1]))
    if angle >= 90.0:
        return None
    return (
        f"filter_{axis}_dir: {list(value)} accepts all within {180 - angle:g} degrees of "
        f"{value[0]}, since legacy angles count from the positive axis. Use "
        f"[{value[0]}, {180 - angle:g}] for a cone of {angle:g} degrees, or filter_convention: "
        "cone."
    )


def axis_alignment(
    tool_axis: Array, base_axis: Array, tolerance: float, name: str
) -> DirectionConstraint:
    """The angle between two directions is below `tolerance` [rad]; need not be unit vectors."""
    return DirectionConstraint(
        name, _unit(tool_axis, name), _unit(base_axis, name), math.cos(tolerance), 1.0
    )


def plane_alignment(
    tool_axis: Array, plane_normal: Array, tolerance: float, name: str
) -> DirectionConstraint:
    """A tool direction lies within `tolerance` [rad] of the plane with a normal in the base."""
    bound = math.sin(tolerance)
    return DirectionConstraint(
        name, _unit(tool_axis, name), _unit(plane_normal, name), -bound, bound
    )


def random_rotations(count: int, rng: np.random.Generator) -> Array:
    """Rotations uniform in SO(3) (Haar), shape (count, 3, 3), from normal quaternions."""
    quaternions = rng.standard_normal((4, count)).T
    rotations: Array = Rotation.from_quat(quaternions, scalar_first=True).as_matrix()
    return rotations


def satisfied(rotations: Array, constraints: Sequence[DirectionConstraint]) -> np.ndarray:
    """Which of the rotations (n, 3, 3) meet all constraints; bool, shape (n,)."""
    good = np.ones(len(rotations), dtype=bool)
    for constraint in constraints:
        cosine = np.asarray(constraint.base) @ rotations @ np.asarray(constraint.tool)
        good &= (cosine >= constraint.low - _SLACK) & (cosine <= constraint.high + _SLACK)
    return good


def contradiction(constraints: Sequence[DirectionConstraint]) -> str | None:
    """Why no rotation can meet the constraints, as far as looking at pairs of them tells.

    For two constraints the test is exact. Let t be the angle between R u1 and v2. The first
    constraint leaves an interval of t (triangle v1, v2, R u1 on the sphere), the second one as
    well (triangle v2, R u1, R u2), and the rotations about v2 are free: both can be met exactly if
    the intervals meet.
    """
    for constraint in constraints:
        if constraint.high < constraint.low:
            return f"{constraint.name} accepts nothing"
    for first, second in itertools.combinations(constraints, 2):
        near = _reachable(_band(first), _angle_between(first.base, second.base))
        far = _reachable(_band(second), _angle_between(first.tool, second.tool))
        if max(near[0], far[0]) > min(near[1], far[1]) + _TOUCH:
            return _exclusion([first, second])
    return None


def sample_orientations(
    count: int,
    constraints: Sequence[DirectionConstraint],
    rng: np.random.Generator,
) -> tuple[Array, OrientationReport]:
    """Different rotations that all meet the constraints.

    Returns:
        At least 1 and at most `count` rotations, shape (n, 3, 3), and how they were found.

    Raises:
        NoOrientation: none meets the constraints.
    """
    problem = contradiction(constraints)
    if problem:
        raise _none(problem)
    tightest = min(constraints, key=lambda constraint: constraint.share, default=None)
    others = [constraint for constraint in constraints if constraint is not tightest]
    found: list[Array] = []
    rare: Array | None = None
    drawn = accepted = 0
    for _ in range(MAX_BATCHES):
        check_interrupted()
        size = BATCH if others else count
        batch = random_rotations(size, rng) if tightest is None else _within(tightest, size, rng)
        good = batch[satisfied(batch, others)]
        drawn, accepted = drawn + size, accepted + len(good)
        found.append(good)
        if accepted >= count:
            break
        if accepted == 0 and rare is None:
            rare = _turned_towards(constraints, rng)
    if accepted == 0 and rare is not None:
        found = [rare]
    share = (tightest.share if tightest else 1.0) * accepted / drawn
    return np.concatenate(found)[:count], OrientationReport(drawn, accepted, share)


def _turned_towards(constraints: Sequence[DirectionConstraint], rng: np.random.Generator) -> Array:
    """Different rotations that meet the constraints, from random ones; raises `NoOrientation`.

    Levenberg-Marquardt on the angles by which each constraint is missed. Its gradients are unit
    vectors, so exact constraints are met to rounding, and where nothing meets all, those that
    still miss at the best rotation are the ones that pull against each other.
    """
    rotations = random_rotations(STARTS, rng)
    misses, slopes = _misses(rotations, constraints)
    damping = np.full(STARTS, 1e-6)
    for _ in range(TURNS):
        check_interrupted()
        normal = np.einsum("nki,nkj->nij", slopes, slopes) + damping[:, None, None] * np.eye(3)
        step = np.linalg.solve(normal, -np.einsum("nki,nk->ni", slopes, misses)[:, :, None])
        turned = Rotation.from_rotvec(step[:, :, 0]).as_matrix() @ rotations
        new_misses, new_slopes = _misses(turned, constraints)
        better = (new_misses**2).sum(axis=1) < (misses**2).sum(axis=1)
        rotations = np.where(better[:, None, None], turned, rotations)
        misses = np.where(better[:, None], new_misses, misses)
        slopes = np.where(better[:, None, None], new_slopes, slopes)
        damping = np.clip(np.where(better, 0.2 * damping, 8.0 * damping), 1e-12, 1e6)
    good = rotations[satisfied(rotations, constraints)]
    if len(good):
        rounded = good.reshape(-1, 9).round(3) + 0.0  # no -0.0, which would count as another
        different: Array = good[np.sort(np.unique(rounded, axis=0, return_index=True)[1])]
        return different
    nearest = np.abs(misses[int(np.argmin((misses**2).sum(axis=1)))])
    least = 1e-3 * nearest.max()
    apart = [c for c, miss in zip(constraints, nearest, strict=True) if miss > least]
    raise _none(_exclusion(apart))


def _misses(rotations: Array, constraints: Sequence[DirectionConstraint]) -> tuple[Array, Array]:
    """How far each constraint is missed [rad], (n, k), and what turning changes that, (n, k, 3)."""
    tools = np.array([constraint.tool for constraint in constraints])
    bases = np.array([constraint.base for constraint in constraints])
    bands = np.array([_band(constraint) for constraint in constraints])
    directions = np.einsum("nij,kj->nki", rotations, tools)
    normals = np.cross(bases[None], directions)  # turning about it takes them apart
    sines = np.linalg.norm(normals, axis=2)
    angles = np.arctan2(sines, np.einsum("nki,ki->nk", directions, bases))
    # Aimed at a little inside, where there is an inside, so that rounding does not matter.
    inset = np.minimum(1e-6, 0.25 * (bands[:, 1] - bands[:, 0]))
    misses = angles - np.clip(angles, bands[:, 0] + inset, bands[:, 1] - inset)
    slopes = normals / np.maximum(sines, 1e-12)[:, :, None]
    slopes[misses == 0.0] = 0.0
    return misses, slopes


def _exclusion(constraints: Sequence[DirectionConstraint]) -> str:
    names = [constraint.name for constraint in constraints]
    if len(names) == 1:
        return f"{names[0]} accepts nothing"
    return f"{', '.join(names[:-1])} and {names[-1]} exclude each other"


def _none(problem: str) -> NoOrientation:
    return NoOrientation(f"No orientation of the tool is possible: {problem}. Widen one.")


def _within(constraint: DirectionConstraint, count: int, rng: np.random.Generator) -> Array:
    """Rotations that meet one constraint, distributed as Haar conditioned on it.

    R takes `tool` to a direction d around `base` with a uniform cosine and azimuth, and is turned
    about d by a uniform angle: R = Turn(d, roll) Q(d) Q(tool)^T with any Q(w) whose third column
    is w.
    """
    cosine = rng.uniform(constraint.low, constraint.high, count)
    sine = np.sqrt(np.maximum(0.0, 1.0 - cosine**2))
    azimuth, roll = rng.uniform(0.0, 2 * np.pi, (2, count))
    around = _frame(np.asarray(constraint.base))
    local = np.stack([sine * np.cos(azimuth), sine * np.sin(azimuth), cosine], axis=1)
    direction = local @ around.T
    first = (
        np.stack([cosine * np.cos(azimuth), cosine * np.sin(azimuth), -sine], axis=1) @ around.T
    )  # orthogonal to `direction`: its derivative along the meridian
    second = np.cross(direction, first)
    c, s = np.cos(roll)[:, None], np.sin(roll)[:, None]
    columns = np.stack([c * first + s * second, c * second - s * first, direction], axis=2)
    rotations: Array = columns @ _frame(np.asarray(constraint.tool)).T
    return rotations


def _frame(axis: Array) -> Array:
    """A right-handed orthonormal frame whose third column is `axis`."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])


def _band(constraint: DirectionConstraint) -> tuple[float, float]:
    return (
        math.acos(min(1.0, max(-1.0, constraint.high))),
        math.acos(min(1.0, max(-1.0, constraint.low))),
    )


def _reachable(band: tuple[float, float], side: float) -> tuple[float, float]:
    """Angles of the third side of spherical triangles with a side in `band` and one of `side`."""
    low, high = band
    least = 0.0 if low <= side <= high else min(abs(low - side), abs(high - side))
    opposite = math.pi - side
    most = (
        math.pi
        if low <= opposite <= high
        else max(min(a + side, 2 * math.pi - a - side) for a in band)
    )
    return least, most


def _angle_between(first: Sequence[float], second: Sequence[float]) -> float:
    a, b = np.asarray(first), np.asarray(second)
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _angle(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 180:
        raise ValueError(
            f"{name}: angles are numbers from 0 to 180 degrees, not {reprlib.repr(value)}."
        )
    return float(value)


def _unit(vector: Array, name: str) -> tuple[float, float, float]:
    length = float(np.linalg.norm(vector))
    if not math.isfinite(length) or length < 1e-9:
        raise ValueError(f"{name}: the axis {list(vector)} has no direction.")
    return _triple(np.asarray(vector) / length)


def _triple(values: Sequence[float] | Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
