# SPDX-License-Identifier: Apache-2.0
"""Meshes as coal reads and encloses them, with what is wrong with one told in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import coal
import numpy as np

from behavior_motion.checks import check_corners


def convex_hull(name: str, triangles: Any) -> Any:
    """The convex hull of coal's triangles.

    Args:
        name: of the mesh, for the error.
        triangles: ``coal.BVHModelBase``.

    Raises:
        MotionError: NOT_FINITE, or INVALID_GEOMETRY where they span no volume.
    """
    check_corners(name, np.array(triangles.vertices()).reshape(-1, 3), convex=True)
    triangles.buildConvexHull(True, "Qt")
    return triangles.convex


def unreadable(error: ValueError) -> str:
    """Which file coal could not load, and why, without the places in its own code."""
    text = str(error).partition("Could not load resource ")[2]
    if not text:
        return str(error)
    path, *reasons = (line for line in text.split("\n") if line and not line.startswith("Hint:"))
    return f"{path} cannot be read: {' '.join(reasons)}; write it as STL, OBJ or DAE anew"


def check_mesh_files(root: Element) -> None:
    """Refuse a URDF whose collision geometries name files that are not there.

    Raises:
        FileNotFoundError: one is not; the message names the link.
    """
    for link in root.findall("link"):
        for mesh in link.iterfind("collision/geometry/mesh"):
            address = mesh.get("filename", "")
            if not Path(address.removeprefix("file://")).is_file():
                packages = address.startswith("package://")
                remedy = "name the folder of its package in package_dirs" if packages else "add it"
                raise FileNotFoundError(
                    f"link {link.get('name')!r}: mesh {address}: no such file; {remedy}"
                )


def check_hulls(model: Any, geometry: Any) -> None:
    """Refuse meshes, of pinocchio's models, that have no convex hull; raises `MotionError`."""
    for item in geometry.geometryObjects:
        if isinstance(item.geometry, coal.BVHModelBase):
            link = model.frames[item.parentFrame].name
            vertices = np.array(item.geometry.vertices()).reshape(-1, 3)
            check_corners(f"link {link!r}: mesh {item.meshPath}", vertices, convex=True)


def replace_meshes(geometry: Any) -> None:
    """Have each mesh of pinocchio's geometry model replaced by its convex hull."""
    for item in geometry.geometryObjects:
        if isinstance(item.geometry, coal.BVHModelBase):
            item.geometry.buildConvexHull(True, "Qt")
            item.geometry = item.geometry.convex
