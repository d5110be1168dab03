# SPDX-License-Identifier: Apache-2.0
"""Reads the triangles and colours of a COLLADA file, which MuJoCo does not.

Triangles and polygons, one diffuse colour per material. Textures are left out.
"""

import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from collada import Collada, DaeError
from collada.polylist import BoundPolylist
from collada.triangleset import BoundTriangleSet
from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)
_GREY = (0.7, 0.7, 0.7, 1.0)


@dataclass(frozen=True)
class Part:
    """The triangles of one colour."""

    vertices: NDArray[np.float32]
    """(n, 3) [m] in the file's frame."""
    faces: NDArray[np.int32]
    """(m, 3) indices into `vertices`."""
    color: tuple[float, ...]
    """Red, green, blue, alpha in 0..1."""


def load_collada(path: Path) -> list[Part]:
    """The parts of the file `path`, in metres and with z up, one for each material used.

    What is wrong in the file is logged, and left out.

    Raises:
        ValueError: the file holds no triangles.
    """
    file = Collada(_untextured(path), ignore=[DaeError])
    for error in file.errors:
        _LOG.warning("%s: %s", path, error.msg)
    parts = list(_parts(file))
    if not parts:
        raise ValueError(f"{path} holds no triangles")
    return parts


def _untextured(path: Path) -> io.BytesIO:
    """The file without textures: where one is broken, pycollada drops all meshes that wear it."""
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        space, _, name = element.tag.rpartition("}")
        if name == "texture":
            element.tag = f"{space}}}color"
            element.text = " ".join(map(str, _GREY))
        elif name in ("surface", "sampler2D"):
            element.tag = "left_out"
    return io.BytesIO(ElementTree.tostring(root))


def _parts(file: Collada) -> Iterator[Part]:
    geometries = (bound for scene in file.scenes for bound in scene.objects("geometry"))
    for shape in (shape for geometry in geometries for shape in geometry.primitives()):
        triangles = shape.triangleset() if isinstance(shape, BoundPolylist) else shape
        if not isinstance(triangles, BoundTriangleSet) or not len(triangles):
            continue
        used, faces = np.unique(triangles.vertex_index, return_inverse=True)
        color = triangles.material and triangles.material.effect.diffuse
        yield Part(
            vertices=triangles.vertex[used] * (file.assetInfo.unitmeter or 1.0),
            faces=faces.reshape(-1, 3).astype(np.int32),
            color=color if isinstance(color, tuple) else _GREY,
        )
