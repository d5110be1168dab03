# SPDX-License-Identifier: Apache-2.0
"""What the leaves of actions and of services share: ports, the server's name, what they need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from behavior_ros.leaves.interface_ports import InputPorts, OutputPorts
from behavior_ros.leaves.leaf_hub import LeafHub
from behavior_ros.leaves.needs import Need
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.messages.interfaces import InterfaceError
from behavior_tree import Cause, InputPort, NodeStatus, PortInfo, StatefulActionNode


class ServerLeaf(StatefulActionNode):
    """A leaf that asks one server, which the model names, or with it a port that gives the name
    (`NodeModel.name_port`) or its namespace (`NodeModel.namespace_port`).
    """

    hub: ClassVar[LeafHub]
    model: NodeModel
    interface: ClassVar[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check the names of ports that are no field's; raises `InterfaceError`."""
        super().__init_subclass__(**kwargs)
        if "model" not in vars(cls):
            return
        own = dict.fromkeys(cls.model.unused, "unused")
        own |= {cls.model.name_port: "name_port", cls.model.namespace_port: "namespace_port"}
        for name in own.keys() & cls._fields().keys():
            raise InterfaceError(f"{own[name]}: {name} is a port of a field already")

    @classmethod
    def port_groups(cls) -> tuple[InputPorts | OutputPorts, ...]:
        """The ports of each section of the interface."""
        raise NotImplementedError

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Return one port per field of the interface, that which names the server, and those that
        nobody reads.
        """
        model, ports = cls.model, cls._fields()
        if model.name_port:
            text = f"{model.kind} that is asked; empty: {model.name}"
            ports[model.name_port] = InputPort(model.name_port, str, "", text)
        elif model.namespace_port:
            text = f"part of the robot that is asked, PART/{model.name}; empty: {model.name}"
            ports[model.namespace_port] = InputPort(model.namespace_port, str, "", text)
        return ports | {
            name: InputPort(name, Any, None, "means nothing here") for name in model.unused
        }

    @classmethod
    def _fields(cls) -> dict[str, PortInfo]:
        return {name: info for group in cls.port_groups() for name, info in group.infos().items()}

    def ros_needs(self) -> list[Need]:
        """Return the need of the server, if its name is known before the tree is ticked."""
        if (port := self.model.naming_port) and not self.is_literal(port):
            return []
        return self.hub.needs(self._named(), self.interface)

    def _named(self) -> NodeModel:
        """The model with the name that the port gives now."""
        model = type(self).model
        name = self.get_input(model.naming_port) if model.naming_port else ""
        if name and model.namespace_port:
            name = f"{name}/{model.name}"
        return replace(model, name=name) if name else model

    def _fail(self, reason: Cause) -> NodeStatus:
        self._abandon()
        self.set_failure_reason(reason)
        return NodeStatus.FAILURE

    def _abandon(self) -> None:
        """Let go of what is asked for."""
        raise NotImplementedError
