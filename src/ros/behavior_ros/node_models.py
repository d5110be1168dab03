# SPDX-License-Identifier: Apache-2.0
"""Which tree nodes are made from which ROS interfaces: the entries of a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class NodeModel:
    """One tree node made from an interface."""

    node: str
    """Name of the tree node, as in XML."""
    kind: str
    """action, service, publisher or subscriber."""
    name: str
    """Name of the action, service or topic."""
    type: str
    """Interface type, like behavior_msgs/action/Pick."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Values of input ports that the interface's own defaults do not suit."""
    timeout: float | None = None
    """[s] node time after which the leaf fails; None: never."""
    server_timeout: float = 3.0
    """[s] wall time without a sign of life after which the server counts as lost."""


def load_node_models(source: str | Path | Mapping[str, Any]) -> list[NodeModel]:
    """Return the models of a YAML file or of its contents."""
    raise NotImplementedError
