# SPDX-License-Identifier: Apache-2.0
"""Rules, and how they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S")


class BrokenRule(Exception):
    """A rule was broken; the text says by what."""


@dataclass(frozen=True)
class Rule(Generic[S]):
    """One promise."""

    name: str
    """In a word or two."""
    sentence: str
    """What is promised."""
    check: Callable[[S], None]
    """Tries it; raises BrokenRule."""

    def broken(self, subject: S) -> str:
        """Try the rule; returns what is wrong in one sentence, empty if it is kept."""
        try:
            self.check(subject)
        except BrokenRule as error:
            return f"{self.name}: {self.sentence}, but {error}"
        return ""

    def __str__(self) -> str:
        return self.name


def broken_rules(rules: Iterable[Rule[S]], subject: S) -> list[str]:
    """Try rules one after the other; returns a sentence for each that is broken."""
    return [text for rule in rules if (text := rule.broken(subject))]


def require(kept: bool, otherwise: str) -> None:
    """Raise BrokenRule with a text unless something is so."""
    if not kept:
        raise BrokenRule(otherwise)
