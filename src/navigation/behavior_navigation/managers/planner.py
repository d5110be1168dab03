# SPDX-License-Identifier: Apache-2.0
"""The manager that tells the path planner how to work, and counts how it does."""

from __future__ import annotations

from dataclasses import asdict, fields

from behavior_msgs.msg import PathPlannerHealth, PlannerOperationMode, TrajectoryStatus
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from behavior_executor.managers.manager_node import input_parameters
from behavior_executor.missions.mission import Code, MissionRequest, failed
from behavior_executor.missions.report import Report
from behavior_executor.missions.statistics import Metric
from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers import planner_nodes as nodes
from behavior_navigation.rules.nodes import register_by_class
from behavior_navigation.rules.planner_core import PlannerCore
from behavior_navigation.rules.planner_mode import Alarm, PlannerRules, Solver
from behavior_navigation.rules.state import PlannerMode
from behavior_ros import ERROR, QOS_LATCHED, STALE, read_only
from behavior_tree import BehaviorTreeFactory, Cause

EVERY_CYCLE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.BEST_EFFORT
)
"""Every cycle counts, whatever reliability its publisher offers."""

RULE_PARAMETERS = (
    read_only(
        "failures_until_reroute",
        3,
        "N1: consecutive failed planning cycles from which on another route is asked for",
        range=(1, 10**6),
    ),
    read_only(
        "failures_until_give_up",
        20,
        "N2: consecutive failed planning cycles with which the action fails",
        range=(1, 10**6),
    ),
    read_only(
        "trajectory_failures_until_fallback",
        3,
        "M: consecutive cycles without a usable trajectory until the planner falls back",
        range=(1, 10**6),
    ),
    read_only(
        "trajectory_doubts_until_reroute",
        10,
        "M2: consecutive cycles of doubtful trajectories from which on another route is asked for",
        range=(1, 10**6),
    ),
    read_only(
        "good_cycles_until_nominal",
        3,
        "K: consecutive good cycles that end the fallback",
        range=(0, 10**6),
    ),
    read_only(
        "reroute_cooldown",
        5.0,
        "T_cd: [s] node time between two requests for another route",
        range=(0.0, 3600.0),
    ),
    read_only(
        "loc_bad_grace",
        2.0,
        "[s] node time for which the localization may be bad before its reset is wanted",
        range=(0.0, 3600.0),
    ),
    read_only(
        "route_wait_threshold",
        20.0,
        "[s] node time for which the planner falls back while another route is awaited",
        range=(0.0, 3600.0),
    ),
)
"""The fields of :class:`PlannerRules`."""

PARAMETERS = (
    *input_parameters("path_planner_health", "path_planner/health", 1.0, "planning cycles"),
    *input_parameters("trajectory", "trajectory_planner/status", 1.0, "solver statuses"),
    read_only("tx_planner_operation_mode", "planner_operation_mode", "topic of the planner's mode"),
    read_only(
        "repeat_rate",
        25.0,
        "[Hz] steady rate at which the mode is repeated: the executor's sign of life",
        range=(20.0, 200.0),
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
        self.malformed = 0
        """Messages with values that do not exist."""
        self._reported: list[object] = [None, None]
        """What planner and trajectory told in their last cycles."""
        self._health = self.input(
            "path_planner_health",
            PathPlannerHealth,
            qos=EVERY_CYCLE,
            callback=self._on_health,
            wakes=False,
        )
        self._trajectory = self.input(
            "trajectory",
            TrajectoryStatus,
            qos=EVERY_CYCLE,
            callback=self._on_trajectory,
            wakes=False,
        )
        self._publisher = self.manager_node.create_publisher(
            PlannerOperationMode, self.values["tx_planner_operation_mode"], QOS_LATCHED
        )
        self.core = PlannerCore(
            self.state,
            PlannerRules(**{f.name: self.values[f.name] for f in fields(PlannerRules)}),
            health_fresh=self._health.fresh,
            trajectory_fresh=self._trajectory.fresh,
            publish=self._publish,
        )
        self._publish()
        self.steady_timer(1.0 / self.values["repeat_rate"], self._publish)

    # -- what takes part in missions -------------------------------------------------------------

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_navigation.managers.planner_nodes`."""
        register_planner_nodes(factory, self.core)

    def pre_tick(self, now: float) -> None:
        """Look whether the planner lives, and whether the route that was asked for is there."""
        super().pre_tick(now)
        self.core.pre_tick(now)

    def mission_started(self, request: MissionRequest) -> None:
        """Forget the failures of the mission before."""
        self.core.begin_action()

    def mission_paused(self) -> None:
        """The planner idles."""
        self.core.idle("paused")

    def mission_ended(self, code: Code) -> None:
        """The planner idles."""
        self.core.idle("there is no mission")

    def failure(self) -> Cause | None:
        """Too many failed cycles."""
        planner = self.state.planner
        return failed(Code.PLANNER_FAILED, planner.why_failed) if planner.failed else None

    # -- reports ---------------------------------------------------------------------------------

    def describe(self, report: Report) -> None:
        """Tell the mode."""
        report.planner_mode = int(self.state.planner.mode)

    def metrics(self) -> list[Metric]:
        """The counters, and those of the inputs."""
        counters = asdict(self.core.memory.counters) | {"malformed_messages": self.malformed}
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
        level = {Alarm.STALE: STALE, Alarm.ERROR: ERROR}.get(self.core.decision.alarm)
        return (level, self.core.decision.reason) if level is not None else super().health()

    # -- messages --------------------------------------------------------------------------------

    def _on_health(self, message: PathPlannerHealth) -> None:
        modes = {int(mode) for mode in PlannerMode}
        verdicts = (PathPlannerHealth.SUCCESS, PathPlannerHealth.FAILURE)
        if message.mode_used not in modes or message.status not in verdicts:
            self.malformed += 1
            return
        failed = message.status == PathPlannerHealth.FAILURE
        self.core.take_health(failed, message.reroute_recommended, PlannerMode(message.mode_used))
        self._note(0, (failed, message.reroute_recommended, message.mode_used))

    def _on_trajectory(self, message: TrajectoryStatus) -> None:
        if message.status not in {int(solver) for solver in Solver}:
            self.malformed += 1
            return
        self.core.memory.take_trajectory(Solver(message.status))
        self._note(1, message.status)

    def _note(self, which: int, value: object) -> None:
        """Have a running tree see at once what is another than in the cycle before."""
        if self._reported[which] != value:
            self._reported[which] = value
            self.wake_tree()

    def _publish(self) -> None:
        planner = self.state.planner
        message = PlannerOperationMode(mode=int(planner.mode), reason=planner.reason)
        message.header.stamp = self.stamp()
        self._publisher.publish(message)


def register_planner_nodes(factory: BehaviorTreeFactory, planner: PlannerCore) -> None:
    """Register the nodes that look at the planners and choose their mode."""
    register_by_class(
        factory,
        planner,
        nodes.PathPlannerIsHealthy,
        nodes.TrajectoryIsValid,
        nodes.RerouteRequested,
        nodes.SetPlannerNominal,
        nodes.SetPlannerFallback,
        nodes.SetPlannerIdle,
        nodes.SelectPlannerMode,
    )
