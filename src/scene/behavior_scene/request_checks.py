# SPDX-License-Identifier: Apache-2.0
"""How large requests to the scene may be, looked at before anything else is done with them.

The scene shares a process, and often a thread, with the executor. So what passes here costs
milliseconds, whatever it asks for.
"""

from __future__ import annotations

import math
from typing import Any

from behavior_ros.messages.limits import RequestSize
from behavior_ros.messages.sent_text import LONGEST_YAML
from behavior_tree.shown_text import listed

MOST_NAMES = 50
"""Names, or definitions, in one request."""
MOST_DEFINED = 200
"""Objects that are set up by definitions at a time."""
MOST_OPEN = 50
"""Goals of one action that wait at a time."""
MOST_PENDING = 100
"""Objects that all goals of `/scene/manage` wait for together."""
MOST_HISTORY = 10_000
"""Detections that a setup can ask for."""
MOST_VERTICES = 256
"""Corners of the hull that a question asks about."""
GREATEST = 1e6
"""Of any number of a request, in its unit."""


def manage_problem(goal: Any) -> str:
    """What is wrong with the sizes of a goal of `/scene/manage`; empty: nothing."""
    size = RequestSize()
    _check_names(size, goal.names)
    size.name("link", goal.link)
    size.name("nominal_pose.header.frame_id", goal.nominal_pose.header.frame_id)
    if goal.operation in (goal.SAVE, goal.RESTORE):
        size.name("definition", goal.definition)
    elif len(goal.definition) > LONGEST_YAML:
        size.problems.append(
            f"definition has {len(goal.definition)} characters: at most {LONGEST_YAML} are read"
        )
    if goal.minimum_history > MOST_HISTORY:
        size.problems.append(
            f"minimum_history is {goal.minimum_history}: at most {MOST_HISTORY} are allowed"
        )
    _check_timeout(size, goal.timeout)
    if goal.preview:
        position = goal.nominal_pose.pose.position
        _check_numbers(size, "nominal_pose.pose.position", position.x, position.y, position.z)
    return listed(size.problems)


def names_problem(names: Any = (), **fields: str) -> str:
    """What is wrong with a list called `names` and with names by their field; empty: nothing."""
    size = RequestSize()
    _check_names(size, names)
    for field, name in fields.items():
        size.name(field, name)
    return listed(size.problems)


def question_problem(question: Any, timeout: float = 0.0) -> str:
    """What is wrong with the sizes of a question and its timeout [s]; empty: nothing."""
    size = RequestSize()
    size.name("object", question.object)
    size.name("reference", question.reference)
    _check_timeout(size, timeout)
    shape, pose = question.shape, question.shape_pose
    if size.entries("shape.dimensions", shape.dimensions, 3):
        _check_numbers(size, "shape.dimensions", *shape.dimensions)
    if size.entries("shape.vertices", shape.vertices, MOST_VERTICES):
        _check_numbers(
            size, "shape.vertices", *(n for v in shape.vertices for n in (v.x, v.y, v.z))
        )
    _check_numbers(size, "shape_pose.position", pose.position.x, pose.position.y, pose.position.z)
    return listed(size.problems)


def _check_names(size: RequestSize, names: Any) -> None:
    if size.entries("names", names, MOST_NAMES):
        for i, name in enumerate(names):
            size.name(f"names[{i}]", name)


def _check_timeout(size: RequestSize, timeout: float) -> None:
    if not 0.0 <= timeout <= GREATEST:
        size.problems.append(f"timeout {timeout:g} s; give 0 or more, at most {GREATEST:g}")


def _check_numbers(size: RequestSize, what: str, *numbers: float) -> None:
    bad = next((n for n in numbers if not (math.isfinite(n) and abs(n) <= GREATEST)), None)
    if bad is not None:
        size.problems.append(f"{what} holds {bad:g}: give finite numbers, at most {GREATEST:g}")
