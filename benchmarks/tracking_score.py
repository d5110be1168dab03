# SPDX-License-Identifier: Apache-2.0
"""How well tracks follow the truth.

Counts after K. Bernardin and R. Stiefelhagen, "Evaluating multiple object tracking performance:
the CLEAR MOT metrics" (2008): in every image true things and tracks are matched within `RADIUS`,
earlier matches first. A visible thing without a track is missed, a track without a thing (visible
or not) is false, a thing whose track is another than before is switched. Identity score after
E. Ristani et al., "Performance measures and a data set for multi-target, multi-camera tracking"
(2016): each thing gets the one track that follows it best over the whole sequence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Array = NDArray[np.float64]

RADIUS = 0.3
"""[m]."""


@dataclass
class Score:
    """Counts over sequences."""

    true: int = 0
    """Visible things, summed over the images."""
    reported: int = 0
    """Tracks, summed over the images, without those of hidden things."""
    missed: int = 0
    false: int = 0
    switches: int = 0
    squares: float = 0.0
    """[m^2] summed over the matches."""
    matches: int = 0
    kept: int = 0
    """Matches of things with the track that follows each best."""
    _last: dict[int, str] = field(default_factory=dict)
    _pairs: Counter[tuple[int, str]] = field(default_factory=Counter)

    def add(
        self, truth: Mapping[int, Array], visible: Set[int], tracks: Mapping[str, Array]
    ) -> None:
        """Judge the tracks after one image."""
        pairs = self._matched(truth, tracks)
        matched = set(pairs.values())
        self.true += len(visible)
        self.missed += sum(obj not in pairs for obj in visible)
        false = sum(name not in matched for name in tracks)
        self.false += false
        self.reported += false + sum(obj in visible for obj in pairs)
        for obj, name in pairs.items():
            self.switches += self._last.get(obj, name) != name
            self._last[obj] = name
            if obj in visible:
                self.matches += 1
                self.squares += float(np.sum((truth[obj] - tracks[name]) ** 2))
                self._pairs[obj, name] += 1

    def close(self) -> None:
        """End a sequence: names mean something else in the next."""
        objects = sorted({obj for obj, _ in self._pairs})
        names = sorted({name for _, name in self._pairs})
        counts = np.array([[self._pairs[obj, name] for name in names] for obj in objects])
        if counts.size:
            self.kept += int(counts[linear_sum_assignment(counts, maximize=True)].sum())
        self._pairs.clear()
        self._last.clear()

    @property
    def error(self) -> float:
        """[m] root of the mean square of the distance of matched tracks."""
        return float(np.sqrt(self.squares / max(self.matches, 1)))

    @property
    def accuracy(self) -> float:
        """MOTA, 1 at best."""
        return 1.0 - (self.missed + self.false + self.switches) / max(self.true, 1)

    @property
    def identity(self) -> float:
        """IDF1, 1 at best."""
        return 2.0 * self.kept / max(self.true + self.reported, 1)

    def _matched(self, truth: Mapping[int, Array], tracks: Mapping[str, Array]) -> dict[int, str]:
        pairs: dict[int, str] = {}
        for obj, name in self._last.items():
            taken = name not in tracks or name in pairs.values()
            if not taken and np.linalg.norm(truth[obj] - tracks[name]) <= RADIUS:
                pairs[obj] = name
        objects = [obj for obj in truth if obj not in pairs]
        names = [name for name in tracks if name not in pairs.values()]
        if objects and names:
            at = np.array([truth[obj] for obj in objects])
            to = np.array([tracks[name] for name in names])
            distance = np.linalg.norm(at[:, None] - to[None], axis=2)
            rows, columns = linear_sum_assignment(np.minimum(distance, 1e3 * RADIUS))
            for row, column in zip(rows, columns, strict=True):
                if distance[row, column] <= RADIUS:
                    pairs[objects[row]] = names[column]
        return pairs
