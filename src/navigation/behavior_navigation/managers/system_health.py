# SPDX-License-Identifier: Apache-2.0
"""The manager that knows whether the robot knows where it is, and can have the localizer reset."""

from __future__ import annotations

from rclpy.node import Node
from std_srvs.srv import Empty, Trigger

from behavior_executor.managers.manager_node import pose_tree, pose_tree_parameter
from behavior_executor.missions.statistics import Metric
from behavior_motion.planar_pose import FramedPose, Pose2D, yaw_of
from behavior_navigation.localization_input import LOCALIZATION_PARAMETERS, LocalizationInput
from behavior_navigation.manager import NavigationManager, navigation_managers
from behavior_navigation.managers import system_health_nodes as nodes
from behavior_navigation.managers.localization_reset import (
    InitialPoseReset,
    LocalizationReset,
    ServiceReset,
)
from behavior_navigation.rules.localization import (
    Estimate,
    LocalizationWatch,
    brought_to_now,
)
from behavior_navigation.rules.nodes import register_by_class
from behavior_navigation.rules.route_progress import Odometer
from behavior_ros import ERROR, TransformError, read_only, seconds, to_time
from behavior_tree import BehaviorTreeFactory

PARAMETERS = (
    *LOCALIZATION_PARAMETERS,
    pose_tree_parameter(),
    read_only("robot_frame", "base_link", "frame of the robot"),
    read_only(
        "static_frame",
        "odom",
        "frame that stands still between an estimate and now; empty: estimates stay as they are",
    ),
    read_only(
        "tx_reset_localization",
        "localization/reset",
        "service, or topic with initialpose, that resets the localizer",
    ),
    read_only(
        "reset_adapter",
        "trigger",
        "how the localizer is reset: std_srvs/Trigger, std_srvs/Empty (AMCL), or a pose to start "
        "from (PoseWithCovarianceStamped)",
        choices=("trigger", "empty", "initialpose"),
    ),
    read_only("reset_timeout", 10.0, "[s] node time that a reset may take", range=(0.1, 600.0)),
)


