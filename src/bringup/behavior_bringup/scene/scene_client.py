# SPDX-License-Identifier: Apache-2.0
"""Talks to the scene of a running stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_msgs.action import CheckScene, ManageScene
from behavior_msgs.msg import SceneObjectArray, SceneTrackArray
from behavior_msgs.srv import WhereSeen

from behavior_bringup.client import SERVICE_TIMEOUT, StackClient
from behavior_bringup.errors import BringupError
from behavior_ros import QOS_LATCHED

GRACE = 30.0
"""[s] wall time that an action may take longer than its own timeout: the clock may run slowly."""


class SceneClient(StackClient):
    """A client of the stack that knows the scene's topics, services and actions."""

    def __init__(self, namespace: str = "") -> None:
        """Join the ROS domain of the environment, in the namespace of a robot; empty: in none."""
        super().__init__(namespace)
        self.newest: SceneObjectArray | None = None
        """The newest snapshot."""
        self._objects = self._node.create_subscription(
            SceneObjectArray, "scene/objects", self._take, QOS_LATCHED
        )

    def objects(self) -> SceneObjectArray:
        """The scene now.

        Raises:
            BringupError: there is none.
        """
        if not self.wait(lambda: self.newest is not None, SERVICE_TIMEOUT):
            raise BringupError(
                f"No scene on {self._objects.topic_name} in ROS domain {self.domain}: is the stack"
                " up? 'behavior status' tells"
            )
        assert self.newest is not None
        return self.newest

    def tracks(self) -> SceneTrackArray:
        """What is followed now.

        Raises:
            BringupError: the scene does not tell.
        """
        found: list[SceneTrackArray] = []
        tracks = self._node.create_subscription(
            SceneTrackArray, "scene/tracks", found.append, QOS_LATCHED
        )
        if not self.wait(lambda: bool(found), SERVICE_TIMEOUT):
            raise BringupError(
                f"No tracks on {tracks.topic_name} in ROS domain {self.domain}: is the stack up?"
            )
        return found[-1]

    def manage(self, goal: ManageScene.Goal, on_feedback: Callable[[Any], None]) -> Any:
        """Change the scene; returns the result. Raises BringupError."""
        return self._run(ManageScene, "scene/manage", goal, on_feedback)

    def check(self, goal: CheckScene.Goal, on_feedback: Callable[[Any], None]) -> Any:
        """Ask until the answer is yes; returns the result. Raises BringupError."""
        return self._run(CheckScene, "scene/check", goal, on_feedback)

    def where(self, request: WhereSeen.Request) -> Any:
        """Ask the memory; returns the response. Raises BringupError."""
        return self.call(WhereSeen, "scene/where_seen", request)

    def _run(self, kind: Any, name: str, goal: Any, on_feedback: Callable[[Any], None]) -> Any:
        timeout = (goal.timeout or SERVICE_TIMEOUT) + GRACE
        return self.run_action(kind, name, goal, on_feedback, timeout=timeout)

    def _take(self, message: SceneObjectArray) -> None:
        self.newest = message
