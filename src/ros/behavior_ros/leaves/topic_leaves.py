# SPDX-License-Identifier: Apache-2.0
"""Tree leaves of topics: publish a message, look at the newest one, wait for one."""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from behavior_ros.leaves.interface_ports import InputPorts, OutputPorts
from behavior_ros.leaves.leaf_hub import LeafHub
from behavior_ros.leaves.needs import Need
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.messages.field_values import mismatch
from behavior_ros.messages.interfaces import check_condition, inlined, load_interface
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    ConditionNode,
    NodeStatus,
    StatefulActionNode,
    SyncActionNode,
    TreeNode,
)


class PublisherLeaf(SyncActionNode):
    """Publishes one message per tick; derive with :func:`publisher_leaf`.

    A header without a stamp gets the node's time.
    """

    hub: ClassVar[LeafHub]
    publisher: ClassVar[Any]
    fields: ClassVar[InputPorts]

    def tick(self) -> NodeStatus:
        """Publish."""
        self.set_failure_reason("")
        try:
            message = self.fields.read(self)
        except (ValueError, RuntimeError) as error:
            self.set_failure_reason(str(error))
            return NodeStatus.FAILURE
        stamp = getattr(getattr(message, "header", None), "stamp", None)
        if stamp is not None and stamp.sec == 0 and stamp.nanosec == 0:
            message.header.stamp = self.hub.node.get_clock().now().to_msg()
        self.publisher.publish(message)
        return NodeStatus.SUCCESS


class Subscription:
    """The newest message of a topic, and whether it is what is asked for.

    A message that changes the answer that a leaf was given wakes its tree.

    Args:
        hub: subscribes through its node
        model: says topic, type, greatest age and condition
    """

    def __init__(self, hub: LeafHub, model: NodeModel) -> None:
        message_type, sections = load_interface(model.type, "msg")
        (section,) = inlined(sections, model.inline)
        check_condition(section, model.condition)
        self.fields = OutputPorts(section, "message", set())
        self._hub, self._type, self._model = hub, message_type, model
        self._answers: WeakKeyDictionary[TreeNode, bool] = WeakKeyDictionary()
        """Whether a message was as asked for when these leaves looked last."""
        self._cache = hub.message_cache(message_type, model.name, latched=model.latched)
        if self._cache is not None:  # there is none where classes are made for their ports only
            self._cache.add_callback(self._receive)

    def needs(self) -> list[Need]:
        """Return the need of somebody who publishes."""
        return self._hub.needs(self._model, self._type)

    def _receive(self, message: Any) -> None:
        if self._answers:
            good = self._fault() is None
            for node in [node for node, answer in self._answers.items() if answer is not good]:
                del self._answers[node]
                node.emit_wake_up()

    def problem(self, node: TreeNode) -> str | None:
        """Write a fresh message to the ports; return what is wrong with it, None if nothing is."""
        fault = self._fault()
        self._answers[node] = fault is None
        message = self._cache.newest()
        if message is not None and self._cache.age() <= self._model.max_age:
            self.fields.write(node, message)
        return fault

    def _fault(self) -> str | None:
        """What is wrong with the newest message, None if nothing is."""
        name = self._cache.topic
        message = self._cache.newest()
        if message is None:
            return f"no message on {name} yet: check that its publisher runs"
        age, limit = self._cache.age(), self._model.max_age
        if age > limit:
            return f"the newest message on {name} is {age:.2f} s old, more than {limit:g} s"
        return mismatch(message, self._model.condition, name)


class NewestMessageLeaf(ConditionNode):
    """Looks at the newest message of a topic; derive with :func:`subscriber_leaf`.

    SUCCESS if there is one, fresh and as the condition wants it. FAILURE otherwise.
    """

    subscription: ClassVar[Subscription]

    def ros_needs(self) -> list[Need]:
        """Return the need of somebody who publishes."""
        return self.subscription.needs()

    def tick(self) -> NodeStatus:
        """Look."""
        problem = self.subscription.problem(self)
        self.set_failure_reason(problem or "")
        return NodeStatus.SUCCESS if problem is None else NodeStatus.FAILURE


class WaitForMessageLeaf(StatefulActionNode):
    """Waits for a message; derive with :func:`subscriber_leaf`.

    SUCCESS as soon as there is one, fresh and as the condition wants it. FAILURE when the time is
    over.
    """

    hub: ClassVar[LeafHub]
    subscription: ClassVar[Subscription]
    timeout: ClassVar[float]

    def ros_needs(self) -> list[Need]:
        """Return the need of somebody who publishes."""
        return self.subscription.needs()

    def on_start(self) -> NodeStatus:
        """Begin to wait."""
        self._passed = Elapsed(self.hub.now)
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Look."""
        problem = self.subscription.problem(self)
        if problem is None:
            return NodeStatus.SUCCESS
        if self._passed() <= self.timeout:
            return NodeStatus.RUNNING
        self.set_failure_reason(f"waited {self.timeout:g} s: {problem}")
        return NodeStatus.FAILURE


def publisher_leaf(hub: LeafHub, model: NodeModel) -> type[PublisherLeaf]:
    """Return the leaf class of a topic to publish on."""
    message_type, sections = load_interface(model.type, "msg")
    (section,) = inlined(sections, model.inline)
    fields = InputPorts(section, "message", model.defaults, model.required)
    return type(
        model.node,
        (PublisherLeaf,),
        {
            "__doc__": f"Publishes on {model.name} ({model.type}).",
            "hub": hub,
            "publisher": hub.publisher(message_type, model.name, latched=model.latched),
            "fields": fields,
            "ports": fields.infos(),
        },
    )


def subscriber_leaf(hub: LeafHub, model: NodeModel) -> type[TreeNode]:
    """Return the leaf class of a topic to look at, or to wait for if the model has a timeout."""
    subscription = Subscription(hub, model)
    contents: dict[str, Any] = {
        "hub": hub,
        "subscription": subscription,
        "ports": subscription.fields.infos(),
    }
    if model.timeout is None:
        contents["__doc__"] = f"Looks at the newest message of {model.name} ({model.type})."
        return type(model.node, (NewestMessageLeaf,), contents)
    contents["__doc__"] = f"Waits for a message of {model.name} ({model.type})."
    contents["timeout"] = model.timeout
    return type(model.node, (WaitForMessageLeaf,), contents)
