# SPDX-License-Identifier: Apache-2.0
"""Has a simulation wait for the programs that act on it, but no longer than a robot would.

A robot waits for nobody: while a planner computes for 0.3 s, 0.3 s go by. While nobody computes
nothing is lost when time goes as fast as it can. So programs tell the simulated time up to which
they have done all that follows from it. The next step is taken at once when all have come so far;
else as soon as it would come at the pace of a robot. While the robot moves as it was told to they
may look a little later.
"""

import math
import time
from collections.abc import Callable

ANSWER = 0.005
"""[s] of wall time in which whoever waited for the end of a motion hears of it and goes on."""
PATIENCE = 5.0
"""[s] of wall time without news, after which a follower counts as gone."""


class Followers:
    """The programs that follow a simulation.

    Args:
        pace: [s/s] simulated by wall time while somebody has something to do; 0: nobody is waited
            for.
        wall: wall clock [s].
    """

    def __init__(self, pace: float, wall: Callable[[], float] = time.monotonic) -> None:
        self.pace = pace
        self.expected = 1
        """How many there are; while fewer are heard, somebody has something to do."""
        self._wall = wall
        self._followed: dict[str, tuple[float, float]] = {}
        """[s] simulated and [s, wall] of the newest news, by the name of the follower."""
        self._answered = -math.inf
        """[s, wall] when the end of a motion was told that nothing has followed."""
        self._began, self._from = wall(), 0.0
        """[s, wall] when the newest step began, and [s] from which time on it went."""

    def follow(self, name: str, stamp: float) -> None:
        """A follower has done all up to the simulated time `stamp` [s]."""
        self._followed[name] = (stamp, self._wall())

    def tell_end(self) -> None:
        """The end of a motion is on its way to whoever waits for it: for `ANSWER`, or until a
        motion begins, he has something to do.
        """
        self._answered = self._wall()

    def tell_beginning(self) -> None:
        """A motion begins."""
        self._answered = -math.inf

    def begin_step(self, now: float) -> None:
        """A step begins at the simulated time `now` [s]."""
        self._began, self._from = self._wall(), now

    def wait(self, now: float, *, ahead: float = 0.0) -> float:
        """How long [s, wall] the simulation waits for news; 0: it goes on.

        Args:
            now: at the end of the newest step [s].
            ahead: by which followers may be behind [s].
        """
        if self.pace <= 0.0:
            return 0.0
        wall = self._wall()
        left = self._began + (now - self._from) / self.pace - wall
        if left <= 0.0:
            return 0.0
        if not self._have_come_to(now - ahead):
            return left
        answer = self._answered + ANSWER - wall
        return 0.0 if ahead > 0.0 else max(0.0, min(left, answer))

    def _have_come_to(self, now: float) -> bool:
        """Whether all have done all up to the simulated time `now` [s]."""
        limit = self._wall() - PATIENCE
        self._followed = {name: news for name, news in self._followed.items() if news[1] >= limit}
        stamps = [stamp for stamp, _ in self._followed.values()]
        return len(stamps) >= self.expected and min(stamps) >= now - TICK


TICK = 1e-6
"""[s] by which stamps, whole nanoseconds, may differ from the simulation's own time."""
