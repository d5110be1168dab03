# SPDX-License-Identifier: Apache-2.0
"""`Instant`: an action that is done at once, or with ``compat="cortex"`` a tick later."""

from __future__ import annotations

from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.ports import ports_list
from behavior_tree.kernel.leaf import StatefulActionNode
from behavior_tree.kernel.node import RUNNING, SUCCESS, NodeConfig
from behavior_tree.nodes.decider.modes import Compat, compat_port


class Instant(StatefulActionNode):
    """Acts in its first tick. The states of the reference take another tick to end."""

    ports = ports_list(compat_port())

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config)
        self.context = context

    def act(self) -> None:
        """What is done."""
        raise NotImplementedError

    def on_start(self) -> NodeStatus:
        self.act()
        return RUNNING if self.get_input("compat") == Compat.cortex else SUCCESS

    def on_running(self) -> NodeStatus:
        return SUCCESS

    def save_state(self) -> Any:
        return {}  # what was done is done
