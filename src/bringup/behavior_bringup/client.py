# SPDX-License-Identifier: Apache-2.0
"""The command's own ROS node: gives missions, follows them, watches and disturbs the world.

Nothing runs in the background: the node works while one of its methods waits. Waiting is by wall
time, since whoever sits at the terminal waits by it.
"""

from __future__ import annotations

import math
import os
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import rclpy
from behavior_msgs.msg import Metrics, MissionAction, MissionFeedback, SceneObjectArray
from behavior_msgs.srv import DisturbWorld, ResetWorld
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger

from behavior_bringup.conversion import (
    TERMINAL_STATES,
    disturb_request,
)
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.newest_snapshot import NewestSnapshot
from behavior_bringup.security.policy import enclave_arguments
from behavior_bringup.stacks.description import Readiness
from behavior_ros import QOS_EVENT_LOG, QOS_LATCHED, End, remote_actions, seconds
from behavior_ros.node.closing import destroy_node
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_sim.judging import Disturbance, WorldObject
from behavior_tree.monitoring.closing import Closing

SERVICE_TIMEOUT = 10.0
"""[s] to find a service and get its answer."""
RESET_TIMEOUT = 60.0
"""[s] that a world gets to be reset: a machine with too much to do does it late, but does it."""
STANDSTILL = 60.0
"""[s] of wall time without simulated time going on, after which the simulation counts as broken."""

_SLICE = 0.05
_FAULTS = "simulation/fault/"
"""What the services begin with that let parts of the cell fail."""
_TRUTH = "simulation/objects"
_WRONG_REQUESTS = (101, 102)
"""Codes of behavior_msgs/DisturbWorld: unknown object, invalid request."""


def new_context(namespace: str = "") -> Context:
    """A ROS context in the domain of the environment that leaves Ctrl-C to Python.

    Args:
        namespace: of its nodes, like /left; empty: none.
    """
    context = Context()
    # The command's arguments are its own, not ROS's.
    arguments = enclave_arguments("operator")
    if namespace:
        arguments += ["-r", f"__ns:={namespace}"]
    rclpy.init(
        args=["--ros-args", *arguments] if arguments else [],
        context=context,
        signal_handler_options=SignalHandlerOptions.NO,
    )
    return context


