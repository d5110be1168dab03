# SPDX-License-Identifier: Apache-2.0
"""What class a thing is of, by what detectors have called it over time.

A detector that hesitates between classes calls one thing now this, now that. Each name counts with
its detection's confidence, and is forgotten within `MEMORY`.
"""

from __future__ import annotations

import math

MEMORY = 2.0
"""[s] within which a detection's say fades to 1/e."""


class ClassEvidence:
    """Sums of confidences by class."""

    def __init__(self) -> None:
        self._said: dict[str, float] = {}
        self._time = -math.inf

    def add(self, class_id: str, confidence: float, stamp: float) -> None:
        """Note what a detection of `stamp` [s] says."""
        elapsed = max(stamp - self._time, 0.0)
        if elapsed > 0.0:
            fade = math.exp(-elapsed / MEMORY)
            self._said = {name: fade * sum_ for name, sum_ in self._said.items() if sum_ > 1e-6}
            self._time = stamp
        self._said[class_id] = self._said.get(class_id, 0.0) + confidence

    def shift(self, by: float) -> None:
        """Count what was said `by` [s] later."""
        self._time += by

    def of(self, class_id: str) -> float:
        """What speaks for a class; 0: nothing."""
        return self._said.get(class_id, 0.0)

    @property
    def best(self) -> str:
        """The class that most speaks for; the first said of equals."""
        return max(self._said, key=lambda name: self._said[name], default="")
