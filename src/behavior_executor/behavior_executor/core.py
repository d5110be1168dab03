# SPDX-License-Identifier: Apache-2.0
"""The executor without ROS: takes missions, ticks their trees, ends them for one clear reason.

A tree that fails because a server went away is not given up at once: for ``server_lost_grace``
seconds of wall time (processes live in wall time) it is ticked on, so that a server that comes back
goes on with the mission. Then the mission ends with SERVER_LOST, unless a Catch of the tree works
on it.

Pausing halts the tree, so that the robot stands; resuming ticks it again from its root. Trees that
decide from what they observe, as ours do, go on where they were.

A mission is one tree, or a sequence of steps of one tree each. The managers are told of each step
as of a mission; the journal is told of all before any client is, so that a promise outlives the
process. What a restart found unfinished is taken up again, failed, or held until a client decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from behavior_executor.journal.journal import RestartPolicy
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.catalogue import MissionCatalogue, MissionEntry, Value
from behavior_executor.missions.mission import (
    CONTROL_KINDS,
    DOUBT,
    Code,
    Kind,
    Mission,
    MissionError,
    MissionRequest,
    State,
    code_of,
)
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.missions.statistics import Metric, TickStatistics
from behavior_executor.missions.tree_digests import edited_files
from behavior_executor.running.operator_control import OperatorControl
from behavior_executor.running.preflight import (
    Finding,
    Preflight,
    Requirement,
    failure_of,
    finding_of,
    waiting_text,
)
from behavior_executor.running.tree_run import Activity, TreeRun
from behavior_tree import (
    BehaviorTreeError,
    Cause,
    FailureReason,
    LoadError,
    NodeExecutionError,
    NodeStatus,
)
from behavior_tree.shown_text import listed, reason_text


class Manager(Protocol):
    """What takes part in every tick and follows the missions; managers do."""

    def settled(self) -> bool:
        """Whether a tree that was just loaded would see as much now as a little later."""

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

    def refusal(self, request: MissionRequest) -> str:
        """Why a mission, or a step of one, can never be carried out; empty: it may be."""

    def failure(self) -> Cause | None:
        """Why the running mission failed, if this one knows better than the tree."""


class Listener(Protocol):
    """Who is told of what happens."""

    def mission_changed(self, mission: Mission) -> None:
        """A mission's state changed; clients may hear of it by ``MissionLog.when_kept`` only."""

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
    preflight_patience: float = 0.0
    """[s] wall time for which a mission's start waits for what its trees need."""
    navigation_tree: str = "navigation_classic"
    """Tree of missions NAVIGATE_TO_POSE and FOLLOW_ROUTE."""
    map_tree: str = "load_map"
    """Tree of missions LOAD_MAP."""
    serves_maps: bool = True
    """Whether missions LOAD_MAP are served."""


