# SPDX-License-Identifier: Apache-2.0
"""The motions of a preview: heard in the copy, kept in a file, handed to the real stack.

What the topics hold: `behavior_skills.node.previewed_motions`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from std_msgs.msg import String

from behavior_bringup.client import StackClient
from behavior_bringup.stacks.connection import EXECUTOR, enter
from behavior_bringup.stacks.stack import Stack
from behavior_ros import QOS_LATCHED, QOS_REQUESTS

PLANNED, PREVIEWED, CHOICES = "motion/planned", "motion/previewed", "motion/choices"
_HEARD = 0.5
"""[s] in which those who listen are found, and hear the last word."""


class PlannedMotions:
    """What the copy's skills plan, from now on until it is ended."""

    def __init__(self, client: StackClient) -> None:
        """Listen, whenever the client works."""
        self._texts: list[str] = []
        self.end = client.listen(
            String, PLANNED, lambda message: self._texts.append(message.data), QOS_REQUESTS
        )
        """Listen no longer."""

    def save(self, file: Path) -> int:
        """Write them as a list of JSON; returns how many there are."""
        file.write_text(f"[{','.join(self._texts)}]\n", encoding="utf-8")
        return len(self._texts)


@dataclass
class Choices:
    """How often the skills did what was previewed for a mission, and why else not."""

    mission: str
    """Its identifier."""
    as_previewed: int = 0
    anew: dict[str, int] = field(default_factory=dict)
    """How often by the reason."""

    def take(self, message: String) -> None:
        """Count one motion, if it is of this mission."""
        row = json.loads(message.data)
        if row["mission"] != self.mission:
            return
        if row["as_previewed"]:
            self.as_previewed += 1
        else:
            self.anew[row["why"]] = self.anew.get(row["why"], 0) + 1

    def lines(self) -> Iterator[str]:
        """For people."""
        motions = self.as_previewed + sum(self.anew.values())
        if motions:
            yield f"{self.as_previewed} of {motions} planned motions were the previewed ones."
        for why, times in self.anew.items():
            yield f"Planned anew{f' {times} times' if times > 1 else ''}: {why}."


@contextmanager
def handed_over(stack: Stack, mission: str, motions: str, namespace: str = "") -> Iterator[Choices]:
    """For a mission the skills do the motions of its preview, wherever nothing has changed.

    Args:
        stack: is up.
        mission: identifier under which it runs meanwhile; for others they plan as ever.
        motions: what stood in the file of its motions; empty: there are none.
        namespace: of the robot; empty: none.
    """
    enter(stack.name, EXECUTOR)
    choices = Choices(mission)
    with StackClient(namespace, name="behavior_approval", truth=False) as client:
        client.listen(String, CHOICES, choices.take, QOS_REQUESTS)
        publish = client.announce(String, PREVIEWED, QOS_LATCHED)
        publish(String(data=f"{mission}\n{motions}"))
        client.work(_HEARD)
        try:
            yield choices
        finally:
            publish(String(data=f"{mission}\n"))
            client.work(_HEARD)
