# SPDX-License-Identifier: Apache-2.0
"""Cost of one tick of a decider network of the block tower's size: monitors, and one sweep.

    python benchmarks/decider_sweep.py [--ticks 20000] [--limit 0.2]

The network has six monitors, a dispatch with three cases, two RLDS with five steps, atomic parts
and leaves: 38 nodes, of which a tick asks about 15. Four blocks move while it is ticked, so that
its choice changes. Measured by the processor time of the thread, once alone and once with somebody
told of every change. Exit code 1 if a median is over the limit [ms].
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from typing import Any

from behavior_tree import BehaviorTreeFactory, Blackboard, NodeStatus, StatefulActionNode, Tree
from behavior_tree.decider import register_decider_nodes

XML = """
<root BTCPP_format="4" main_tree_to_execute="Tower">
  <BehaviorTree ID="Tower">
    <Monitors>
      <Perceive/> <Stack/> <Held/> <Suppress/> <Near/>
      <Script code="clear := held == 0; complete := stacked == 4"/>
      <Decider name="dispatch">
        <Case name="home" if="complete"><Work/></Case>
        <Case name="pick" if="clear">
          <RLDS name="picking">
            <Rd name="reach" runnable="clear">
              <Decider name="which">
                <Case name="build" if="correct"><Work/></Case>
                <Case name="teardown"><Work/></Case>
              </Decider>
            </Rd>
            <Rd name="grasp" runnable="clear &amp;&amp; distance &lt; 0.005">
              <Atomic timeout_msec="2000"><Sequence><Work/><Work/></Sequence></Atomic>
            </Rd>
            <Rd name="open" runnable="clear &amp;&amp; !opened &amp;&amp; distance &lt; 0.15">
              <Work/>
            </Rd>
          </RLDS>
        </Case>
        <Case name="place">
          <RLDS name="placing">
            <Rd name="carry" runnable="held">
              <Decider name="where">
                <Case name="tower" if="correct"><Work/></Case>
                <Case name="table"><Work/></Case>
              </Decider>
            </Rd>
            <Rd name="release" runnable="held &amp;&amp; distance &lt; 0.005">
              <Atomic timeout_msec="2000"><Sequence><Work/><Work/></Sequence></Atomic>
            </Rd>
          </RLDS>
        </Case>
      </Decider>
    </Monitors>
  </BehaviorTree>
</root>"""


class Work(StatefulActionNode):
    """A leaf that never ends."""

    def on_start(self) -> NodeStatus:
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        return NodeStatus.RUNNING


class Blocks:
    """What the monitors look at: a hand that moves over four blocks and takes one now and then."""

    def __init__(self) -> None:
        self.tick = 0
        self.hand = [0.5, 0.0, 0.3]
        self.blocks = [[0.3 + 0.13 * i, -0.4, 0.026] for i in range(4)]
        self.believed = [list(each) for each in self.blocks]
        self.suppressed = [False] * 4

    def perceive(self, board: Blackboard) -> None:
        self.tick += 1
        self.hand[0] = 0.5 + 0.2 * math.sin(self.tick / 50)
        for block, belief in zip(self.blocks, self.believed, strict=True):
            if math.dist(block, self.hand) > 0.05:
                belief[:] = block

    def stack(self, board: Blackboard) -> None:
        inside = [each for each in self.believed if math.hypot(each[0] - 0.25, each[1]) < 0.026]
        board.set("stacked", len(inside))
        board.set("correct", self.tick % 400 < 300)

    def held(self, board: Blackboard) -> None:
        board.set("held", self.tick % 100 > 60)
        board.set("opened", self.tick % 100 > 5)

    def suppress(self, board: Blackboard) -> None:
        for index, block in enumerate(self.believed):
            self.suppressed[index] = math.dist(block, self.hand) < 0.1

    def near(self, board: Blackboard) -> None:
        board.set("distance", abs(math.sin(self.tick / 20)) / 10)


def network() -> Tree:
    """The network, ready to tick."""
    factory, blocks = BehaviorTreeFactory(), Blocks()
    register_decider_nodes(factory)
    factory.register_node_type(Work, "Work")
    for monitor in (blocks.perceive, blocks.stack, blocks.held, blocks.suppress, blocks.near):

        def look(node: Any, monitor: Any = monitor) -> NodeStatus:
            monitor(node.config().blackboard)
            return NodeStatus.SUCCESS

        factory.register_simple_action(monitor.__name__.title(), look)
    return factory.create_tree_from_text(XML)


def measure(ticks: int, *, watched: bool) -> list[float]:
    """Processor time of each tick [ms]."""
    tree, times = network(), []
    if watched:
        tree.record_ticks()
    for _ in range(ticks):
        start = time.thread_time_ns()
        tree.tick_exactly_once()
        times.append((time.thread_time_ns() - start) / 1e6)
    tree.halt_tree()
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=20_000)
    parser.add_argument("--limit", type=float, default=0.2, help="largest median [ms]")
    arguments = parser.parse_args()
    worst = 0.0
    for watched in (False, True):
        times = sorted(measure(arguments.ticks, watched=watched))
        median, late = statistics.median(times), times[int(len(times) * 0.99)]
        worst = max(worst, median)
        mode = "watched" if watched else "alone"
        print(
            f"{mode:<8} median {median:.4f} ms, 99 % below {late:.4f} ms, worst {times[-1]:.3f} ms"
        )
    return 0 if worst <= arguments.limit else 1


if __name__ == "__main__":
    sys.exit(main())
