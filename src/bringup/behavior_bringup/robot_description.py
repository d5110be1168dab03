# SPDX-License-Identifier: Apache-2.0
"""The robot as one URDF text that other programs can show: RViz, the viewer."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import yaml

from behavior_bringup.errors import BringupError
from behavior_motion.resources import resolve


def robot_description(file: Path) -> str:
    """URDF of a robot configuration, with its extra frames and with meshes as file addresses.

    Args:
        file: robot configuration, such as config/robots/panda.yaml.

    Raises:
        BringupError: the configuration or what it names is not there.
    """
    try:
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
        urdf = resolve(config["urdf"], file.parent)
        folders = [resolve(address, file.parent) for address in config.get("package_dirs", [])]
    except (OSError, KeyError, yaml.YAMLError) as error:
        raise BringupError(f"{file}: the robot cannot be read: {error}") from error
    root = ElementTree.fromstring(urdf.read_text(encoding="utf-8"))
    for mesh in root.iter("mesh"):
        mesh.set("filename", _mesh_address(mesh.get("filename", ""), folders))
    for name, frame in config.get("frames", {}).items():
        _add_frame(root, name, frame["parent"], frame.get("xyz", [0, 0, 0]), frame.get("rpy"))
    return ElementTree.tostring(root, encoding="unicode")


def _mesh_address(address: str, folders: list[Path]) -> str:
    """The mesh's file where one of the package folders holds it, else the address as it is."""
    if not address.startswith("package://"):
        return address
    candidates = (folder / address.removeprefix("package://") for folder in folders)
    return next((f"file://{path}" for path in candidates if path.exists()), address)


def _add_frame(
    root: ElementTree.Element,
    name: str,
    parent: str,
    xyz: list[float],
    rpy: list[float] | None,
) -> None:
    if any(link.get("name") == name for link in root.iter("link")):
        return
    ElementTree.SubElement(root, "link", name=name)
    joint = ElementTree.SubElement(root, "joint", name=f"{name}_joint", type="fixed")
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=name)
    numbers = {"xyz": xyz, "rpy": rpy or [0.0, 0.0, 0.0]}
    ElementTree.SubElement(
        joint, "origin", {key: " ".join(map(str, value)) for key, value in numbers.items()}
    )
