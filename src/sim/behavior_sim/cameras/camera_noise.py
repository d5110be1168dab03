# SPDX-License-Identifier: Apache-2.0
"""Makes a perfect picture as bad as a real one; the same seed and time give the same noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from behavior_sim.worlds.camera_config import CameraNoise

EDGE = 0.03
"""A depth that differs from its neighbour's by more than this share of it is an edge."""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """An object found in a picture."""

    label: int
    """Value of its pixels in the mask, 1 and up."""
    class_id: str
    """What the detector takes it for."""
    score: float
    """0..1"""
    box: tuple[int, int, int, int]
    """First column, first row, columns, rows [px] of what is visible of it."""


def noise_generator(seed: int, camera: str, nanoseconds: int) -> np.random.Generator:
    """Random numbers of one picture: pictures that were never taken do not change the others."""
    return np.random.default_rng([seed, crc32(camera.encode()), nanoseconds])


def noisy_depth(
    depth: NDArray[np.float32], noise: CameraNoise, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Depth (h, w) [m] with noise, in steps, and with gaps (NaN) at edges; +inf stays."""
    noisy = depth
    if noise.depth > 0.0:
        normal = rng.standard_normal(depth.shape, dtype=np.float32)
        spread = np.where(np.isinf(depth), np.float32(0.0), depth * depth)
        noisy = noisy + np.float32(noise.depth) * spread * normal
    if noise.depth_step > 0.0:
        # Equal steps of the disparity, which is what such cameras measure.
        step = np.float32(noise.depth_step)
        disparity = np.round(1.0 / (np.maximum(noisy, np.float32(1e-3)) * step))
        with np.errstate(divide="ignore"):
            noisy = 1.0 / (disparity * step)
    if noise.edge_dropout > 0.0:
        lost = _edges(depth) & (rng.random(depth.shape) < noise.edge_dropout)
        noisy = np.where(lost, np.float32(np.nan), noisy)
    return noisy.astype(np.float32, copy=False)


def _edges(depth: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Pixels on both sides of a jump."""
    edges = np.zeros(depth.shape, dtype=bool)
    for axis in (0, 1):
        near, far = np.moveaxis(depth, axis, 0)[:-1], np.moveaxis(depth, axis, 0)[1:]
        with np.errstate(invalid="ignore"):  # inf beside inf is no jump
            jump = np.abs(near - far) > EDGE * np.minimum(near, far)
        view = np.moveaxis(edges, axis, 0)
        view[:-1] |= jump
        view[1:] |= jump
    return edges


def find_instances(
    mask: NDArray[np.uint16],
    classes: Sequence[str],
    noise: CameraNoise,
    rng: np.random.Generator,
) -> tuple[Instance, ...]:
    """What a detector finds in a picture.

    Args:
        mask: (h, w) labels; 0: nothing.
        classes: true class of label k + 1.
        noise: how bad the detector is.
        rng: of this picture.
    """
    boxes = _boxes(mask, len(classes))
    names = sorted(set(classes))
    low, high = noise.score
    found = []
    for index, class_id in enumerate(classes):
        # Drawn in any case, so that one object's absence leaves the others' noise alone.
        lost, confused, score = rng.random(), rng.random(), rng.uniform(low, high)
        other = int(rng.integers(max(1, len(names) - 1)))
        count, box = boxes.get(index + 1, (0, (0, 0, 0, 0)))
        if count < max(1, noise.minimum_pixels) or lost < noise.object_dropout:
            continue
        wrong = [name for name in names if name != class_id]
        called = wrong[other] if wrong and confused < noise.class_confusion else class_id
        found.append(Instance(label=index + 1, class_id=called, score=float(score), box=box))
    return tuple(found)


def _boxes(
    mask: NDArray[np.uint16], labels: int
) -> Mapping[int, tuple[int, tuple[int, int, int, int]]]:
    """Number of pixels and bounding box of each label in the mask."""
    rows, columns = np.nonzero(mask)
    values = mask[rows, columns]
    counts = np.bincount(values, minlength=labels + 1)
    found = {}
    for label in np.flatnonzero(counts):
        mine = values == label
        top, bottom = int(rows[mine][0]), int(rows[mine][-1])
        left, right = int(columns[mine].min()), int(columns[mine].max())
        found[int(label)] = (int(counts[label]), (left, top, right - left + 1, bottom - top + 1))
    return found
