# SPDX-License-Identifier: Apache-2.0
"""A motion that was shown, as leaves of a tree.

The arm goes to where the motion began. Where it rested then it is to rest again; between two rests
it goes from point to point, through as many as it needs for straight lines in its joints to stay as
near to the motion as wanted. Fingers that opened go to the gap that was shown, and fingers that
closed close on what is between them: positions do not tell what they pressed. What was shown at
once is done one after the other, the one first that began first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from behavior_skills.arm.shown_motion import Shown

Floats = NDArray[np.float64]
ARM_STILL = 0.02
"""[rad/s] of every joint below which the arm rests."""
GAP_STILL = 0.004
"""[m/s] below which the gripper rests."""
SHORTEST_REST = 0.2
"""[s]; a shorter one is part of the motion."""
MOST_LEAVES = 1000


def taught_leaves(shown: Shown, *, name: str = "taught", tolerance: float = 0.02) -> list[str]:
    """XML of the leaves that repeat a motion, in order: ``MoveArm`` and ``MoveGripper``.

    Args:
        shown: at least two samples
        name: what the names of the leaves begin with
        tolerance: [rad] of every joint, how far the points' straight lines may be from the motion

    Returns:
        Nothing for a motion in which nothing moved.

    Raises:
        ValueError: shapes that do not fit, times that do not rise, numbers that are not finite, or
            more leaves than a tree should have
    """
    times, joints, gaps = _checked(shown, tolerance)
    moves = [(*each, True) for each in _moving(times, joints, ARM_STILL)]
    moves += [(*each, False) for each in _moving(times, gaps[:, None], GAP_STILL)]
    numbers, leaves = count(1), list[str]()
    for begin, end, is_arm in sorted(moves):
        if is_arm:
            at_first = [] if any(leaf.startswith("<MoveArm") for leaf in leaves) else [0]
            points = at_first + _corners(joints[begin : end + 1], tolerance)
            leaves += [_arm(f"{name} {next(numbers)}", joints[begin + i]) for i in points]
        else:
            opens = bool(gaps[end] > gaps[begin])
            leaves.append(_gripper(f"{name} {next(numbers)}", float(gaps[end]), opens=opens))
        if len(leaves) > MOST_LEAVES:
            raise ValueError(f"more than {MOST_LEAVES} leaves: allow more tolerance")
    return leaves


def _checked(shown: Shown, tolerance: float) -> tuple[Floats, Floats, Floats]:
    times = np.asarray(shown.times, dtype=np.float64)
    joints = np.asarray(shown.joints, dtype=np.float64)
    gaps = np.zeros_like(times) if shown.gaps is None else np.asarray(shown.gaps, dtype=np.float64)
    if times.ndim != 1 or joints.ndim != 2 or not len(times) == len(joints) == len(gaps) >= 2:
        raise ValueError(
            f"a motion needs two samples at least, and as many of joints as of times: got times "
            f"{times.shape}, joints {joints.shape}, gaps {gaps.shape}"
        )
    if not np.isfinite(joints).all() or not np.isfinite(gaps).all() or not tolerance > 0.0:
        raise ValueError("joints and gaps must be finite, the tolerance above 0")
    if not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise ValueError("times must be finite and rise from sample to sample")
    return times, joints, gaps


def _moving(times: Floats, values: Floats, still: float) -> Iterator[tuple[int, int]]:
    """Of each motion between two rests its first sample and the last one of the rest after it."""
    speeds = np.abs(np.diff(values, axis=0)).max(axis=1) / np.diff(times)
    moving = np.flatnonzero(speeds > still)
    if not len(moving):
        return
    rests = np.flatnonzero(times[moving[1:]] - times[moving[:-1] + 1] >= SHORTEST_REST)
    begins = [int(each) for each in (moving[0], *moving[rests + 1])]
    yield from pairwise([*begins, len(times) - 1])


def _corners(way: Floats, tolerance: float) -> list[int]:
    """Samples over which straight lines stay within the tolerance, the last one included, the first
    one not (Ramer, Douglas and Peucker; distances in each joint).
    """
    kept, spans = {len(way) - 1}, [(0, len(way) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        far = _distances(way[first : last + 1])
        worst = int(np.argmax(far))
        if far[worst] > tolerance:
            kept.add(first + worst)
            spans += [(first, first + worst), (first + worst, last)]
    return sorted(kept)


def _distances(way: Floats) -> Floats:
    """Of each sample from the straight line between the ends, the largest of its joints [rad]."""
    along = way[-1] - way[0]
    length = float(along @ along)
    shares = (way - way[0]) @ along / length if length > 0.0 else np.zeros(len(way))
    line = way[0] + np.clip(shares, 0.0, 1.0)[:, None] * along
    return np.asarray(np.abs(way - line).max(axis=1))


def _arm(name: str, joints: Floats) -> str:
    texts = ";".join(f"{each:.4f}" for each in joints)
    return f'<MoveArm name={quoteattr(name)} mode="JOINTS" joints={quoteattr(texts)}/>'


def _gripper(name: str, gap: float, *, opens: bool) -> str:
    how = f'mode="WIDTH" width="{max(gap, 0.0):.4f}"' if opens else 'mode="CLOSE"'
    return f"<MoveGripper name={quoteattr(name)} {how}/>"
