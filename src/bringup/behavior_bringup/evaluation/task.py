# SPDX-License-Identifier: Apache-2.0
"""What a worker has to do: which runner runs its episodes, and with which settings."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from behavior_bringup.errors import UsageError
from behavior_bringup.evaluation.record import Episode, EpisodeRecord

RunEpisode = Callable[[Episode], EpisodeRecord]
"""Runs one episode, to its record. What the job does wrong is in the record; an exception ends the
worker."""
Runner = Callable[[Mapping[str, Any]], AbstractContextManager[RunEpisode]]
"""Given an evaluation's settings, it is ready to run episodes while its context lasts; raises
`BringupError` where it cannot be."""

STACK_RUNNER = "behavior_bringup.evaluation.stack_episodes:stack_episodes"


@dataclass(frozen=True, kw_only=True)
class Task:
    """The same for all workers of an evaluation; of JSON's types."""

    runner: str = STACK_RUNNER
    """`MODULE:FUNCTION` of a `Runner`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    own_domain: bool = False
    """Whether each worker takes a ROS domain that nobody on its machine uses, whatever the
    environment says."""
    episodes_each: int = 0
    """After so many a fresh worker goes on; 0: never."""
    memory_mb: float | None = None
    """A worker whose processes take more is ended [MB]; None: it is not."""

    def document(self) -> dict[str, Any]:
        """By JSON's types."""
        return asdict(self)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Self:
        """What `document` returned."""
        return cls(**document)


def load_runner(name: str) -> Runner:
    """The runner of a name.

    Raises:
        UsageError: there is none.
    """
    module, _, attribute = name.partition(":")
    try:
        runner: Runner = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"There is no runner '{name}' ({error}): give MODULE:FUNCTION of one that can be"
            " imported where the episodes run"
        ) from error
    return runner
