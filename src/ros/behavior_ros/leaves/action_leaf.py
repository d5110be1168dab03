# SPDX-License-Identifier: Apache-2.0
"""Tree leaf of an action.

The first tick sends a goal, later ones hand on its feedback and its end; none waits. A halt lets go
of the goal: what arrives for it later concerns this leaf no more.
"""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_ros.actions.remote_action import RemoteAction
from behavior_ros.actions.remote_goal import GoalOutcome, RemoteGoal
from behavior_ros.actions.result_cause import reported, result_code
from behavior_ros.leaves.interface_ports import InputPorts, OutputPorts
from behavior_ros.leaves.leaf_hub import LeafHub
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.leaves.server_leaf import ServerLeaf
from behavior_ros.messages.interfaces import inlined, load_interface, with_ports
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import Cause, CauseKind, NodeStatus


class ActionLeaf(ServerLeaf):
    """Runs a goal of an action; derive with :func:`action_leaf`.

    SUCCESS if the goal succeeded and the result's ``code`` or ``error_code``, if it has one, is 0,
    as soon as the model's barrier lets the result through. Otherwise FAILURE, and the reason is the
    result's ``message``, ``error_msg`` or ``error_string``, or says what happened.
    """

    action: RemoteAction
    goal_ports: ClassVar[InputPorts]
    result_ports: ClassVar[OutputPorts]
    feedback_ports: ClassVar[OutputPorts]

    @classmethod
    def port_groups(cls) -> tuple[InputPorts | OutputPorts, ...]:
        """Return those of goal, result and feedback."""
        return cls.goal_ports, cls.result_ports, cls.feedback_ports

    def on_start(self) -> NodeStatus:
        """Read the goal, and send it as soon as that can be done."""
        self._goal: RemoteGoal | None = None
        self._feedback: Any = None
        self._held_back: Any = None
        self._passed = Elapsed(self.hub.now)
        self._previous: RemoteGoal | None = None
        self._wanted: Any = None
        return self._send_wanted()

    def _send_wanted(self) -> NodeStatus:
        """Send the goal that the ports describe, unless it is the one that was sent last."""
        try:
            wanted = self.goal_ports.read(self)
            if self.model.naming_port and self._goal is None:
                self.model = self._named()
                self.action = self.hub.action(self.interface, self.model.name)
        except (ValueError, RuntimeError) as error:
            return self._fail(Cause(CauseKind.INVALID_INPUT, str(error)))
        if wanted == self._wanted:
            return NodeStatus.RUNNING
        self._wanted, self._previous = wanted, self._goal
        self._goal = self.action.send(
            wanted,
            server_timeout=self.model.server_timeout,
            patient=True,
            on_feedback=self._take_feedback,
            on_end=lambda outcome: self.emit_wake_up(),
        )
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        """See how the goal is doing."""
        if self._held_back is not None:
            return self._pass_barrier(self._held_back)
        assert self._goal is not None
        if self._feedback is not None:
            self.feedback_ports.write(self, self._feedback)
            self._feedback = None
        if self._goal.outcome is not None:
            return self._end(self._goal, self._goal.outcome)
        timeout = self.model.timeout
        if timeout is not None and self._passed() > timeout:
            what = "did not end" if self._goal.sent else "could not be sent"
            sentence = f"action {self.action.name} {what} within {timeout:g} s"
            return self._fail(Cause(CauseKind.TIMED_OUT, sentence))
        return self._send_wanted() if self.model.resend else NodeStatus.RUNNING

    def on_halted(self) -> None:
        """Cancel the goal and forget it."""
        self._abandon()

    def _take_feedback(self, feedback: Any) -> None:
        self._feedback = feedback

    def _end(self, goal: RemoteGoal, outcome: GoalOutcome) -> NodeStatus:
        if outcome.result is None:
            cause = Cause.of(outcome.message)
            return self._fail(cause.at(f"action {self.action.name}") if goal.sent else cause)
        self.result_ports.write(self, outcome.result)
        if outcome.succeeded and result_code(outcome.result) == 0:
            self._abandon()
            self._ended = self.hub.wall()
            return self._pass_barrier(outcome.result)
        otherwise = f"action {self.action.name} {outcome.end.value}"
        return self._fail(reported(outcome.result, otherwise=otherwise))

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
        sentence = f"action {self.action.name} succeeded, but the {name} does not show it"
        return self._fail(Cause(CauseKind.TIMED_OUT, f"{sentence} ({waited:.1f} s)"))

    def _abandon(self) -> None:
        goals = self._goal, self._previous
        self._goal = self._previous = self._feedback = self._held_back = None
        for goal in goals:
            if goal is not None:
                goal.cancel()


def action_leaf(hub: LeafHub, model: NodeModel) -> type[ActionLeaf]:
    """Return the leaf class of an action."""
    action_type, sections = load_interface(model.type, "action")
    goal, result, feedback = with_ports(inlined(sections, model.inline), model.ports)
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
            "interface": action_type,
            "action": hub.action(action_type, model.name),
            "goal_ports": goal_ports,
            "result_ports": result_ports,
            "feedback_ports": OutputPorts(feedback, "feedback", taken),
        },
    )
