# SPDX-License-Identifier: Apache-2.0
"""A mission's tree, ticked in a world without physics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from fake_skills import TREES

from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus


class Clocked(Protocol):
    """A world."""

    @property
    def now(self) -> float:
        """[s]"""

    def step(self) -> None:
        """Let a moment pass."""


class TreeDrive:
    """The tree of a mission in a world."""

    def __init__(
        self, name: str, world: Clocked, factory: BehaviorTreeFactory, parameters: dict[str, str]
    ) -> None:
        entry = MissionCatalogue([TREES]).find(name)
        self.board = Blackboard.create()
        for key, value in entry.blackboard_values(parameters).items():
            self.board.set(key, value)
        self.tree = factory.create_tree_from_file(entry.path, self.board)
        self.run = TreeRun(self.tree, tree_id=entry.main_tree)
        self.status = NodeStatus.RUNNING
        self._clock = world

    def tick(self) -> NodeStatus:
        self._clock.step()
        self.status = self.run.tick()
        return self.status

    def story(self) -> Any:
        """What it does and what went before, for whom a test fails."""
        return self.run.activity()

    def until(self, condition: Callable[[], bool], limit: float = 60.0) -> None:
        """Tick until something holds; it must within ``limit`` seconds of the world's time."""
        deadline = self._clock.now + limit
        while not condition():
            assert self._clock.now < deadline, f"not within {limit} s: {self.story()}"
            assert self.tick() is NodeStatus.RUNNING or condition(), self.run.failure_text()

    def finish(self, limit: float = 200.0) -> NodeStatus:
        """Tick until the tree ends."""
        deadline = self._clock.now + limit
        while self.tick() is NodeStatus.RUNNING:
            assert self._clock.now < deadline, self.story()
        return self.status
