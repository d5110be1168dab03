# SPDX-License-Identifier: Apache-2.0
"""Error codes of planning requests, and the exceptions of requests that make no sense.

Names follow ``moveit_msgs/MoveItErrorCodes`` where it has one. What the world does to a request
comes back as a code in the answer; a request that is malformed raises :class:`MotionError`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from difflib import get_close_matches


class ErrorCode(enum.IntEnum):
    """Why a request failed; 1 to 19 come in answers, 20 and above with :class:`MotionError`."""

    SUCCESS = 0
    START_STATE_INVALID = 1
    """Start joints outside the limits."""
    GOAL_STATE_INVALID = 2
    """Goal joints outside the limits."""
    START_STATE_IN_COLLISION = 3
    GOAL_IN_COLLISION = 4
    """Every joint solution of every goal collides."""
    NO_IK_SOLUTION = 5
    """No joints within the limits reach any goal."""
    TIMED_OUT = 6
    """Planning time used up before a path was found."""
    PLANNING_FAILED = 7
    """The search ended without a path."""
    TIME_PARAMETERIZATION_FAILED = 8
    """No timing of the path within the limits."""
    CARTESIAN_PATH_UNREACHABLE = 9
    """A straight line of the tool runs into a joint limit or a jump between arm postures."""
    CARTESIAN_PATH_BLOCKED = 10
    """A straight line of the tool runs into an obstacle or out of its path constraints."""
    START_STATE_VIOLATES_PATH_CONSTRAINTS = 11
    GOAL_VIOLATES_PATH_CONSTRAINTS = 12
    MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE = 13
    """The motion under way hits something before it could be stopped along its path."""

    INVALID_JOINT_COUNT = 20
    """A joint vector of the wrong length."""
    NOT_FINITE = 21
    """NaN or infinity."""
    INVALID_POSE = 22
    """Not a rigid transform."""
    NON_UNIT_QUATERNION = 23
    INVALID_SPEED = 24
    """A scaling factor outside (0, 1], or a speed not above zero."""
    INVALID_LINK_NAME = 25
    """No such link or frame."""
    INVALID_OBJECT_NAME = 26
    """No such object, or a name that cannot be given."""
    INVALID_GEOMETRY = 28
    """A shape that cannot be."""
    INVALID_OPTION = 30
    """Any other argument that cannot be."""


class MotionError(ValueError):
    """A request that makes no sense: what came, what was wanted, what to do."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        """``message`` names the argument, what came and what was wanted."""
        super().__init__(message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        """The sentence alone."""
        return self.message


class UnknownNameError(MotionError, KeyError):
    """A name that is not there; the message lists those that are."""


def known(
    kind: str,
    name: str,
    choices: Iterable[str],
    code: ErrorCode = ErrorCode.INVALID_LINK_NAME,
) -> str:
    """``name`` if it is one of ``choices``; else an error with the nearest and all choices."""
    names = sorted(choices)
    if name in names:
        return name
    near = get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownNameError(
        code, f"{kind}: no such name {name!r}{hint} Known: {', '.join(names) or 'none'}"
    )
