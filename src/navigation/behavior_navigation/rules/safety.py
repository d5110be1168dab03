# SPDX-License-Identifier: Apache-2.0
"""What the safety gate lets through, and why not. Times are steady times in seconds.

The gate trusts nobody's word for what it can see itself: switch, sticks, toggles and localization.
From the executor it takes what was selected, and the planner's mode, whose repetition is the
executor's sign of life. Whatever is not known is a reason to stop.

====================================  ===========================  ==========================
reason                                stops autonomous commands    stops the sticks' commands
====================================  ===========================  ==========================
deadman switch lost                   yes                          yes
executor silent, level unknown or     yes                          yes
HALTED
localization stale or bad             yes                          no
MANUAL, TELEOPERATION                 yes                          no
toggled, the executor has not         yes                          yes
followed yet
planner's mode is IDLE                yes                          no
====================================  ===========================  ==========================
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from behavior_navigation.rules.autonomy import AutonomyMachine
from behavior_navigation.rules.state import Level, PlannerMode

OVERTAKING = 0.5
"""[s] by which the executor's answer to a toggle may come before the toggle itself."""
SETTLING = 1.0
"""[s] for which the executor has to repeat a selection before it counts against a toggle."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may pass."""

    source: Level
    """Whose commands: AUTONOMOUS, TELEOPERATION, MANUAL, or HALTED for nobody's."""
    reasons: tuple[str, ...] = ()
    """Why nobody's."""

    @property
    def stopped(self) -> bool:
        """Whether nothing passes."""
        return self.source is Level.HALTED


@dataclass(slots=True)
class SafetyRule:
    """Judges what it is told; asks nobody."""

    autonomy: AutonomyMachine
    """Switch and sticks, as the gate sees them itself; selected as the executor says."""
    executor_timeout: float
    """[s] silence of the planner's mode after which the executor counts as gone."""
    localization_needed: bool = True
    executor_halts: bool = False
    level_known: bool = False
    mode: PlannerMode = PlannerMode.IDLE
    mode_reason: str = ""
    mode_at: float = -math.inf
    """When the mode was told last."""
    localization_good: bool = False
    localization_reason: str = "no localization result yet"
    _toggled: bool = field(default=False, init=False)
    _unmoved_since: float | None = field(default=None, init=False)
    """When the executor first told the old selection after a toggle."""
    _changed_at: float = field(default=-math.inf, init=False)
    """When it told another selection without a toggle that we knew of."""

    def toggle(self, now: float) -> None:
        """The operator toggled; nothing moves until the executor tells another selection.

        Its message may overtake the toggle: one that came just before counts.
        """
        if now - self._changed_at <= OVERTAKING:
            self._changed_at = -math.inf
        else:
            self._toggled, self._unmoved_since = True, None

    def select(self, level: Level, now: float, *, halted: bool = False) -> None:
        """The executor tells what is selected, and whether it sees a reason to halt.

        Raises:
            ValueError: that cannot be selected; it is no word of who moves the robot.
        """
        before = self.autonomy.selected
        self.autonomy.select(level)
        self.executor_halts = halted
        if not self.level_known:
            self._toggled = False
        elif level is not before:
            if not self._toggled:
                self._changed_at = now
            self._toggled = False
        elif self._toggled:
            if self._unmoved_since is None:
                self._unmoved_since = now
            # It works and stays with its selection: it never got the toggle.
            self._toggled = now - self._unmoved_since < SETTLING
        self.level_known = True

    def set_mode(self, mode: PlannerMode, reason: str, now: float) -> None:
        """The executor tells the planner's mode."""
        self.mode, self.mode_reason, self.mode_at = mode, reason, now

    def verdict(self, now: float) -> Verdict:
        """What may pass now."""
        halted = self._halted(now)
        if halted:
            return Verdict(Level.HALTED, tuple(halted))
        level = self.autonomy.effective(now)
        if level is not Level.AUTONOMOUS:
            return Verdict(level)
        reasons = []
        if self.localization_needed and not self.localization_good:
            reasons.append(self.localization_reason)
        if self.mode is PlannerMode.IDLE:
            reasons.append(f"the planner idles: {self.mode_reason}")
        return Verdict(Level.HALTED, tuple(reasons)) if reasons else Verdict(level)

    def _halted(self, now: float) -> list[str]:
        """Why nobody's commands pass."""
        reasons = []
        switch = self.autonomy.deadman.why_not(now)
        if switch:
            reasons.append(switch)
        silent = now - self.mode_at
        if silent > self.executor_timeout:
            since = f"for {silent:.2f} s" if math.isfinite(silent) else "so far"
            reasons.append(f"no sign of life from the executor {since}")
        if not self.level_known:
            reasons.append("the executor has not told who moves the robot")
        elif self.executor_halts:
            reasons.append("the executor halts the robot")
        elif self._toggled:
            reasons.append("toggled: the executor has not told yet who moves the robot")
        return reasons
