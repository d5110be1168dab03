# SPDX-License-Identifier: Apache-2.0
"""Robots of several arms, a torso, a head: groups of joints, each planned and moved by itself.

A robot file with `groups` has, in place of one arm, a mapping of names to what a file says of an
arm: frames, joints, gripper, controllers. Each group is then a robot of its own that shares the
others' URDF, and all of it together is one that is not planned for, but knows where its links are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from behavior_motion.errors import known

OF_A_GROUP = (
    "base_frame",
    "tool_frame",
    "arm",
    "default_scaling",
    "gripper",
    "named",
    "controllers",
    "workspace",
    "simulation",
    "moveit",
)
"""Keys of a group; those that the file has too hold where the group has none. Drivers, and what the
simulation is to know, are of both."""
_ONLY_OF_A_GROUP = ("tool_frame", "arm", "gripper", "named", "workspace", "moveit")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def group_names(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the groups of what a robot file holds; none: it is of one arm.

    Raises:
        ValueError: they do not fit the form.
    """
    if "groups" not in data:
        return ()
    groups = data["groups"]
    if not isinstance(groups, Mapping) or not groups:
        raise ValueError("groups: write a mapping of names to what moves by itself")
    for name, group in groups.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"groups: {name!r} is no name; use a to z, 0 to 9 and _")
        if not isinstance(group, Mapping):
            raise ValueError(f"groups.{name}: write a mapping of keys and values")
        if unknown := sorted(str(key) for key in group.keys() - set(OF_A_GROUP)):
            raise ValueError(
                f"groups.{name}: unknown {', '.join(unknown)}; known are {', '.join(OF_A_GROUP)}"
            )
        joints = group["arm"].get("joints") if isinstance(group.get("arm"), Mapping) else None
        if not isinstance(joints, list) or not joints or not all(map(_is_text, joints)):
            raise ValueError(f"groups.{name}.arm.joints: name the joints that move together")
        if not all(map(_is_text, _fingers(group))):
            raise ValueError(f"groups.{name}.gripper.joints: write a mapping of joints to numbers")
    if double := [key for key in _ONLY_OF_A_GROUP if key in data]:
        raise ValueError(f"{', '.join(double)}: in a file with groups these are of a group")
    return tuple(groups)


def group_data(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The file of one group alone, of a file with groups.

    Raises:
        ValueError: there is no such group, or the groups do not fit the form.
    """
    groups = data["groups"]
    known("group", name, group_names(data))
    common = {key: value for key, value in data.items() if key != "groups"}
    merged = common | dict(groups[name])
    for key in ("controllers", "simulation"):
        both = [part[key] for part in (common, groups[name]) if isinstance(part.get(key), Mapping)]
        if both:
            merged[key] = {k: v for part in both for k, v in part.items()}
    others = [joint for group in groups if group != name for joint in _joints(groups[group])]
    return merged | {"group": name, "other_joints": others}


def whole_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """The file of all groups together, with the fingers among the joints: of a robot that is looked
    at, but not planned for.

    Raises:
        ValueError: the groups do not fit the form, or two have the same joint.
    """
    names = group_names(data)
    common = {key: value for key, value in data.items() if key != "groups"}
    joints = [joint for name in names for joint in _joints(data["groups"][name])]
    if double := sorted({joint for joint in joints if joints.count(joint) > 1}):
        raise ValueError(f"groups: {', '.join(double)} are of two groups")
    return common | {
        "planned": False,
        "tool_frame": common.get("base_frame"),
        "arm": {"joints": joints, "acceleration": 1.0, "jerk": 1.0},
    }


BASE = "base"
"""Stands for what drives, among the groups that are commanded together."""


def combined_groups(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Groups of a robot file that are commanded together, by their common name.

    Raises:
        ValueError: they do not fit the form, or are not there.
    """
    combined, names = data.get("combined", {}), group_names(data)
    if not isinstance(combined, Mapping):
        raise ValueError("combined: write a mapping of names to lists of groups")
    for name, parts in combined.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in (*names, BASE):
            raise ValueError(
                f"combined: {name!r} is no name; use a to z, 0 to 9 and _, and none of a group"
            )
        if not isinstance(parts, list) or not parts:
            raise ValueError(f"combined.{name}: list the groups that are commanded together")
        for part in parts:
            known(f"combined.{name}", part, (*names, BASE))
    return {name: tuple(parts) for name, parts in combined.items()}


def resources(data: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """What a robot file's names stand for, for whoever must not command the same twice at once.

    A group has an arm, such as ``left_arm arm``, and, where it has fingers or a cup, a gripper,
    ``left_arm gripper``; its name alone stands for both. What is combined stands for all of its
    groups, and so do its arm and its gripper for theirs. None of a robot without groups.

    Raises:
        ValueError: groups, or what is combined, do not fit the form.
    """
    arms, grippers = {}, {}
    for name in group_names(data):
        hand = isinstance(data["groups"][name].get("gripper"), Mapping)
        arms[name] = frozenset({f"{name} arm"})
        grippers[name] = frozenset({f"{name} gripper"} if hand else ())
    for name, parts in combined_groups(data).items():
        driven = frozenset({BASE}) & frozenset(parts)
        arms[name] = driven.union(*(arms[part] for part in parts if part != BASE))
        grippers[name] = frozenset().union(*(grippers[part] for part in parts if part != BASE))
    found: dict[str, frozenset[str]] = {}
    for name, arm in arms.items():
        found |= {name: arm | grippers[name], f"{name} arm": arm, f"{name} gripper": grippers[name]}
    return found


def _joints(group: Mapping[str, Any]) -> list[str]:
    """Of a group, fingers last."""
    return [*group["arm"]["joints"], *_fingers(group)]


def _fingers(group: Mapping[str, Any]) -> list[str]:
    """Joints of a group's gripper; none where its section does not fit the form, which is checked
    elsewhere.
    """
    gripper = group.get("gripper")
    fingers = gripper.get("joints") if isinstance(gripper, Mapping) else None
    return list(fingers) if isinstance(fingers, Mapping) else []


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
