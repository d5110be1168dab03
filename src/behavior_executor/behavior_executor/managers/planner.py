# SPDX-License-Identifier: Apache-2.0
"""The manager that tells the path planner how to work, and counts how it does."""

from __future__ import annotations

import math
from dataclasses import asdict, fields

from behavior_msgs.msg import PathPlannerHealth, PlannerOperationMode, TrajectoryStatus
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from behavior_executor.manager_node import NavigationManager, input_parameters
from behavior_executor.managers import planner_nodes as nodes
from behavior_executor.missions import Code, MissionRequest
from behavior_executor.navigation.planner_memory import PlannerMemory
from behavior_executor.navigation.planner_mode import (
    Alarm,
    Decision,
    PlannerInputs,
    PlannerRules,
    Solver,
    choose_mode,
)
from behavior_executor.navigation.state import PlannerMode
from behavior_executor.report import Report
from behavior_executor.statistics import Metric
from behavior_ros import ERROR, QOS_LATCHED, STALE, ParameterSpec
from behavior_tree import BehaviorTreeFactory

EVERY_CYCLE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.BEST_EFFORT
)
"""Every cycle counts, whatever reliability its publisher offers."""

RULE_PARAMETERS = (
    ParameterSpec(
        "failures_until_reroute",
        3,
        "N1: consecutive failed planning cycles from which on another route is asked for",
        range=(1, 10**6),
        read_only=True,
    ),
    ParameterSpec(
        "failures_until_give_up",
        20,
        "N2: consecutive failed planning cycles with which the action fails",
        range=(1, 10**6),
        read_only=True,
    ),
    ParameterSpec(
        "trajectory_failures_until_fallback",
        3,
        "M: consecutive cycles without a usable trajectory until the planner falls back",
        range=(1, 10**6),
        read_only=True,
    ),
    ParameterSpec(
        "trajectory_doubts_until_reroute",
        10,
        "M2: consecutive cycles of doubtful trajectories from which on another route is asked for",
        range=(1, 10**6),
        read_only=True,
    ),
    ParameterSpec(
        "good_cycles_until_nominal",
        3,
        "K: consecutive good cycles that end the fallback",
        range=(0, 10**6),
        read_only=True,
    ),
    ParameterSpec(
        "reroute_cooldown",
        5.0,
        "T_cd: [s] node time between two requests for another route",
        range=(0.0, 3600.0),
        read_only=True,
    ),
    ParameterSpec(
        "loc_bad_grace",
        2.0,
        "[s] node time for which the localization may be bad before its reset is wanted",
        range=(0.0, 3600.0),
        read_only=True,
    ),
    ParameterSpec(
        "route_wait_threshold",
        20.0,
        "[s] node time for which the planner falls back while another route is awaited",
        range=(0.0, 3600.0),
        read_only=True,
    ),
)
"""The fields of :class:`PlannerRules`."""

PARAMETERS = (
    *input_parameters("path_planner_health", "/path_planner/health", 1.0, "planning cycles"),
    *input_parameters("trajectory", "/trajectory_planner/status", 1.0, "solver statuses"),
    ParameterSpec(
        "tx_planner_operation_mode",
        "/planner_operation_mode",
        "topic of the planner's mode",
        read_only=True,
    ),
    ParameterSpec(
        "repeat_rate",
        25.0,
        "[Hz] steady rate at which the mode is repeated: the executor's sign of life",
        range=(20.0, 200.0),
        read_only=True,
    ),
    *RULE_PARAMETERS,
)


