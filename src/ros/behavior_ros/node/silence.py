# SPDX-License-Identifier: Apache-2.0
"""How long nothing was heard, on the node's clock and on the wall's.

One clock alone misjudges simulations. The simulated one stands still when the simulation has died,
and runs many times as fast as what waits for processor time; the wall's goes on while a busy
machine keeps the simulation waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

Moment = tuple[float, float]
"""The wall's clock and the node's [s]."""


def moment(now: float) -> Moment:
    """This moment; `now` is the node's time [s]."""
    return time.monotonic(), now


class Silence:
    """Since something was heard last; it begins now.

    Args:
        now: time of the node [s]
        limit: [s] of the node's time after which the silence is too long ...
        wall_limit: [s] ... if as much wall time has passed too; None: as much as `limit`
        standstill: so many times the wall time is too long whatever the node's clock says
    """

    def __init__(
        self,
        now: Callable[[], float],
        limit: float,
        *,
        wall_limit: float | None = None,
        standstill: float = math.inf,
    ) -> None:
        self._now, self._limit = now, limit
        self._wall_limit = limit if wall_limit is None else wall_limit
        self._standstill = standstill * self._wall_limit
        self._first = 0.0
        self.end()

    def end(self, heard: Moment | None = None) -> None:
        """Something was heard, now or at a :func:`moment`. Any thread may call it."""
        self._heard = moment(self._now()) if heard is None else heard

    @property
    def too_long(self) -> bool:
        """Whether who should speak is gone."""
        wall, node = self._heard
        now = self._now()
        if now < node:  # the clock was set back, as by a simulation that starts anew
            node, self._first = now, now
            self._heard = wall, node
        # What was heard before the first /clock is as old as that, not as the simulation.
        self._first = self._first or now
        wall, node = time.monotonic() - wall, now - (node or self._first)
        return wall > self._wall_limit and (node > self._limit or wall > self._standstill)
