# SPDX-License-Identifier: Apache-2.0
"""Live monitoring by Groot2 and other clients of its protocol. Needs ``behavior_tree[groot2]``."""

from behavior_tree.monitoring.groot2.client import Groot2Client, Snapshot
from behavior_tree.monitoring.groot2.discovery import LiveTree, discover
from behavior_tree.monitoring.groot2.errors import Groot2Error
from behavior_tree.monitoring.groot2.protocol import (
    DEFAULT_PORTS,
    Hook,
    HookMode,
    Position,
    Request,
)
from behavior_tree.monitoring.groot2.publisher import GROOT2_AVAILABLE, Groot2Publisher

__all__ = [
    "DEFAULT_PORTS",
    "GROOT2_AVAILABLE",
    "Groot2Client",
    "Groot2Error",
    "Groot2Publisher",
    "Hook",
    "HookMode",
    "LiveTree",
    "Position",
    "Request",
    "Snapshot",
    "discover",
]
