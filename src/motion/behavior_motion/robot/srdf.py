# SPDX-License-Identifier: Apache-2.0
"""An SRDF: which joints move together, where they like to stand, which links may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from behavior_motion.errors import ErrorCode, known
from behavior_motion.robot.resources import resolve
from behavior_motion.robot.robot_file import RobotFile


@dataclass(frozen=True)
class Srdf:
    """What is used of an SRDF."""

    groups: Mapping[str, ElementTree.Element]
    """``<group>`` elements by name."""
    states: Mapping[str, Mapping[str, float]]
    """Joint positions of every ``<group_state>`` by name [rad or m]."""
    disabled: frozenset[frozenset[str]] = frozenset()
    """Pairs of links that need not be checked against each other."""

    def joints(self, group: str, model: Any) -> tuple[str, ...]:
        """Joints of a group that move, in the order of the chain.

        Args:
            group: Name of a group.
            model: Pinocchio's model of the URDF.

        Raises:
            UnknownNameError: No such group, or it names a link that the URDF lacks.
        """
        found = self._members(group, model, [])
        names = list(model.names)
        return tuple(sorted(found, key=names.index))

    def _members(self, group: str, model: Any, above: list[str]) -> set[str]:
        if group in above:
            raise ValueError(f"SRDF: group {group!r} contains itself: {' > '.join(above)}")
        element = self.groups[known("group", group, self.groups, ErrorCode.INVALID_OPTION)]
        moving = set(list(model.names)[1:])
        joints = {e.get("name", "") for e in element.findall("joint")} & moving
        for chain in element.findall("chain"):
            joints |= _between(model, chain.get("base_link", ""), chain.get("tip_link", ""))
        for part in element.findall("group"):
            joints |= self._members(part.get("name", ""), model, [*above, group])
        return joints


def disabled_pairs(config: RobotFile) -> set[frozenset[str]]:
    """Pairs of links that need not be checked against each other, by robot file and SRDFs."""
    pairs = {frozenset(pair) for pair in config.disabled_collisions}
    for address in config.srdfs:
        pairs |= read_srdf(resolve(address, Path())).disabled
    return pairs


def _between(model: Any, base: str, tip: str) -> set[str]:
    """Joints of the chain between two links."""
    frames = [f.name for f in model.frames]
    ends = []
    for link in (base, tip):
        frame = model.frames[model.getFrameId(known("chain", link, frames))]
        ends.append({model.names[j] for j in model.supports[frame.parentJoint]})
    return ends[1] - ends[0]


def read_srdf(path: Path) -> Srdf:
    """Groups and states of a file.

    Raises:
        ValueError: Not XML; the message says where.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}: not valid XML: {error}") from error
    states: dict[str, dict[str, float]] = {}
    for state in root.findall("group_state"):
        joints = states.setdefault(state.get("name", ""), {})
        for joint in state.findall("joint"):
            value = joint.get("value", "").split()
            # Joints of several values (floating, planar) are not planned.
            if len(value) == 1:
                joints[joint.get("name", "")] = float(value[0])
    disabled = frozenset(
        frozenset((pair.get("link1", ""), pair.get("link2", "")))
        for pair in root.iter("disable_collisions")
    )
    return Srdf({g.get("name", ""): g for g in root.findall("group")}, states, disabled)
