# SPDX-License-Identifier: Apache-2.0
"""Tree leaf of an action.

A tick does one of four things, none of which waits: send the goal once the server is there and no
earlier goal of this action is closing, and once more where it went to a server that was dead
already; hand on feedback; hand on the end; look whether the server
is still there. A halt lets go of the goal: what arrives for it later concerns this leaf no more.
"""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_ros.goal_exchange import End, GoalOutcome
from behavior_ros.interface_ports import InputPorts, OutputPorts
from behavior_ros.interfaces import inlined, load_interface
from behavior_ros.leaf_hub import LeafHub, SentGoal
from behavior_ros.node_models import NodeModel
from behavior_ros.result_cause import reported
from behavior_tree import Cause, CauseKind, NodeStatus, PortInfo, StatefulActionNode


class ActionLeaf(StatefulActionNode):
    """Runs a goal of an action; derive with :func:`action_leaf`.

    SUCCESS if the goal succeeded and the result's ``code``, if it has one, is 0, as soon as the
    model's barrier lets the result through. Otherwise FAILURE, and the reason is the result's
    ``message``, or says what happened.
    """

    hub: ClassVar[LeafHub]
    model: ClassVar[NodeModel]
    client: ClassVar[Any]
    goal_ports: ClassVar[InputPorts]
    result_ports: ClassVar[OutputPorts]
    feedback_ports: ClassVar[OutputPorts]

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Return one port per field of goal, result and feedback."""
        groups = (cls.goal_ports, cls.result_ports, cls.feedback_ports)
        return {entry.port: entry.info for group in groups for entry in group.ports}

    def on_start(self) -> NodeStatus:
        """Read the goal, and send it if it can be sent."""
        self._sent: SentGoal | None = None
        self._feedback: Any = None
        self._held_back: Any = None
        self._resend = False
        self._begun = self.hub.now()
        self._searched = self.hub.wall()
        try:
            self._goal = self.goal_ports.read(self)
        except (ValueError, RuntimeError) as error:
            return self._fail(Cause(CauseKind.INVALID_INPUT, str(error)))
        return self._send()

    def on_running(self) -> NodeStatus:
        """Send the goal that could not be sent yet, or see how it is doing."""
        if self._held_back is not None:
            return self._pass_barrier(self._held_back)
        return self._send() if self._sent is None else self._follow(self._sent)

    def on_halted(self) -> None:
        """Cancel the goal and forget it."""
        self._let_go()

    def _send(self) -> NodeStatus:
        model = self.model
        if self._is_late():
            return self._fail_late("could not be sent")
        if self.hub.closing(None if self._resend else model.name):
            self._searched = self.hub.wall()
            return NodeStatus.RUNNING
        if not self.client.server_is_ready():
            waited = self.hub.wall() - self._searched
            if waited < model.server_timeout:
                return NodeStatus.RUNNING
            sentence = f"no server of action {model.name} for {waited:.1f} s"
            return self._fail(Cause(CauseKind.SERVER_LOST, sentence, remedy="start it"))
        # Others may be closing: then a rejection says nothing, and the goal is sent again.
        self._resend = self.hub.closing()
        self._sent = self.hub.send(
            self.client,
            model.name,
            self._goal,
            server_timeout=model.server_timeout,
            on_feedback=self._take_feedback,
            on_end=lambda outcome: self.emit_wake_up(),
        )
        return NodeStatus.RUNNING

    def _take_feedback(self, feedback: Any) -> None:
        self._feedback = feedback

    def _follow(self, sent: SentGoal) -> NodeStatus:
        outcome = sent.poll()
        if self._feedback is not None:
            self.feedback_ports.write(self, self._feedback)
            self._feedback = None
        if outcome is not None:
            return self._end(outcome)
        if self._is_late():
            return self._fail_late("did not end")
        return NodeStatus.RUNNING

    def _end(self, outcome: GoalOutcome) -> NodeStatus:
        if outcome.end is End.REJECTED and self._resend:
            self._let_go()
            return NodeStatus.RUNNING
        if outcome.end is End.LOST and self._sent is not None and self._sent.never_arrived:
            self._let_go()
            self._searched = self.hub.wall()
            return NodeStatus.RUNNING
        if outcome.result is None:
            return self._fail(Cause.of(outcome.message).at(f"action {self.model.name}"))
        self.result_ports.write(self, outcome.result)
        code = getattr(outcome.result, "code", 0)
        if outcome.succeeded and code == 0:
            self._let_go()
            self._ended = self.hub.wall()
            return self._pass_barrier(outcome.result)
        otherwise = f"action {self.model.name} {outcome.end.value}"
        return self._fail(reported(outcome.result, code, otherwise=otherwise))

    def _pass_barrier(self, result: Any) -> NodeStatus:
        """Succeed once the effect of the result can be seen."""
        name = self.model.barrier
        barrier = self.hub.barriers.get(name) if name else None
        if barrier is None or barrier(result):
            return NodeStatus.SUCCESS
        self._held_back = result
        waited = self.hub.wall() - self._ended
        if waited <= self.model.server_timeout:
            return NodeStatus.RUNNING
        sentence = f"action {self.model.name} succeeded, but the {name} does not show it"
        return self._fail(Cause(CauseKind.TIMED_OUT, f"{sentence} ({waited:.1f} s)"))

    def _is_late(self) -> bool:
        timeout = self.model.timeout
        return timeout is not None and self.hub.now() - self._begun > timeout

    def _fail_late(self, what: str) -> NodeStatus:
        sentence = f"action {self.model.name} {what} within {self.model.timeout:g} s"
        return self._fail(Cause(CauseKind.TIMED_OUT, sentence))

    def _fail(self, reason: Cause) -> NodeStatus:
        self._let_go()
        self.set_failure_reason(reason)
        return NodeStatus.FAILURE

    def _let_go(self) -> None:
        sent, self._sent = self._sent, None
        self._feedback = self._held_back = None
        if sent is not None:
            self.hub.release(sent)


def action_leaf(hub: LeafHub, model: NodeModel) -> type[ActionLeaf]:
    """Return the leaf class of an action."""
    action_type, sections = load_interface(model.type, "action")
    goal, result, feedback = inlined(sections, model.inline)
    goal_ports = InputPorts(goal, "goal", model.defaults, model.required)
    result_ports = OutputPorts(result, "result", goal_ports.names())
    taken = goal_ports.names() | result_ports.names()
    return type(
        model.node,
        (ActionLeaf,),
        {
            "__doc__": f"Runs a goal of action {model.name} ({model.type}).",
            "hub": hub,
            "model": model,
            "client": hub.action_client(action_type, model.name),
            "goal_ports": goal_ports,
            "result_ports": result_ports,
            "feedback_ports": OutputPorts(feedback, "feedback", taken),
        },
    )
