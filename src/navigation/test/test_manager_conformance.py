# SPDX-License-Identifier: Apache-2.0
"""A manager's behaviors on another executor by the book, see `behavior_ros.conformance`."""

from behavior_msgs.action import ExecuteMission
from navigation_rig import Rig, rig

from behavior_navigation.managers.loco_manipulation import (
    LocoManipulationManager,
    RemoteBehavior,
)
from behavior_ros.conformance import CLIENT_RULES, ClientsUnderTest, broken_rules

PATIENCE = 1.0
"""[s]"""


class Behavior:
    """One mission of another executor."""

    call: RemoteBehavior

    def __init__(self, arms: Rig[LocoManipulationManager]) -> None:
        self.arms = arms

    def start(self) -> None:
        self.call = self.arms.do(self.arms.manager.run, "stack", {})

    def cancel(self) -> None:
        self.arms.do(self.call.cancel)

    def ended(self) -> str:
        result = self.arms.do(self.call.poll)
        return "" if result is None else "succeeded" if result.success else "failed"


def test_a_manager_that_runs_missions_of_another_executor() -> None:
    """Where it could differ from the leaves, whose test has all rules."""
    names = ("aborted", "cancelled before acceptance", "restart", "result lost", "two clients")
    chosen = [rule for rule in CLIENT_RULES if rule.name in names]
    with (
        rig(LocoManipulationManager, f"server_timeout:={PATIENCE}") as arms,
        ClientsUnderTest(
            ExecuteMission, "/manipulation/execute", lambda: Behavior(arms), patience=PATIENCE
        ) as subject,
    ):
        assert broken_rules(chosen, subject) == []
