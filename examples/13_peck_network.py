# SPDX-License-Identifier: Apache-2.0
"""A decider network pecks at a table and gives a point up at once when a block is pushed there.

Prints:
    the point is 3
    pecked at 3
    the point is 5
    a block is pushed to 5
    the point is 7
    pecked at 7
"""

from behavior_tree import NodeStatus
from behavior_tree.decider import Network, action, atomic, call, case, decider, rd, rlds


class Table:
    """A table with a hand over it, and the logical state: is there a point to peck at?"""

    def __init__(self) -> None:
        self.points = [3, 5, 7]
        self.point: int | None = None
        self.hand = self.down = 0
        self.block = 10

    def look(self) -> None:
        """The monitor: a point with a block on it is done with."""
        if self.point == self.block:
            self.point = None

    def choose(self) -> None:
        """Take the next point."""
        self.point, self.down = self.points.pop(0), 0
        print("the point is", self.point)

    def reach(self) -> None:
        """A step towards the point."""
        self.hand += 1

    def peck(self) -> NodeStatus | None:
        """Down, and up again: three ticks that nothing interrupts."""
        self.down += 1
        if self.down < 3:
            return None
        print("pecked at", self.point)
        self.point = None
        return NodeStatus.SUCCESS


pecking = rlds(
    "pecking",
    rd("reach", action("Reach", Table.reach)),
    rd("peck", atomic(action("Peck", Table.peck)), runnable=lambda t: t.hand == t.point),
)
dispatch = decider(
    "dispatch",
    case("choose", call("Choose", Table.choose), when=lambda table: table.point is None),
    case("peck", pecking),
    on_done="restart",
)

table = Table()
tree = Network("Peck", dispatch, context=table, monitors=[Table.look]).tree()
while table.points or table.point:
    tree.tick_exactly_once()
    if table.point == 5 and table.hand == 4:
        print("a block is pushed to 5")
        table.block = 5
tree.halt_tree()
