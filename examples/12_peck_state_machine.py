# SPDX-License-Identifier: Apache-2.0
"""A state machine pecks at points of a table; a block on one of them costs it three seconds.

Prints:
    at 1: approach
    at 1: lift
    at 2: approach
    at 2: blocked, the next one
    at 3: approach
    at 3: lift
"""

from behavior_tree import BehaviorTreeFactory, NodeStatus
from behavior_tree.decider import Network, action, call, run_for, sequence, state, state_machine


class Hand:
    """A hand that moves along a line, a decimetre a tick."""

    def __init__(self) -> None:
        self.place = self.point = 0
        self.blocked = {2}

    def choose(self) -> None:
        """The next point."""
        self.point += 1

    def tell(self, what: str) -> None:
        """Say where it is."""
        print(f"at {self.point}: {what}")

    def approach(self) -> NodeStatus:
        """A step towards the point; it cannot arrive where a block lies."""
        if self.point in self.blocked or self.place < 10 * self.point:
            self.place = min(self.place + 1, 10 * self.point)
            return NodeStatus.RUNNING
        return NodeStatus.SUCCESS


peck = state_machine(
    "peck",
    state("choose", call("Choose", Hand.choose), next="approach"),
    state(
        "approach",
        action("Approach", Hand.approach, enter=lambda hand: hand.tell("approach")),
        next="lift",
        timeout_msec=3000,
        on_timeout="blocked",
    ),
    state(
        "blocked",
        call("Give up", lambda hand: hand.tell("blocked, the next one")),
        next="choose",
    ),
    state(
        "lift",
        sequence(
            run_for(0.25, action("Lift", lambda hand: None)), call("Up", lambda h: h.tell("lift"))
        ),
        next="choose",
    ),
)

now = 0.0
tree = Network("Peck", peck, context=(hand := Hand())).tree(BehaviorTreeFactory(lambda: now))
while hand.point < 4:
    tree.tick_exactly_once()
    now += 0.1
