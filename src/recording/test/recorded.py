# SPDX-License-Identifier: Apache-2.0
"""A tree that does a bit of everything, and recordings of it."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from behavior_recording import TreeRecording
from behavior_tree import BehaviorTreeFactory, NodeStatus, Tree

XML = """
<root BTCPP_format="4" main_tree_to_execute="main">
  <BehaviorTree ID="main">
    <Sequence name="both">
      <Script code="turns:=0"/>
      <Repeat num_cycles="{cycles}" name="again">
        <Sequence>
          <SubTree ID="inner" name="one" turn="{turns}"/>
          <Sleep name="nap" msec="10"/>
        </Sequence>
      </Repeat>
      <AlwaysFailure name="sorry"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="inner">
    <Fallback><AlwaysFailure/><Script code="mine:='hi'; turn:=turn+1"/></Fallback>
  </BehaviorTree>
</root>"""


class Clock:
    """Simulated seconds, and wall time that goes with them."""

    def __init__(self) -> None:
        self.time = 0.0
        self._steps = count(1)

    def seconds(self) -> float:
        return self.time

    def nanoseconds(self) -> int:
        """A later one each time, so that messages have an order."""
        return 1_700_000_000_000_000_000 + round(self.time * 1e9) + next(self._steps)


def tree_of(clock: Clock, cycles: int = 3) -> Tree:
    tree = BehaviorTreeFactory(clock=clock.seconds).create_tree_from_text(XML)
    tree.root_blackboard().set("cycles", cycles)
    return tree


def ticked(recording: TreeRecording, clock: Clock) -> int:
    """Tick to the end; returns the number of ticks."""
    for tick in count(1):
        status = recording.tick()
        clock.time += 0.01
        if status is not NodeStatus.RUNNING:
            return tick
    raise AssertionError


def record(path: Path, cycles: int = 3) -> tuple[Tree, int]:
    """Record a whole run."""
    clock = Clock()
    tree = tree_of(clock, cycles)
    recording = TreeRecording(path, tree, tree_id="main", now=clock.nanoseconds, life=7)
    with recording:
        ticks = ticked(recording, clock)
    return tree, ticks
