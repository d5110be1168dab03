# SPDX-License-Identifier: Apache-2.0
"""The robot of a recording: its recorded URDF, with the meshes that this machine has of it.

A recording may come from anywhere. What it names as a mesh is looked for in the folders of
installed robots, by the part of its path that all machines share; no other file is opened.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote
from xml.etree import ElementTree

from behavior_console.robot_files import RobotFiles
from behavior_motion.robot.resources import ros_share_folders
from behavior_recording import Recording

_TOPIC = "/robot_description"
_SHARED = "share"
"""The folder below which packages lie alike on all machines."""
_NOWHERE = Path("/dev/null")
"""Below it is nothing: who asks for a mesh that is not installed hears its name."""
_MESHES = frozenset({".dae", ".glb", ".gltf", ".obj", ".ply", ".stl"})


def recorded_robot(path: Path, *, record: str = "") -> RobotFiles:
    """The robot that a recording was made of; without one, or a readable one, none.

    Args:
        path: of the recording.
        record: its name in the addresses of the page; empty: it is the one that is shown first.

    Raises:
        RecordingError: the file cannot be read.
    """
    with Recording(path) as recording:
        message = recording.last(_TOPIC, recording.end)
        text = "" if message is None else str(getattr(message.value, "data", ""))
    query = f"?record={quote(record, safe='')}" if record else ""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return RobotFiles(None)
    folders = installed_robots()
    for mesh in root.iter("mesh"):
        found = installed_mesh(mesh.get("filename", ""), folders)
        mesh.set("filename", str(found or _NOWHERE / PurePosixPath(mesh.get("filename", "")).name))
    return RobotFiles(root, query=query)


def installed_robots() -> list[Path]:
    """Folders with packages of robots: those of ROS, and those that pip brought."""
    wheels = [Path(folder) / "cmeel.prefix" / _SHARED for folder in sys.path if folder]
    return [folder.resolve() for folder in (*ros_share_folders(), *wheels) if folder.is_dir()]


def installed_mesh(filename: str, folders: Sequence[Path]) -> Path | None:
    """The file that a recorded URDF names, in one of these folders; None: they have none."""
    scheme, separator, rest = filename.partition("://")
    parts = PurePosixPath(rest if separator else filename).parts
    if scheme != "package" and _SHARED in parts:
        parts = parts[len(parts) - parts[::-1].index(_SHARED) :]
    if not parts or PurePosixPath(parts[-1]).suffix.lower() not in _MESHES:
        return None
    for folder in folders:
        path = folder.joinpath(*parts).resolve()
        if path.is_relative_to(folder) and path.is_file():
            return path
    return None
