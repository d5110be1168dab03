# SPDX-License-Identifier: Apache-2.0
"""Health of a component on ``/diagnostics`` (REP-107), once per second."""

from __future__ import annotations

import threading
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

OK: bytes = DiagnosticStatus.OK
WARN: bytes = DiagnosticStatus.WARN
ERROR: bytes = DiagnosticStatus.ERROR
STALE: bytes = DiagnosticStatus.STALE


class DiagnosticsPublisher:
    """Publish the state of one component: at 1 Hz, and at once when the level changes.

    Args:
        node: publishes; its name, with its namespace if it has one, prefixes the component's
        name: of the component, like "controller" or "scene"
        hardware_id: of the device behind it, if any

    The period counts wall time, so that health is reported although simulated time stands still.
    """

    def __init__(self, node: Node, name: str, hardware_id: str = "") -> None:
        self._node = node
        self._lock = threading.Lock()
        who = node.get_fully_qualified_name().removeprefix("/")
        self._status = DiagnosticStatus(name=f"{who}: {name}", hardware_id=hardware_id, level=STALE)
        self._status.message = "no report yet"
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._timer = node.create_timer(
            1.0, self.publish, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def set(self, level: bytes, message: str, **values: Any) -> None:
        """Replace the state: a level, a sentence, and figures by name. Any thread may call it."""
        pairs = [KeyValue(key=key, value=_text(value)) for key, value in values.items()]
        with self._lock:
            changed = level != self._status.level
            self._status.level = level
            self._status.message = message
            self._status.values = pairs
        if changed:
            self.publish()

    def publish(self) -> None:
        """Publish the state now."""
        array = DiagnosticArray()
        array.header.stamp = self._node.get_clock().now().to_msg()
        with self._lock:
            array.status = [self._status]
            self._publisher.publish(array)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
