# SPDX-License-Identifier: Apache-2.0
"""What the nodes of the navigation world share: one process, one clockwork, one lock.

The clockwork steps in a thread; its events reach the nodes there. What a callback of a node wants
of the system it does under the lock.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node

from behavior_ros import TransformBroadcaster, register_companion
from behavior_sim.navigation.system import NavigationSystem


@dataclass(frozen=True, kw_only=True)
class Host:
    """What the simulation lends to the nodes of its process."""

    node: Node
    """Of the simulation."""
    system: NavigationSystem
    lock: threading.RLock
    """Held while the system is touched."""
    transforms: TransformBroadcaster
    _waiting: list[TransformStamped] = field(default_factory=list)

    @property
    def now(self) -> float:
        """[s] of simulated time."""
        return self.system.now

    def send(self, *transforms: TransformStamped) -> None:
        """Have transforms published with the next odometry: few messages cost readers less."""
        self._waiting.extend(transforms)

    def flush(self) -> None:
        """Publish all transforms that wait."""
        self.transforms.send(self._waiting)
        self._waiting.clear()


def node_options(host: Host) -> dict[str, Any]:
    """Options that the nodes are made with: each is light, since there are many in one process."""
    return {
        "context": host.node.context,
        "namespace": host.node.get_namespace(),
        "start_parameter_services": False,
    }


class WorldNode(Node):  # type: ignore[misc] # rclpy has no type information
    """A node of the simulation's process."""

    def __init__(self, name: str, host: Host) -> None:
        super().__init__(name, **node_options(host))
        self.host = host
        register_companion(host.node, self)


class EntityNode(LifecycleNode):  # type: ignore[misc]
    """A module that is switched on and off by lifecycle transitions; it starts switched on."""

    def __init__(self, name: str, host: Host) -> None:
        super().__init__(name, **node_options(host))
        self.host = host
        register_companion(host.node, self)

    def start(self, active: bool) -> None:
        """Configure, and activate if wanted; to be called when the node is made."""
        self.trigger_configure()
        if active:
            self.trigger_activate()
        else:
            self._switch(False)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the module work; it begins anew."""
        self._switch(True)
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the module rest."""
        self._switch(False)
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the module rest."""
        self._switch(False)
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the module rest."""
        self._switch(False)
        return super().on_shutdown(state)

    def _switch(self, on: bool) -> None:
        with self.host.lock:
            self.host.system.switch(self.get_name(), on)
