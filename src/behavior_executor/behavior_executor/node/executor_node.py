# SPDX-License-Identifier: Apache-2.0
"""The executor node: missions in, ticks of their trees, feedback and results out.

Interfaces: topic ``/mission/action``, actions ``/mission/execute`` and ``/mission/preflight``
(could it start?), services ``/mission/list``, ``/mission/history``, ``/mission/cancel``,
``/behavior/reload``, ``/behavior/control_run`` and ``/behavior/edit_tree``; publishes
``/mission/feedback``, ``/behavior/tree_status``, ``/behavior/tree_xml``,
``/behavior/tree_updates``, ``/behavior/run_control``, ``/behavior/metrics``, for recordings
``/behavior/tree_record`` and ``/behavior/commands``, and ``/diagnostics``.

Every request is answered: a mission that is refused ends at once, with the reason in its result or
its feedback, and so does a request that acts on another mission.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from functools import partial
from pathlib import Path
from typing import Any

from behavior_msgs.msg import Metrics, MissionAction, MissionFeedback, TreeStatus
from behavior_msgs.srv import ListMissionRecords, ListMissions
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.task import Future
from rclpy.timer import Timer
from std_msgs.msg import String
from std_srvs.srv import Trigger

from behavior_executor.conversion import (
    feedback_message,
    metrics_message,
    record_message,
    request_from,
    tree_status_message,
)
from behavior_executor.core import ExecutorCore, Settings
from behavior_executor.editing.tree_edit_server import TreeEditServer
from behavior_executor.editing.tree_exchange import TreeNews
from behavior_executor.journal.journal import RestartPolicy
from behavior_executor.journal.mission_log import open_log
from behavior_executor.managers.manager import BehaviorManager, load_manager_class
from behavior_executor.managers.manager_node import NodeManager
from behavior_executor.missions.catalogue import MissionCatalogue, catalogue_of
from behavior_executor.missions.mission import (
    FINAL_STATES,
    Code,
    Mission,
    MissionError,
    MissionRequest,
    Policy,
    State,
)
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.missions.report import Report
from behavior_executor.monitoring.record_publisher import RecordPublisher
from behavior_executor.monitoring.tree_monitors import tree_monitors
from behavior_executor.node.command_log import CommandLog, words_of
from behavior_executor.node.executor_parameters import EXECUTOR_PARAMETERS
from behavior_executor.node.mission_goals import MissionGoals
from behavior_executor.node.mission_topic import MissionTopic
from behavior_executor.node.preflight_goals import PreflightGoals
from behavior_executor.node.run_control_server import RunControlServer
from behavior_executor.node.tree_loader import TreeLoader
from behavior_executor.running.feedback import FeedbackGate, Progress, progress_of, refusal
from behavior_executor.running.preflight import Finding
from behavior_executor.running.tree_run import Activity, TreeRun
from behavior_packages import packages
from behavior_ros import (
    ERROR,
    OK,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    QOS_REQUESTS,
    WARN,
    DiagnosticsPublisher,
    declare_all,
    mark_of,
    remote_actions,
    run,
    seconds,
    to_time,
)
from behavior_ros.messages.limits import LONGEST_NAME
from behavior_ros.node.bond import ManagerBond
from behavior_ros.node.closing import register_closable
from behavior_ros.node.tick_timer import TickTimer
from behavior_ros.topics.newest_publisher import NewestPublisher
from behavior_tree import BehaviorTreeError
from behavior_tree.sharing import Code as EditCode
from behavior_tree.shown_text import reason_text, visible

IDLE_PERIOD = 0.5
"""[s] node time between two ticks while there is no mission and no manager has use for them."""
STANDSTILL = 2.0
"""[s] wall time without a tick after which the node's clock counts as standing still."""
REPORTED_AT_ONCE = 20
"""Waiting missions whose state is repeated at a time, ten times a second."""
MOST_RECORDS = 200
"""Of the journal, in one answer."""


