# SPDX-License-Identifier: Apache-2.0
"""What kind of machine this is, and the ROS domain of a stack."""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Iterable, MutableMapping

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.stacks.description import Environment


def machine_kind() -> Environment:
    """Whether a ROS 2 distribution is here, or only the wheels."""
    return "distribution" if importlib.util.find_spec("launch_ros") else "pip"


def choose_domain(*, taken: Iterable[int] = (), own: bool = False) -> int:
    """The domain that the user set in ROS_DOMAIN_ID, else one that nobody uses.

    Args:
        taken: domains that count as used.
        own: one that nobody uses in any case.

    Raises:
        UsageError: ROS_DOMAIN_ID is no domain.
        BringupError: all domains are used.
    """
    explicit = os.environ.get("ROS_DOMAIN_ID", "")
    if explicit and not own:
        if not explicit.isdigit() or int(explicit) > 232:
            raise UsageError(f"ROS_DOMAIN_ID must be a number of 0 to 232, not '{explicit}'")
        return int(explicit)
    # Importing ROS takes its time, and only commands that start or talk to a stack come here.
    from behavior_ros.process.domains import DOMAINS, used_domains

    used = {*taken, *(used_domains() or ()), *([int(explicit)] if explicit.isdigit() else [])}
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
    from behavior_ros.process.local_transport import match_transport

    if domain is not None:
        environment["ROS_DOMAIN_ID"] = str(domain)
    environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    match_transport(environment)
