# SPDX-License-Identifier: Apache-2.0
"""One list tells order and concurrency: a walk with two arms takes 7.6 s, one by one 11.7 s.

Prints:
    OneByOne: scheduled 11.7 s, took 11.7 s
    Layered: scheduled 7.6 s, took 7.6 s
                           begin     end nominal
    walk                   0.000   7.600   7.600  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
    let it start           0.000   1.000   1.000  ────
    left arm               1.000   3.000   2.000      ─────────
    pass the post          0.000   2.500   2.500  ───────────
    right arm              2.500   4.600   2.100             ────────

    predicted 7.600 s, one after the other 15.200 s (-50%)
    the end waits for: walk
"""

from pathlib import Path

from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeStatus,
    StatefulActionNode,
    ports_list,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.schedule import Outlook, timeline_text

now = 0.0


class Fake(StatefulActionNode):
    """Does nothing, for a time."""

    ports = ports_list(InputPort("nominal_duration", float, description="time it takes [s]"))

    def on_start(self):
        self.timer = self.config().runtime.start_timer(self.get_input("nominal_duration"))
        return NodeStatus.RUNNING

    def on_running(self):
        return NodeStatus.SUCCESS if self.timer.expired else NodeStatus.RUNNING


factory = BehaviorTreeFactory(clock=lambda: now)
register_authoring_nodes(factory)
factory.register_node_type(Fake, "Fake")
factory.register_behavior_tree_from_file(Path(__file__).with_name("17_walk_and_arms.xml"))

for name in ("OneByOne", "Layered"):
    tree = factory.create_tree(name)
    outlook = Outlook(tree)
    begin = now
    while tree.tick_exactly_once() is NodeStatus.RUNNING:
        now = tree.runtime.next_deadline()
    print(f"{name}: scheduled {outlook.predicted.end:.1f} s, took {now - begin:.1f} s")
print("\n".join(timeline_text(outlook)))
