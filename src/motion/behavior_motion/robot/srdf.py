# SPDX-License-Identifier: Apache-2.0
"""An SRDF: which joints move together, where they like to stand, which links may touch."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from behavior_motion.errors import ErrorCode, known
from behavior_motion.robot.resources import resolve
from behavior_motion.robot.robot_file import RobotFile
from behavior_motion.robot.xml_file import read_robot_xml


@dataclass(frozen=True)
class Srdf:
    """What is used of an SRDF."""

    groups: Mapping[str, Element]
    """``<group>`` elements by name."""
    states: Mapping[str, Mapping[str, float]]
    """Joint positions of every ``<group_state>`` by name [rad or m]."""
    disabled: frozenset[frozenset[str]] = frozenset()
    """Pairs of links that need not be checked against each other."""
    passive: frozenset[str] = frozenset()
    """Joints that nothing drives."""
    where: str = "srdf"
    """The file, for errors."""

    def joints(self, group: str, model: Any, followers: Collection[str] = ()) -> tuple[str, ...]:
        """Joints of a group that move and are driven, in the order of the chain.

        Args:
            group: Name of a group.
            model: Pinocchio's model of the URDF.
            followers: Joints that follow others, which move with them.

        Raises:
            UnknownNameError: No such group, or it names a link or joint that the URDF lacks.
            ValueError: A chain whose tip does not hang on its base, or a group in itself.
        """
        found = self._members(group, model, []) - self.passive - set(followers)
        names = list(model.names)[1:]
        return tuple(sorted(found & set(names), key=names.index))

    def _members(self, group: str, model: Any, above: list[str]) -> set[str]:
        """Names of joints, fixed ones among them."""
        place = f"{self.where}: group {group!r}"
        if group in above:
            raise ValueError(f"{place} contains itself: {' > '.join([*above, group])}")
        known(f"{self.where}: group", group, self.groups, ErrorCode.INVALID_OPTION)
        element = self.groups[group]
        # The first frame is pinocchio's own.
        frames = list(model.frames)[1:]
        names = [f.name for f in frames if f.type.name in ("JOINT", "FIXED_JOINT")]
        joints = set()
        for joint in element.findall("joint"):
            joints.add(known(f"{place}: joint", joint.get("name", ""), names))
        for link in element.findall("link"):
            # What is written as a link is the joint above it.
            frame = _link(f"{place}: link", model, link.get("name", ""))
            joints.add(model.frames[frame.parentFrame].name)
        for chain in element.findall("chain"):
            joints |= _between(place, model, chain.get("base_link", ""), chain.get("tip_link", ""))
        for part in element.findall("group"):
            joints |= self._members(part.get("name", ""), model, [*above, group])
        return joints


def disabled_pairs(config: RobotFile) -> set[frozenset[str]]:
    """Pairs of links that need not be checked against each other, by robot file and SRDFs."""
    pairs = {frozenset(pair) for pair in config.disabled_collisions}
    for address in config.srdfs:
        pairs |= read_srdf(resolve(address, Path())).disabled
    return pairs


def _between(place: str, model: Any, base: str, tip: str) -> set[str]:
    """Joints of the chain between two links."""
    first, last = (
        {model.names[j] for j in model.supports[_link(f"{place}: chain", model, name).parentJoint]}
        for name in (base, tip)
    )
    if not first <= last:
        raise ValueError(
            f"{place}: chain: {tip!r} does not hang on {base!r}; give the link nearer to the base "
            "as base_link"
        )
    return last - first


def _link(kind: str, model: Any, name: str) -> Any:
    """Pinocchio's frame of a link."""
    links = {frame.name: frame for frame in model.frames if frame.type.name == "BODY"}
    return links[known(kind, name, links)]


def read_srdf(path: Path) -> Srdf:
    """Groups and states of a file.

    Raises:
        ValueError: It is no SRDF, or a state has no number; the message says where.
    """
    root = read_robot_xml(path)
    states: dict[str, dict[str, float]] = {}
    for state in root.findall("group_state"):
        joints = states.setdefault(state.get("name", ""), {})
        for joint in state.findall("joint"):
            place = f"{path}: group_state {state.get('name')!r}: {joint.get('name')!r}"
            values = _numbers(place, joint.get("value", ""))
            # Joints of several values (floating, planar) are not planned.
            if len(values) == 1:
                joints[joint.get("name", "")] = values[0]
    disabled = frozenset(
        frozenset((pair.get("link1", ""), pair.get("link2", "")))
        for pair in root.iter("disable_collisions")
    )
    groups = {group.get("name", ""): group for group in root.findall("group")}
    passive = frozenset(joint.get("name", "") for joint in root.findall("passive_joint"))
    return Srdf(groups, states, disabled, passive, str(path))


def _numbers(place: str, text: str) -> list[float]:
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{place}: a finite number wanted, got {text!r}")
    return numbers
