# SPDX-License-Identifier: Apache-2.0
"""Nav2's conditions that look at ports and at the tree's clock."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from behavior_navigation.rules.nodes import ProblemCondition
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import ConditionNode, InputPort, NodeConfig, NodeStatus, ports_list

_PLANNER = (200, 207, 208, 300, 307, 308)
_CONTROLLER = (100, 104, 105, 106)
_SMOOTHER = (500, 502, 503, 504)
_ROUTE = (400, 404, 405)


class AreErrorCodesPresent(ProblemCondition):
    """Succeeds if `error_code` is one of `error_codes_to_check`."""

    checked: ClassVar[Collection[int]] = ()
    """Codes that a kind of its own looks for."""

    ports = ports_list(
        InputPort("error_code", Any, 0, "error code of an action of Nav2's; 0: none"),
        InputPort("error_codes_to_check", list[int], None, "codes that count; 1;2;3"),
    )

    def problem(self) -> str:
        """Compare the code."""
        code = int(self.get_input("error_code", 0))
        codes = self.checked or self.get_input("error_codes_to_check", ())
        if code in codes:
            return ""
        return f"error code {code} is none of {', '.join(map(str, codes)) or 'no codes'}"


class WouldAPlannerRecoveryHelp(AreErrorCodesPresent):
    """Succeeds if the planner server's error may be gone at the next attempt."""

    checked = _PLANNER


class WouldAControllerRecoveryHelp(AreErrorCodesPresent):
    """Succeeds if the controller server's error may be gone at the next attempt."""

    checked = _CONTROLLER


class WouldASmootherRecoveryHelp(AreErrorCodesPresent):
    """Succeeds if the smoother server's error may be gone at the next attempt."""

    checked = _SMOOTHER


class WouldARouteRecoveryHelp(AreErrorCodesPresent):
    """Succeeds if the route server's error may be gone at the next attempt."""

    checked = _ROUTE


class InitialPoseReceived(ProblemCondition):
    """Succeeds if `initial_pose_received`, a port or the entry of this name, is true."""

    ports = ports_list(InputPort("initial_pose_received", bool, "{initial_pose_received}"))

    def problem(self) -> str:
        """Look at the entry."""
        received = self.get_input("initial_pose_received", False)
        return "" if received else "there is no initial pose yet"


class IsWithinPathTrackingBounds(ProblemCondition):
    """Fails when the robot is further beside its path, or turned further from it, than it may be;
    succeeds while nothing is known of that.
    """

    ports = ports_list(
        InputPort("max_error_left", float, 0.5, "how far left of the path it may be [m]"),
        InputPort("max_error_right", float, 0.5, "how far right of the path it may be [m]"),
        InputPort("max_error_heading", float, 3.14, "how far it may be turned away [rad]"),
        InputPort("tracking_feedback", Any, description="FollowPath's tracking_feedback"),
    )

    def problem(self) -> str:
        """Compare the errors."""
        feedback = self.get_input("tracking_feedback", None)
        if feedback is None:
            return ""
        side = "left" if feedback.position_tracking_error >= 0.0 else "right"
        for what, error, port in (
            (f"m {side} of its path", feedback.position_tracking_error, f"max_error_{side}"),
            ("rad turned from its path", feedback.heading_tracking_error, "max_error_heading"),
        ):
            if abs(error) > abs(self.get_input(port)):
                return f"the robot is {abs(error):.2f} {what}"
        return ""


class TimeExpired(ConditionNode):
    """Succeeds once in `seconds` of the tree's clock, the first time that long after its first
    tick.
    """

    ports = ports_list(InputPort("seconds", float, 1.0, "time from success to success [s]"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._passed = Elapsed(self._rt.clock)

    def tick(self) -> NodeStatus:
        """Look at the clock."""
        if self._begins():
            self._passed = Elapsed(self._rt.clock)
            return NodeStatus.FAILURE
        if self._passed() < float(self.get_input("seconds")):
            self.set_failure_reason("it is not time yet")
            return NodeStatus.FAILURE
        self._passed = Elapsed(self._rt.clock)
        return NodeStatus.SUCCESS

    def _begins(self) -> bool:
        """Whether the time counts from now."""
        return self.status in (NodeStatus.IDLE, NodeStatus.SKIPPED)


class PathExpiringTimer(TimeExpired):
    """Succeeds once in `seconds` in which `path` has not changed, across halts."""

    ports = TimeExpired.ports | ports_list(InputPort("path", Any, description="path that expires"))

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._known = False
        self._path: Any = None

    def _begins(self) -> bool:
        path, known = self.get_input("path", None), self._known
        same = known and (path is self._path or path == self._path)
        self._known, self._path = True, path
        return not same


CONDITIONS: dict[str, type[ConditionNode]] = {
    each.__name__: each
    for each in (
        AreErrorCodesPresent,
        WouldAPlannerRecoveryHelp,
        WouldAControllerRecoveryHelp,
        WouldASmootherRecoveryHelp,
        WouldARouteRecoveryHelp,
        InitialPoseReceived,
        IsWithinPathTrackingBounds,
        TimeExpired,
        PathExpiringTimer,
    )
}
