# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the system health manager."""

from __future__ import annotations

from typing import Protocol

from behavior_navigation.managers.localization_reset import LocalizationReset
from behavior_navigation.rules.nodes import ActsOn, ProblemCondition, ended
from behavior_navigation.rules.state import NavigationState
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    NodeConfig,
    NodeStatus,
    OutputPort,
    StatefulActionNode,
    ports_list,
)
from behavior_tree.cause import Cause


class SystemHealth(Protocol):
    """Where the nodes look; the system health manager is one."""

    @property
    def state(self) -> NavigationState:
        """What is known."""

    @property
    def reset(self) -> LocalizationReset:
        """How the localizer is reset."""

    @property
    def reset_timeout(self) -> float:
        """[s] node time that a reset may take."""

    def begin_reset(self) -> None:
        """Have the localizer reset."""

    def unhealthy(self) -> str:
        """Why the system is not fit to drive; empty: it is."""


class LocalizationIsReady(ActsOn[SystemHealth], ProblemCondition):
    """The newest localization result is fresh, and the localizer trusts it."""

    def problem(self) -> str:
        """Look at it."""
        return self.subject.state.localization.reason


class LocalizationIsFresh(ActsOn[SystemHealth], ProblemCondition):
    """A localization result came within its maximum age, good or bad."""

    def problem(self) -> str:
        """Look at it."""
        localization = self.subject.state.localization
        return "" if localization.fresh else localization.reason


class LocalizationResetIsWanted(ActsOn[SystemHealth], ProblemCondition):
    """The localization has been bad for longer than the planner manager's loc_bad_grace."""

    def problem(self) -> str:
        """Look at what the rule of the planner's mode says."""
        wanted = self.subject.state.planner.reset_wanted
        return "" if wanted else "no reset of the localization is wanted"


class SystemIsHealthy(ActsOn[SystemHealth], ProblemCondition):
    """The localization is good, and no navigation manager reports an error."""

    def problem(self) -> str:
        """Ask the managers."""
        return self.subject.unhealthy()


class ResetLocalization(ActsOn[SystemHealth], StatefulActionNode):
    """Has the localizer start anew. RUNNING until it answered; then only newer results count."""

    ports = ports_list(OutputPort("message", str, description="what the localizer answered"))

    def __init__(self, name: str, config: NodeConfig, health: SystemHealth) -> None:
        """Make the node, as the factory does; ``health`` is what it acts upon."""
        super().__init__(name, config, health)
        self._passed = Elapsed(lambda: health.state.now)

    def on_start(self) -> NodeStatus:
        """Ask."""
        self._passed = Elapsed(lambda: self.subject.state.now)
        self.subject.begin_reset()
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Look for the answer."""
        answer = self.subject.reset.answer()
        if answer is None:
            waited = self._passed()
            if waited <= self.subject.reset_timeout:
                return NodeStatus.RUNNING
            reason = f"{self.subject.reset.waits_for()} after {waited:.1f} s"
            self.subject.reset.abandon()
            return ended(self, reason)
        self.set_output("message", answer.text)
        if answer.success:
            return NodeStatus.SUCCESS
        self.set_failure_reason(Cause.of(answer.text).at("the localizer refused its reset"))
        return NodeStatus.FAILURE

    def on_halted(self) -> None:
        """Forget the answer."""
        self.subject.reset.abandon()
