# SPDX-License-Identifier: Apache-2.0
"""Who moves the robot: what the operator selected, and what follows from it now.

======================  =============  =======================
switch                  sticks         effective
======================  =============  =======================
lost                    any            HALTED
held, or there is none  touched        TELEOPERATION if AUTONOMOUS is selected, else MANUAL
held, or there is none  at rest        as selected
======================  =============  =======================

What is selected changes by the operator's will only, never because a switch was lost.
"""

from __future__ import annotations

import math

from behavior_navigation.rules.deadman import Deadman
from behavior_navigation.rules.state import Level

SELECTABLE = (Level.MANUAL, Level.AUTONOMOUS)


class AutonomyMachine:
    """Boots in MANUAL. Times are steady times in seconds."""

    def __init__(self, deadman: Deadman, override_timeout: float = 0.5) -> None:
        """Begin in MANUAL.

        Args:
            deadman: the switch.
            override_timeout: [s] for which the sticks count as touched after the newest command
                from them that was not zero.
        """
        self.deadman = deadman
        self.override_timeout = override_timeout
        self.selected = Level.MANUAL
        self._touched = -math.inf

    def toggle(self) -> Level:
        """Change between manual and autonomous; also while halted, then without effect on motion.

        Returns:
            What is selected now.
        """
        self.selected = Level.AUTONOMOUS if self.selected is Level.MANUAL else Level.MANUAL
        return self.selected

    def select(self, level: Level) -> None:
        """Select a level.

        Raises:
            ValueError: it follows from circumstances and cannot be selected.
        """
        if level not in SELECTABLE:
            choices = ", ".join(each.name for each in SELECTABLE)
            raise ValueError(f"level {level.name} cannot be selected: choose one of {choices}")
        self.selected = level

    def touch(self, now: float) -> None:
        """The sticks command a motion."""
        self._touched = now

    def effective(self, now: float) -> Level:
        """The level in force."""
        if not self.deadman.alive(now):
            return Level.HALTED
        touched = now - self._touched <= self.override_timeout
        if touched and self.selected is Level.AUTONOMOUS:
            return Level.TELEOPERATION
        return self.selected
