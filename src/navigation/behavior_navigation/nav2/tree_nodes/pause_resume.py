# SPDX-License-Identifier: Apache-2.0
"""Nav2's PauseResumeController: services switch between what is run and what stands in for it."""

from __future__ import annotations

import weakref
from enum import IntEnum
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from behavior_ros.node.node_parts import node_parts
from behavior_ros.topics.qos import QOS_REQUESTS
from behavior_tree import (
    ControlNode,
    InputPort,
    LogicError,
    NodeConfig,
    NodeStatus,
    ports_list,
)

IDLE, RUNNING, FAILURE = NodeStatus.IDLE, NodeStatus.RUNNING, NodeStatus.FAILURE


class Phase(IntEnum):
    """What a controller does; the number is that of the child which does it."""

    RESUMED = 0
    PAUSED = 1
    ON_PAUSE = 2
    ON_RESUME = 3


_NEXT = {Phase.ON_PAUSE: Phase.PAUSED, Phase.ON_RESUME: Phase.RESUMED}


class PauseResumeController(ControlNode):
    """Ticks its first child until it ends. The pause service has the third child, ON_PAUSE, run
    to its end and then the second, PAUSED, again and again; the resume service has the fourth,
    ON_RESUME, run and then the first one anew. All but the first may be left out. FAILURE if any
    child fails.

    While it does not run, both services refuse; in Nav2 a pause is granted then, and forgotten.
    """

    min_children = 1
    max_children = 4
    restorable = ("_phase",)

    ports = ports_list(
        InputPort("pause_service_name", str, description="service that pauses"),
        InputPort("resume_service_name", str, description="service that resumes"),
    )

    def __init__(self, name: str, config: NodeConfig, node: Node | None) -> None:
        """Offer the services on a node."""
        super().__init__(name, config)
        self._phase = Phase.RESUMED
        self._wanted: Phase | None = None
        if node is not None:
            services = _services(node)
            services.serve(self.get_input("pause_service_name"), self, "pause")
            services.serve(self.get_input("resume_service_name"), self, "resume")

    def pause(self) -> str:
        """Pause; returns why that cannot be, empty if it can."""
        return self._switch(Phase.ON_PAUSE, self._phase is not Phase.PAUSED, "is paused already")

    def resume(self) -> str:
        """Resume; returns why that cannot be, empty if it can."""
        return self._switch(Phase.ON_RESUME, self._phase is Phase.PAUSED, "is not paused")

    def _switch(self, phase: Phase, allowed: bool, why_not: str) -> str:
        if self.status is not RUNNING:
            return f"'{self.full_path()}' does not run"
        if not allowed:
            return f"'{self.full_path()}' {why_not}"
        self._wanted = phase
        self.emit_wake_up()
        return ""

    def tick(self) -> NodeStatus:
        """Tick the child of the phase."""
        if self.status is IDLE:
            self._phase, self._wanted = Phase.RESUMED, None
        self.set_status(RUNNING)
        if self._wanted is not None:
            self.reset_children()
            self._phase, self._wanted = self._wanted, None
        if self._phase >= len(self.children):
            return self._advance()
        status = self.tick_child(self._phase)
        if status is IDLE:
            child = self.children[self._phase]
            raise LogicError(f"'{child.full_path()}' was ticked and is IDLE")
        if status is RUNNING:
            return RUNNING
        if status is FAILURE or self._phase is Phase.RESUMED:
            self.reset_children()
            return FAILURE if status is FAILURE else NodeStatus.SUCCESS
        self.halt_child(self._phase)
        return self._advance()

    def _advance(self) -> NodeStatus:
        """Go on to what follows the phase; what is next runs in the next tick."""
        following = _NEXT.get(self._phase)
        if following is not None:
            self._phase = following
            self.emit_wake_up()
        return RUNNING

    def halt(self) -> None:
        """Begin with the first child again."""
        self._phase, self._wanted = Phase.RESUMED, None
        super().halt()


class _Services:
    """The services of one node's controllers: made once, they serve whichever tree runs."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._asked: dict[str, tuple[weakref.ref[PauseResumeController], str]] = {}

    def serve(self, name: str, controller: PauseResumeController, verb: str) -> None:
        """From now on a service asks this controller."""
        if name not in self._asked:
            self._node.create_service(
                Trigger,
                name,
                lambda request, response: self._answer(name, response),
                qos_profile=QOS_REQUESTS,
            )
        self._asked[name] = (weakref.ref(controller), verb)

    def _answer(self, name: str, response: Any) -> Any:
        controller, verb = self._asked[name]
        found = controller()
        response.message = getattr(found, verb)() if found is not None else "no tree runs that"
        response.success = not response.message
        return response


def _services(node: Node) -> _Services:
    return node_parts(node).shared(_Services, lambda: _Services(node))
