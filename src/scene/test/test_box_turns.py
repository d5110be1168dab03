# SPDX-License-Identifier: Apache-2.0
"""How boxes stand: on which face, which way they look, and trays, of which the rim tells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from detector_kit import CAMERA, EYE, cast, pose
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_scene.detector import DepthPoints, Finder, Frame, Region, Rejection, parse_settings
from behavior_scene.detector.estimate import Estimate
from behavior_scene.library import ObjectClass, ObjectLibrary, Shape

CUBE = Shape("box", (0.06, 0.06, 0.06))
BRICK = Shape("box", (0.10, 0.05, 0.04))
PEG = Shape("box", (0.045, 0.045, 0.13))
TRAY = Shape("box", (0.20, 0.14, 0.05))
LIBRARY = ObjectLibrary(
    {
        name: ObjectClass(name=name, shape=shape)
        for name, shape in {"cube": CUBE, "brick": BRICK, "peg": PEG, "tray": TRAY}.items()
    }
)


def find(
    name: str, parts: list[tuple[Shape, np.ndarray]], text: str, noise: float = 0.0
) -> tuple[list[Estimate], Finder]:
    """What a finder makes of a thing of several solids."""
    picture = cast(parts)
    depth = picture.depth + noise * np.random.default_rng(0).normal(size=picture.depth.shape)
    finder = Finder(parse_settings(text, LIBRARY))
    frame = Frame(
        points=DepthPoints(depth, CAMERA),
        labels=(picture.labels > 0).astype(np.uint16),
        regions=[Region(1, name, 0.9)],
        camera=CAMERA,
        reference_T_camera=EYE,
    )
    return finder.find(frame), finder


def turned(x: float, y: float, z: float, yaw: float, rpy: tuple[float, float, float]) -> np.ndarray:
    """Something on another of its faces, then turned about the vertical."""
    matrix = pose(x, y, z, yaw)
    matrix[:3, :3] = matrix[:3, :3] @ Rotation.from_euler("xyz", rpy).as_matrix()
    return matrix


def yaw_of(estimate: Estimate) -> float:
    return math.atan2(estimate.pose[1, 0], estimate.pose[0, 0])


# -- on which face --------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 0.2), st.floats(-0.15, 0.15), st.floats(-3.1, 3.1), st.booleans())
def test_a_peg_that_stands_or_lies_is_where_it_is(
    x: float, y: float, yaw: float, lies: bool
) -> None:
    truth = turned(x, y, 0.0225, yaw, (0.0, math.pi / 2, 0.0)) if lies else pose(x, y, 0.065, yaw)
    (found,), _ = find("peg", [(PEG, truth)], "peg: {orientation: resting}")
    assert found.pose[:3, 3] == pytest.approx(truth[:3, 3], abs=0.008)
    # Its long axis is told, up to its sign.
    assert abs(found.pose[:3, 2] @ truth[:3, 2]) > math.cos(math.radians(6.0))
    assert np.linalg.det(found.pose[:3, :3]) == pytest.approx(1.0)


def test_a_peg_that_lies_was_told_as_one_that_stands() -> None:
    """What `upright` makes of it is centimetres off."""
    truth = turned(0.1, 0.0, 0.0225, 0.5, (0.0, math.pi / 2, 0.0))
    (found,), _ = find("peg", [(PEG, truth)], "{}")
    assert np.linalg.norm(found.pose[:3, 3] - truth[:3, 3]) > 0.015


def test_a_peg_that_leans_is_not_told_where_that_is_asked_for() -> None:
    text = "peg: {orientation: resting, maximum_misfit: 0.002}"
    leaning = turned(0.1, 0.0, 0.1, 0.4, (0.5, 0.6, 0.0))
    found, finder = find("peg", [(PEG, leaning)], text, noise=0.001)
    assert found == []
    assert finder.rejected == {Rejection.MISFIT: 1}
    standing = pose(0.1, 0.0, 0.065, 0.4)
    (found_standing,), _ = find("peg", [(PEG, standing)], text, noise=0.001)
    assert 0.0 < found_standing.misfit < 0.002


# -- which way it looks ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("heading", [0.0, 1.0, -1.57, 3.0])
@pytest.mark.parametrize("center", ["fit", "shape"])
def test_of_the_turns_that_look_the_same_the_one_next_to_the_heading_is_told(
    heading: float, center: str
) -> None:
    for name, shape, period in (("brick", BRICK, math.pi), ("cube", CUBE, math.pi / 2)):
        for yaw in (-2.4, -1.5, 0.2, 0.8, 1.6):
            truth = pose(0.1, 0.0, shape.half_extents[2], yaw)
            text = f"default: {{heading: {heading}, center: {center}}}"
            (found,), _ = find(name, [(shape, truth)], text)
            off = (yaw_of(found) - heading + math.pi) % (2 * math.pi) - math.pi
            assert abs(off) <= period / 2 + 1e-6
            same = (yaw_of(found) - yaw + period / 2) % period - period / 2
            assert abs(same) < math.radians(4.0)


def test_a_heading_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"classes\.cube\.heading"):
        parse_settings("cube: {heading: .nan}")


# -- trays ----------------------------------------------------------------------------------------


def tray(x: float, y: float, yaw: float) -> tuple[np.ndarray, list[tuple[Shape, np.ndarray]]]:
    """An open box with walls of 8 mm, its pose and its parts."""
    at = pose(x, y, 0.025, yaw)
    parts = [(Shape("box", (0.20, 0.14, 0.008)), at @ pose(0.0, 0.0, -0.021))]
    for side in (-1, 1):
        parts.append((Shape("box", (0.20, 0.008, 0.05)), at @ pose(0.0, side * 0.066, 0.0)))
        parts.append((Shape("box", (0.008, 0.14, 0.05)), at @ pose(side * 0.096, 0.0, 0.0)))
    return at, parts


@pytest.mark.parametrize("yaw", [0.0, 0.4, -0.9])
def test_a_trays_rim_tells_where_it_is(yaw: float) -> None:
    truth, parts = tray(0.1, 0.0, yaw)
    (outlined,), _ = find("tray", parts, "tray: {center: outline}")
    assert outlined.pose[:3, 3] == pytest.approx(truth[:3, 3], abs=0.008)
    same = (yaw_of(outlined) - yaw + math.pi / 2) % math.pi - math.pi / 2
    assert abs(same) < math.radians(4.0)
    (fitted,), _ = find("tray", parts, "tray: {center: fit}")
    assert abs(fitted.pose[2, 3] - truth[2, 3]) > 0.012, (
        "a solid one would have its top at the floor"
    )
