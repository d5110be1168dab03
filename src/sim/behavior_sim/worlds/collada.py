# SPDX-License-Identifier: Apache-2.0
"""Reads the triangles and colours of a COLLADA file, which MuJoCo does not.

Covers what robot descriptions use: ``triangles`` and ``polylist``, node transforms by ``matrix``,
``translate``, ``rotate`` and ``scale``, one diffuse colour per material. Textures are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

_GREY = (0.7, 0.7, 0.7, 1.0)


@dataclass(frozen=True)
class Part:
    """The triangles of one colour."""

    vertices: NDArray[np.float64]
    """(n, 3) [m] in the file's frame."""
    faces: NDArray[np.int32]
    """(m, 3) indices into `vertices`."""
    color: tuple[float, ...]
    """Red, green, blue, alpha in 0..1."""


class _Document:
    def __init__(self, root: ElementTree.Element) -> None:
        self.space = root.tag.partition("}")[0] + "}"
        self.root = root
        self.by_id = {e.get("id"): e for e in root.iter() if e.get("id")}

    def all(self, element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
        return element.iter(self.space + name)

    def children(self, element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
        return element.findall(self.space + name)

    def target(self, reference: str | None) -> ElementTree.Element | None:
        return self.by_id.get((reference or "").lstrip("#"))

    def floats(self, element: ElementTree.Element) -> NDArray[np.float64]:
        return np.array((element.text or "").split(), dtype=np.float64)

    def color(self, material: ElementTree.Element | None) -> tuple[float, ...]:
        """Diffuse colour of a material."""
        if material is None:
            return _GREY
        for instance in self.all(material, "instance_effect"):
            effect = self.target(instance.get("url"))
            if effect is None:
                continue
            for diffuse in self.all(effect, "diffuse"):
                for color in self.children(diffuse, "color"):
                    return tuple(float(c) for c in self.floats(color))
        return _GREY

    def positions(self, group: ElementTree.Element) -> tuple[NDArray[np.float64], int]:
        """Points that a triangle group uses, and the offset of their index."""
        for entry in self.children(group, "input"):
            if entry.get("semantic") == "VERTEX":
                vertices = self.target(entry.get("source"))
                assert vertices is not None
                for inner in self.children(vertices, "input"):
                    if inner.get("semantic") == "POSITION":
                        source = self.target(inner.get("source"))
                        assert source is not None
                        numbers = next(self.all(source, "float_array"))
                        return self.floats(numbers).reshape(-1, 3), int(entry.get("offset", 0))
        raise ValueError("a triangle group names no positions")

    def triangles(self, group: ElementTree.Element, offset: int) -> NDArray[np.int32]:
        """(m, 3) point indices of a ``triangles`` or ``polylist`` group; polygons become fans."""
        stride = 1 + max(int(e.get("offset", 0)) for e in self.children(group, "input"))
        text = " ".join(p.text or "" for p in self.children(group, "p"))
        corners = np.array(text.split(), dtype=np.int32).reshape(-1, stride)[:, offset]
        counts = self.children(group, "vcount")
        if not counts:
            return corners.reshape(-1, 3)
        sizes = np.array((counts[0].text or "").split(), dtype=int)
        if (sizes == 3).all():
            return corners.reshape(-1, 3)
        fans = []
        for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
            fans += [corners[[start, start + k, start + k + 1]] for k in range(1, size - 1)]
        return np.array(fans, dtype=np.int32)

    def transform(self, node: ElementTree.Element) -> NDArray[np.float64]:
        """parent_T_node (4, 4), the node's elements multiplied in their order."""
        total = np.eye(4)
        for element in node:
            step = np.eye(4)
            name = element.tag.removeprefix(self.space)
            if name == "matrix":
                step = self.floats(element).reshape(4, 4)
            elif name == "translate":
                step[:3, 3] = self.floats(element)
            elif name == "scale":
                step[:3, :3] = np.diag(self.floats(element))
            elif name == "rotate":
                axis = self.floats(element)
                turn = Rotation.from_rotvec(axis[:3] * np.deg2rad(axis[3]))
                step[:3, :3] = turn.as_matrix()
            total = total @ step
        return total


def _walk(
    document: _Document, node: ElementTree.Element, parent: NDArray[np.float64]
) -> Iterator[tuple[ElementTree.Element, NDArray[np.float64]]]:
    here = parent @ document.transform(node)
    for instance in document.children(node, "instance_geometry"):
        yield instance, here
    for child in document.children(node, "node"):
        yield from _walk(document, child, here)


def load_collada(path: Path) -> list[Part]:
    """The parts of the file `path`, in metres and with z up, one for each material used.

    Raises:
        ValueError: the file holds no triangles.
    """
    document = _Document(ElementTree.parse(path).getroot())
    unit = next(document.all(document.root, "unit"), None)
    root_T_scene = np.diag([*[float(unit.get("meter", 1)) if unit is not None else 1.0] * 3, 1.0])
    parts: list[Part] = []
    for scene in document.all(document.root, "visual_scene"):
        for node in document.children(scene, "node"):
            for instance, transform in _walk(document, node, root_T_scene):
                parts += _parts(document, instance, transform)
    if not parts:
        raise ValueError(f"{path} holds no triangles")
    return parts


def _parts(
    document: _Document, instance: ElementTree.Element, transform: NDArray[np.float64]
) -> Iterator[Part]:
    geometry = document.target(instance.get("url"))
    if geometry is None:
        return
    materials = {
        e.get("symbol"): document.target(e.get("target"))
        for e in document.all(instance, "instance_material")
    }
    for kind in ("triangles", "polylist"):
        for group in document.all(geometry, kind):
            points, offset = document.positions(group)
            faces = document.triangles(group, offset)
            if not len(faces):
                continue
            used, inverse = np.unique(faces, return_inverse=True)
            yield Part(
                vertices=points[used] @ transform[:3, :3].T + transform[:3, 3],
                faces=inverse.reshape(-1, 3).astype(np.int32),
                color=document.color(materials.get(group.get("material"))),
            )
