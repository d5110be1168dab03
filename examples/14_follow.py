# SPDX-License-Identifier: Apache-2.0
"""A hand follows a target that is moved while it runs: parameters change, nothing starts again.

Prints:
    started
    1 -> 3
    2 -> 3
    3 -> 9
    4 -> 9
    halted at 5
"""

from behavior_tree.decider import Action, Decider, Decision, Network, case, node


class Scene:
    """Where the target is, and the hand."""

    def __init__(self) -> None:
        self.target, self.hand = 3, 1


class Dispatch(Decider):
    """One thing to do, where to in each tick."""

    def decide(self) -> Decision:
        return Decision("follow", params=self.context.target)


class Follow(Action):
    """A step towards what the decider says."""

    def enter(self) -> None:
        print("started")

    def step(self) -> None:
        print(self.context.hand, "->", self.params)
        self.context.hand += 1

    def exit(self) -> None:
        print("halted at", self.context.hand)


scene = Scene()
tree = Network("Following", node(Dispatch, case("follow", node(Follow))), context=scene).tree()
for _ in range(2):
    tree.tick_exactly_once()
scene.target = 9
for _ in range(2):
    tree.tick_exactly_once()
tree.halt_tree()
