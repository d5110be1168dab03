# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for nav2_msgs and for Nav2's servers, where neither is installed.

The messages have the fields of nav2_msgs (Jazzy; ComputeRoute and DynamicEdges as later ones) and
no others, so a wrong name is an error.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid, Path

SUCCEEDED, ABORTED, CANCELED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_ABORTED,
    GoalStatus.STATUS_CANCELED,
)
PLANNING = {"planning_time": Duration, "error_code": int, "path": Path}


def record(name: str, fields: dict[str, Callable[[], Any]], **constants: int) -> type:
    """A message class with these fields and no others."""

    def start(self: Any, **values: Any) -> None:
        for field, make in fields.items():
            setattr(self, field, values.pop(field) if field in values else make())
        if values:
            raise AttributeError(f"{name} has no field {sorted(values)}")

    members: dict[str, Any] = {"__slots__": tuple(fields), "__init__": start, **constants}
    return type(name, (), members)


def interface(name: str, **parts: type) -> type:
    """An action or service class."""
    return type(name, (), parts)


ACTIONS = {
    "ComputePathToPose": interface(
        "ComputePathToPose",
        Goal=record(
            "Goal",
            {"goal": PoseStamped, "start": PoseStamped, "planner_id": str, "use_start": bool},
        ),
        Result=record(
            "Result",
            PLANNING,
            NONE=0,
            UNKNOWN=200,
            INVALID_PLANNER=201,
            TF_ERROR=202,
            START_OUTSIDE_MAP=203,
            GOAL_OUTSIDE_MAP=204,
            START_OCCUPIED=205,
            GOAL_OCCUPIED=206,
            TIMEOUT=207,
            NO_VALID_PATH=208,
        ),
    ),
    "ComputeRoute": interface(
        "ComputeRoute",
        Goal=record(
            "Goal",
            {
                "start_id": int,
                "start": PoseStamped,
                "goal_id": int,
                "goal": PoseStamped,
                "use_start": bool,
                "use_poses": bool,
            },
        ),
        Result=record(
            "Result",
            {**PLANNING, "route": lambda: SimpleNamespace(edges=[])},
            NONE=0,
            UNKNOWN=400,
            NO_VALID_ROUTE=405,
        ),
    ),
    "FollowPath": interface(
        "FollowPath",
        Goal=record("Goal", {"path": Path, "controller_id": str, "goal_checker_id": str}),
        Result=record(
            "Result",
            {"error_code": int},
            NONE=0,
            UNKNOWN=100,
            INVALID_CONTROLLER=101,
            TF_ERROR=102,
            INVALID_PATH=103,
            PATIENCE_EXCEEDED=104,
            FAILED_TO_MAKE_PROGRESS=105,
            NO_VALID_CONTROL=106,
        ),
    ),
}
SERVICES = {
    "LoadMap": interface(
        "LoadMap",
        Request=record("Request", {"map_url": str}),
        Response=record("Response", {"map": OccupancyGrid, "result": int}),
    ),
    "DynamicEdges": interface(
        "DynamicEdges",
        Request=record(
            "Request", {"closed_edges": list, "opened_edges": list, "adjust_edges": list}
        ),
        Response=record("Response", {"success": bool}),
    ),
}


def install(monkeypatch: Any) -> None:
    """Make nav2_msgs importable."""
    package = types.ModuleType("nav2_msgs")
    monkeypatch.setitem(sys.modules, "nav2_msgs", package)
    for kind, content in (("action", ACTIONS), ("srv", SERVICES)):
        module = types.ModuleType(f"nav2_msgs.{kind}")
        for name, made in content.items():
            setattr(module, name, made)
        monkeypatch.setitem(sys.modules, f"nav2_msgs.{kind}", module)


class Future:
    """A future whose callbacks are called at once."""

    def __init__(self) -> None:
        self._done, self._value, self._callbacks = False, None, []

    def set_result(self, value: Any) -> None:
        self._done, self._value = True, value
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def result(self) -> Any:
        return self._value

    def exception(self) -> None:
        return None

    def cancelled(self) -> bool:
        return False

    def done(self) -> bool:
        return self._done

    def cancel(self) -> None:
        pass

    def __await__(self) -> Any:
        return self._value
        yield


class Handle:
    """One goal at a server of Nav2's."""

    accepted = True

    def __init__(self, goal: Any) -> None:
        self.goal, self.canceled = goal, False
        self._result = Future()

    def get_result_async(self) -> Future:
        return self._result

    def cancel_goal_async(self) -> Future:
        self.canceled = True
        answer = Future()
        answer.set_result(SimpleNamespace(return_code=0, goals_canceling=["goal"]))
        return answer

    def end(self, result: Any, status: int = SUCCEEDED) -> None:
        """Have it end."""
        self._result.set_result(SimpleNamespace(status=status, result=result))


class Actions:
    """Action clients of one node, by the name of their action."""

    def __init__(self) -> None:
        self.goals: dict[str, list[Handle]] = {}
        self.ready = True
        """Whether the graph shows servers."""
        self.alive = True
        """Whether they answer."""

    def __call__(self, node: Any, kind: type, name: str) -> Any:
        self.goals[name] = []
        return SimpleNamespace(
            server_is_ready=lambda: self.ready,
            send_goal_async=lambda goal, **_: self._send(kind, name, goal),
            handle_of=lambda _: SimpleNamespace(
                get_result_async=self._answer, cancel_goal_async=self._answer
            ),
            on_status={},
            forget=lambda identifier: None,
        )

    def _send(self, kind: Any, name: str, goal: Any) -> Future:
        assert isinstance(goal, kind.Goal)
        handle, answer = Handle(goal), Future()
        self.goals[name].append(handle)
        answer.set_result(handle)
        return answer

    def _answer(self) -> Future:
        """To a question whether the server is still there."""
        answer = Future()
        if self.alive:
            answer.set_result(None)
        return answer
