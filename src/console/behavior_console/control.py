# SPDX-License-Identifier: Apache-2.0
"""Who of the pages has control: one at a time; who else wants it asks for it. Pure.

Who gives a command while nobody has control takes it. Who asks gets it when the holder gives it,
leaves, or does not answer in time: an operator who has gone away with the page open holds nobody
up, and one who is there has time to refuse. The software stop needs no control.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ANSWER_WITHIN = 15.0
"""[s] in which the holder may refuse."""


@dataclass(frozen=True)
class _Page:
    number: int
    who: str


class Control:
    """Who has control, and who asks for it.

    Args:
        clock: [s].
        on_change: is called after each change.
    """

    def __init__(self, clock: Callable[[], float], on_change: Callable[[], None]) -> None:
        self._clock = clock
        self._on_change = on_change
        self._holder: _Page | None = None
        self._asks: _Page | None = None
        self._until = 0.0

    def state(self) -> dict[str, Any]:
        """For the channel ``controller``: holder, asks and the [s] that are left for an answer."""
        left = max(0.0, self._until - self._clock()) if self._asks else None
        return {
            "holder": _row(self._holder),
            "asks": _row(self._asks),
            "answer_within": left,
        }

    def take(self, number: int, who: str) -> str:
        """Take control if it is free.

        Returns:
            Who else has it; empty: this page has.
        """
        if self._holder is None:
            self._change(_Page(number, who), None)
        assert self._holder is not None
        return "" if self._holder.number == number else self._holder.who

    def ask(self, number: int, who: str) -> str:
        """Ask for control; what has become of it, in words."""
        holder = self.take(number, who)
        if not holder:
            return "this page has control"
        if self._asks is not None and self._asks.number != number:
            return f"{self._asks.who} has asked before; wait for the answer"
        if self._asks is None:
            self._until = self._clock() + ANSWER_WITHIN
            self._change(self._holder, _Page(number, who))
        return f"{holder} was asked and has {ANSWER_WITHIN:g} s to refuse"

    def give(self, number: int) -> bool:
        """Give control to who asks, or to nobody; False: it is not this page's to give."""
        if self._holder is None or self._holder.number != number:
            return False
        self._change(self._asks, None)
        return True

    def refuse(self, number: int) -> bool:
        """Keep control although somebody asks; False: it is not this page's."""
        if self._holder is None or self._holder.number != number:
            return False
        self._change(self._holder, None)
        return True

    def leave(self, number: int) -> None:
        """A page is gone."""
        if self._asks is not None and self._asks.number == number:
            self._change(self._holder, None)
        self.give(number)

    def pass_on(self) -> None:
        """Give control to who asked, if the holder has not answered in time; call it often."""
        if self._asks is not None and self._clock() >= self._until:
            self._change(self._asks, None)

    def _change(self, holder: _Page | None, asks: _Page | None) -> None:
        if (holder, asks) != (self._holder, self._asks):
            self._holder, self._asks = holder, asks
            self._on_change()


def _row(page: _Page | None) -> dict[str, Any] | None:
    return None if page is None else {"number": page.number, "name": page.who}
