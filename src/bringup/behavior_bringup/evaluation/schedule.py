# SPDX-License-Identifier: Apache-2.0
"""Who runs which episode next. Every episode counts once, whatever becomes of its workers."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator

from behavior_bringup.evaluation.record import LOST, Episode, EpisodeRecord

ATTEMPTS = 3
"""Workers that may die in one episode, before it counts as lost: it might be what kills them."""


class Schedule:
    """Episodes that wait, that are being run, and that have ended; for several threads."""

    def __init__(
        self,
        episodes: Iterator[Episode | None],
        keep: Callable[[EpisodeRecord], bool],
        *,
        attempts: int = ATTEMPTS,
    ) -> None:
        """Nothing is run yet.

        Args:
            episodes: in their order; asked for one when one is wanted, so that it may depend on
                the records so far. None: there is none before one that is being run has ended.
            keep: is given each record, at once, and returns whether it is the first of its
                episode; called by one thread at a time.
            attempts: see `ATTEMPTS`.
        """
        self._episodes, self._keep, self._attempts = episodes, keep, attempts
        self._waiting: deque[Episode] = deque()
        self._running: dict[tuple[str, int], Episode] = {}
        self._deaths: Counter[tuple[str, int]] = Counter()
        self._changed = threading.Condition(threading.RLock())
        self._stopped = self._dry = self._exhausted = False

    def wait_for_work(self) -> bool:
        """Wait until there is an episode to run; returns False when there will be none."""
        with self._changed:
            while not self._stopped:
                if not self._waiting and not self._dry:
                    self._ask()
                if self._waiting:
                    return True
                if self._running:
                    self._changed.wait()
                elif self._dry:
                    self._exhausted = True
                    self._changed.notify_all()
                    return False
            return False

    def _ask(self) -> None:
        """Have the next episode wait, if there is one now."""
        try:
            episode = next(self._episodes)
        except StopIteration:
            self._dry = True
        else:
            self._waiting += [episode] if episode is not None else []

    def take(self) -> Episode | None:
        """The next episode; waits as `wait_for_work` does, and returns None where that is False."""
        with self._changed:
            if not self.wait_for_work():
                return None
            episode = self._waiting.popleft()
            self._running[episode.key] = episode
            return episode

    def finish(self, record: EpisodeRecord) -> bool:
        """An episode that was taken has ended; returns whether it counts, as the first one does.

        Raises:
            BringupError: its record cannot be kept.
        """
        with self._changed:
            self._running.pop(record.key, None)
            # Whose worker was only thought dead need not be run again.
            self._waiting = deque(each for each in self._waiting if each.key != record.key)
            self._changed.notify_all()
            return self._keep(record)

    def give_back(self, episode: Episode, why: str) -> EpisodeRecord | None:
        """The worker of an episode died: another one does it.

        Returns:
            Its record, if that has happened so often that it counts as lost.
        """
        with self._changed:
            self._running.pop(episode.key, None)
            self._deaths[episode.key] += 1
            self._changed.notify_all()
            if self._deaths[episode.key] < self._attempts:
                self._waiting.append(episode)
                return None
            record = lost_record(episode, f"its worker died {self._attempts} times: {why}")
            return record if self._keep(record) else None

    def stop(self) -> None:
        """Hand out no more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def is_wanted(self) -> bool:
        """Whether another worker may still have something to do."""
        return not (self._stopped or self._exhausted)

    @property
    def stopped(self) -> bool:
        """Whether it hands out no more, though there may be more."""
        return self._stopped

    @property
    def exhausted(self) -> bool:
        """Whether all episodes have ended, and count."""
        return self._exhausted


def lost_record(episode: Episode, reason: str, outcome: str = LOST) -> EpisodeRecord:
    """The record of an episode that gave none itself."""
    return EpisodeRecord(
        seed=episode.seed,
        variant=episode.variant,
        variation=dict(episode.variation),
        outcome=outcome,
        reason=reason,
        sim_time_s=None,
        wall_time_s=0.0,
    )
