# SPDX-License-Identifier: Apache-2.0
"""Nav2's decorators that hold their child back: until time has passed, the robot has moved, or a
goal is new. A child that runs is ticked in every tick.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

from behavior_navigation.nav2.tree_nodes.goals import GOAL_PORTS, Goals
from behavior_tree import (
    DecoratorNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    ports_list,
)

IDLE, RUNNING, SKIPPED = NodeStatus.IDLE, NodeStatus.RUNNING, NodeStatus.SKIPPED
SUCCESS, FAILURE = NodeStatus.SUCCESS, NodeStatus.FAILURE


class SpeedSource(Protocol):
    """Knows how fast the robot drives."""

    def speed(self) -> float:
        """[m/s]"""


class PositionSource(Protocol):
    """Knows where the robot is."""

    def position(self, frame: str, robot: str) -> tuple[float, float] | None:
        """Where a frame is in another [m]; None: not known."""


class HoldingBack(DecoratorNode):
    """Ticks its child in the first tick of a run, while it runs, and whenever `_due` says so; else
    it is RUNNING.
    """

    def tick(self) -> NodeStatus:
        """Tick the child if it is time."""
        begins = self.status is IDLE or self.status is SKIPPED
        if begins and not self._begin():
            return FAILURE
        self.set_status(RUNNING)
        if not (begins or self.child.status is RUNNING or self._due()):
            return RUNNING
        status = self._tick_child()
        if status is SUCCESS:
            self._done()
        return status

    def _begin(self) -> bool:
        """A run begins; False if it cannot, with a reason."""
        return True

    def _due(self) -> bool:
        """Whether the child shall run again."""
        raise NotImplementedError

    def _done(self) -> None:
        """The child has succeeded."""


class _Timed(HoldingBack):
    """Holds its child back for a period on the tree's clock, and has the tree ticked then."""

    restorable = ("_timer",)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._timer: Any = None

    def _restart(self, period: float) -> None:
        self._stop()
        self._timer = self._rt.start_timer(period)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> bool:
        return self._timer is None or bool(self._timer.expired)

    def halt(self) -> None:
        """Forget the time."""
        self._stop()
        super().halt()

    def _rate(self, port: str) -> float:
        rate = float(self.get_input(port))
        if not rate > 0.0:
            raise ValueError(f"port [{port}] is {rate:g} Hz: give a positive rate")
        return rate


class RateController(_Timed):
    """Ticks its child at most `hz` times a second, counted from its last success."""

    ports = ports_list(InputPort("hz", float, 10.0, "runs of the child per second [Hz]"))

    def _begin(self) -> bool:
        self._period = 1.0 / self._rate("hz")
        self._restart(self._period)
        return True

    def _done(self) -> None:
        self._restart(self._period)


class SpeedController(_Timed):
    """Ticks its child the more often the faster the robot drives: between `min_rate` and
    `max_rate`, as its speed is between `min_speed` and `max_speed`. A new goal is due at once.
    """

    ports = ports_list(
        InputPort("min_rate", float, 0.1, "runs per second at rest [Hz]"),
        InputPort("max_rate", float, 1.0, "runs per second at full speed [Hz]"),
        InputPort("min_speed", float, 0.0, "speed of the lowest rate [m/s]"),
        InputPort("max_speed", float, 0.5, "speed of the highest rate [m/s]"),
        *GOAL_PORTS,
    )

    def __init__(self, name: str, config: NodeConfig, robot: SpeedSource) -> None:
        """Take who knows the robot's speed."""
        super().__init__(name, config)
        self._robot = robot
        self._goals = Goals(self)

    def _begin(self) -> bool:
        self._goals.changed()
        self._restart(1.0 / self._rate("max_rate"))
        return True

    def _due(self) -> bool:
        if self._goals.changed():
            self._restart(1.0 / self._rate("max_rate"))
            return True
        if not super()._due():
            return False
        self._restart(1.0 / self._rate_now())
        return True

    def _rate_now(self) -> float:
        low, high = self._rate("min_rate"), self._rate("max_rate")
        slow, fast = float(self.get_input("min_speed")), float(self.get_input("max_speed"))
        speed = self._robot.speed()
        share = (speed - slow) / (fast - slow) if fast != slow else float(speed >= fast)
        return max(min(low + share * (high - low), high), low)


