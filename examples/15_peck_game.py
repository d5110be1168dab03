# SPDX-License-Identifier: Apache-2.0
"""A game: the hand pecks at the block that was moved last, keeps off the others, and goes home.

Prints:
    home
    the block at 4 is moved to 6
    peck
    lift over the block at 3
    peck
    pecked at 6
    home
"""

from behavior_tree.decider import Network, action, case, decider


class Game:
    """Blocks on a line, where they were seen last, and a hand that starts at 0."""

    def __init__(self) -> None:
        self.blocks = {"red": 3, "blue": 4}
        self.seen = dict(self.blocks)
        self.active: str | None = None
        self.hand = 0
        self.said = ""

    def look(self) -> None:
        """The monitor: a block that has moved becomes the active one; the latest wins."""
        for name, place in self.blocks.items():
            if place != self.seen[name]:
                self.active, self.seen[name] = name, place
        if self.active is not None and self.blocks[self.active] == self.hand:
            self.say(f"pecked at {self.hand}")
            self.active = None

    def over(self) -> bool:
        """Whether another block is under the hand."""
        return any(self.hand == p for name, p in self.blocks.items() if name != self.active)

    def say(self, text: str) -> None:
        """Print what is new."""
        if self.said != text:
            print(text)
        self.said = text

    def go(self, goal: int, text: str) -> None:
        """A step towards a place."""
        self.say(text)
        self.hand += (goal > self.hand) - (goal < self.hand)


def lift(game: Game) -> None:
    """One further."""
    game.go(game.hand + 1, f"lift over the block at {game.hand}")


dispatch = decider(
    "dispatch",
    case("lift", action("Lift", lift), lambda game: game.active and game.over()),
    case(
        "peck",
        action("Peck", lambda game: game.go(game.blocks[game.active], "peck")),
        lambda game: game.active is not None,
    ),
    case("home", action("Home", lambda game: game.go(0, "home"))),
)

game = Game()
tree = Network("Game", dispatch, context=game, monitors=[Game.look]).tree()
for tick in range(12):
    if tick == 2:
        game.blocks["blue"] = 6
        print("the block at 4 is moved to 6")
    tree.tick_exactly_once()
tree.halt_tree()
