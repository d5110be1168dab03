# SPDX-License-Identifier: Apache-2.0
"""Which ROS domains the programs of this machine use, as their UDP ports tell.

Domain d has the ports from 7400 + 250 d on (RTPS 2.5, 9.6.2.3; https://www.omg.org/spec/DDSI-RTPS).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DOMAINS = range(1, 102)
"""Domains whose ports lie below Linux' ephemeral ones; 0 is left to whoever chooses none."""

_PORT_BASE, _PORTS_PER_DOMAIN = 7400, 250
_TABLES = tuple(Path("/proc/net") / name for name in ("udp", "udp6"))


def used_domains() -> set[int] | None:
    """Domains, 0 among them, that some program of this machine uses; None: that is unknown here."""
    tables = [table for table in _TABLES if table.exists()]
    if not tables:
        return None
    lines = (table.read_text(encoding="ascii").splitlines()[1:] for table in tables)
    return domains_of_sockets(line for table in lines for line in table)


def domains_of_sockets(sockets: Iterable[str]) -> set[int]:
    """Domains that ports belong to.

    Args:
        sockets: lines of /proc/net/udp, which hold the local port in hexadecimal.
    """
    domains = set()
    for line in sockets:
        fields = line.split()
        if len(fields) >= 2 and ":" in fields[1]:
            port = int(fields[1].rsplit(":", 1)[1], 16)
            domains.add((port - _PORT_BASE) // _PORTS_PER_DOMAIN)
    return {domain for domain in domains if 0 <= domain <= 232}
