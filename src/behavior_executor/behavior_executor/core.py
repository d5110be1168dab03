# SPDX-License-Identifier: Apache-2.0
"""The executor without ROS: takes missions, ticks their trees, ends them for one clear reason.

A tree that fails because a server went away is not given up at once: for ``server_lost_grace``
seconds of wall time (processes live in wall time) it is ticked on, so that a server that comes back
goes on with the mission. Then the mission ends with SERVER_LOST.

Pausing halts the tree, so that the robot stands; resuming ticks it again from its root. Trees that
decide from what they observe, as ours do, go on where they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from behavior_executor.catalogue import MissionCatalogue, MissionEntry, Value
from behavior_executor.mission_queue import MissionQueue
from behavior_executor.missions import (
    CONTROL_KINDS,
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    State,
)
from behavior_executor.statistics import Metric, TickStatistics
from behavior_executor.tree_run import Activity, TreeRun
from behavior_tree import BehaviorTreeError, LoadError, NodeExecutionError, NodeStatus


class Ticked(Protocol):
    """What takes part in every tick and follows the missions; managers do."""

    def pre_tick(self, now: float) -> None:
        """Before the tree's tick."""

    def post_tick(self, now: float) -> None:
        """After the tree's tick."""

    def mission_started(self, request: MissionRequest) -> None:
        """A mission's tree is ticked from now on."""

    def mission_paused(self) -> None:
        """The running mission was paused."""

    def mission_resumed(self) -> None:
        """The paused mission goes on."""

    def mission_ended(self, code: Code) -> None:
        """The mission has ended."""

    def failure(self) -> tuple[Code, str] | None:
        """Why the running mission failed, if this one knows better than the tree."""


class Listener(Protocol):
    """Who is told of what happens."""

    def mission_changed(self, mission: Mission) -> None:
        """A mission's state changed."""

    def tree_loaded(self, mission: Mission, run: TreeRun) -> None:
        """The tree of a mission was loaded."""

    def tree_ticked(self, mission: Mission, run: TreeRun, duration: float) -> None:
        """A tree was ticked; ``duration`` in seconds of wall time."""

    def problem(self, text: str) -> None:
        """Something to be written to the log."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the executor."""

    tick_period: float = 0.05
    """[s] node time between two ticks."""
    server_lost_grace: float = 4.0
    """[s] wall time for which a lost server is waited for."""
    mission_timeout: float = math.inf
    """[s] node time that a mission may take."""


