# SPDX-License-Identifier: Apache-2.0
"""Where each block is believed to be, and when what is measured counts.

A block that the hand is at is hidden by it, and one in the hand moves with it. So a measurement is
taken over where it tells of a block away from the hand, or where it is so far off that the block
must have left. What changes little is taken over now and then only: every change of a belief is a
change of the arm's target.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from behavior_executor.scene_view import Matrix
from behavior_jobs.block_network.grasps import nearest_cube_rotation


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What the scene says of a block."""

    pose: Matrix
    """4x4 [m]."""
    stamp: float
    """When it was seen last [s]."""


@dataclass(frozen=True, slots=True)
class SyncRules:
    """When a measurement counts."""

    hand_radius: float = 0.05
    """[m] A block that is believed nearer to the tool is at the hand."""
    jump: float = 0.15
    """[m] A block at the hand or in it, measured further off than this, has left."""
    throttle: float = 0.25
    """[s] at least between two small corrections of one block."""
    small: float = 0.02
    """[m] A change by more waits for nothing."""
    noise: float = 0.002
    """[m], and 10 times as many radians: a change by less is none."""
    timeout: float = 1.0
    """[s] A measurement older than this is none."""
    lag: float = 0.4
    """[s] by which what is measured of a moving block may be late."""
    settle: float = 0.5
    """[s] A free block at the hand that is measured elsewhere for so long is there."""


class BeliefKeeper:
    """The beliefs over time."""

    def __init__(self, rules: SyncRules) -> None:
        """Believe nothing yet."""
        self.rules = rules
        self._poses: dict[str, Matrix] = {}
        self._synced: dict[str, float] = {}
        self._off_since: dict[str, float] = {}
        self._carried = ""
        self._now = -math.inf
        self._tool_T_block: Matrix = np.eye(4)
        self._way: deque[tuple[float, list[float]]] = deque()
        """When the held block was where [s], [m]."""

    def update(
        self, measured: Mapping[str, Measurement], tool: Matrix, held: str, now: float
    ) -> Mapping[str, Matrix]:
        """Take in what is measured now.

        Args:
            measured: by the blocks' names.
            tool: where the tool is, 4x4 [m].
            held: block in the hand; empty: none.
            now: node time [s].

        Returns:
            Where the blocks are believed to be, 4x4 [m]; a matrix that stays the same object has
            not changed.
        """
        if now < self._now:
            self._start_again(now)
        self._now = now
        self._carry(tool, held, now)
        hand = tool[:3, 3].tolist()
        for name, measurement in measured.items():
            if now - measurement.stamp < self.rules.timeout:
                self._sync(name, measurement, hand, now)
        return dict(self._poses)

    @property
    def in_hand(self) -> Matrix | None:
        """How the block in the hand sits there, tool_T_block, 4x4 [m]; None: there is none."""
        return self._tool_T_block if self._carried else None

    def forget(self, name: str) -> None:
        """Believe nothing of a block: nobody knows where it is."""
        if name != self._carried:
            self._poses.pop(name, None)

    def _start_again(self, now: float) -> None:
        """The clock was set back: no time of before is waited for."""
        self._synced = dict.fromkeys(self._synced, now)
        self._off_since.clear()
        self._way.clear()

    def _carry(self, tool: Matrix, held: str, now: float) -> None:
        """What the hand holds moves with it, as it sat there when it was taken."""
        if held != self._carried:
            self._carried = held if held in self._poses else ""
            self._way.clear()
            if self._carried:
                self._tool_T_block = between_fingers(np.linalg.inv(tool) @ self._poses[held])
        if self._carried:
            pose = self._poses[self._carried] = tool @ self._tool_T_block
            self._way.append((now, pose[:3, 3].tolist()))
            while now - self._way[0][0] > self.rules.timeout:
                self._way.popleft()

    def _off(self, name: str, measurement: Measurement) -> float:
        """[m] of a measurement from the belief; of what is carried, from where it was then.

        What is seen of a moving thing lags a little behind: so all of its way counts from then on.
        """
        seen, believed = measurement.pose[:3, 3].tolist(), self._poses[name][:3, 3].tolist()
        if name != self._carried:
            return math.dist(seen, believed)
        way = [place for time, place in self._way if time >= measurement.stamp - self.rules.lag]
        return min(math.dist(seen, place) for place in way or [believed])

    def _sync(self, name: str, measurement: Measurement, hand: list[float], now: float) -> None:
        believed, rules, pose = self._poses.get(name), self.rules, measurement.pose
        if believed is None:
            self._take(name, pose, now)
            return
        off = self._off(name, measurement)
        at_hand = math.dist(believed[:3, 3].tolist(), hand) <= rules.hand_radius
        if name == self._carried or at_hand:
            if off > rules.jump or (name != self._carried and self._lasts(name, off, now)):
                self._take(name, pose, now)
            return
        self._off_since.pop(name, None)
        changed = off > rules.noise or _turned(pose, believed) > 10.0 * rules.noise
        if changed and (off > rules.small or now - self._synced[name] >= rules.throttle):
            self._take(name, pose, now)

    def _lasts(self, name: str, off: float, now: float) -> bool:
        """Whether a free block at the hand has been measured elsewhere for long enough."""
        if off <= self.rules.small:
            self._off_since.pop(name, None)
            return False
        return now - self._off_since.setdefault(name, now) >= self.rules.settle

    def _take(self, name: str, pose: Matrix, now: float) -> None:
        self._poses[name], self._synced[name] = pose, now
        self._off_since.pop(name, None)
        if name == self._carried:
            self._carried = ""  # it is seen elsewhere; whoever holds it finds that out


def between_fingers(tool_T_block: Matrix) -> Matrix:
    """How a cube sits in fingers that have closed along y: in their middle, its faces on theirs."""
    result = np.array(tool_T_block)
    result[1, 3] = 0.0
    result[:3, :3] = nearest_cube_rotation(result[:3, :3])
    return result


def _turned(first: Matrix, second: Matrix) -> float:
    """[rad] between two orientations, for small angles."""
    change = (first[:3, :3] - second[:3, :3]).ravel()
    return math.sqrt(float(change @ change) / 2.0)
