# SPDX-License-Identifier: Apache-2.0
"""Forms of missions: parameters with types, units, limits and choices. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from behavior_executor.missions.catalogue import MissionEntry, MissionParameter

_PROBLEM = re.compile(r"(?:^|: |; )parameter '([^']+)'(?: is missing|: )")


def forms(
    offered: Mapping[str, str], entries: Iterable[MissionEntry], *, world: str = ""
) -> list[dict[str, Any]]:
    """The channel ``missions``: what the executor offers, by name.

    Args:
        offered: descriptions by name, as the executor lists them.
        entries: what the tree files on this machine say; those of others are offered without
            parameters, which pages take as they are written then.
        world: name of the stack's world; empty: unknown.
    """
    known = {entry.name: entry for entry in entries}
    return [
        form(name, description, known.get(name), world=world)
        for name, description in sorted(offered.items())
    ]


def form(
    name: str, description: str, entry: MissionEntry | None, *, world: str = ""
) -> dict[str, Any]:
    """One mission; ``parameters`` is None where nobody here knows them."""
    worlds = entry.worlds if entry is not None else ()
    elsewhere = world and worlds and world not in worlds
    return {
        "name": name,
        "description": description,
        "parameters": None if entry is None else [_row(each) for each in entry.parameters],
        "why_not": f"it is made for the world {' or '.join(worlds)}" if elsewhere else "",
    }


def problems_of(sentence: str) -> dict[str, str]:
    """What the executor says of single parameters, by their names.

    Args:
        sentence: its answer to a mission that it refuses, such as ``mission 'dig': parameter
            'depth': 5 is more than 2; parameter 'who' is missing (whom to greet)``.
    """
    found = list(_PROBLEM.finditer(sentence))
    problems = {}
    for match, following in zip_longest(found, found[1:]):
        end = following.start() if following else len(sentence)
        text = sentence[match.end() : end].strip().removesuffix(";")
        missing = match[0].endswith(" is missing")
        problems[match[1]] = f"it must be given {text}".strip() if missing else text
    return problems


def _row(parameter: MissionParameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": parameter.type,
        "unit": parameter.unit,
        "description": parameter.description,
        "default": parameter.default,
        "minimum": _finite(parameter.minimum),
        "maximum": _finite(parameter.maximum),
        "choices": list(parameter.choices),
        "of": parameter.of,
    }


def _finite(limit: float | None) -> float | None:
    """A limit that is no number is the executor's to refuse."""
    return limit if limit is not None and math.isfinite(limit) else None
