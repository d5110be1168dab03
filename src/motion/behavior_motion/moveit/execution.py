# SPDX-License-Identifier: Apache-2.0
"""Motions carried out by MoveIt's trajectory execution manager."""

from __future__ import annotations

import threading
from typing import Any

from moveit.planning import TrajectoryExecutionManager

from behavior_motion.moveit import messages
from behavior_motion.trajectories.trajectory import Trajectory


class MoveItExecution:
    """One motion at a time; a new one replaces the one that runs."""

    def __init__(self, manager: TrajectoryExecutionManager) -> None:
        """``manager`` knows the controllers."""
        self._manager = manager

    def start(self, trajectory: Trajectory) -> Motion:
        """Begin a motion.

        Raises:
            RuntimeError: No controller takes the trajectory.
        """
        self._manager.stop_execution(auto_clear=True)
        if not self._manager.push(trajectory=messages.trajectory_message(trajectory)):
            raise RuntimeError(
                f"MoveIt has no active controller for joints {', '.join(trajectory.joint_names)}; "
                "start one, or see trajectory_execution and moveit_controllers in its parameters"
            )
        motion = Motion(self._manager)
        self._manager.execute(callback=motion.ended, auto_clear=True)
        return motion


class Motion:
    """A motion that was begun."""

    def __init__(self, manager: TrajectoryExecutionManager) -> None:
        self._manager = manager
        self._over = threading.Event()
        self._status: Any = None

    def ended(self, status: Any) -> None:
        """Called by MoveIt when the motion is over, with its ExecutionStatus."""
        self._status = status
        self._over.set()

    def done(self) -> str | None:
        """How it ended (SUCCEEDED, PREEMPTED, TIMED_OUT, ABORTED, ...); None while it runs."""
        return str(self._status.status) if self._over.is_set() else None

    def wait(self, timeout: float) -> str | None:
        """As ``done``, after at most ``timeout`` [s]."""
        self._over.wait(timeout)
        return self.done()

    def cancel(self) -> None:
        """Stop, unless it is over; ``done`` tells when it is."""
        if self.done() is not None:
            return  # what runs now is another motion
        self._manager.stop_execution(auto_clear=True)
