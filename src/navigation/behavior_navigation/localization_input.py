# SPDX-License-Identifier: Apache-2.0
"""Results of the localizer, in either of the two message types that localizers speak.

The system health manager and the safety gate listen each for itself, by the same rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from behavior_msgs.msg import LocalizationResult
from geometry_msgs.msg import Pose, PoseWithCovarianceStamped
from rclpy.node import Node

from behavior_motion.planar_pose import Pose2D, yaw_of
from behavior_navigation.rules.localization import Estimate
from behavior_ros import QOS_SENSOR, AgeSince, MessageCache, ParameterSpec, read_only, seconds

NAME = "localization_result"

LOCALIZATION_PARAMETERS = (
    read_only(
        f"{NAME}.rx_message",
        "localization/result",
        "topic of verdicts of the localizer; empty, for the safety gate only: none are needed",
    ),
    read_only(
        f"{NAME}.max_timeout",
        1.0,
        "[s] node time since a verdict's stamp up to which it counts; .inf: always",
        range=(1e-3, math.inf),
    ),
    read_only(
        f"{NAME}.message",
        "result",
        "type of the verdicts: behavior_msgs/LocalizationResult, or "
        "geometry_msgs/PoseWithCovarianceStamped (AMCL), good while its deviations are small",
        choices=("result", "pose"),
    ),
    read_only(
        "max_position_deviation",
        0.5,
        "[m] standard deviation, along the worst direction, up to which a pose is good",
        range=(0.0, 1e3),
    ),
    read_only(
        "max_heading_deviation",
        0.35,
        "[rad] standard deviation up to which a pose is good",
        range=(0.0, 1e3),
    ),
    ParameterSpec("min_score", 0.0, "score below which a verdict counts as bad", range=(0.0, 1.0)),
)


class LocalizationInput:
    """The newest result, as an :class:`Estimate`."""

    def __init__(
        self, node: Node, values: dict[str, Any], on_estimate: Callable[[Estimate], object]
    ) -> None:
        """Subscribe.

        Args:
            node: has declared LOCALIZATION_PARAMETERS.
            values: of the parameters.
            on_estimate: called with every result that is newer than those before.
        """
        self._node = node
        self._limits = (values["max_position_deviation"], values["max_heading_deviation"])
        self._on_estimate = on_estimate
        self.newest: Estimate | None = None
        poses = values[f"{NAME}.message"] == "pose"
        self.cache: MessageCache[Any] = MessageCache(
            node,
            PoseWithCovarianceStamped if poses else LocalizationResult,
            values[f"{NAME}.rx_message"],
            max_age=values[f"{NAME}.max_timeout"],
            qos=QOS_SENSOR,
            age_since=AgeSince.STAMP,
            callback=self._on_pose if poses else self._on_result,
        )

    def why_not(self) -> str:
        """Why the robot does not know where it is; empty: it does."""
        newest = self.newest if self.cache.newest() is not None else None
        if newest is None:
            return "no localization result yet"
        if not self.cache.fresh():
            return f"no localization result for {self.cache.age():.2f} s"
        return "" if newest.good else f"localizer doubts its pose ({newest.score:.2f})"

    def _on_result(self, message: LocalizationResult) -> None:
        self._take(
            message.header,
            message.pose.pose,
            message.status == LocalizationResult.GOOD,
            message.score,
            message.map_id,
        )

    def _on_pose(self, message: PoseWithCovarianceStamped) -> None:
        worst = deviation_ratio(list(message.pose.covariance), *self._limits)
        self._take(message.header, message.pose.pose, worst <= 1.0, 1.0 / (1.0 + worst), "")

    def _take(self, header: Any, pose: Pose, trusted: bool, score: float, map_id: str) -> None:
        q = pose.orientation
        planar = Pose2D(pose.position.x, pose.position.y, yaw_of(q.x, q.y, q.z, q.w))
        minimum = self._node.get_parameter("min_score").value
        finite = all(map(math.isfinite, (planar.x, planar.y, planar.yaw, score)))
        self.newest = Estimate(
            stamp=seconds(header.stamp),
            pose=planar,
            good=trusted and finite and score >= minimum,
            score=score,
            map_id=map_id,
            frame=header.frame_id,
        )
        self._on_estimate(self.newest)


def deviation_ratio(covariance: list[float], position: float, heading: float) -> float:
    """How large a pose's standard deviations are, as parts of their limits: the worst of them.

    Args:
        covariance: 6x6 by rows, of x, y, z [m] and the rotations about them [rad] (REP 103).
        position: limit [m] along the direction in the plane in which it is worst.
        heading: limit [rad].

    Returns:
        Above 1 when a limit is exceeded; infinite for a covariance that is none.
    """
    xx, xy, yy, turn = covariance[0], covariance[1], covariance[7], covariance[35]
    largest = (xx + yy) / 2.0 + math.hypot((xx - yy) / 2.0, xy)
    if not (xx >= 0.0 and yy >= 0.0 and turn >= 0.0 and math.isfinite(largest + turn)):
        return math.inf
    pairs = ((math.sqrt(largest), position), (math.sqrt(turn), heading))
    return max(
        deviation / limit if limit > 0.0 else (math.inf if deviation > 0.0 else 0.0)
        for deviation, limit in pairs
    )
