# SPDX-License-Identifier: Apache-2.0
"""One URDF of a robot: of its file, with mounted parts and added frames in place.

All who need the model read it from here: planning, simulation, the frames' publisher, viewers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from behavior_motion.errors import known
from behavior_motion.robot.resources import resolve, ros_share_folders
from behavior_motion.robot.robot_file import MountedPart, RobotFile
from behavior_motion.robot.urdf_faults import first_faults, joint_ends, urdf_faults
from behavior_motion.robot.xml_file import read_robot_xml

Vector = tuple[float, float, float]


def robot_urdf(config: RobotFile) -> Element:
    """The robot's URDF, with the addresses of its meshes as ``file://``.

    Raises:
        FileNotFoundError: a URDF or a package folder is missing.
        KeyError: a part or frame hangs on a link that there is not.
        ValueError: a URDF is none, or a mounted part has a link or joint that is there already.
    """
    root = urdf_of_parts(config)
    add_frames(root, config)
    return root


def urdf_of_parts(config: RobotFile) -> Element:
    """As `robot_urdf`, without the frames that the robot file adds."""
    folders = [resolve(address, Path()) for address in config.package_dirs] + ros_share_folders()
    root = _read(config.urdf, folders)
    for part in config.mounted:
        _mount(root, part, _read(part.urdf, folders))
    return root


def add_frames(root: Element, config: RobotFile) -> tuple[str, ...]:
    """Add the robot file's frames that a URDF lacks; returns their names.

    Raises:
        KeyError: a frame hangs on a link that there is not.
    """
    added = tuple(name for name in config.frames if name not in link_names(root))
    for name in added:
        frame = config.frames[name]
        parent = known(f"frames.{name}.parent", frame.parent, link_names(root))
        _fix(root, parent, name, xyz=frame.xyz, rpy=frame.rpy)
        SubElement(root, "link", name=name)
    return added


def link_names(root: Element) -> list[str]:
    """Names of all links."""
    return [link.get("name", "") for link in root.findall("link")]


def joined_links(root: Element) -> Iterable[frozenset[str]]:
    """Pairs of links that a joint connects."""
    return (frozenset(joint_ends(joint)) for joint in root.findall("joint"))


def followers(root: Element) -> dict[str, str]:
    """Joints that follow another (mimic), and which."""
    mimics = ((joint.get("name", ""), joint.find("mimic")) for joint in root.findall("joint"))
    return {name: mimic.get("joint", "") for name, mimic in mimics if mimic is not None}


def rigid_links(root: Element, link: str) -> set[str]:
    """Links that hang on a link, itself included, by joints that are fixed or turn without end, as
    wheels do.
    """
    children = defaultdict(list)
    for joint in root.findall("joint"):
        if joint.get("type") in ("fixed", "continuous"):
            parent, child = joint_ends(joint)
            children[parent].append(child)
    return _reached(children, link)


def _read(address: str, folders: Sequence[Path]) -> Element:
    path = resolve(address, Path())
    root = read_robot_xml(path)
    if faults := first_faults(urdf_faults(root)):
        raise ValueError(f"{path}: {faults}")
    for mesh in root.iter("mesh"):
        mesh.set("filename", _mesh_address(mesh.get("filename", ""), [*folders, path.parent]))
    return root


def _mesh_address(address: str, folders: Sequence[Path]) -> str:
    """The mesh's file where one of the folders holds it, else the address as it is.

    Those of packages lie in the package folders, and relative ones beside the URDF, the last of the
    folders.
    """
    if address.startswith("package://"):
        candidates = [folder / address.removeprefix("package://") for folder in folders[:-1]]
    else:
        candidates = [folders[-1] / address.removeprefix("file://")]
    return next((f"file://{path}" for path in candidates if path.is_file()), address)


def _mount(root: Element, part: MountedPart, other: Element) -> None:
    known("mounted.link", part.link, link_names(other))
    wanted = _subtree(other, part.link)
    double = sorted(wanted & set(link_names(root)))
    if double:
        raise ValueError(f"mounted: {', '.join(double)} of {part.urdf} are links of the robot too")
    joints = [joint for joint in other.findall("joint") if joint_ends(joint)[0] in wanted]
    if twice := sorted(_names(joints) & _names(root.findall("joint"))):
        raise ValueError(f"mounted: {', '.join(twice)} of {part.urdf} are joints of the robot too")
    parent = known("mounted.parent", part.parent, link_names(root))
    _fix(root, parent, part.link, xyz=part.xyz, rpy=part.rpy)
    there = {material.get("name") for material in root.findall("material")}
    root.extend(m for m in other.findall("material") if m.get("name") not in there)
    root.extend(link for link in other.findall("link") if link.get("name") in wanted)
    root.extend(joints)


def _names(elements: Iterable[Element]) -> set[str]:
    return {element.get("name", "") for element in elements}


def _subtree(root: Element, link: str) -> set[str]:
    children = defaultdict(list)
    for joint in root.findall("joint"):
        parent, child = joint_ends(joint)
        children[parent].append(child)
    return _reached(children, link)


def _reached(children: Mapping[str, Sequence[str]], link: str) -> set[str]:
    found, left = set(), [link]
    while left:
        name = left.pop()
        found.add(name)
        left += children.get(name, ())
    return found


def _fix(root: Element, parent: str, child: str, *, xyz: Vector, rpy: Vector) -> None:
    name, there = f"{child}_joint", _names(root.findall("joint"))
    while name in there:
        name += "_"
    joint = SubElement(root, "joint", name=name, type="fixed")
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    SubElement(joint, "origin", {k: " ".join(map(str, v)) for k, v in (("xyz", xyz), ("rpy", rpy))})
