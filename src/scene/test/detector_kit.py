# SPDX-License-Identifier: Apache-2.0
"""Images of known solids by ray casting: the oracle of the detector's tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_scene.detector import CameraModel
from behavior_scene.library import Shape

CAMERA = CameraModel(width=160, height=120, fx=150.0, fy=150.0, cx=79.5, cy=59.5)


def pose(x: float, y: float, z: float, yaw: float = 0.0) -> np.ndarray:
    """world_T_object of something that stands upright."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    matrix[:3, 3] = x, y, z
    return matrix


def look_at(eye: tuple[float, float, float], target: tuple[float, float, float]) -> np.ndarray:
    """world_T_optical of a camera."""
    z = np.subtract(target, eye)
    z = z / np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    matrix[:3, 3] = eye
    return matrix


EYE = look_at((0.7, -0.1, 0.6), (0.1, 0.0, 0.0))


def hit(shape: Shape, origins: np.ndarray, rays: np.ndarray) -> np.ndarray:
    """How many `rays` (n, 3) it is from `origins` to a centred shape; inf: it is missed."""
    if shape.kind == "sphere":
        return _hit_quadric(origins, rays, shape.size[0])
    if shape.kind == "cylinder":
        height, radius = shape.size
        flat = [1.0, 1.0, 0.0]
        side = _hit_quadric(origins * flat, rays * flat, radius)
        with np.errstate(invalid="ignore", divide="ignore"):
            side = np.where(
                np.abs((origins + side[:, None] * rays)[:, 2]) <= height / 2, side, np.inf
            )
            cap = (np.sign(-rays[:, 2]) * height / 2 - origins[:, 2]) / rays[:, 2]
            top = origins + cap[:, None] * rays
            cap = np.where(np.hypot(top[:, 0], top[:, 1]) <= radius, cap, np.inf)
        return np.minimum(side, cap)
    half = np.array(shape.half_extents)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (-half - origins) / rays, (half - origins) / rays
    near = np.minimum(first, second).max(axis=1)
    far = np.maximum(first, second).min(axis=1)
    return np.where(near <= far, near, np.inf)


def _hit_quadric(origins: np.ndarray, rays: np.ndarray, radius: float) -> np.ndarray:
    a = (rays * rays).sum(axis=1)
    b = (origins * rays).sum(axis=1)
    c = (origins * origins).sum(axis=1) - radius**2
    root = b * b - a * c
    with np.errstate(invalid="ignore"):
        return np.where(root >= 0.0, (-b - np.sqrt(root)) / a, np.inf)


@dataclass
class Picture:
    """What a camera sees of solids on the ground."""

    depth: np.ndarray
    """(h, w) [m]"""
    labels: np.ndarray
    """(h, w): 1 and up in the order of the solids, 0 the ground."""


def cast(
    solids: list[tuple[Shape, np.ndarray]],
    *,
    camera: CameraModel = CAMERA,
    world_T_camera: np.ndarray = EYE,
) -> Picture:
    """See solids at their world_T_solid, standing on the plane z = 0."""
    rows, columns = np.mgrid[: camera.height, : camera.width]
    rays = np.stack(
        [
            (columns - camera.cx) / camera.fx,
            (rows - camera.cy) / camera.fy,
            np.ones(rows.shape),
        ],
        axis=-1,
    ).reshape(-1, 3)
    rays = rays @ world_T_camera[:3, :3].T
    eye = np.broadcast_to(world_T_camera[:3, 3], rays.shape)
    depths = [np.where(rays[:, 2] < 0.0, -eye[:, 2] / rays[:, 2], np.inf)]
    for shape, world_T_solid in solids:
        turn = world_T_solid[:3, :3]
        depths.append(hit(shape, (eye - world_T_solid[:3, 3]) @ turn, rays @ turn))
    size = (camera.height, camera.width)
    labels = np.argmin(depths, axis=0).astype(np.uint16).reshape(size)
    return Picture(np.min(depths, axis=0).reshape(size).astype(np.float32), labels)
