# SPDX-License-Identifier: Apache-2.0
"""Sets parameters of detector nodes through their `set_parameters` services, without waiting.

The definition is a mapping from nodes to parameters, under `detectors` or alone::

    detectors:
      camera_detector: {enabled: true, classes: {cup: {confidence: 0.3}}}
    exclusive: true     # disable all other nodes of the scene's parameter `detectors`

Names are as in ROS: one with a slash before it says all, another counts from the namespace of the
scene's node. Values that are mappings are sent as YAML text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter

from behavior_ros.messages.sent_text import SentTextError, read_yaml, shown
from behavior_scene.request_checks import MOST_NAMES

_NODE_NAME = re.compile(r"/?[A-Za-z_]\w{0,99}(/[A-Za-z_]\w{0,99}){0,3}/?", re.ASCII)


class DetectorDefinitionError(ValueError):
    """The definition cannot be used; the message says why."""


def wanted_parameters(
    text: str, known: Sequence[str], namespace: str = "/"
) -> dict[str, dict[str, Any]]:
    """Parameters by node; raises `DetectorDefinitionError`.

    Args:
        text: YAML, see the module's text.
        known: nodes that `exclusive` disables where they are not named.
        namespace: that names without a slash before them count from.
    """
    try:
        data = read_yaml(text, "definition")
    except SentTextError as error:
        raise DetectorDefinitionError(str(error)) from error
    if not isinstance(data, Mapping) or not data:
        raise DetectorDefinitionError(
            f"definition: write a mapping from detector nodes to parameters, not {shown(data)}"
        )
    rest = {key: value for key, value in data.items() if key != "exclusive"}
    nodes = rest.pop("detectors") if set(rest) == {"detectors"} else rest
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    """Names as they are written, and parameters, by full name: one node may be written twice."""

    def want(name: str, parameters: dict[str, Any]) -> None:
        whole = name if name.startswith("/") else f"{namespace.rstrip('/')}/{name}"
        found[whole.rstrip("/")] = (name.rstrip("/"), parameters)

    if data.get("exclusive", False):
        for name in known:
            want(name, {"enabled": False})
    if not isinstance(nodes or {}, Mapping) or len(nodes or {}) > MOST_NAMES:
        raise DetectorDefinitionError(
            f"definition: detectors: write a mapping from at most {MOST_NAMES} nodes to parameters"
        )
    for name, parameters in (nodes or {}).items():
        if not isinstance(name, str) or not isinstance(parameters, Mapping) or not parameters:
            raise DetectorDefinitionError(
                f"definition: detector {shown(name)}: write a mapping from parameters to "
                f"values, such as {{enabled: true}}, not {shown(parameters)}"
            )
        if not _NODE_NAME.fullmatch(name):
            raise DetectorDefinitionError(
                f"definition: {shown(name)} cannot be the name of a node: write letters, digits, "
                "underscores, and slashes between them"
            )
        want(name, {str(key): value for key, value in parameters.items()})
    if not found:
        raise DetectorDefinitionError("definition: no detector is named")
    return dict(found.values())


class DetectorConfiguration:
    """One configuration under way; an `Operation`."""

    def __init__(
        self, node: Node, wanted: Mapping[str, Mapping[str, Any]], on_answer: Callable[[], None]
    ) -> None:
        """Begin.

        Args:
            node: asks.
            wanted: parameters by node.
            on_answer: called after each answer.

        Raises:
            DetectorDefinitionError: a value that no parameter can have.
        """
        self.names: Sequence[str] = ()
        self.refused: dict[str, str] = {}
        """Detectors that refused a parameter, and why."""
        self._node, self._on_answer = node, on_answer
        self._requests = {name: _request(name, values) for name, values in wanted.items()}
        self._clients = {
            name: node.create_client(SetParameters, f"{name}/set_parameters") for name in wanted
        }
        self._pending = {
            name: f"no node {node.resolve_service_name(name)} is there" for name in wanted
        }
        self._sent: set[str] = set()

    @property
    def pending(self) -> Mapping[str, str]:
        """Detectors that have not answered yet."""
        return self._pending

    def poll(self, now: float) -> None:
        """Ask the nodes that are there and were not asked yet."""
        for name, client in self._clients.items():
            if name not in self._sent and client.service_is_ready():
                self._sent.add(name)
                self._pending[name] = "no answer yet"
                future = client.call_async(self._requests[name])
                future.add_done_callback(lambda done, name=name: self._answered(name, done))

    def close(self) -> None:
        """Forget the services."""
        for client in self._clients.values():
            self._node.destroy_client(client)
        self._clients = {}

    def _answered(self, name: str, future: Any) -> None:
        results = future.result().results
        reasons = [result.reason for result in results if not result.successful]
        if reasons:
            self.refused[name] = "; ".join(reasons)
        self._pending.pop(name, None)
        self._on_answer()


def _request(name: str, values: Mapping[str, Any]) -> SetParameters.Request:
    parameters = []
    for key, value in values.items():
        plain = yaml.safe_dump(value) if isinstance(value, Mapping) else value
        try:
            parameters.append(Parameter(key, value=plain).to_parameter_msg())
        except (TypeError, ValueError, AssertionError) as error:
            raise DetectorDefinitionError(
                f"definition: detector {name!r}: {shown(key)}: {shown(value)} is no value of a "
                "parameter"
            ) from error
    return SetParameters.Request(parameters=parameters)
