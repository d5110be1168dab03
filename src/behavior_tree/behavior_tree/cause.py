# SPDX-License-Identifier: Apache-2.0
"""Why something failed, as a value that reads as a sentence."""

from __future__ import annotations

from enum import Enum


class Cancelled(Exception):
    """Work ends because whoever wanted it wants it no more; the text says why."""


class CauseKind(Enum):
    """What sort of failure it is: what somebody else may do about it depends on that."""

    OTHER = "other"
    """Whatever its sentence says."""
    INVALID_INPUT = "invalid input"
    """A port holds what cannot be used."""
    SERVER_LOST = "server lost"
    """Who should do the work is not there, or went away; it may come back."""
    REJECTED = "rejected"
    """A server would not take the work."""
    TIMED_OUT = "timed out"
    """It took longer than it may."""
    CANCELED = "cancelled"
    """Somebody ended it."""
    REPORTED = "reported"
    """A server did the work and tells why it failed."""


class Cause(str):
    """A reason for `TreeNode.set_failure_reason`, and for whoever is told of one.

    It is the text that people read: the sentence, and after a colon the remedy.
    """

    kind: CauseKind
    sentence: str
    """What has happened."""
    remedy: str
    """What to do about it; empty: nothing that is known."""
    evidence: str
    """What tells so, where the sentence does not, like the name of a result's code."""

    def __new__(
        cls, kind: CauseKind, sentence: str, *, remedy: str = "", evidence: str = ""
    ) -> Cause:
        """Make one; see the attributes."""
        made = super().__new__(cls, f"{sentence}: {remedy}" if remedy else sentence)
        made.kind, made.sentence = kind, sentence
        made.remedy, made.evidence = remedy, evidence
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[CauseKind, str], dict[str, str]]:
        return (self.kind, self.sentence), {"remedy": self.remedy, "evidence": self.evidence}

    @classmethod
    def of(cls, reason: str) -> Cause:
        """A reason as it is, and of a mere text one of the kind OTHER."""
        return reason if isinstance(reason, Cause) else cls(CauseKind.OTHER, reason)

    def at(self, place: str) -> Cause:
        """The same, told of a place: `place: sentence`."""
        sentence = f"{place}: {self.sentence}"
        return Cause(self.kind, sentence, remedy=self.remedy, evidence=self.evidence)