class DistanceController(HoldingBack):
    """Ticks its child whenever the robot has come `distance` from where that last succeeded."""

    ports = ports_list(
        InputPort("distance", float, 1.0, "way as the crow flies [m]"),
        InputPort("global_frame", str, "map", "frame that does not move"),
        InputPort("robot_base_frame", str, "base_link", "frame of the robot"),
    )

    def __init__(self, name: str, config: NodeConfig, robot: PositionSource) -> None:
        """Take who knows where the robot is."""
        super().__init__(name, config)
        self._robot = robot
        self._from: tuple[float, float] | None = None

    def tick(self) -> NodeStatus:
        """Look where the robot is, and tick the child if it is time."""
        self._here = self._robot.position(
            self.get_input("global_frame"), self.get_input("robot_base_frame")
        )
        if self._here is None:
            self.set_failure_reason("where the robot is is not known")
            return FAILURE
        return super().tick()

    def _begin(self) -> bool:
        self._from = self._here
        return True

    def _due(self) -> bool:
        assert self._here is not None
        assert self._from is not None
        return math.dist(self._here, self._from) >= float(self.get_input("distance"))

    def _done(self) -> None:
        self._from = self._here


class GoalUpdatedController(HoldingBack):
    """Ticks its child when `goal` or `goals` is another one."""

    ports = ports_list(*GOAL_PORTS)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._goals = Goals(self)

    def _begin(self) -> bool:
        self._goals.changed()
        return True

    def _due(self) -> bool:
        return self._goals.changed()


class SingleTrigger(DecoratorNode):
    """Runs its child once; after that it is FAILURE until it is halted."""

    restorable = ("_over",)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._over = False

    def tick(self) -> NodeStatus:
        """Tick the child, unless it has ended before."""
        if self.status is IDLE or self.status is SKIPPED:
            self._over = False
        self.set_status(RUNNING)
        if self._over:
            self.set_failure_reason("its child has run already")
            return FAILURE
        status = self._tick_child()
        self._over = status is SUCCESS or status is FAILURE
        return status


class PathLongerOnApproach(DecoratorNode):
    """Ticks its child when a new path to the same goal is `length_factor` times as long as the one
    before, and that was shorter than `prox_len`: near the goal something stands in the way. Else
    it succeeds at once.
    """

    ports = ports_list(
        InputPort("path", Any, description="path to the goal"),
        InputPort("prox_len", float, 3.0, "length of a path that is near the goal [m]"),
        InputPort("length_factor", float, 2.0, "how many times longer is longer"),
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._old: Any = None

    def tick(self) -> NodeStatus:
        """Compare the path with the one before."""
        path, old = self.get_input("path", None), self._old
        self.set_status(RUNNING)
        if not (path != old and _same_goal(path, old) and self._much_longer(path, old)):
            self._old = path
            return SUCCESS
        status = self._tick_child()
        if status is SUCCESS or status is FAILURE:
            self._old = path
        return status

    def _much_longer(self, path: Any, old: Any) -> bool:
        before = path_length(old)
        near = before < float(self.get_input("prox_len"))
        return near and path_length(path) > float(self.get_input("length_factor")) * before


def path_length(path: Any) -> float:
    """Length of a path [m]."""
    points = [(p.pose.position.x, p.pose.position.y, p.pose.position.z) for p in path.poses]
    return sum(map(math.dist, points, points[1:]))


def _same_goal(path: Any, old: Any) -> bool:
    if path is None or old is None or not path.poses or not old.poses:
        return False
    return bool(path.poses[-1].pose == old.poses[-1].pose)
