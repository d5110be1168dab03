# SPDX-License-Identifier: Apache-2.0
"""Who uses a stack from outside: operators, and those who only look.

The graph of a stack that has just come up shows neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from behavior_bringup.security.policy import Profile

OPERATOR, OBSERVER = "operator", "observer"
"""Enclaves for those who come from outside: who gives orders, and who only looks."""

_ORDERS = "/mission/action"
_PROGRAMS = "behavior_*"
"""What nodes of the command are called."""
_PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
    "change_state",
)
"""Services of every node, by which it could be made another one."""


def outsiders(processes: Mapping[str, Mapping[str, Profile]]) -> dict[str, dict[str, Profile]]:
    """Profiles for programs that are no part of the stack, by enclave.

    An operator sees everything, gives missions, and asks every service and action but those by
    which a node is configured. An observer sees everything.
    """
    whole = Profile.union(profile for nodes in processes.values() for profile in nodes.values())
    seen = set(whole.publish)
    news = {
        f"{action}/_action/{part}" for action in whole.execute for part in ("feedback", "status")
    }
    themselves = Profile(
        publish={"/parameter_events", "/rosout"},
        subscribe={"/clock", "/parameter_events"},
        reply={f"/{_PROGRAMS}/{service}" for service in _PARAMETERS},
    )
    operator = Profile(
        publish={_ORDERS} & whole.subscribe,
        subscribe=seen,
        request=_jobs(whole.reply),
        call=set(whole.execute),
    )
    observer = Profile(subscribe=seen | news)
    return {
        OPERATOR: {"/operator": Profile.union([themselves, operator])},
        OBSERVER: {"/observer": Profile.union([themselves, observer])},
    }


def _jobs(services: Iterable[str]) -> set[str]:
    return {name for name in services if not name.endswith(tuple(f"/{p}" for p in _PARAMETERS))}
