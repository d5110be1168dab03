# SPDX-License-Identifier: Apache-2.0
"""A condition that counts how often it is asked."""

from __future__ import annotations

import enum

from behavior_tree import (
    BidirectionalPort,
    ConditionNode,
    InputPort,
    NodeStatus,
    ports_list,
)


class Reset(enum.Enum):
    """When the count goes back to 0."""

    NEVER = "never"
    """It stays; clear the entry of the port `count` to begin anew."""
    WHEN_REACHED = "when_reached"
    """With the tick that reaches the number, so that every n-th tick stands out."""


class Counter(ConditionNode):
    """Counts its ticks, and answers differently from the ``count_to``-th one on.

    The tick itself counts: with ``count_to="3"`` the third tick reaches the number. What it answers
    then says ``when_reached``: SUCCESS (and FAILURE before) to wait for so many rounds, FAILURE
    (and SUCCESS before) to allow no more than that. The count lives on the blackboard, so halting,
    and a subtree that begins anew, leave it alone.
    """

    ports = ports_list(
        InputPort("count_to", int, description="tick that reaches the number, 1 or more"),
        InputPort("when_reached", NodeStatus, description="SUCCESS or FAILURE"),
        InputPort("reset", Reset, default=Reset.NEVER, description="when it begins anew"),
        BidirectionalPort("count", int, None, "ticks so far; empty: none"),
    )

    def tick(self) -> NodeStatus:
        """Count.

        Raises:
            ValueError: ports that make no sense.
        """
        number, reached_status = self.get_input("count_to"), self.get_input("when_reached")
        if number < 1:
            raise ValueError(f"count_to is {number}; give 1 or more")
        if reached_status not in (NodeStatus.SUCCESS, NodeStatus.FAILURE):
            raise ValueError(f"when_reached is {reached_status.name}; give SUCCESS or FAILURE")
        count = min(self.get_input("count", 0) + 1, number)
        reached = count == number
        again = reached and self.get_input("reset") is Reset.WHEN_REACHED
        if not self.set_output("count", 0 if again else count):
            raise ValueError('count has no entry; connect it with one: count="{rounds}"')
        succeeds = reached == (reached_status is NodeStatus.SUCCESS)
        self.set_failure_reason("" if succeeds else f"tick {count} of {number}")
        return NodeStatus.SUCCESS if succeeds else NodeStatus.FAILURE
