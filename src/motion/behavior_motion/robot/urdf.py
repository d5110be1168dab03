# SPDX-License-Identifier: Apache-2.0
"""One URDF of a robot: of its file, with mounted parts and added frames in place.

All who need the model read it from here: planning, simulation, the frames' publisher, viewers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from behavior_motion.errors import known
from behavior_motion.robot.resources import resolve, ros_share_folders
from behavior_motion.robot.robot_file import MountedPart, RobotFile

Vector = tuple[float, float, float]


def robot_urdf(config: RobotFile) -> Element:
    """The robot's URDF, with the addresses of its meshes as ``file://``.

    Raises:
        FileNotFoundError: a URDF or a package folder is missing.
        KeyError: a part or frame hangs on a link that there is not.
        ValueError: a URDF is no XML, or a mounted part has a link that is there already.
    """
    folders = [resolve(address, Path()) for address in config.package_dirs] + ros_share_folders()
    root = _read(config.urdf, folders)
    for part in config.mounted:
        _mount(root, part, _read(part.urdf, folders))
    for name, frame in config.frames.items():
        if name not in link_names(root):
            parent = known(f"frames.{name}.parent", frame.parent, link_names(root))
            _fix(root, parent, name, xyz=frame.xyz, rpy=frame.rpy)
            SubElement(root, "link", name=name)
    return root


def link_names(root: Element) -> list[str]:
    """Names of all links."""
    return [link.get("name", "") for link in root.findall("link")]


def joined_links(root: Element) -> Iterable[frozenset[str]]:
    """Pairs of links that a joint connects."""
    return (frozenset(_ends(joint)) for joint in root.findall("joint"))


def rigid_links(root: Element, link: str) -> set[str]:
    """Links that hang on a link, itself included, by joints that are fixed or turn without end, as
    wheels do.
    """
    children = defaultdict(list)
    for joint in root.findall("joint"):
        if joint.get("type") in ("fixed", "continuous"):
            parent, child = _ends(joint)
            children[parent].append(child)
    return _reached(children, link)


def _read(address: str, folders: Sequence[Path]) -> Element:
    path = resolve(address, Path())
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}: not valid XML: {error}") from error
    for mesh in root.iter("mesh"):
        mesh.set("filename", _mesh_address(mesh.get("filename", ""), folders))
    return root


def _mesh_address(address: str, folders: Sequence[Path]) -> str:
    """The mesh's file where one of the package folders holds it, else the address as it is."""
    if not address.startswith("package://"):
        return address
    candidates = (folder / address.removeprefix("package://") for folder in folders)
    return next((f"file://{path}" for path in candidates if path.exists()), address)


def _mount(root: Element, part: MountedPart, other: Element) -> None:
    known("mounted.link", part.link, link_names(other))
    wanted = _subtree(other, part.link)
    double = sorted(wanted & set(link_names(root)))
    if double:
        raise ValueError(f"mounted: {', '.join(double)} of {part.urdf} are links of the robot too")
    parent = known("mounted.parent", part.parent, link_names(root))
    _fix(root, parent, part.link, xyz=part.xyz, rpy=part.rpy)
    there = {material.get("name") for material in root.findall("material")}
    root.extend(m for m in other.findall("material") if m.get("name") not in there)
    root.extend(link for link in other.findall("link") if link.get("name") in wanted)
    root.extend(joint for joint in other.findall("joint") if _ends(joint)[0] in wanted)


def _subtree(root: Element, link: str) -> set[str]:
    children = defaultdict(list)
    for joint in root.findall("joint"):
        parent, child = _ends(joint)
        children[parent].append(child)
    return _reached(children, link)


def _reached(children: Mapping[str, Sequence[str]], link: str) -> set[str]:
    found, left = set(), [link]
    while left:
        name = left.pop()
        found.add(name)
        left += children.get(name, ())
    return found


def _ends(joint: Element) -> tuple[str, str]:
    """Parent and child link of a joint."""
    ends = [joint.find(end) for end in ("parent", "child")]
    parent, child = ("" if end is None else end.get("link", "") for end in ends)
    return parent, child


def _fix(root: Element, parent: str, child: str, *, xyz: Vector, rpy: Vector) -> None:
    joint = SubElement(root, "joint", name=f"{child}_joint", type="fixed")
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    SubElement(joint, "origin", {k: " ".join(map(str, v)) for k, v in (("xyz", xyz), ("rpy", rpy))})
