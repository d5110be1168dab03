# SPDX-License-Identifier: Apache-2.0
"""What kind of machine this is, and the ROS domain of a stack."""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Iterable, MutableMapping
from pathlib import Path

from behavior_bringup.description import Environment
from behavior_bringup.errors import BringupError, UsageError

# Domains whose ports lie below Linux' ephemeral ones; 0 is left to whoever chooses none.
DOMAINS = range(1, 102)
_PORT_BASE, _PORTS_PER_DOMAIN = 7400, 250


def machine_kind() -> Environment:
    """Whether a ROS 2 distribution is here, or only the wheels."""
    return "distribution" if importlib.util.find_spec("launch_ros") else "pip"


def used_domains(sockets: Iterable[str]) -> set[int]:
    """ROS domains that programs of this machine use.

    Args:
        sockets: lines of /proc/net/udp, which hold the local port in hexadecimal.
    """
    domains = set()
    for line in sockets:
        fields = line.split()
        if len(fields) < 2 or ":" not in fields[1]:
            continue
        port = int(fields[1].rsplit(":", 1)[1], 16)
        domains.add((port - _PORT_BASE) // _PORTS_PER_DOMAIN)
    return domains & set(DOMAINS)


def choose_domain(*, taken: Iterable[int] = ()) -> int:
    """The domain that the user set in ROS_DOMAIN_ID, else one that nobody uses.

    Raises:
        UsageError: ROS_DOMAIN_ID is no domain.
        BringupError: all domains are used.
    """
    explicit = os.environ.get("ROS_DOMAIN_ID", "")
    if explicit:
        if not explicit.isdigit() or int(explicit) > 232:
            raise UsageError(f"ROS_DOMAIN_ID must be a number of 0 to 232, not '{explicit}'")
        return int(explicit)
    used = set(taken)
    for name in ("udp", "udp6"):
        table = Path("/proc/net") / name
        if table.exists():
            used |= used_domains(table.read_text(encoding="ascii").splitlines()[1:])
    free = [domain for domain in DOMAINS if domain not in used]
    if not free:
        raise BringupError("All ROS domains of this machine are used: set ROS_DOMAIN_ID yourself")
    # Random, so that two stacks that start at the same moment seldom meet.
    return random.choice(free)


def enter_domain(domain: int | None, environment: MutableMapping[str, str] = os.environ) -> None:
    """Let this process and its children work in a ROS domain, on this machine only by default.

    Args:
        domain: None leaves it as it is.
        environment: of the process; another one for a child.
    """
    # Importing ROS takes its time, and only commands that talk to a stack come here.
    from behavior_ros.local_transport import match_transport

    if domain is not None:
        environment["ROS_DOMAIN_ID"] = str(domain)
    environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    match_transport(environment)
