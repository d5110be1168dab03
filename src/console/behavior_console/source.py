# SPDX-License-Identifier: Apache-2.0
"""`Source`: where what pages show comes from, a running stack or a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from behavior_console.channels import CHANNELS, Channels, Kind

_OF_ALL_TIMES = frozenset(
    {
        *("clouds", "controller", "document", "editors", "lanes", "missions", "modules"),
        *("orders", "preview", "proposals", "queue"),
    }
)
OF_THE_MOMENT = frozenset(
    name for name, kind in CHANNELS.items() if kind is not Kind.LOG and name not in _OF_ALL_TIMES
)
"""Channels that hold what was at the moment that a page shows; logs hold the whole run."""


def show_state(channels: Channels, state: Mapping[str, Any]) -> None:
    """Make channels hold a state, by channel; what is as before is not sent again."""
    with channels.lock:
        for name, value in state.items():
            if CHANNELS[name] is Kind.MAP:
                channels.replace(name, value)
            elif (before := channels.value(name)) is not value and before != value:
                channels.set(name, value)


class SourceError(ValueError):
    """That moment cannot be shown; the sentence says why and what to do."""


class Source(Protocol):
    """What one or more pages look at."""

    channels: Channels
    """What is now, or at a record's end."""

    def now(self) -> float:
        """[s] the executor's clock; a record's end."""
        ...

    def span(self) -> tuple[float, float] | None:
        """[s] the first and the last time that can be shown by now; None: nothing of the past."""
        ...

    async def show(self, moment: Channels, time: float) -> None:
        """Fill the channels of the moment with what was at a time.

        Args:
            moment: of one page.
            time: [s] the executor's clock.

        Raises:
            SourceError: it is not known.
        """
        ...