class ExecutorCore:
    """Runs one mission at a time."""

    def __init__(
        self,
        *,
        catalogue: MissionCatalogue,
        queue: MissionQueue,
        load: Callable[[MissionEntry, dict[str, Value]], TreeRun],
        digests: Callable[[MissionEntry], Mapping[str, str]],
        managers: Sequence[Manager],
        listener: Listener,
        now: Callable[[], float],
        wall: Callable[[], float],
        settings: Settings,
        log: MissionLog,
    ) -> None:
        """Start without a mission.

        Args:
            catalogue: the missions that there are.
            queue: keeps the missions.
            load: makes the tree of a mission, with these values on its blackboard; raises
                BehaviorTreeError or OSError.
            digests: what stands in the files of a mission's tree as it would run now, by path.
            managers: take part in every tick, in this order.
            listener: is told what happens.
            now: node time [s].
            wall: monotonic wall time [s].
            settings: periods and limits.
            log: is told of everything that must outlive the process.
        """
        self.catalogue = catalogue
        self.queue = queue
        self.statistics = TickStatistics()
        self.settings = settings
        self.last_tick = -math.inf
        """Wall time of the last tick."""
        self.held: dict[str, Mission] = {}
        """Missions that a restart found unfinished and that wait for a client's decision."""
        self.operator = OperatorControl(warn=listener.problem)
        """Through which somebody steps, stops and mends the runs of missions."""
        self._load = load
        self._digests = digests
        self._managers = managers
        self._listener = listener
        self._now = now
        self._wall = wall
        self._log = log
        self._run: TreeRun | None = None
        self._lost_since: float | None = None
        """Wall time [s] since which a lost server is waited for; None: none is."""
        self._missed_at = 0.0
        """Wall time [s] at which the tree has last waited for that server."""
        self._preflight = Preflight(wall, settings.preflight_patience)
        self._is_started = False
        """Whether the tree may be ticked, and the managers know of it."""
        self._ended: dict[Code, int] = {}
        self._stood_at: float | None = None
        """Node time of the last tick [s], if the tree waits for an operator, or of the pause."""
        self._stood = 0.0
        """[s] node time for which the mission has waited for one, or was paused."""

    @property
    def activity(self) -> Activity:
        """What the running tree does now; empty when none runs."""
        if self._run is None:
            return Activity()
        activity = self._run.activity()
        if self._run.waits_for_operator:
            return replace(activity, detail=self.operator.state.text)
        return activity

    @property
    def has_missions(self) -> bool:
        """Whether one runs, is paused or waits."""
        return self.queue.running is not None or self.queue.waiting_count > 0

    def find(self, action_id: str) -> Mission | None:
        """The mission of this identifier that runs, waits or is held."""
        return self.queue.find(action_id) or self.held.get(action_id)

    def submit(self, request: MissionRequest) -> Mission:
        """Accept a mission, or carry out a request that acts on another one.

        Returns:
            The mission that was accepted, or that was acted upon.

        Raises:
            MissionError: why not.
        """
        if request.kind in CONTROL_KINDS:
            return self._control(request.kind, request.action_id)
        trees: dict[str, str] = {}
        for entry in self._check(request):
            trees.update(self._digests(entry))
        request = replace(request, trees=trees)
        mission, replaced = self.queue.submit(request, self._now(), self._log.accepted)
        for each in replaced:
            self._leave(each)
        self._listener.mission_changed(mission)
        return mission

    def restore(self, missions: Sequence[Mission], policy: RestartPolicy) -> None:
        """Deal with what a restart found unfinished.

        A mission that was paused stays so, and with it all others: nobody expects the robot to
        start moving then.

        Args:
            missions: in the order in which they shall run.
            policy: what becomes of them.
        """
        if any(mission.state is State.PAUSED for mission in missions):
            policy = RestartPolicy.REPORT if policy is RestartPolicy.RESUME else policy
        for mission in missions:
            mission.interruptions += 1
            what = f"the executor stopped without notice in {mission.step_text or 'mission: '}"
            what = DOUBT if mission.text.startswith(DOUBT) else what.removesuffix(": ")
            if policy is RestartPolicy.FAIL:
                mission.fail(Code.SHUTDOWN, f"{what}; start the mission again", self._now())
                self._count(mission)
            elif policy is RestartPolicy.RESUME:
                mission.readmit(f"{what}; it is taken up again")
                self.queue.restore(mission)
            else:
                mission.hold(f"{what}; send RESUME or CANCEL with its action_id")
                self.held[mission.action_id] = mission
            self._announce(mission)

    def cancel(self, action_id: str) -> Mission:
        """Cancel a mission; empty: whichever runs. Its tree is halted before this returns.

        Raises:
            MissionError: there is no such mission.
        """
        held = self.held.pop(action_id, None)
        if held is not None:
            held.end(Code.CANCELED_BY_CLIENT, "cancelled on request", self._now())
        mission = held or self.queue.cancel(action_id, self._now())
        self._leave(mission)
        return mission

    def preflight(self, request: MissionRequest) -> Finding:
        """Whether a mission could start now, by what its trees need.

        Raises:
            MissionError: it would be refused, its trees cannot be loaded, or a mission runs, whose
                ticks would have to wait meanwhile.
        """
        running = self.queue.running
        if running is not None:
            text = f"mission '{running.request.title}' runs: ask again when it has ended"
            raise MissionError(Code.BUSY, text)
        self._check(request)
        return finding_of(self._requirements(request.parts))

    def collect_writes(self) -> None:
        """Deal with what the journal has written, or could not write, meanwhile."""
        for mission, why in self._log.collect_writes():
            if not mission.is_final:
                self.queue.refuse(mission, why, self._now())
                self._count(mission)
            self._listener.mission_changed(mission)

    def tick(self) -> bool:
        """Start the next mission if none runs, and tick the tree of the running one.

        Returns:
            whether there is more to do at once: a tree has ended, and another one is to start.
        """
        self.last_tick = self._wall()
        self.collect_writes()
        now = self._now()
        for manager in self._managers:
            manager.pre_tick(now)
        mission = self.queue.running or self._start_next()
        if mission is not None and mission.state is not State.PAUSED and self.waits_for_servers:
            self._wait_for_servers(mission)
        if mission is not None and mission.state is State.RUNNING and self._is_started:
            self._tick_tree(mission)
        else:
            self.statistics.interrupt()
        for manager in self._managers:
            manager.post_tick(now)
        if mission is None:
            return False
        return mission.is_final if mission is not self.queue.running else self._is_fresh

    def next_due(self) -> float | None:
        """Node time [s] at which a timer of the running tree is due; None: none is set."""
        return self._run.next_due() if self._run is not None else None

    @property
    def _is_fresh(self) -> bool:
        """Whether a tree is there that may be ticked and was not yet."""
        return self._run is not None and self._is_started and self._run.ticks == 0

    @property
    def waits_for_servers(self) -> bool:
        """Whether a tree is there that starts when everything is there that it needs."""
        return self._run is not None and not self._is_started

    def shut_down(self) -> None:
        """Halt the tree and end all missions."""
        for mission in self.queue.shut_down(self._now()):
            self._leave(mission)

    def metrics(self) -> list[Metric]:
        """Ticks, and missions by outcome."""
        counts = [
            Metric(f"missions_{code.name.lower()}", "", float(count), is_counter=True)
            for code, count in sorted(self._ended.items())
        ]
        waiting = Metric("missions_waiting", "", float(self.queue.waiting_count))
        return [*self.statistics.metrics(), waiting, *counts]

    def _check(self, request: MissionRequest) -> list[MissionEntry]:
        """Refuse what could not run anyway, with everything that is wrong.

        Returns:
            the trees that it would run, each once.

        Raises:
            MissionError: why not.
        """
        if request.action_id in self.held:
            raise MissionError(
                Code.INVALID_REQUEST,
                f"action_id '{request.action_id}' belongs to an interrupted mission; send RESUME "
                "or CANCEL for that one, or use another identifier",
            )
        if self._log.is_ending(request.action_id):  # for all clients it runs
            raise MissionError(
                Code.INVALID_REQUEST,
                f"action_id '{request.action_id}' belongs to a mission whose end is being written "
                "down; use another one or leave it empty",
            )
        problems: list[str] = []
        entries: dict[Path, MissionEntry] = {}
        code = Code.INVALID_REQUEST
        for number, part in enumerate(request.parts, 1):
            try:
                entry, _ = self._entry(part)
                entries[entry.path] = entry
            except MissionError as error:
                if request.kind is not Kind.SEQUENCE:
                    raise
                code = error.code
                problems.append(f"step {number} ({part.title}): {error}")
        if problems:
            raise MissionError(code, listed(problems))
        return list(entries.values())

    def _entry(self, part: MissionRequest) -> tuple[MissionEntry, dict[str, Value]]:
        """The tree that carries a mission or step out, and the values for its blackboard."""
        if part.kind is Kind.LOAD_MAP and not self.settings.serves_maps:
            raise MissionError(
                Code.INVALID_REQUEST,
                "maps are not loaded here: set the executor's parameter use_tile_loader",
            )
        parameter, name = {
            Kind.NAVIGATE_TO_POSE: ("navigation_tree", self.settings.navigation_tree),
            Kind.FOLLOW_ROUTE: ("navigation_tree", self.settings.navigation_tree),
            Kind.LOAD_MAP: ("map_tree", self.settings.map_tree),
        }.get(part.kind, ("", part.name))
        refusals = filter(None, (manager.refusal(part) for manager in self._managers))
        if refused := "; ".join(refusals):
            raise MissionError(Code.INVALID_REQUEST, refused)
        try:
            entry = self.catalogue.find(name)
        except MissionError as error:
            if not parameter:
                raise
            text = f"{part.kind.name} runs the tree of the parameter {parameter}: {error}"
            raise MissionError(error.code, text) from error
        return entry, entry.blackboard_values(part.parameters)

    def _control(self, kind: Kind, action_id: str) -> Mission:
        if kind is Kind.CANCEL:
            return self.cancel(action_id)
        if kind is Kind.PAUSE:
            mission = self.queue.pause(action_id, self._now())
            self._stood_at = self._now() if self._stood_at is None else self._stood_at
            self._halt()
            for manager in self._managers:
                manager.mission_paused()
            mission.text = ""
        elif action_id in self.held:
            mission = self.held.pop(action_id)
            mission.readmit("it is taken up again")
            self.queue.restore(mission)
        else:
            mission = self.queue.resume(action_id, self._now())
            self._stand_no_more(self._now())
            self._preflight.begin_again()
            for manager in self._managers:
                manager.mission_resumed()
            mission.text = ""
        self._lost_since = None
        self._announce(mission)
        return mission

    def _start_next(self) -> Mission | None:
        mission = self.queue.start_next(self._now(), ready=self._log.is_kept)
        if mission is not None:
            self._announce(mission)
            self._stood, self._stood_at = 0.0, None
            self._start_part(mission)
        return mission

    def _start_part(self, mission: Mission) -> None:
        """Load the tree of the mission, or of its next step."""
        self._is_started = False
        begins = mission.state is State.INITIALIZING
        later = mission.request.parts[mission.steps_done + 1 :] if begins else ()
        try:
            of_later = self._requirements(later, known=mission.part)
            run = self._loaded(mission.part)  # last: who loads takes this one for the one to tick
        except MissionError as error:
            self._end(mission, error.code, str(error))
            return
        self._run = run
        self._tell_edits(mission, run)
        self.operator.begin(run)
        self._listener.tree_loaded(mission, run)
        self._preflight.begin([*run.requirements, *of_later])
        self._wait_for_servers(mission)

    def _tell_edits(self, mission: Mission, run: TreeRun) -> None:
        """Tell where a tree is not as it was when the mission was accepted; it runs as it is now.

        Whoever has approved a mission that he has seen in a preview did not see this.
        """
        before = mission.request.trees  # none: a version accepted it that did not look
        edited = edited_files(before, run.contents()) if before else []
        if not mission.edited.issuperset(edited):
            mission.edited = mission.edited.union(edited)
            self._listener.problem(f"mission '{mission.request.title}' runs {mission.remark}")

    def _loaded(self, part: MissionRequest) -> TreeRun:
        """The tree of a mission or step; raises MissionError."""
        entry, values = self._entry(part)
        try:
            return self._load(entry, values)
        except LoadError as error:
            raise MissionError(Code.INVALID_TREE, str(error)) from error
        except (BehaviorTreeError, OSError, UnicodeDecodeError) as error:
            raise MissionError(Code.INVALID_TREE, f"{entry.path}: {error}") from error

    def _requirements(
        self, parts: Sequence[MissionRequest], *, known: MissionRequest | None = None
    ) -> list[Requirement]:
        """What the trees of some missions or steps need, but for the tree of the one that is known.

        Raises:
            MissionError: a tree cannot be loaded.
        """
        trees = {self._entry(part)[0].path: part for part in parts}
        if known is not None:
            trees.pop(self._entry(known)[0].path, None)
        found: list[Requirement] = []
        for part in trees.values():
            run = self._loaded(part)
            run.close()
            found += run.requirements
        return found

    def _wait_for_servers(self, mission: Mission) -> None:
        """Start the tree as soon as everything is there that it needs, or end the mission."""
        missing = self._preflight.missing()
        if not missing:
            if all(manager.settled() for manager in self._managers):
                self._begin_ticks(mission)
        elif self._preflight.over:
            why = failure_of(missing, self._preflight.waited)
            self._end(mission, Code.SERVER_LOST, why.text, why)
        elif (text := reason_text(waiting_text(missing))) != mission.text:
            mission.text = text
            self._listener.problem(f"mission '{mission.request.title}' {text}")
            self._listener.mission_changed(mission)

    def _begin_ticks(self, mission: Mission) -> None:
        self._is_started = True
        if self._preflight.waits:
            mission.text = ""
        if mission.state is State.INITIALIZING:
            mission.advance(State.RUNNING, self._now())
        for manager in self._managers:
            manager.mission_started(mission.part)
        self._announce(mission)

    def _end_part(self, mission: Mission, text: str) -> None:
        """A tree succeeded: go on with the next step, or end the mission."""
        if mission.steps_done + 1 < len(mission.request.parts):
            self._drop_tree(Code.SUCCESS)
            mission.steps_done += 1
            mission.text = ""  # what was waited for is of the step before
            self._announce(mission)
            self._start_part(mission)
        else:
            mission.end(Code.SUCCESS, text, self._now())
            mission.steps_done += 1
            self._close(mission)

    def _tick_tree(self, mission: Mission) -> None:
        run = self._run
        assert run is not None
        start = self._wall()
        try:
            status = run.tick()
        except NodeExecutionError as error:
            why = FailureReason(error.path, error.message, cause=Cause.of(error.message))
            self._end(mission, Code.TREE_ERROR, str(error), why)
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
            self._end_part(mission, run.activity().detail or "done")
        elif status is NodeStatus.FAILURE and self._lost_since is None:
            self._end_failed(mission, run)
        elif status is NodeStatus.SKIPPED:
            self._end(mission, Code.TREE_FAILED, "every node of the tree was skipped")
        elif self._time_spent(mission, run) > self.settings.mission_timeout:
            limit = self.settings.mission_timeout
            text = f"not finished after {limit:g} s (mission_timeout){run.trouble_text()}"
            self._end(mission, Code.TIMED_OUT, text)

    def _time_spent(self, mission: Mission, run: TreeRun) -> float:
        """[s] node time that a mission has taken, without pauses and what an operator took to
        think.
        """
        now = self._now()
        self._stand_no_more(now)
        self._stood_at = now if run.waits_for_operator else None
        return mission.elapsed(now) - self._stood

    def _stand_no_more(self, now: float) -> None:
        """What a mission waited for an operator, or was paused, ends at this node time [s]."""
        if self._stood_at is not None:
            self._stood += now - self._stood_at
        self._stood_at = None

    def _end_failed(self, mission: Mission, run: TreeRun) -> None:
        """The tree failed: for what a manager knows, else for what its leaves told."""
        failures = (manager.failure() for manager in self._managers)
        why = next((why for why in failures if why), None)
        if why is None:
            self._end(mission, Code.TREE_FAILED, run.failure_text(), run.failure())
        else:
            self._end(mission, code_of(why), why, FailureReason("", why, cause=why))

    def _watch_servers(self, mission: Mission, run: TreeRun) -> None:
        """Wait for a lost server, and give up after the grace time, or let an operator decide.

        A tree whose Catch works on it is let be, and has dealt with it if that takes so long.
        """
        if run.lost_server is None or run.waits_for_operator:
            if self._lost_since is not None:
                self._lost_since, mission.text = None, ""
            return
        if self._lost_since is None:
            self._lost_since = self._missed_at = self._wall()
            mission.text = reason_text(f"waiting for a server: {run.lost_server}")
            self._listener.problem(mission.text)
        misses = run.misses_server
        if misses:
            self._missed_at = self._wall()
        elif self._wall() - self._missed_at >= self.settings.server_lost_grace:
            run.forget_lost_server()
            self._lost_since, mission.text = None, ""
            return
        waited = self._wall() - self._lost_since
        if misses and waited >= self.settings.server_lost_grace:
            lost = Cause.of(run.lost_server)
            self._end(
                mission,
                Code.SERVER_LOST,
                f"{lost}; it did not come back within {self.settings.server_lost_grace:g} s",
                FailureReason("", lost, cause=lost),
            )

    def _end(
        self, mission: Mission, code: Code, text: str, failure: FailureReason | None = None
    ) -> None:
        mission.end(code, mission.step_text + text, self._now(), failure)
        self._close(mission)

    def _leave(self, mission: Mission) -> None:
        """Tell of the end of a mission that others have ended, be it waiting or running."""
        if mission is self.queue.current:
            self._close(mission)
        else:
            self._count(mission)
            self._announce(mission)

    def _close(self, mission: Mission) -> None:
        """Halt the tree of a mission that has ended, and tell of it."""
        self._halt()
        self._count(mission)
        # With the tree still at hand, so that the last report tells how far it came.
        self._announce(mission)
        self._drop_tree(mission.code)

    def _drop_tree(self, code: Code) -> None:
        """Halt the tree, and tell the managers that what it did has ended."""
        if self._run is not None:
            self._halt()
            self.operator.end()
            self._run.close()
            for manager in self._managers if self._is_started else ():
                manager.mission_ended(code)
        self._run = self._lost_since = None

    def _announce(self, mission: Mission) -> None:
        """Write a change down, then tell of it."""
        self._log.changed(mission)
        self._listener.mission_changed(mission)

    def _halt(self) -> None:
        if self._run is not None:
            try:
                self._run.halt()
            except Exception as error:  # a node may raise anything while it is halted
                text = f"while the tree was halted: {type(error).__name__}: {error}"
                self._listener.problem(reason_text(text))

    def _count(self, mission: Mission) -> None:
        self._ended[mission.code] = self._ended.get(mission.code, 0) + 1
