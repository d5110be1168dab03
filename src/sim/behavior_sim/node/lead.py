# SPDX-License-Identifier: Apache-2.0
"""How far the simulation may run ahead of those that act on it.

Physics alone is tens of times faster than real time, the programs around it are not. A world that
does not wait for them leaves them with ever older pictures. So whoever follows the simulation
tells the simulated time up to which it has come, and the simulation waits when it is too far ahead
of that; but not for somebody who tells nothing any more.

News can get lost, and a follower of a world that stands still has none to tell. So the world never
stands quite still: while it hears nothing it creeps on, until there is something new to see.
"""

import time
from collections.abc import Callable

PATIENCE = 5.0
"""[s] of wall time without news, after which the follower counts as gone.

Long enough for a machine with more to do than it can: a world that runs on while its cameras wait
for the processor is one that nobody sees for seconds of its time."""

CREEP = 0.2
"""[s/s] simulated by wall time, while nothing is heard."""


class Lead:
    """Limits the simulation's lead over one follower.

    Args:
        limit: [s] simulated time that it may be ahead.
        wall: wall clock [s].
    """

    def __init__(self, limit: float, wall: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._wall = wall
        self._followed = float("-inf")
        self._heard = float("-inf")

    def follow(self, stamp: float) -> None:
        """The follower has come to the simulated time `stamp` [s]."""
        self._followed = stamp
        self._heard = self._wall()

    def wait(self, now: float) -> float:
        """How long [s, wall] the simulation at time `now` [s] waits for news; 0: it goes on."""
        ahead = now - self._followed - self.limit
        if ahead <= 0.0:
            return 0.0
        return max(0.0, self._heard + min(ahead / CREEP, PATIENCE) - self._wall())