class ExecutorCore:
    """Runs one mission at a time."""

    def __init__(
        self,
        *,
        catalogue: MissionCatalogue,
        queue: MissionQueue,
        load: Callable[[MissionEntry, dict[str, Value]], TreeRun],
        managers: Sequence[Ticked],
        listener: Listener,
        now: Callable[[], float],
        wall: Callable[[], float],
        settings: Settings,
    ) -> None:
        """Start without a mission.

        Args:
            catalogue: the missions that there are.
            queue: keeps the missions.
            load: makes the tree of a mission, with these values on its blackboard; raises
                BehaviorTreeError or OSError.
            managers: take part in every tick, in this order.
            listener: is told what happens.
            now: node time [s].
            wall: monotonic wall time [s].
            settings: periods and limits.
        """
        self.catalogue = catalogue
        self.queue = queue
        self.statistics = TickStatistics()
        self.settings = settings
        self.last_tick = -math.inf
        """Wall time of the last tick."""
        self._load = load
        self._managers = managers
        self._listener = listener
        self._now = now
        self._wall = wall
        self._run: TreeRun | None = None
        self._lost_since: float | None = None
        self._ended: dict[Code, int] = {}

    @property
    def activity(self) -> Activity:
        """What the running tree does now; empty when none runs."""
        return self._run.activity() if self._run is not None else Activity()

    def submit(self, request: MissionRequest) -> Mission:
        """Accept a mission, or carry out a request that acts on another one.

        Returns:
            The mission that was accepted, or that was acted upon.

        Raises:
            MissionError: why not.
        """
        if request.kind in CONTROL_KINDS:
            return self._control(request.kind, request.action_id)
        if request.kind is not Kind.RUN_BEHAVIOR:
            raise MissionError(
                Code.INVALID_REQUEST,
                f"missions of type {request.kind.name} are not served here; served are "
                "RUN_BEHAVIOR, PAUSE, RESUME, CANCEL",
            )
        self.catalogue.find(request.name).blackboard_values(request.parameters)
        before = self.queue.running
        mission = self.queue.submit(request, self._now())
        if before is not None and before.is_final:
            self._close(before)
        self._listener.mission_changed(mission)
        return mission

    def cancel(self, action_id: str) -> Mission:
        """Cancel a mission; empty: whichever runs. Its tree is halted before this returns.

        Raises:
            MissionError: there is no such mission.
        """
        mission = self.queue.cancel(action_id, self._now())
        if mission is self.queue.current:
            self._close(mission)
        else:
            self._count(mission)
            self._listener.mission_changed(mission)
        return mission

    def tick(self) -> None:
        """Start the next mission if none runs, and tick the tree of the running one."""
        self.last_tick = self._wall()
        now = self._now()
        for manager in self._managers:
            manager.pre_tick(now)
        mission = self.queue.running or self._start_next()
        if mission is not None and mission.state is State.RUNNING:
            self._tick_tree(mission)
        else:
            self.statistics.interrupt()
        for manager in self._managers:
            manager.post_tick(now)

    def shut_down(self) -> None:
        """Halt the tree and end all missions."""
        running = self.queue.running
        for mission in self.queue.shut_down(self._now()):
            if mission is running:
                self._close(mission)
            else:
                self._count(mission)
                self._listener.mission_changed(mission)

    def metrics(self) -> list[Metric]:
        """Ticks, and missions by outcome."""
        counts = [
            Metric(f"missions_{code.name.lower()}", "", float(count), is_counter=True)
            for code, count in sorted(self._ended.items())
        ]
        waiting = Metric("missions_waiting", "", float(len(self.queue.waiting)))
        return [*self.statistics.metrics(), waiting, *counts]

    def _control(self, kind: Kind, action_id: str) -> Mission:
        if kind is Kind.CANCEL:
            return self.cancel(action_id)
        if kind is Kind.PAUSE:
            mission = self.queue.pause(action_id, self._now())
            self._halt()
            for manager in self._managers:
                manager.mission_paused()
        else:
            mission = self.queue.resume(action_id, self._now())
            for manager in self._managers:
                manager.mission_resumed()
        self._lost_since, mission.text = None, ""
        self._listener.mission_changed(mission)
        return mission

    def _start_next(self) -> Mission | None:
        mission = self.queue.start_next(self._now())
        if mission is None:
            return None
        self._listener.mission_changed(mission)
        try:
            entry = self.catalogue.find(mission.request.name)
            self._run = self._load(entry, entry.blackboard_values(mission.request.parameters))
        except MissionError as error:
            self._end(mission, error.code, str(error))
        except LoadError as error:
            self._end(mission, Code.INVALID_TREE, str(error))
        except (BehaviorTreeError, OSError, UnicodeDecodeError) as error:
            self._end(mission, Code.INVALID_TREE, f"{entry.path}: {error}")
        else:
            mission.advance(State.RUNNING, self._now())
            for manager in self._managers:
                manager.mission_started(mission.request)
            self._listener.tree_loaded(mission, self._run)
            self._listener.mission_changed(mission)
        return mission

    def _tick_tree(self, mission: Mission) -> None:
        run = self._run
        assert run is not None
        start = self._wall()
        try:
            status = run.tick()
        except NodeExecutionError as error:
            self._end(mission, Code.TREE_ERROR, str(error))
            return
        except Exception as error:  # a node may raise anything; the executor lives on
            self._end(mission, Code.TREE_ERROR, f"{type(error).__name__}: {error}")
            return
        duration = self._wall() - start
        self.statistics.add(self._now(), duration, self.settings.tick_period)
        self._listener.tree_ticked(mission, run, duration)
        self._watch_servers(mission, run)
        if mission.is_final:
            return
        if status is NodeStatus.SUCCESS:
            self._end(mission, Code.SUCCESS, run.activity().detail or "done")
        elif status is NodeStatus.FAILURE and self._lost_since is None:
            told = (manager.failure() for manager in self._managers)
            code, text = next((why for why in told if why), (Code.TREE_FAILED, ""))
            self._end(mission, code, text or run.failure_text())
        elif status is NodeStatus.SKIPPED:
            self._end(mission, Code.TREE_FAILED, "every node of the tree was skipped")
        elif mission.elapsed(self._now()) > self.settings.mission_timeout:
            limit = self.settings.mission_timeout
            self._end(mission, Code.TIMED_OUT, f"not finished after {limit:g} s (mission_timeout)")

    def _watch_servers(self, mission: Mission, run: TreeRun) -> None:
        """Wait for a lost server, and give up after the grace time."""
        if run.lost_server is None:
            if self._lost_since is not None:
                self._lost_since, mission.text = None, ""
            return
        if self._lost_since is None:
            self._lost_since = self._wall()
            mission.text = f"waiting for a server: {run.lost_server}"
            self._listener.problem(mission.text)
        waited = self._wall() - self._lost_since
        if waited >= self.settings.server_lost_grace:
            self._end(
                mission,
                Code.SERVER_LOST,
                f"{run.lost_server}; it did not come back within "
                f"{self.settings.server_lost_grace:g} s",
            )

    def _end(self, mission: Mission, code: Code, text: str) -> None:
        mission.end(code, text, self._now())
        self._close(mission)

    def _close(self, mission: Mission) -> None:
        """Halt the tree of a mission that has ended, and tell of it."""
        self._halt()
        for manager in self._managers:
            manager.mission_ended(mission.code)
        self._lost_since = None
        self._count(mission)
        # With the tree still at hand, so that the last report tells how far it came.
        self._listener.mission_changed(mission)
        self._run = None

    def _halt(self) -> None:
        if self._run is not None:
            try:
                self._run.halt()
            except Exception as error:  # a node may raise anything while it is halted
                self._listener.problem(
                    f"while the tree was halted: {type(error).__name__}: {error}"
                )

    def _count(self, mission: Mission) -> None:
        self._ended[mission.code] = self._ended.get(mission.code, 0) + 1