class SystemHealthManager(NavigationManager):
    """Judges the localization once per message and once per tick."""

    name = "system_health"

    def __init__(self, node: Node) -> None:
        """Subscribe."""
        super().__init__(node, PARAMETERS)
        self._host = node
        self.watch = LocalizationWatch(self.state.localization)
        self._localizer = LocalizationInput(self.manager_node, self.values, self._take)
        self._cache = self.inputs["localization_result"] = self._localizer.cache
        self._transforms = pose_tree(node, self.values["pose_tree"])
        self._odometry_problem = ""
        self._then: tuple[float, Pose2D] | None = None
        self._odometer = Odometer()
        self._trusted: tuple[FramedPose, Pose2D | None] | None = None
        """The last pose that the localizer trusted, and where the robot was in the static frame
        then; it outlives resets."""
        self.reset = self._make_reset()
        self.resets = 0
        self.reset_timeout: float = self.values["reset_timeout"]

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register the nodes of :mod:`behavior_navigation.managers.system_health_nodes`."""
        register_system_health_nodes(factory, self)

    def pre_tick(self, now: float) -> None:
        """Judge the localization, and bring the pose to now."""
        super().pre_tick(now)
        if self._cache.newest() is None:  # before the first result, or after the clock was set back
            self.watch.clear()
        fresh = self._cache.fresh()
        self.watch.settle(now, fresh=fresh, silent_for=self._cache.age())
        placed, pose = self.watch.placed, None
        if placed is not None:
            pose, static = self._brought_to_now(placed)
            if self.state.localization.good:
                self._trusted = FramedPose(placed.frame, pose), static
        self.state.localization.pose = pose

    def begin_reset(self) -> None:
        """Have the localizer reset; from now on only results from after it count."""
        self.watch.forget(self._now())
        self.reset.begin()
        self.resets += 1

    def unhealthy(self) -> str:
        """Why the system is not fit to drive; empty: it is."""
        if not self.state.localization.good:
            return self.state.localization.reason
        others = (each for each in navigation_managers(self._host) if each is not self)
        return next(
            (text for each in others for level, text in [each.health()] if level == ERROR), ""
        )

    def metrics(self) -> list[Metric]:
        """Failures, resets, score, and those of the input."""
        localization = self.state.localization
        return [
            Metric("localization_failures", "", float(localization.failures), is_counter=True),
            Metric("localization_resets", "", float(self.resets), is_counter=True),
            Metric("localization_score", "", localization.score),
            *self.input_metrics(),
        ]

    def problem(self) -> str:
        """What is wrong with localization or odometry."""
        return self.state.localization.reason or self._odometry_problem

    def _take(self, estimate: Estimate) -> None:
        before = self.watch.newest is None, self.state.localization.good
        self.watch.take(estimate, self._now())
        if (self.watch.newest is None, self.state.localization.good) != before:
            self.wake_tree()

    def _make_reset(self) -> LocalizationReset:
        topic, adapter = self.values["tx_reset_localization"], self.values["reset_adapter"]
        if adapter == "initialpose":
            return InitialPoseReset(
                self.manager_node,
                topic,
                self._start_pose,
                lambda: self.watch.newest is not None,
            )
        service_type = Trigger if adapter == "trigger" else Empty
        return ServiceReset(self.manager_node, service_type, topic, self.wake)

    def _start_pose(self) -> FramedPose | None:
        """Where the robot was last by a pose that was trusted, moved on by its odometry; None: no
        pose ever was. One that the localizer doubts would be sure by being told to it.
        """
        if self._trusted is None:
            return None
        trusted, then = self._trusted
        now = self._static_now()
        if then is None or now is None:
            return trusted
        return FramedPose(trusted.frame, brought_to_now(trusted.pose, then, now))

    def _static_now(self) -> Pose2D | None:
        """Where the robot is in the static frame; None: that is not known."""
        static, robot = self.values["static_frame"], self.values["robot_frame"]
        try:
            return self._in_static_frame(static, robot, None) if static else None
        except TransformError:
            return None

    def _now(self) -> float:
        return seconds(self.manager_node.get_clock().now())

    def _brought_to_now(self, estimate: Estimate) -> tuple[Pose2D, Pose2D | None]:
        """Where the robot is by an estimate, and in the static frame; None: that is not known."""
        static, robot = self.values["static_frame"], self.values["robot_frame"]
        self._odometry_problem, now = "", None
        if not static:
            return estimate.pose, now
        try:
            now = self._in_static_frame(static, robot, None)
            if self._then is None or self._then[0] != estimate.stamp:
                self._then = (estimate.stamp, self._in_static_frame(static, robot, estimate.stamp))
            self.state.localization.driven = self._odometer.update(now.x, now.y)
            return brought_to_now(estimate.pose, self._then[1], now), now
        except TransformError as error:
            self.state.localization.driven = None
            self._odometry_problem = f"the pose stands still between estimates: {error}"
            return estimate.pose, now

    def _in_static_frame(self, static: str, robot: str, time: float | None) -> Pose2D:
        stamp = None if time is None else to_time(time)
        transform = self._transforms.lookup_transform(static, robot, stamp).transform
        t, q = transform.translation, transform.rotation
        return Pose2D(t.x, t.y, yaw_of(q.x, q.y, q.z, q.w))


def register_system_health_nodes(factory: BehaviorTreeFactory, health: nodes.SystemHealth) -> None:
    """Register the nodes that look at the system's health.

    Args:
        factory: gets the nodes.
        health: where they look; the manager is one.
    """
    register_by_class(
        factory,
        health,
        nodes.LocalizationIsReady,
        nodes.LocalizationIsFresh,
        nodes.LocalizationResetIsWanted,
        nodes.SystemIsHealthy,
        nodes.ResetLocalization,
    )
