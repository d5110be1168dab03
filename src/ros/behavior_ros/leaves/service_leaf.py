# SPDX-License-Identifier: Apache-2.0
"""Tree leaf of a service."""

from __future__ import annotations

from typing import Any, ClassVar

from behavior_ros.actions.result_cause import reported, result_code
from behavior_ros.actions.server_watch import server_lost
from behavior_ros.leaves.interface_ports import InputPorts, OutputPorts
from behavior_ros.leaves.leaf_hub import LeafHub
from behavior_ros.leaves.node_models import NodeModel
from behavior_ros.leaves.server_leaf import ServerLeaf
from behavior_ros.messages.field_values import mismatch
from behavior_ros.messages.interfaces import (
    check_condition,
    inlined,
    load_interface,
    with_ports,
)
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import Cause, CauseKind, NodeStatus

_LOOK = 0.2
"""[s] wall time between two looks at whether the server is there."""
_DEFAULT_TIMEOUT = 10.0
"""[s] node time for an answer where the model says nothing: services are for short work."""


class ServiceLeaf(ServerLeaf):
    """Calls a service; derive with :func:`service_leaf`.

    SUCCESS if the response's ``code`` is 0; without such a field, if its ``success`` is true;
    without that too, if it came; in any case only if it is as the model's condition wants it.
    Otherwise FAILURE, with the response's ``message`` as reason.
    """

    client: Any
    request_ports: ClassVar[InputPorts]
    response_ports: ClassVar[OutputPorts]

    @classmethod
    def port_groups(cls) -> tuple[InputPorts | OutputPorts, ...]:
        """Return those of request and response."""
        return cls.request_ports, cls.response_ports

    def on_start(self) -> NodeStatus:
        """Read the request, and send it if the server is there."""
        self._future: Any = None
        self._passed = Elapsed(self.hub.now)
        self._seen = self._looked = self.hub.wall()
        try:
            self._request = self.request_ports.read(self)
            if self.model.naming_port:
                self.model = self._named()
                self.client = self.client_of(self.model.name)
        except (ValueError, RuntimeError) as error:
            return self._fail(Cause(CauseKind.INVALID_INPUT, str(error)))
        if self.client.service_is_ready():
            self._call()
        return NodeStatus.RUNNING

    def client_of(self, name: str) -> Any:
        """Return the client that asks the server of this name."""
        return self.hub.service_client(self.interface, name)

    def _call(self) -> None:
        self._future = self.client.call_async(self._request)
        self._future.add_done_callback(lambda future: self.emit_wake_up())

    def on_running(self) -> NodeStatus:
        """See whether the response is there, or the server is not."""
        if self._future is not None and self._future.done():
            return self._end(self._future.result())
        name = self.client.service_name
        timeout = self.model.timeout or _DEFAULT_TIMEOUT
        if self._passed() > timeout:
            sentence = f"service {name} did not answer within {timeout:g} s"
            return self._fail(Cause(CauseKind.TIMED_OUT, sentence))
        wall = self.hub.wall()
        if wall - self._looked >= _LOOK:
            self._looked = wall
            if self.client.service_is_ready():
                self._seen = wall
                if self._future is None:
                    self._call()
            elif wall - self._seen > self.model.server_timeout:
                if self._future is None:
                    sentence = f"no server of service {name}"
                    return self._fail(Cause(CauseKind.SERVER_LOST, sentence, remedy="start it"))
                return self._fail(server_lost(f"service {name} is not there any more"))
        return NodeStatus.RUNNING

    def on_halted(self) -> None:
        """Forget the call; a service cannot be cancelled."""
        self._abandon()

    def _end(self, response: Any) -> NodeStatus:
        self.response_ports.write(self, response)
        name = self.client.service_name
        if result_code(response) != 0 or not getattr(response, "success", True):
            return self._fail(reported(response, otherwise=f"service {name} refused"))
        if fault := mismatch(response, self.model.condition, f"the response of {name}"):
            return self._fail(Cause(CauseKind.REPORTED, fault))
        return NodeStatus.SUCCESS

    def _abandon(self) -> None:
        future, self._future = self._future, None
        if future is not None and not future.done():
            self.client.remove_pending_request(future)


def service_leaf(hub: LeafHub, model: NodeModel) -> type[ServiceLeaf]:
    """Return the leaf class of a service."""
    service_type, sections = load_interface(model.type, "srv")
    request, response = with_ports(inlined(sections, model.inline), model.ports)
    check_condition(response, model.condition)
    request_ports = InputPorts(request, "request", model.defaults, model.required)
    return type(
        model.node,
        (ServiceLeaf,),
        {
            "__doc__": f"Calls service {model.name} ({model.type}).",
            "hub": hub,
            "model": model,
            "interface": service_type,
            "client": hub.service_client(service_type, model.name),
            "request_ports": request_ports,
            "response_ports": OutputPorts(response, "response", request_ports.names()),
        },
    )
