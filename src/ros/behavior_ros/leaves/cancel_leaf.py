# SPDX-License-Identifier: Apache-2.0
"""Tree leaf that cancels what an action's server is doing, whoever has asked for it."""

from __future__ import annotations

from typing import Any

from action_msgs.srv import CancelGoal

from behavior_ros.leaves.interface_ports import InputPorts, OutputPorts
from behavior_ros.leaves.leaf_hub import LeafHub
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.leaves.service_leaf import ServiceLeaf
from behavior_ros.messages.interfaces import Section, load_interface


class CancelLeaf(ServiceLeaf):
    """Cancels all goals of an action; derive with :func:`cancel_leaf`.

    SUCCESS as soon as the server has answered, whether there were goals or not; they may still be
    braking then.
    """

    def client_of(self, name: str) -> Any:
        """Return the client of the service by which goals of the action are cancelled."""
        return cancel_client(self.hub, name)


def cancel_client(hub: LeafHub, action: str) -> Any:
    """The client of the service by which an action's goals are cancelled."""
    return hub.service_client(CancelGoal, f"{action}/_action/cancel_goal")


def cancel_leaf(hub: LeafHub, model: NodeModel) -> type[CancelLeaf]:
    """Return the leaf class that cancels an action's goals."""
    action_type, _ = load_interface(model.type, "action")
    # A request without goal and time means all goals.
    return type(
        model.node,
        (CancelLeaf,),
        {
            "__doc__": f"Cancels all goals of action {model.name} ({model.type}).",
            "hub": hub,
            "model": model,
            "interface": action_type,
            "client": cancel_client(hub, model.name),
            "request_ports": InputPorts(Section(CancelGoal.Request, ()), "request", {}),
            "response_ports": OutputPorts(Section(CancelGoal.Response, ()), "response", set()),
        },
    )
