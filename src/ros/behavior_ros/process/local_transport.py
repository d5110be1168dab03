# SPDX-License-Identifier: Apache-2.0
"""Keeps DDS on this machine when nobody asked for more.

A discovery range of LOCALHOST says whom a participant looks for, not who may talk to it: its
sockets listen on every interface, and a machine that names this one in `ROS_STATIC_PEERS` is
answered. A profile binds them to the loopback interface. It is a profile of Fast DDS, which reads
it when the first participant is made; other middlewares have settings of their own
(docs/security.md).
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

PROFILE = Path(__file__).resolve().parents[1] / "fastdds_loopback.xml"
"""The Fast DDS profile that binds to the loopback interface."""

_VARIABLES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
"""By which Fast DDS 2 and Fast DDS 3 find their profile."""


def is_local(environment: MutableMapping[str, str] = os.environ) -> bool:
    """Whether the user keeps ROS on this machine: by the discovery range, and without peers."""
    local = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") in ("LOCALHOST", "OFF")
    return local and not environment.get("ROS_STATIC_PEERS", "")


def match_transport(environment: MutableMapping[str, str] = os.environ) -> None:
    """Bind DDS to the loopback interface if ROS stays on this machine, and only then.

    Call it before the first participant is made. A profile of the user's own is left alone.
    """
    for name in _VARIABLES:
        chosen = environment.get(name, "")
        if chosen and Path(chosen).name != PROFILE.name:
            continue
        if is_local(environment) and not _own_profile(environment):
            environment[name] = str(PROFILE)
        else:
            environment.pop(name, None)


def _own_profile(environment: MutableMapping[str, str]) -> bool:
    chosen = (environment.get(name, "") for name in _VARIABLES)
    return any(file and Path(file).name != PROFILE.name for file in chosen)