class BehaviorExecutor(LifecycleNode):  # type: ignore[misc]
    """Runs missions as behavior trees.

    =============  ================================================================================
    unconfigured   managers are there, missions are not taken
    inactive       journal open, interfaces there; missions are refused with BUSY
    active         missions run
    =============  ================================================================================

    Deactivating ends the missions as a stop of the process does.
    """

    core: ExecutorCore
    """What runs the missions; made when the node is configured."""

    def __init__(self, *, node_name: str = "behavior_executor", **kwargs: Any) -> None:
        """Make the node; unless its parameter ``autostart`` is false it is active then.

        Args:
            node_name: name of the node.
            kwargs: for ``rclpy.node.Node``.

        Raises:
            ParameterError: a parameter that must not be.
            ManagerError: a manager that cannot be loaded.
            NodeModelError: the nodes file is wrong.
            OSError: a file cannot be read.
        """
        super().__init__(node_name, **kwargs)
        self._values = declare_all(self, EXECUTOR_PARAMETERS)
        # Made once and for all: their nodes must be there when the process begins to spin.
        self.managers: list[BehaviorManager] = [
            load_manager_class(name)(self)
            for name in (*self._values["managers"], self._values["feedback_collector"])
            if name
        ]
        for manager in self.managers:
            manager.wake_tree = self._wake_running_tree
        self._gates: dict[str, FeedbackGate] = {}
        self._goals: MissionGoals | None = None
        self._to_report: deque[Mission] = deque()
        self._active = self._closing = False
        self.ticker: TickTimer | None = None
        self._last_tick: tuple[str, TreeRun, float, float] | None = None
        """Mission, tree, duration [s] and node time [s]."""
        self._progress_timer: Timer | None = None
        self._health_timer: Timer | None = None
        self._health_checked = -math.inf
        """Node time of the last look at how the executor is [s]."""
        self._failure: Exception | None = None
        self._diagnostics = DiagnosticsPublisher(self, "executor")
        self._diagnostics.set(OK, "not active")
        self._bond = ManagerBond(self)
        register_closable(self, self)
        if self._values["autostart"]:
            self.trigger_configure()
            if self._failure is not None:
                raise self._failure
            self.trigger_activate()

    # -- lifecycle -------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the journal, make interfaces, look at what the last executor left."""
        try:
            self._configure()
        except (ValueError, OSError, BehaviorTreeError) as error:
            self._failure = error
            self.get_logger().error(f"not configured: {error}")
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take missions and run them."""
        self._active = True
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.core.last_tick = time.monotonic()
        self.ticker = TickTimer(
            self,
            self.core.tick,
            period=self._tick_period,
            distance=self._values["tick_distance"],
            due=self.core.next_due,
        )
        self._progress_timer = self.create_timer(0.1, self._report, clock=steady)
        self._health_timer = self.create_timer(1.0, self._report_health, clock=steady)
        self._bond.form()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End all missions, and tick no more."""
        self._stop()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the journal and take the interfaces away."""
        self._clean_up()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Do all of that at once."""
        self._stop()
        self._clean_up()
        return super().on_shutdown(state)

    def _configure(self) -> None:
        values = self._values
        self._loader = TreeLoader(
            self,
            managers=self.managers,
            nodes_file=values["nodes_file"],
            clock=self._now,
            common={"use_tile_loader": values["use_tile_loader"]},
            warn=self.problem,
            robot=values["robot"],
        )
        if values["save_tree_nodes"] and values["tree_nodes_file"]:
            self._loader.write_models(Path(values["tree_nodes_file"]).expanduser())
        self._written = self.create_guard_condition(self._collect_writes)
        self._log = open_log(
            Path(values["journal_file"]).expanduser() if values["journal_file"] else None,
            capacity=values["journal_capacity"],
            required=values["journal_required"],
            warn=self.problem,
            wake=self._written.trigger,
        )
        tree_file = values["behavior_tree_file"]
        for problem in packages().problems:
            self.problem(problem)
        catalogue = catalogue_of(values["tree_directories"], tree_file)
        self._tree_edits = self._edit_server(catalogue)
        self.core = ExecutorCore(
            catalogue=catalogue,
            queue=MissionQueue(
                default_policy=Policy[values["second_mission_policy"].upper()],
                capacity=values["queue_capacity"],
            ),
            load=self._tree_edits.trees.load,
            digests=self._tree_edits.trees.digests,
            managers=self.managers,
            listener=self,
            now=self._now,
            wall=time.monotonic,
            settings=Settings(
                tick_period=1.0 / values["tick_rate"],
                server_lost_grace=values["server_lost_grace"],
                preflight_patience=values["preflight_patience"],
                mission_timeout=values["mission_timeout"] or math.inf,
                navigation_tree=Path(tree_file).stem if tree_file else values["navigation_tree"],
                map_tree=values["map_tree"],
                serves_maps=values["use_tile_loader"],
            ),
            log=self._log,
        )
        self._make_interfaces()
        self._monitors = tree_monitors(
            self,
            port=values["groot2_port"],
            address=values["groot2_address"],
            breakpoints=values["groot2_breakpoints"],
            streams=values["py_trees_streams"],
            warn=self.problem,
        )
        self._take_up(RestartPolicy(values["restart_policy"]))

    def _edit_server(self, catalogue: MissionCatalogue) -> TreeEditServer:
        journal = self._values["journal_file"]
        return TreeEditServer(
            self,
            find=catalogue.find,
            loader=self._loader,
            folder=Path(journal).expanduser().parent / "edited_trees" if journal else None,
            edited=self._tree_edited,
            warn=self.problem,
            looked_at=self._edit_looked_at,
            may_edit=self._values["edit_trees"],
        )

    def _stop(self) -> None:
        """End all missions, and tick no more."""
        if not self._active:
            return
        self._active = False
        self._bond.end()
        assert self.ticker is not None
        self.ticker.destroy()
        self.destroy_timer(self._progress_timer)
        self.destroy_timer(self._health_timer)
        self._progress_timer = None
        self.core.shut_down()
        self._log.flush()
        self._diagnostics.set(OK, "not active")

    def _clean_up(self) -> None:
        """Undo `_configure`."""
        if not hasattr(self, "core"):
            return
        assert self._goals is not None
        self._goals.destroy()
        self._goals = None
        self._preflights.destroy()
        self._run_control.destroy()
        self._tree_edits.destroy()
        for service in self._mission_services:
            self.destroy_service(service)
        self._topic.destroy()
        self.records.destroy()
        self._commands.destroy()
        for publisher in (self._feedback, self._status, self._xml):
            publisher.destroy()
        self.destroy_publisher(self._metrics)
        for monitor in self._monitors:
            monitor.close()
        self._log.close()
        self.destroy_guard_condition(self._written)
        self._last_tick = None
        del self.core

    def _take_up(self, policy: RestartPolicy) -> None:
        """Deal with the missions that the last executor left unfinished."""
        unfinished = self._log.unfinished()
        self.core.restore(unfinished, policy)
        self._log.flush()  # history tells of this life, not of the last one
        for mission in unfinished:
            self.problem(f"mission '{mission.request.title}' ({mission.action_id}): {mission.text}")

    def _make_interfaces(self) -> None:
        self._feedback = NewestPublisher(self, MissionFeedback, "mission/feedback", QOS_REQUESTS)
        self._status = NewestPublisher(
            self, TreeStatus, "behavior/tree_status", QOS_EVENT_LOG, newest=self._last_status
        )
        self._xml = NewestPublisher(self, String, "behavior/tree_xml", QOS_LATCHED)
        self._metrics = self.create_publisher(Metrics, "behavior/metrics", QOS_EVENT_LOG)
        life = time.time_ns()
        self.records = RecordPublisher(self, life=life, warn=self.problem)
        self._commands = CommandLog(self, life=life)
        self._topic = MissionTopic(self, take=self._on_action, refuse=self._refuse)
        # While a service waits for the journal, its group keeps others from running.
        alone = ReentrantCallbackGroup()
        self._mission_services = [
            self.create_service(kind, name, answer, qos_profile=QOS_REQUESTS, callback_group=group)
            for kind, name, answer, group in (
                (ListMissions, "mission/list", self._on_list, None),
                (ListMissionRecords, "mission/history", self._on_history, None),
                (Trigger, "mission/cancel", self._on_cancel, alone),
                (Trigger, "behavior/reload", self._on_reload, None),
            )
        ]
        self._goals = MissionGoals(
            self,
            submit=partial(self._submit, "mission/execute"),
            cancel=partial(self._cancel, "mission/execute"),
            when_kept=self._log.when_kept,
        )
        self._preflights = PreflightGoals(self, ask=self._ask)
        self._run_control = RunControlServer(
            self, self.core.operator, self.core.queue, self._commands
        )

    # -- shutdown --------------------------------------------------------------------------------

    def begin_close(self) -> None:
        """Halt the tree and end all missions."""
        if not self._closing:
            self._closing = True
            if self._goals is not None:
                self._goals.begin_close()
            self._stop()

    def closed(self) -> bool:
        """Whether the results of all missions have been given."""
        return self._goals is None or not self._goals.open

    def destroy_node(self) -> None:
        """End all missions and destroy the node."""
        self.begin_close()
        self._clean_up()
        super().destroy_node()

    # -- what the core tells ---------------------------------------------------------------------

    def mission_changed(self, mission: Mission) -> None:
        """Publish the change, and end the goal of a mission that has ended, once it is on disk."""
        self.wake_tree()
        if self._progress_timer is not None and self._progress_timer.is_canceled():
            self._progress_timer.reset()
        self._run_control.publish_news()
        progress = self._progress(mission)  # as it is now, with the tree still at hand
        self._log.when_kept(mission, lambda: self._announce(mission, progress))

    def _announce(self, mission: Mission, progress: Progress) -> None:
        self._let_through(progress)
        if progress.state not in FINAL_STATES:
            return
        self._gates.pop(mission.action_id, None)
        text = f"mission '{mission.request.title}' {mission.state.name}: {mission.text}"
        # rclpy ties a severity to the line of the call.
        if mission.state is State.FINISHED:
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)
        if self._goals is not None:
            self._goals.end(mission, mission.elapsed(self._now()))

    def wake_tree(self) -> None:
        """Have the tree ticked at once, and a mission that waits started; any thread may call it.

        Within a tick it does nothing.
        """
        if self.ticker is not None:
            self.ticker.wake()

    def _tick_period(self) -> float:
        """[s] of node time to the next tick, if nothing happens before."""
        period = self.core.settings.tick_period
        idle = not self.core.has_missions and not any(each.ticks_idle for each in self.managers)
        return max(period, IDLE_PERIOD) if idle else period

    def _wake_running_tree(self) -> None:
        """The same, but where no mission runs, news that managers have may wait for the period."""
        if hasattr(self, "core") and self.core.queue.running is not None:
            self.wake_tree()

    def tree_loaded(self, mission: Mission, run: TreeRun) -> None:
        """Publish the tree's XML, and have the goals of its leaves say whose they are."""
        run.wake_by(self.wake_tree)
        remote_actions(self).mark = mark_of(mission.action_id)
        self._tree_edits.trees.begin(run)
        self.get_logger().info(f"mission '{mission.request.title}' starts ({mission.action_id})")
        self._xml.publish(String(data=run.xml))
        self.records.begin(run, mission.action_id)
        for monitor in self._monitors:
            monitor.show(run)

    def _edit_looked_at(self, news: TreeNews) -> None:
        """Have an edit that was looked at among the commands."""
        self._commands.add(
            "behavior/edit_tree",
            f"edit {news.number} of '{news.editor}', of the tree of '{news.tree}'",
            accepted=news.answer.code in (EditCode.MADE, EditCode.WAITING),
            answer=news.answer.message,
        )

    def _tree_edited(self, run: TreeRun) -> None:
        """Publish the XML of the tree as it is now."""
        self._xml.publish(String(data=run.xml))

    def tree_ticked(self, mission: Mission, run: TreeRun, duration: float) -> None:
        """Publish what the tick did."""
        self.records.after_tick(run, duration)
        self._tree_edits.trees.after_tick()
        self._last_tick = mission.action_id, run, duration, self._now()
        if self._status.listeners:  # a message of hundreds of nodes costs a ms
            self._status.publish(self._last_status())
        for monitor in self._monitors:
            monitor.ticked(run)
        self._run_control.publish_news()
        self._publish_progress(mission)

    def _last_status(self) -> TreeStatus | None:
        """What the last tick of a tree did; None: there was none."""
        if self._last_tick is None:
            return None
        action_id, run, duration, stamp = self._last_tick
        message = tree_status_message(action_id, run, run.activity(), duration)
        message.header.stamp = to_time(stamp)
        return message

    def problem(self, text: str) -> None:
        """Log it."""
        self.get_logger().warning(reason_text(text))

    # -- requests --------------------------------------------------------------------------------

    def _on_action(self, message: MissionAction) -> None:
        try:
            self._submit("mission/action", request_from(message))
        except MissionError as error:
            self._refuse(message, str(error), error.code)

    def _refuse(self, message: MissionAction, text: str, code: Code = Code.INVALID_REQUEST) -> None:
        """Tell on the topic why a request that came by the topic is refused."""
        action_id, name = visible(message.action_id, LONGEST_NAME), visible(message.name)
        self.get_logger().warning(f"mission '{name}' refused: {text}")
        known = self.core.find(message.action_id)
        progress = refusal(
            action_id, name, code, text, State.FAILED if known is None else known.state
        )
        if known is None:
            self._publish(progress)
        else:
            self._log.when_kept(known, lambda: self._publish(progress))

    def _submit(self, channel: str, request: MissionRequest) -> Mission:
        """Take a request that came by a channel, and write down what became of it."""
        try:
            self._require_active()
            mission = self.core.submit(request)
        except MissionError as error:
            self._commands.add(channel, words_of(request), accepted=False, answer=str(error))
            raise
        self._commands.add(channel, words_of(request), accepted=True, answer=mission.state.name)
        return mission

    def _cancel(self, channel: str, action_id: str) -> Mission:
        words = f"CANCEL ({action_id or 'whatever runs'})"
        try:
            mission = self.core.cancel(action_id)
        except MissionError as error:
            self._commands.add(channel, words, accepted=False, answer=str(error))
            raise
        self._commands.add(channel, words, accepted=True, answer=mission.state.name)
        return mission

    def _ask(self, request: MissionRequest) -> Finding:
        self._require_active()
        return self.core.preflight(request)

    def _require_active(self) -> None:
        if not self._active:
            text = "the executor is not active: activate it by its lifecycle services"
            raise MissionError(Code.BUSY, text)

    def _kept(self, mission: Mission) -> Future:
        """Is done when everything about a mission is on disk."""
        kept = Future()
        self._log.when_kept(mission, lambda: kept.set_result(None))
        return kept

    async def _on_cancel(
        self, request: Trigger.Request, answer: Trigger.Response
    ) -> Trigger.Response:
        try:
            mission = self._cancel("mission/cancel", "")
        except MissionError as error:
            answer.success, answer.message = False, str(error)
        else:
            await self._kept(mission)
            answer.success = True
            answer.message = f"mission '{mission.request.title}' ({mission.action_id}) cancelled"
        return answer

    def _on_reload(self, request: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        answer.success, answer.message = self._reload()
        self._commands.add(
            "behavior/reload", "reload", accepted=answer.success, answer=answer.message
        )
        return answer

    def _reload(self) -> tuple[bool, str]:
        """Read nodes and trees again; returns whether all are good, and what is to say."""
        running = self.core.queue.running
        if running is not None:
            return False, f"mission '{running.request.title}' runs: reload when it has ended"
        try:
            self._tree_edits.trees.forget()
            problems = self._loader.reload(self.core.catalogue)
        except (ValueError, OSError, BehaviorTreeError) as error:
            return False, f"nothing was reloaded: {error}"
        return not problems, (
            "; ".join(problems) or f"{len(self.core.catalogue.names())} trees are good"
        )

    def _on_list(
        self, request: ListMissions.Request, answer: ListMissions.Response
    ) -> ListMissions.Response:
        entries = self.core.catalogue.entries()
        answer.names = [entry.name for entry in entries]
        answer.descriptions = [entry.description for entry in entries]
        return answer

    def _on_history(
        self, request: ListMissionRecords.Request, answer: ListMissionRecords.Response
    ) -> ListMissionRecords.Response:
        limit = min(request.limit or MOST_RECORDS, MOST_RECORDS)
        missions = self._log.journal.records(
            unfinished_only=request.unfinished_only, limit=limit + 1
        )
        answer.records = [record_message(mission) for mission in missions[:limit]]
        remarks = [self._log.problem]
        if len(missions) > limit and limit < (request.limit or len(missions)):
            remarks.append(f"these are the newest {limit}, as many as one answer holds")
        answer.message = "; ".join(text for text in remarks if text)
        return answer

    # -- reports ---------------------------------------------------------------------------------

    def _publish_progress(self, mission: Mission) -> None:
        """Publish a mission's progress if its period is over and its state is on disk."""
        if self._log.is_kept(mission):
            self._let_through(self._progress(mission))

    def _progress(self, mission: Mission) -> Progress:
        """How far a mission is now."""
        is_current = mission is self.core.queue.current
        return progress_of(
            mission,
            self.core.activity if is_current else Activity(),
            self._now(),
            self._described() if is_current else None,
        )

    def _let_through(self, progress: Progress) -> None:
        """Publish what is new, or what was last told of long enough ago."""
        gate = self._gates.setdefault(progress.action_id, FeedbackGate())
        if gate.lets_through(progress, time.monotonic()):
            message = self._publish(progress)
            if self._goals is not None:
                self._goals.publish(message)

    def _described(self) -> Report:
        """What the managers tell of the running mission."""
        report = Report()
        for manager in self.managers:
            manager.describe(report)
        return report

    def _publish(self, progress: Progress) -> MissionFeedback:
        message = feedback_message(progress)
        message.header.stamp = self.get_clock().now().to_msg()
        self._feedback.publish(message)
        return message

    def _report(self) -> None:
        """Keep clients informed while nothing happens, be the node's clock standing still."""
        self.core.collect_writes()
        if self.core.waits_for_servers:  # also while no clock ticks, as before a simulation is up
            self.wake_tree()
        if self._progress_timer is not None and not self.core.has_missions:
            self._progress_timer.cancel()  # until there is one again
        running = self.core.queue.running
        if running is not None:
            self._publish_progress(running)
        # Of those that wait a few each time: thousands of them must not delay a tick.
        self._to_report = self._to_report or deque(self.core.queue.waiting)
        for _ in range(min(REPORTED_AT_ONCE, len(self._to_report))):
            mission = self._to_report.popleft()
            if mission.state is State.WAITING:
                self._publish_progress(mission)

    def _collect_writes(self) -> None:
        """Deal with what the journal has written, such as a mission that may start now."""
        self.core.collect_writes()
        self.wake_tree()

    def _report_health(self) -> None:
        # Managers with nodes of their own publish theirs themselves.
        guests = [each for each in self.managers if not isinstance(each, NodeManager)]
        metrics = [*self.core.metrics(), *(m for each in guests for m in each.metrics())]
        message = metrics_message(self.get_name(), metrics)
        message.header.stamp = self.get_clock().now().to_msg()
        self._metrics.publish(message)
        level, text = self._health()
        ticks = self.core.statistics.duration.summary()
        self._diagnostics.set(
            level,
            text,
            ticks=ticks.samples,
            tick_median_ms=1e3 * ticks.median,
            tick_p99_ms=1e3 * ticks.p99,
            tick_max_ms=1e3 * ticks.maximum,
            waiting=self.core.queue.waiting_count,
        )

    def _health(self) -> tuple[bytes, str]:
        running = self.core.queue.running
        what = f"runs '{running.request.title}'" if running is not None else "no mission"
        silent = time.monotonic() - self.core.last_tick
        before, self._health_checked = self._health_checked, self._now()
        if silent > max(STANDSTILL, 3.0 * self._tick_period()) and self._health_checked == before:
            return ERROR, f"{what}; no tick: /clock stands still, does the simulation run?"
        problems = [text for manager in self.managers if (text := manager.problem())]
        problems += [self._log.problem] if self._log.problem else []
        if problems:
            return WARN, "; ".join([what, *problems])
        return OK, what

    def _now(self) -> float:
        """Node time [s]."""
        return seconds(self.get_clock().now())


def main() -> int:
    """Run the node until it is told to stop."""
    return run([BehaviorExecutor])


if __name__ == "__main__":
    sys.exit(main())
