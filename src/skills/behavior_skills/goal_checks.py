# SPDX-License-Identifier: Apache-2.0
"""Checks of goal messages before anything else is done with them.

Every number of a goal must be finite and of a size that robots know, every quaternion of length 1,
every list and text no longer than its limit. What passes is bounded, so that no goal, however it
was made, can occupy a server.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from geometry_msgs.msg import Quaternion

from behavior_motion import check_interrupted
from behavior_motion.interruption import Deadline, ended_by
from behavior_motion.limits import LEAST_SCALING, MOST_WAYPOINTS
from behavior_skills.interfaces import FailureCode, SkillFailure

LONGEST_NAME = 256
"""Characters of a name."""
LONGEST_TEXT = 65_536
"""Characters of a specification."""
GREATEST = 1e6
"""Of any number, in its unit."""
MOST_ENTRIES = 100
"""Of a list, unless it stands in `MOST`."""
MOST = {
    "poses": MOST_WAYPOINTS,
    "path.poses": 10_000,
    "trajectory.points": 10_000,
    "may_touch": 32,
    "pre": 200,
    "target": 200,
}
"""Entries of lists that have a limit of their own."""
LENGTH_TOLERANCE = 0.01
"""Of a quaternion."""
PLANNING_TIME = 20.0
"""[s] of processor time after which a skill gives up planning."""


def check_goal(goal: Any) -> None:
    """Check the sizes of everything in a goal message.

    Raises:
        SkillFailure: INVALID_REQUEST; the sentence names the field, what came and what is wanted.
    """
    _check_message(goal, "")


def invalid(problem: str) -> SkillFailure:
    """The failure of a request that cannot be; `problem` is a clause without a full stop."""
    return SkillFailure(FailureCode.INVALID_REQUEST, f"Invalid request: {problem}.")


def check_not_negative(request: Any, *names: str) -> None:
    """Check that fields are numbers not below 0; raises INVALID_REQUEST."""
    for name in names:
        value = getattr(request, name)
        if not (math.isfinite(value) and value >= 0.0):
            raise invalid(f"{name} is {value}, give a number not below 0")


def check_scaling(request: Any, *names: str) -> None:
    """Check that fields are 0 or fractions of the robot's limits; raises INVALID_REQUEST."""
    for name in names:
        value = getattr(request, name)
        if not (value == 0.0 or LEAST_SCALING <= value <= 1.0):
            raise invalid(
                f"{name} is {value}, give a fraction in {LEAST_SCALING:g}..1, or 0 for the "
                "server's default"
            )


@contextmanager
def planning_budget(most: float = PLANNING_TIME) -> Iterator[None]:
    """Within the block planning ends after so much processor time [s] of this thread.

    Raises:
        SkillFailure: PLANNING_TIMED_OUT, out of whatever computes then.
    """
    deadline = Deadline(most)

    def failure() -> SkillFailure:
        return SkillFailure(
            FailureCode.PLANNING_TIMED_OUT,
            f"No plan within {deadline}. Ask for a shorter motion, or clear the way.",
        )

    with ended_by(deadline, failure):
        yield


# ---------------------------------------------------------------- messages


def _check_message(message: Any, path: str) -> None:
    check_interrupted()
    if isinstance(message, Quaternion):
        _check_quaternion(message, path)
        return
    for name in message.get_fields_and_field_types():
        where = f"{path}.{name}" if path else name
        _check_value(getattr(message, name), where, where)


def _check_value(value: Any, where: str, kind: str) -> None:
    """Check a value; `kind` is its place without the indices."""
    if isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, float):
        _check_number(value, where)
    elif isinstance(value, (array, np.ndarray)):
        _check_count(len(value), where, kind)
        _check_numbers(np.asarray(value), where)
    elif isinstance(value, list):
        _check_count(len(value), where, kind)
        for i, entry in enumerate(value):
            _check_value(entry, f"{where}[{i}]", kind)
    elif hasattr(value, "get_fields_and_field_types"):
        _check_message(value, where)


def _check_count(count: int, where: str, kind: str) -> None:
    most = MOST.get(kind, MOST_ENTRIES)
    if count > most:
        raise invalid(f"{where} has {count} entries, give at most {most}")


def _check_text(text: str, where: str) -> None:
    specification = where == "parameters"
    most = LONGEST_TEXT if specification else LONGEST_NAME
    if len(text) > most:
        raise invalid(f"{where} has {len(text)} characters, give at most {most}")
    if not (specification or text.isprintable()):
        raise invalid(f"{where} holds control characters, which no name has")


def _check_number(value: float, where: str) -> None:
    if not math.isfinite(value):
        raise invalid(f"{where} is {value}, give a finite number")
    if abs(value) > GREATEST:
        raise invalid(f"{where} is {value:g}, give at most {GREATEST:g}")


def _check_numbers(values: Any, where: str) -> None:
    bad = np.flatnonzero(~(np.abs(values) <= GREATEST))
    if len(bad):
        _check_number(float(values[bad[0]]), f"{where}[{bad[0]}]")


def _check_quaternion(turn: Quaternion, where: str) -> None:
    numbers = {"x": turn.x, "y": turn.y, "z": turn.z, "w": turn.w}
    for name, value in numbers.items():
        _check_number(value, f"{where}.{name}")
    length = math.hypot(*numbers.values())
    if abs(length - 1.0) > LENGTH_TOLERANCE:
        raise invalid(
            f"{where} is a quaternion of length {length:.4g}, not 1; divide it by its length, or "
            "give 0 0 0 1 for no rotation"
        )
