# SPDX-License-Identifier: Apache-2.0
"""How a tree does in simulation, episode by episode. No ROS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from behavior_assistant.checked_trees import CheckedTree, TreeChecker
from behavior_bringup.evaluation.statistics import wilson

MOST_EPISODES = 100


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One run of a tree from a start state."""

    seed: int
    success: bool
    """What the tree itself says: nobody knows what the instruction meant."""
    reason: str
    """In words: why it failed, or where things are afterwards."""
    seconds: float
    """Simulated."""


class SimulatedWorld(Protocol):
    """Where trees are tried."""

    def checker(self) -> TreeChecker:
        """Checks trees against the node types that there are."""

    def objects(self) -> Mapping[str, Mapping[str, Any]]:
        """What the robot believes of each object there, by JSON's types."""

    def run(
        self, tree: CheckedTree, episodes: int, on_episode: Callable[[Episode], None]
    ) -> list[Episode]:
        """Run a tree from so many start states; `on_episode` is given each as it ends."""


def summary(episodes: Sequence[Episode]) -> str:
    """How often it succeeded, in a sentence."""
    if not episodes:
        return "not simulated"
    done = sum(each.success for each in episodes)
    sure = wilson(done, len(episodes))
    return (
        f"{done} of {len(episodes)} simulated episodes ended with the tree's success"
        f" (95 % confidence: {100 * sure.low:.0f} to {100 * sure.high:.0f} %)"
    )


def episode_line(episode: Episode) -> str:
    """An episode in one line."""
    verdict = "SUCCESS" if episode.success else "FAILURE"
    return f"seed {episode.seed}: {verdict} after {episode.seconds:.1f} s: {episode.reason}"
