# SPDX-License-Identifier: Apache-2.0
"""`light_mesh`: a mesh of a robot's maker as one small glTF file with its colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray

__all__ = ["light_mesh"]

_FEWEST = 24
"""Of a part of a mesh, however small its share is."""
_CREASE = float(np.radians(30.0))
"""Faces that meet at a larger angle [rad] have an edge between them that one sees."""
_GREY = (0.78, 0.8, 0.82, 1.0)
_UNCOLORED = "uncolored"
"""Name of the material of what has no colour: the page takes the URDF's."""


def light_mesh(path: Path, triangles: int) -> bytes:
    """A mesh file as glTF of about so many triangles, with plain colours and no textures.

    Raises:
        ValueError: the file is missing or cannot be read.
    """
    try:
        parts: Sequence[trimesh.Trimesh] = trimesh.load_scene(path).dump(concatenate=False)
    except Exception as error:  # each format's reader has exceptions of its own
        why = str(error).replace(str(path), path.name)
        raise ValueError(f"{path.name}: the mesh cannot be read: {why}") from error
    shapes = [part for part in parts if isinstance(part, trimesh.Trimesh) and len(part.faces)]
    if not shapes:
        raise ValueError(f"{path.name}: there are no triangles in this mesh")
    total = sum(len(shape.faces) for shape in shapes)
    share = min(1.0, triangles / total)
    scene = trimesh.Scene(
        [_light(shape, max(_FEWEST, int(share * len(shape.faces)))) for shape in shapes]
    )
    return bytes(scene.export(file_type="glb", include_normals=True))


def _light(shape: trimesh.Trimesh, triangles: int) -> trimesh.Trimesh:
    mesh = trimesh.Trimesh(shape.vertices, shape.faces, process=False)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    if len(mesh.faces) > triangles:
        mesh = mesh.simplify_quadric_decimation(face_count=triangles)
    mesh = trimesh.graph.smooth_shade(mesh, angle=_CREASE)
    color = _color(shape)
    material = trimesh.visual.material.PBRMaterial(
        name=_UNCOLORED if color is None else "",
        baseColorFactor=_GREY if color is None else color,
        metallicFactor=0.0,
        roughnessFactor=0.7,
    )
    mesh.visual = trimesh.visual.TextureVisuals(material=material)
    return mesh


def _color(shape: trimesh.Trimesh) -> NDArray[np.float64] | None:
    """RGBA from 0 to 1 of a part, of a textured one its main colour; None: it has none."""
    material = getattr(shape.visual, "material", None)
    found = getattr(material, "main_color", None)
    if found is None or not getattr(shape.visual, "defined", False):
        return None
    return np.asarray(found, np.float64) / 255.0
