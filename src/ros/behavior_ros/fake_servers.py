# SPDX-License-Identifier: Apache-2.0
"""Fake servers for tests: any action, service or topic, made from its type.

What they do is written as the outcomes of leaves are (`behavior_tree.testing`), in Python::

    servers = FakeServers(node)
    pick = servers.action("/pick", "behavior_msgs/action/Pick", ["FAILURE", {"after": 0.5}])
    servers.service("/lamp", "std_srvs/srv/SetBool", {"outputs": {"message": "on"}})
    servers.topic("/door", "std_msgs/msg/Bool", {"data": True})
    ...
    assert pick.requests[0].object_name == "cup"

or in YAML, also in a case file beside a tree, under the key ``servers``::

    servers:
      /pick: {action: behavior_msgs/action/Pick, outcomes: [FAILURE, {after: 0.5}]}
      /lamp: {service: std_srvs/srv/SetBool}
      /door: {topic: std_msgs/msg/Bool, values: {data: true}, every: 0.1}

RUNNING is never answered; an action ends when it is cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from behavior_ros.messages.field_values import message_from_mapping
from behavior_ros.messages.interfaces import InterfaceError, load_interface
from behavior_tree import NodeStatus, TestNodeConfig
from behavior_tree.testing import Part, Turns, read_rules, read_yaml

_KINDS = ("action", "service", "topic")


class FakeServer:
    """What a fake action or service was asked, and what it does next."""

    def __init__(self, name: str, outcomes: Any, part: Part, clock: Callable[[], float]) -> None:
        self.name = name
        self.requests: list[Any] = []
        """Goals or requests, in order."""
        self.cancels = 0
        """Goals that ended because they were cancelled."""
        self._part = part
        self._clock = clock
        self.outcomes = outcomes

    @property
    def outcomes(self) -> Any:
        """As written; setting them begins with the first."""
        return self._outcomes

    @outcomes.setter
    def outcomes(self, outcomes: Any) -> None:
        self._outcomes = outcomes
        given = self._part.part("outcomes", {self.name: outcomes})
        (rule,) = read_rules(given)
        for outcome in rule.outcomes:
            does = outcome.does
            script = does.return_status_script or does.post_script or does.exception
            if script or does.return_status is NodeStatus.SKIPPED:
                rule.part.fail(
                    "a server neither skips nor runs scripts",
                    "write status, after, outputs, reason, times or until",
                )
        self._turns = Turns(rule.outcomes, self._clock, set())

    def take(self, request: Any) -> TestNodeConfig:
        """Note a request; what is to be done about it."""
        self.requests.append(request)
        return self._turns.next()

    def answer(self, message: Any, does: TestNodeConfig) -> Any:
        """An answer of this type that says what came of it."""
        values: dict[str, Any] = dict(does.outputs)
        fields = message.get_fields_and_field_types()
        failed = does.return_status is NodeStatus.FAILURE
        if fields.get("success") == "boolean":
            values.setdefault("success", not failed)
        if failed and fields.get("message") == "string" and does.reason:
            values.setdefault("message", does.reason)
        if failed and fields.get("code", "").startswith(("uint", "int")):
            values.setdefault("code", 1)
        try:
            return message_from_mapping(message, values)
        except ValueError as error:
            return self._part.fail(str(error), "write fields of the answer as 'outputs'")


class FakeTopic:
    """Publishes a message again and again."""

    def __init__(self, node: Node, name: str, kind: Any, values: Any, every: float) -> None:
        self._kind = kind
        self.values = values
        """Fields of the message; may be changed at any time."""
        message_from_mapping(kind, values)  # what does not fit is told now
        self._publisher = node.create_publisher(kind, name, 10)
        self._timer = node.create_timer(every, self.publish)

    def publish(self) -> None:
        """Publish it now."""
        self._publisher.publish(message_from_mapping(self._kind, self.values))


class FakeServers:
    """Fakes on one node, which somebody spins. Make them in the executor's thread, or before.

    Args:
        node: on whose clock time passes
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._group = ReentrantCallbackGroup()
        self.by_name: dict[str, FakeServer | FakeTopic] = {}

    def read(self, source: str | Path | Mapping[str, Any]) -> None:
        """Make what a YAML file or mapping says under ``servers``.

        Raises:
            LoadError: what is wrong in it, with file and line
        """
        whole = Part(source, "") if isinstance(source, Mapping) else read_yaml(Path(source))
        everything = whole.mapping()
        if "servers" not in everything:
            whole.fail("has no servers", "write 'servers: {NAME: {action: TYPE}}'")
        for name, part in everything["servers"].mapping().items():
            keys = part.mapping((*_KINDS, "outcomes", "values", "every"))
            kinds = [kind for kind in _KINDS if kind in keys]
            if len(kinds) != 1:
                part.fail(f"says {len(kinds)} types", f"write one of {', '.join(_KINDS)}: TYPE")
            self._make(name, kinds[0], keys, part)

    def _make(self, name: str, kind: str, keys: dict[str, Part], part: Part) -> None:
        type_name = keys[kind].text()
        if kind == "topic":
            every = keys["every"].number(0.001) if "every" in keys else 0.1
            values = keys["values"].value if "values" in keys else {}
            self.topic(name, type_name, values, every, part=part)
            return
        outcomes = keys["outcomes"].value if "outcomes" in keys else "SUCCESS"
        make = self.action if kind == "action" else self.service
        make(name, type_name, outcomes, part=keys.get("outcomes", part))

    def action(
        self, name: str, type_name: str, outcomes: Any = "SUCCESS", *, part: Part | None = None
    ) -> FakeServer:
        """Serve an action, such as ``behavior_msgs/action/Pick``."""
        server = self._server(name, outcomes, part)
        kind = _load(type_name, "action", part)

        async def execute(goal: Any) -> Any:
            does = server.take(goal.request)
            await self._passes(does, goal)
            if goal.is_cancel_requested:
                server.cancels += 1
                goal.canceled()
            elif does.return_status is NodeStatus.FAILURE:
                goal.abort()
            else:
                goal.succeed()
            return server.answer(kind.Result, does)

        ActionServer(
            self._node,
            kind,
            name,
            execute,
            callback_group=self._group,
            cancel_callback=lambda _goal: CancelResponse.ACCEPT,
        )
        return server

    def service(
        self, name: str, type_name: str, outcomes: Any = "SUCCESS", *, part: Part | None = None
    ) -> FakeServer:
        """Serve a service, such as ``std_srvs/srv/SetBool``."""
        server = self._server(name, outcomes, part)
        kind = _load(type_name, "srv", part)

        async def answer(request: Any, _response: Any) -> Any:
            does = server.take(request)
            await self._passes(does)
            return server.answer(kind.Response, does)

        self._node.create_service(kind, name, answer, callback_group=self._group)
        return server

    def topic(
        self,
        name: str,
        type_name: str,
        values: Mapping[str, Any],
        every: float = 0.1,
        *,
        part: Part | None = None,
    ) -> FakeTopic:
        """Publish a message of a type, such as ``std_msgs/msg/Bool``, every so many seconds."""
        given = part or Part(values, name)
        kind = _load(type_name, "msg", part)
        try:
            made = self.by_name[name] = FakeTopic(self._node, name, kind, values, every)
        except ValueError as error:
            given.fail(str(error), "write fields of the message as 'values'")
        return made

    def _server(self, name: str, outcomes: Any, part: Part | None) -> FakeServer:
        given = part or Part(outcomes, name)
        made = self.by_name[name] = FakeServer(name, outcomes, given, self._seconds)
        return made

    def _seconds(self) -> float:
        return float(self._node.get_clock().now().nanoseconds) * 1e-9

    async def _passes(self, does: TestNodeConfig, goal: Any = None) -> None:
        """Let the time pass that an attempt takes; less if it is cancelled."""
        forever = does.return_status is NodeStatus.RUNNING
        until = None if forever else self._seconds() + does.async_delay
        while until is None or self._seconds() < until:
            if goal is not None and goal.is_cancel_requested:
                return
            await self._moment()

    async def _moment(self) -> None:
        passed: Future = Future()
        timer = self._node.create_timer(0.01, lambda: passed.set_result(None))
        await passed
        self._node.destroy_timer(timer)


def _load(type_name: str, kind: str, part: Part | None) -> Any:
    try:
        return load_interface(type_name, kind)[0]
    except InterfaceError as error:
        return (part or Part(type_name, type_name)).fail(str(error), "write PACKAGE/KIND/Type")