class StackClient(Closing):
    """Talks to a running stack; use it as a context manager."""

    def __init__(
        self,
        namespace: str = "",
        *,
        name: str = "behavior_command",
        truth: bool = True,
        clock: bool = False,
    ) -> None:
        """Join the ROS domain of the environment.

        Args:
            namespace: of a robot; empty: none.
            name: of the node; another one for a client that works beside others of this process.
            truth: whether it hears what the simulation says, which is told only where somebody
                does; else simulated time is that of the scene.
            clock: whether simulated time is that of /clock, for a stack that has no scene.
        """
        self._context = new_context(namespace)
        self._node = Node(f"{name}_{os.getpid()}", context=self._context)
        self._executor = LeanExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._clients: dict[str, Any] = {}
        self._publisher = self._node.create_publisher(
            MissionAction, "mission/action", QOS_EVENT_LOG
        )
        self._truth, self._scene = NewestSnapshot(), NewestSnapshot()
        self.truth_time = -1.0
        """[s] stamp of the truth."""
        self.metrics: dict[str, Metrics] = {}
        """The newest numbers that each component published about itself."""
        self._feedback: dict[str, MissionFeedback] = {}
        self.on_truth: Callable[[], None] = lambda: None
        """Called after every new truth."""
        self._hears_truth = truth
        self._clock: float | None = -1.0 if clock else None
        self._subscribe()

    def close(self) -> None:
        """Leave the ROS domain."""
        self._executor.shutdown(timeout_sec=1.0)
        destroy_node(self._node)
        rclpy.shutdown(context=self._context)

    # -- what it hears

    @property
    def truth(self) -> dict[str, WorldObject]:
        """What the simulation says, empty without one."""
        return self._truth.objects

    @property
    def scene(self) -> dict[str, WorldObject]:
        """What the robot believes."""
        return self._scene.objects

    @property
    def scene_time(self) -> float:
        """[s] stamp of that."""
        return self._scene.time

    @property
    def time(self) -> float:
        """[s] of node time that is known to have come; -1: none."""
        if self._clock is not None:
            return self._clock
        return self.truth_time if self._hears_truth else self.scene_time

    @property
    def scene_message(self) -> SceneObjectArray | None:
        """What the robot believes, all of it; None before the first message."""
        return self._scene.message

    # -- waiting

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Work until the condition holds; returns whether it does."""
        end = time.monotonic() + timeout
        while not condition():
            remaining = end - time.monotonic()
            if remaining <= 0:
                return False
            self._executor.spin_once(timeout_sec=min(_SLICE, remaining))
        return True

    def work(self, duration: float = _SLICE) -> None:
        """Handle messages for that many seconds."""
        self.wait(lambda: False, duration)

    def wait_simulated(
        self,
        condition: Callable[[], bool],
        *,
        now: Callable[[], float] | None = None,
        limit: float = math.inf,
    ) -> bool:
        """Work until the condition holds, for at most `limit` seconds of simulated time.

        However slow the machine, whoever waits so waits equally long in the world.

        Args:
            condition: what is waited for.
            now: simulated time [s]; None: `time`.
            limit: [s] simulated.

        Returns:
            Whether it holds.

        Raises:
            BringupError: simulated time stands still.
        """
        clock = now or (lambda: self.time)
        begin = last = clock()
        moved = time.monotonic()
        while not condition():
            if last - begin > limit:
                return False
            self._executor.spin_once(timeout_sec=_SLICE)
            if clock() != last:
                last, moved = clock(), time.monotonic()
            elif time.monotonic() - moved > STANDSTILL:
                raise BringupError(
                    f"The simulation stands still for {STANDSTILL:g} s: is it paused, or stuck?"
                    " See its log"
                )
        return True

    # -- services

    def call(self, kind: Any, name: str, request: Any, *, timeout: float = SERVICE_TIMEOUT) -> Any:
        """Call a service and return its response.

        Raises:
            BringupError: it is not there, or does not answer.
        """
        client = self._client(kind, name)
        if not self.wait(client.service_is_ready, timeout):
            raise BringupError(
                f"Nobody offers {client.service_name} in ROS domain {self.domain}: is the stack up?"
                " 'behavior status' tells"
            )
        future = client.call_async(request)
        if not self.wait(future.done, timeout):
            client.remove_pending_request(future)
            raise BringupError(f"{client.service_name} does not answer within {timeout:g} s")
        return future.result()

    def call_later(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service; returns the future of its response."""
        return self._client(kind, name).call_async(request)

    def _client(self, kind: Any, name: str) -> Any:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        return self._clients[name]

    def listen(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile,
        *,
        raw: bool = False,
    ) -> Callable[[], None]:
        """Have every message of a topic handed to `callback`, while a method waits.

        Args:
            kind: type of the messages.
            topic: name of the topic.
            callback: given each message.
            qos: quality of service.
            raw: hand on its bytes as they came.

        Returns:
            What ends it.
        """
        subscription = self._node.create_subscription(kind, topic, callback, qos, raw=raw)

        def end() -> None:
            self._node.destroy_subscription(subscription)

        return end

    def announce(self, kind: Any, topic: str, qos: QoSProfile) -> Callable[[Any], None]:
        """Returns what publishes a message on a topic."""
        publish: Callable[[Any], None] = self._node.create_publisher(kind, topic, qos).publish
        return publish

    def run_action(
        self,
        kind: Any,
        name: str,
        goal: Any,
        on_feedback: Callable[[Any], None] = lambda feedback: None,
        *,
        timeout: float,
    ) -> Any:
        """Run a goal to its end and return its result; Ctrl-C cancels it.

        Raises:
            BringupError: nobody serves it, or it takes longer than `timeout` [s]; it is cancelled.
        """
        action = remote_actions(self._node).action(kind, name)
        if not self.wait(action.ready, SERVICE_TIMEOUT):
            raise BringupError(
                f"Nobody offers {action.name} in ROS domain {self.domain}: is the stack up?"
                " 'behavior status' tells"
            )
        sent = action.send(goal, server_timeout=SERVICE_TIMEOUT, on_feedback=on_feedback)
        try:
            if not self.wait(lambda: sent.outcome is not None, timeout):
                raise BringupError(f"{action.name} did not end within {timeout:g} s")
        except BaseException:
            sent.cancel()
            self.wait(lambda: sent.outcome is not None, 2.0)
            raise
        assert sent.outcome is not None
        if sent.outcome.end is End.REJECTED:
            raise BringupError(f"{action.name} takes no goals: is the stack going down?")
        if sent.outcome.result is None:
            raise BringupError(f"{action.name}: {sent.outcome.message}")
        return sent.outcome.result

    @property
    def domain(self) -> int:
        """The ROS domain."""
        return int(self._context.get_domain_id())

    def cancel(self) -> str:
        """Cancel whichever mission runs; returns the executor's words.

        Raises:
            BringupError: the executor refuses.
        """
        answer = self.call(Trigger, "mission/cancel", Trigger.Request())
        if not answer.success:
            raise BringupError(answer.message or "The executor refuses to cancel")
        return str(answer.message)

    def reset(self, *, seed: int, layout: str) -> None:
        """Put the world into a start state.

        Raises:
            BringupError: the simulation refuses.
        """
        request = ResetWorld.Request(seed=seed, layout=layout)
        answer = self.call(ResetWorld, "simulation/reset", request, timeout=RESET_TIMEOUT)
        if answer.code != 0:
            raise BringupError(f"The world cannot be reset: {answer.message}")

    def disturb_later(self, disturbance: Disturbance) -> Any:
        """Ask the simulation to disturb the world; returns the future of its response.

        What shall `fail` must have been met by `meet_faults` before: a request to whom nobody has
        met yet gets lost.
        """
        if disturbance.kind in ("fail", "mend"):
            request = SetBool.Request(data=disturbance.kind == "fail")
            return self.call_later(SetBool, f"{_FAULTS}{disturbance.object}", request)
        return self.call_later(DisturbWorld, "simulation/disturb", disturb_request(disturbance))

    def displace(self, name: str, position: Sequence[float] | None) -> None:
        """Put an object somewhere, out of the gripper too; None: outside the workspace.

        Raises:
            BringupError: the simulation refuses.
        """
        if position is None:
            self._disturb(Disturbance(kind="take_away", object=name, cause=""))
        else:
            place = np.array(position, dtype=float)
            self._disturb(Disturbance(kind="move", object=name, position=place, cause=""))

    def push(self, name: str, impulse: Sequence[float]) -> None:
        """Push an object, or a part of a door, with an impulse [N s].

        Raises:
            BringupError: the simulation refuses.
        """
        what = np.array(impulse, dtype=float)
        self._disturb(Disturbance(kind="push", object=name, impulse=what, cause=""))

    def let_fail(self, part: str, on: bool) -> str:
        """Have a part of the simulated cell fail, or work again; returns the simulation's words.

        Raises:
            UsageError: no such part can fail.
            BringupError: the simulation refuses.
        """
        if not self.wait(lambda: part in self._parts(), SERVICE_TIMEOUT):
            known = ", ".join(self._parts()) or "nothing"
            raise UsageError(f"'{part}' cannot fail in this world; choose from {known}")
        answer = self.call(SetBool, f"{_FAULTS}{part}", SetBool.Request(data=on))
        if not answer.success:
            raise BringupError(f"'{part}' stays as it is: {answer.message}")
        return str(answer.message)

    def meet_faults(self) -> None:
        """Get ready to let parts of the cell fail without waiting.

        Raises:
            BringupError: the simulation does not answer.
        """
        for part in self._parts():
            client = self._client(SetBool, f"{_FAULTS}{part}")
            if not self.wait(client.service_is_ready, SERVICE_TIMEOUT):
                raise BringupError(
                    f"Nobody offers {client.service_name} any more: is the stack up?"
                )

    def _parts(self) -> list[str]:
        """What can fail, as far as it is known yet."""
        services = (name for name, _ in self._node.get_service_names_and_types())
        faults = self._node.resolve_service_name(f"{_FAULTS}part").removesuffix("part")
        return sorted(n.removeprefix(faults) for n in services if n.startswith(faults))

    def _disturb(self, disturbance: Disturbance) -> None:
        request = disturb_request(disturbance)
        answer = self.call(DisturbWorld, "simulation/disturb", request)
        if answer.code != 0:
            kind = UsageError if answer.code in _WRONG_REQUESTS else BringupError
            raise kind(f"'{disturbance.object}' stays where it is: {answer.message}")

    def save_recording(self) -> str:
        """Have the simulation write its recording; returns its words.

        Raises:
            BringupError: it could not.
        """
        answer = self.call(Trigger, "simulation/save_recording", Trigger.Request(), timeout=30.0)
        if not answer.success:
            raise BringupError(f"The recording is not saved: {answer.message}")
        return str(answer.message)

    # -- missions

    def give(self, action: MissionAction) -> str:
        """Publish an order on mission/action; returns the identifier, made where it has none.

        Raises:
            BringupError: nobody listens.
        """
        if not self.wait(lambda: self._publisher.get_subscription_count() > 0, SERVICE_TIMEOUT):
            raise BringupError(
                f"Nobody listens to {self._publisher.topic_name} in ROS domain {self.domain}:"
                " is the stack up? 'behavior status' tells"
            )
        action.action_id = action.action_id or uuid.uuid4().hex[:12]
        self._publisher.publish(action)
        return str(action.action_id)

    def feedback(self, action_id: str) -> MissionFeedback | None:
        """The newest feedback of a mission."""
        return self._feedback.get(action_id)

    def finished(self, action_id: str) -> bool:
        """Whether a mission has ended."""
        feedback = self.feedback(action_id)
        return feedback is not None and feedback.state in TERMINAL_STATES

    # -- readiness

    def missing(self, ready: Readiness) -> list[str]:
        """What is not there yet of what a stack must offer."""
        # Names alone do not tell: a service that only has clients is listed too.
        missing = [x for x in ready.services if not self._node.count_services(x)]
        missing += [
            x for x in ready.actions if not self._node.count_services(f"{x}/_action/send_goal")
        ]
        if ready.objects is not None and not self.scene:
            missing.append(f"objects on {ready.objects}")
        # Before the truth is heard a job would be judged by an empty world.
        if self._hears_truth and self.truth_time < 0.0 and self._node.count_publishers(_TRUTH):
            missing.append(f"objects on {_TRUTH}")
        return missing

    def _subscribe(self) -> None:
        node = self._node
        node.create_subscription(
            MissionFeedback, "mission/feedback", self._take_feedback, QOS_EVENT_LOG
        )
        node.create_subscription(
            SceneObjectArray, "scene/objects", self._scene.take, QOS_LATCHED, raw=True
        )
        node.create_subscription(Metrics, "behavior/metrics", self._take_metrics, QOS_EVENT_LOG)
        if self._clock is not None:
            node.create_subscription(Clock, "/clock", self._take_clock, QoSProfile(depth=1))
        if self._hears_truth:
            node.create_subscription(
                SceneObjectArray, _TRUTH, self._take_truth, QoSProfile(depth=1), raw=True
            )

    def _take_clock(self, message: Clock) -> None:
        self._clock = seconds(message.clock)

    def _take_metrics(self, message: Metrics) -> None:
        self.metrics[message.component] = message

    def _take_feedback(self, message: MissionFeedback) -> None:
        self._feedback[message.action_id] = message

    def _take_truth(self, data: bytes) -> None:
        self._truth.take(data)
        self.truth_time = self._truth.time
        self.on_truth()
