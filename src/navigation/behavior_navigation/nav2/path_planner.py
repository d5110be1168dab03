# SPDX-License-Identifier: Apache-2.0
"""Maneuvers driven by Nav2: planned by its planner server, followed by its controller server.

Each cycle plans from the robot to the next corner of the maneuver and hands the path to the
controller, which takes it in place of the one before. In IDLE nothing is followed; in FALLBACK
another controller, a slower or more careful one, follows, or none where there is no such one.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from behavior_msgs.msg import Maneuver, PathPlannerHealth, PlannerOperationMode, TrajectoryStatus
from rclpy.node import Node

from behavior_navigation.nav2.interfaces import (
    CONTROLLER_STATUSES,
    PLANNER_REASONS,
    error_name,
    nav2_interface,
)
from behavior_navigation.nav2.next_corner import next_corner
from behavior_ros import (
    QOS_COMMAND,
    QOS_EVENT_LOG,
    QOS_LATCHED,
    End,
    GoalOutcome,
    RemoteGoal,
    declare_all,
    read_only,
    remote_actions,
    run,
    seconds,
)

PARAMETERS = (
    read_only("cycle_rate", 2.0, "of planning [Hz]", range=(0.1, 50.0)),
    read_only("compute_path_action", "compute_path_to_pose", "of the planner server"),
    read_only("follow_path_action", "follow_path", "of the controller server"),
    read_only("planner_id", "", "planner plugin; empty: Nav2's default"),
    read_only("controller_id", "", "controller plugin in NOMINAL"),
    read_only("goal_checker_id", "", "goal checker plugin"),
    read_only(
        "fallback_controller_id", "", "controller plugin in FALLBACK; empty: the robot stands then"
    ),
    read_only(
        "reroute_patience",
        3.0,
        "[s] of failing that lead to the advice to take another route",
        range=(0.0, 600.0),
    ),
)
IDLE, NOMINAL, FALLBACK = (
    PlannerOperationMode.IDLE,
    PlannerOperationMode.NOMINAL,
    PlannerOperationMode.FALLBACK,
)


class Nav2PathPlanner(Node):  # type: ignore[misc] # rclpy has no type information
    """``/maneuver`` and mode in; health, solver status, and what Nav2's controller commands out."""

    def __init__(self, *, node_name: str = "path_planner", **kwargs: Any) -> None:
        """Make the clients; idle at first.

        Raises:
            ParameterError: Nav2's messages are not there.
        """
        super().__init__(node_name, **kwargs)
        self._values = values = declare_all(self, PARAMETERS)
        self._compute_type = nav2_interface("action", "ComputePathToPose", node_name)
        self._follow_type = nav2_interface("action", "FollowPath", node_name)
        actions = remote_actions(self)
        self._planner = actions.action(self._compute_type, values["compute_path_action"])
        self._controller = actions.action(self._follow_type, values["follow_path_action"])
        self._mode, self._maneuver = IDLE, None
        self._planning: RemoteGoal | None = None
        self._plan = 0
        """The planner's goal, by its number; what comes of one from before a stop says nothing."""
        self._following: RemoteGoal | None = None
        self._followed = -1
        """The controller's goal, by its number; older ones say nothing any more."""
        self._status = int(TrajectoryStatus.OK)
        self._cycle = 0
        self._failing_since = math.inf
        self._health = self.create_publisher(
            PathPlannerHealth, "path_planner/health", QOS_EVENT_LOG
        )
        self._statuses = self.create_publisher(
            TrajectoryStatus, "trajectory_planner/status", QOS_EVENT_LOG
        )
        self.create_subscription(Maneuver, "maneuver", self._on_maneuver, QOS_COMMAND)
        self.create_subscription(
            PlannerOperationMode, "planner_operation_mode", self._on_mode, QOS_LATCHED
        )
        self.create_timer(1.0 / values["cycle_rate"], self.cycle)

    def cycle(self) -> None:
        """Begin a planning cycle, or tell that there is nothing to plan."""
        message = TrajectoryStatus(status=self._status)
        message.header.stamp = self.get_clock().now().to_msg()
        self._statuses.publish(message)
        if self._mode == IDLE or self._maneuver is None:
            self._failing_since = math.inf
            self._publish_health()
            return
        if self._planning is not None and self._planning.outcome is None:
            return  # the cycle before has not ended
        if not self._planner.ready():
            self._publish_health(
                PathPlannerHealth.NO_MAP, "nobody plans: is Nav2's planner server active?"
            )
            return
        goal = self._compute_type.Goal()
        goal.goal, goal.use_start = next_corner(self._maneuver), False
        goal.planner_id = self._values["planner_id"]
        begin, mode, number = time.perf_counter(), self._mode, self._plan
        self._planning = self._planner.send(
            goal,
            on_end=lambda outcome: self._planned(
                outcome, mode, number, time.perf_counter() - begin
            ),
        )

    def _planned(self, outcome: GoalOutcome, mode: int, number: int, took: float) -> None:
        if outcome.end is End.CANCELED or number != self._plan:
            return
        result = outcome.result
        if outcome.succeeded and result.path.poses:
            self._failing_since = math.inf
            self._publish_health(compute_time=took)
            if mode == self._mode:
                self._follow(result.path)
            return
        name = error_name(self._compute_type, result.error_code) if result is not None else ""
        text = getattr(result, "error_msg", "") or outcome.message or name or outcome.end.value
        self._stop()
        reason = PLANNER_REASONS.get(name, PathPlannerHealth.NO_PATH)
        if outcome.end is End.LOST:
            reason = PathPlannerHealth.NO_MAP
        self._publish_health(reason, f"Nav2's planner: {text}", compute_time=took)

    def _follow(self, path: Any) -> None:
        """Hand a path to the controller, which preempts the one before."""
        fallback = self._mode == FALLBACK
        controller = self._values["fallback_controller_id" if fallback else "controller_id"]
        if fallback and not controller:
            self._stop()
            return
        if not self._controller.ready():
            self._status = int(TrajectoryStatus.INVALID_TRAJECTORY)
            return
        goal = self._follow_type.Goal()
        goal.path, goal.controller_id = path, controller
        goal.goal_checker_id = self._values["goal_checker_id"]
        self._followed += 1
        number = self._followed
        self._following = self._controller.send(
            goal, on_end=lambda outcome: self._followed_to(number, outcome)
        )

    def _followed_to(self, number: int, outcome: GoalOutcome) -> None:
        if number != self._followed or outcome.end is End.CANCELED:
            return  # a newer path is followed, or none is wanted
        if outcome.succeeded:
            self._status = int(TrajectoryStatus.OK)
            return
        name = outcome.message
        if outcome.result is not None:
            name = error_name(self._follow_type, outcome.result.error_code)
        self._status = int(CONTROLLER_STATUSES.get(name, TrajectoryStatus.INVALID_TRAJECTORY))
        self.get_logger().warning(f"Nav2's controller: {name}", throttle_duration_sec=2.0)

    def _stop(self) -> None:
        """Have nothing followed any more."""
        self._followed += 1
        if self._following is not None:
            self._following.cancel()
        self._following = None

    def _on_maneuver(self, message: Maneuver) -> None:
        self._maneuver = message

    def _on_mode(self, message: PlannerOperationMode) -> None:
        if message.mode == self._mode:
            return
        self._mode = message.mode
        self._status = int(TrajectoryStatus.OK)
        if self._mode == IDLE:
            # A maneuver from before the stop is not taken up again.
            self._maneuver = None
            self._plan += 1
            if self._planning is not None:
                self._planning.cancel()
            self._planning = None
            self._stop()
        elif self._mode == FALLBACK and not self._values["fallback_controller_id"]:
            self._stop()  # at once: the cycle under way may never end

    def _publish_health(
        self,
        reason: int = PathPlannerHealth.NONE,
        text: str = "",
        *,
        compute_time: float = 0.0,
    ) -> None:
        """Publish the outcome of a cycle."""
        now = self.get_clock().now()
        failed = reason != PathPlannerHealth.NONE
        if failed:
            self._failing_since = min(self._failing_since, seconds(now))
        self._cycle += 1
        message = PathPlannerHealth(
            cycle=self._cycle,
            status=PathPlannerHealth.FAILURE if failed else PathPlannerHealth.SUCCESS,
            reason=reason,
            mode_used=self._mode,
            compute_time=compute_time,
            text=text,
        )
        patience = self._values["reroute_patience"]
        message.reroute_recommended = failed and seconds(now) - self._failing_since >= patience
        message.header.stamp = now.to_msg()
        self._health.publish(message)


def main(args: list[str] | None = None) -> int:
    """Run the node until interrupted."""
    return run([Nav2PathPlanner], args)


if __name__ == "__main__":
    sys.exit(main())