class PlannerManager(NavigationManager):
    """Publishes the planner's mode, on change and as a sign of life.

    The mode is IDLE unless a node of a running tree chose another one; it becomes IDLE again when
    the mission pauses or ends.
    """

    name = "planner"

    def __init__(self, node: Node) -> None:
        """Subscribe, and publish IDLE."""
        super().__init__(node, PARAMETERS)
        self.rules = PlannerRules(**{f.name: self.values[f.name] for f in fields(PlannerRules)})
        self.memory = PlannerMemory()
        self.decision = Decision(PlannerMode.IDLE, "not started")
        self.malformed = 0
        """Messages with values that do not exist."""
        self._known_route = ("", 0)
        self._health = self.input(
            "path_planner_health", PathPlannerHealth, qos=EVERY_CYCLE, callback=self._on_health
        )
        self._trajectory = self.input(
            "trajectory", TrajectoryStatus, qos=EVERY_CYCLE, callback=self._on_trajectory
        )
        self._publisher = self.manager_node.create_publisher(
            PlannerOperationMode, self.values["tx_planner_operation_mode"], QOS_LATCHED
        )
        self._publish()
        self.steady_timer(1.0 / self.values["repeat_rate"], self._publish)

    # -- what takes part in missions -------------------------------------------------------------

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_executor.managers.planner_nodes`."""
        register_planner_nodes(factory, self)

    def pre_tick(self, now: float) -> None:
        """Look whether the planner lives, and whether the route that was asked for is there."""
        if now < self.memory.last_reroute:  # the clock was set back
            self.memory.last_reroute = -math.inf
        super().pre_tick(now)
        planner, action = self.state.planner, self.state.action
        planner.health_fresh = self._health.fresh()
        route = (action.route_id, action.reroutes)
        if route != self._known_route:
            self._known_route = route
            planner.reroute_wanted = False

    def mission_started(self, request: MissionRequest) -> None:
        """Forget the failures of the mission before."""
        self.memory.new_action()
        self.state.planner.failed = False
        self._stop("the mission starts")

    def mission_paused(self) -> None:
        """The planner idles."""
        self._stop("paused")

    def mission_ended(self, code: Code) -> None:
        """The planner idles."""
        self._stop("there is no mission")

    def failure(self) -> tuple[Code, str] | None:
        """Too many failed cycles."""
        if self.state.planner.failed:
            return Code.PLANNER_FAILED, self.state.planner.why_failed
        return None

    # -- what tree nodes do ----------------------------------------------------------------------

    def select(self) -> Decision:
        """Choose the mode by the rule and publish it."""
        now, planner = self.state.now, self.state.planner
        self.decision = decision = choose_mode(self.known(), self.rules)
        self.memory.decided(decision, now)
        planner.reroute_wanted |= decision.reroute
        planner.reset_wanted = decision.reset_localization
        if decision.give_up:
            planner.failed, planner.why_failed = True, decision.reason
        self.set_mode(decision.mode, decision.reason)
        return decision

    def set_mode(self, mode: PlannerMode, reason: str) -> None:
        """Publish a mode, if it or its reason is another one."""
        planner = self.state.planner
        if (planner.mode, planner.reason) != (mode, reason):
            planner.mode, planner.reason = mode, reason
            self._publish()

    def known(self) -> PlannerInputs:
        """What the rule looks at."""
        state, memory, now = self.state, self.memory, self.state.now
        waiting = state.action.waiting_since
        return PlannerInputs(
            autonomous=state.autonomy.may_drive,
            map_changing=state.map.changing,
            paused=state.action.paused,
            action_active=state.action.active,
            goal_reached=state.action.goal_reached,
            localization_good=state.localization.good,
            localization_bad_for=state.localization.bad_for,
            has_route=bool(state.action.route_id),
            route_wait=now - waiting if math.isfinite(waiting) else 0.0,
            health_fresh=self._health.fresh(),
            planning_failed=memory.planning_failed,
            reroute_recommended=memory.reroute_recommended,
            failures=memory.failures,
            solver=memory.solver if self._trajectory.fresh() else None,
            trajectory_failures=memory.trajectory_failures,
            trajectory_doubts=memory.trajectory_doubts,
            recovering=memory.recovering,
            good_cycles=memory.good_cycles,
            since_reroute=now - memory.last_reroute,
        )

    # -- reports ---------------------------------------------------------------------------------

    def describe(self, report: Report) -> None:
        """Tell the mode."""
        report.planner_mode = int(self.state.planner.mode)

    def metrics(self) -> list[Metric]:
        """The counters, and those of the inputs."""
        counters = asdict(self.memory.counters) | {"malformed_messages": self.malformed}
        return [
            *(Metric(name, "", float(count), is_counter=True) for name, count in counters.items()),
            *self.input_metrics(),
        ]

    def problem(self) -> str:
        """Why the planner does not work as it should, while a mission drives."""
        driving = self.state.action.active and self.state.planner.mode is not PlannerMode.NOMINAL
        return self.state.planner.reason if driving else ""

    def health(self) -> tuple[bytes, str]:
        """STALE while the planner is silent, an error when a solver is out of memory."""
        level = {Alarm.STALE: STALE, Alarm.ERROR: ERROR}.get(self.decision.alarm)
        return (level, self.decision.reason) if level is not None else super().health()

    # -- messages --------------------------------------------------------------------------------

    def _on_health(self, message: PathPlannerHealth) -> None:
        modes = {int(mode) for mode in PlannerMode}
        verdicts = (PathPlannerHealth.SUCCESS, PathPlannerHealth.FAILURE)
        if message.mode_used not in modes or message.status not in verdicts:
            self.malformed += 1
            return
        solver = self.memory.solver if self._trajectory.fresh() else Solver.OK
        self.memory.take_health(
            message.status == PathPlannerHealth.FAILURE,
            message.reroute_recommended,
            PlannerMode(message.mode_used),
            trajectory_good=solver is Solver.OK,
        )

    def _on_trajectory(self, message: TrajectoryStatus) -> None:
        if message.status not in {int(solver) for solver in Solver}:
            self.malformed += 1
            return
        self.memory.take_trajectory(Solver(message.status))

    def _stop(self, reason: str) -> None:
        planner = self.state.planner
        planner.reroute_wanted = planner.reset_wanted = False
        self.decision = Decision(PlannerMode.IDLE, reason)
        self.set_mode(PlannerMode.IDLE, reason)

    def _publish(self) -> None:
        planner = self.state.planner
        message = PlannerOperationMode(mode=int(planner.mode), reason=planner.reason)
        message.header.stamp = self.stamp()
        self._publisher.publish(message)


def register_planner_nodes(factory: BehaviorTreeFactory, planner: nodes.Planner) -> None:
    """Register the nodes that look at the planners and choose their mode.

    Args:
        factory: gets the nodes.
        planner: what they act upon; the manager is one.
    """
    for name, node_class in (
        ("pathPlannerIsHealthy", nodes.PathPlannerIsHealthy),
        ("trajectoryIsValid", nodes.TrajectoryIsValid),
        ("rerouteRequested", nodes.RerouteRequested),
        ("setPlannerNominal", nodes.SetPlannerNominal),
        ("setPlannerFallback", nodes.SetPlannerFallback),
        ("setPlannerIdle", nodes.SetPlannerIdle),
        ("selectPlannerMode", nodes.SelectPlannerMode),
    ):
        factory.register_node_type(node_class, name, planner)
