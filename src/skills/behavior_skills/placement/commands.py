# SPDX-License-Identifier: Apache-2.0
"""What a place does in which order (specs/pick_place.md B3).

Commands that configure the planner take no motion and no time. Motions repeat the pose of the
motion before when they only wait, as for the gripper to open.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from behavior_skills.interfaces import Array
from behavior_skills.placement.poses import Placement, post_place_pose
from behavior_skills.placement.specification import PlaceSpecification


class CommandKind(enum.Enum):
    """What a command does."""

    HOLD = "hold"
    """Set which components of the tool's pose the planner keeps."""
    IGNORE = "ignore"
    """Set which things the planner looks away from."""
    CLOSED = "closed"
    """Move to the pose with the gripper closed."""
    OPEN = "open"
    """Move to the pose with the gripper open."""
    DETACH = "detach"
    """The object belongs to the hand no more."""


@dataclass(frozen=True, slots=True)
class Command:
    """One step; a pose of None is where the arm stands."""

    kind: CommandKind
    pose: Array | None
    weights: tuple[float, ...] | None = None
    """HOLD: of rotation x, y, z and translation x, y, z; None: everything free."""
    ignored: tuple[str, ...] = ()
    """IGNORE: substrings of names, beside those that are always ignored."""


def place_commands(
    specification: PlaceSpecification, placement: Placement, object_name: str
) -> list[Command]:
    """The commands of one place, in order."""
    kind = CommandKind
    ignored = tuple(specification.ignore_substring)
    pre, place = placement.pre, placement.place
    commands = [Command(kind.HOLD, None)]
    if ignored:
        commands.append(Command(kind.IGNORE, None, ignored=ignored))
    if specification.pre_place_hold_vec_weight is not None:
        commands.append(Command(kind.HOLD, None, specification.pre_place_hold_vec_weight))
    commands.append(Command(kind.CLOSED, pre))
    if specification.post_place_hold_vec_weight is not None:
        commands.append(Command(kind.HOLD, pre, specification.post_place_hold_vec_weight))
    commands += [Command(kind.CLOSED, place)] * (1 + specification.hesitate_steps)
    commands += [Command(kind.OPEN, place)] * specification.gripper_change_steps
    commands += [Command(kind.DETACH, place), Command(kind.IGNORE, place)]
    if specification.post_place_vector is not None:
        commands += _retreat(specification.post_place_vector, place, object_name)
    return commands


def _retreat(vector: Sequence[float], place: Array, object_name: str) -> list[Command]:
    return [
        Command(CommandKind.IGNORE, place, ignored=(object_name,)),
        Command(CommandKind.OPEN, post_place_pose(place, np.asarray(vector))),
    ]
