# SPDX-License-Identifier: Apache-2.0
"""Where the sampled poses lie, in cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from kit import box, pose, random_pose, spec
from scipy.spatial.transform import Rotation

from behavior_skills.interfaces import Array
from behavior_skills.orientations import random_rotations
from behavior_skills.placement import (
    OrientedBox,
    PlaceScene,
    post_place_pose,
    sample_placements,
)

BIN = OrientedBox(pose(0.2, 0.1, 0.05), np.array([0.2, 0.1, 0.05]))


def scene(
    container: OrientedBox = BIN, W_T_B: Array | None = None, E_T_O: Array | None = None
) -> PlaceScene:
    return PlaceScene(
        W_T_B=np.eye(4) if W_T_B is None else W_T_B,
        W_R_C=container.pose[:3, :3],
        container=container,
        E_T_O=np.eye(4) if E_T_O is None else E_T_O,
    )


def sample(specification: object, world: PlaceScene, n: int = 200) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    found = sample_placements(specification, world, random_rotations(n, rng), rng)  # type: ignore[arg-type]
    return np.array([p.pre for p in found]), np.array([p.place for p in found])


def test_vertical_poses_are_above_the_middle_of_the_container() -> None:
    pre, place = sample(spec(), scene())
    assert place[:, 0, 3].min() >= 0.16
    assert place[:, 0, 3].max() <= 0.24
    assert place[:, 1, 3].min() >= 0.08
    assert place[:, 1, 3].max() <= 0.12
    assert np.ptp(place[:, 0, 3]) > 0.07  # the ranges are used, not their middle
    assert np.allclose(pre[:, 2, 3], 0.3)
    assert np.allclose(place[:, 2, 3], 0.2)
    assert np.allclose(pre[:, :2, 3], place[:, :2, 3])


def test_equal_ratios_give_one_point() -> None:
    _, place = sample(spec(x_ratio_range=[0.5, 0.5], y_ratio_range=[0.5, 0.5]), scene())
    assert np.allclose(place[:, :3, 3], [0.2, 0.1, 0.2])


def test_points_are_turned_into_the_base_frame() -> None:
    world = scene(W_T_B=pose(1.0, 0.0, 0.5, yaw=90))
    keys = {"x_ratio_range": [0.5, 0.5], "y_ratio_range": [0.5, 0.5]}
    _, place = sample(spec(**keys), world)
    assert np.allclose(place[:, :3, 3], [0.1, 0.8, -0.3])


def test_with_the_constraint_object_its_origin_is_at_the_point() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        E_T_O, W_T_B = random_pose(rng), random_pose(rng)
        rotations = random_rotations(1, rng)
        found = sample_placements(
            spec(position_constraint="object", x_ratio_range=[0.5, 0.5], y_ratio_range=[0.5, 0.5]),
            scene(W_T_B=W_T_B, E_T_O=E_T_O),
            rotations,
            rng,
        )[0]
        W_T_O = W_T_B @ found.place @ E_T_O
        assert np.allclose(W_T_O[:3, 3], [0.2, 0.1, 0.2], atol=1e-12)
        assert np.allclose(found.place[:3, :3], rotations[0], atol=1e-12)
        assert np.array_equal(found.pre[:3, :3], found.place[:3, :3])


@pytest.mark.parametrize("yaw", [0, 30, 45, 90, 200])
@pytest.mark.parametrize("direction", ["vertical", "horizontal"])
def test_points_lie_over_the_container_however_it_is_turned(yaw: float, direction: str) -> None:
    tray = OrientedBox(pose(0.5, 0.1, 0.05, yaw=yaw), np.array([0.2, 0.1, 0.05]))
    everywhere = {f"{axis}_ratio_range": [0.0, 1.0] for axis in "xyz"}
    keys = {**everywhere, "place_direction": direction, "align_place_obj_axis": [0, 0, -1]}
    _, place = sample(spec(**keys), scene(tray), 500)
    local = (place[:, :3, 3] - tray.pose[:3, 3]) @ tray.pose[:3, :3]
    assert (np.abs(local[:, :2]) <= [0.2 + 1e-9, 0.1 + 1e-9]).all()
    assert (np.ptp(local[:, :2], axis=0) > [0.36, 0.18]).all()  # all of it is used


def test_a_container_on_its_side_is_sampled_over_its_upper_face() -> None:
    on_side = np.eye(4)
    on_side[:3, :3] = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    crate = OrientedBox(on_side, np.array([0.3, 0.1, 0.2]))  # its own x is upright now
    everywhere = {f"{axis}_ratio_range": [0.0, 1.0] for axis in "xyz"}
    _, place = sample(spec(**everywhere), scene(crate), 500)
    assert np.abs(place[:, 0, 3]).max() == pytest.approx(0.2, abs=0.02)
    assert np.abs(place[:, 1, 3]).max() == pytest.approx(0.1, abs=0.01)
    assert np.allclose(place[:, 2, 3], 0.3 + 0.1)


SLOT = {
    "place_direction": "horizontal",
    "align_place_obj_axis": [1, 0, 0],
    "offset_place_obj_axis": [0, 0, -1],
    "x_ratio_range": [0.5, 0.5],
    "y_ratio_range": [0.5, 0.5],
    "z_ratio_range": [0.5, 0.5],
}
TURNED = box((0.2, 0.2, 0.2), yaw=90)


def test_horizontal_poses_of_the_object_lie_along_the_containers_axis() -> None:
    keys = {
        "pre_place_align": 0.15,
        "pre_place_offset": 0.027,
        "place_align": 0.07,
        "place_offset": 0.027,
    }
    pre, place = sample(spec(**SLOT, **keys, position_constraint="object"), scene(TURNED))
    assert np.allclose(pre[:, :3, 3], [0, 0.15, -0.027])
    assert np.allclose(place[:, :3, 3], [0, 0.07, -0.027])


def test_the_insertion_convention_turns_the_axis_round() -> None:
    keys = {"pre_place_align": 0.15, "place_align": -0.02, "place_offset": 0, "pre_place_offset": 0}
    pre, place = sample(
        spec(**SLOT, **keys, position_constraint="object", align_convention="insertion"),
        scene(TURNED),
    )
    assert np.allclose(pre[:, :3, 3], [0, -0.15, 0])
    assert np.allclose(place[:, :3, 3], [0, 0.02, 0])


def test_horizontal_poses_of_the_gripper_stand_off_by_the_grasp_depth() -> None:
    pre, place = sample(spec(**SLOT), scene(TURNED, E_T_O=pose(z=0.1)))
    assert np.allclose(pre[:, :3, 3], [0, -0.3, 0])
    assert np.allclose(place[:, :3, 3], [0, -0.2, 0])


def test_the_length_of_an_axis_does_not_matter() -> None:
    short, _ = sample(spec(**SLOT), scene(TURNED))
    long, _ = sample(spec(**{**SLOT, "align_place_obj_axis": [5, 0, 0]}), scene(TURNED))
    assert np.allclose(short, long)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("x_ratio_range", [0.1, 0.2]),
        ("y_ratio_range", [0.8, 0.9]),
        ("pre_place_z_offset", 0.5),
        ("place_z_offset", 0.02),
        ("position_constraint", "object"),
        ("place_direction", "horizontal"),
    ],
)
def test_each_key_changes_the_poses(key: str, value: object) -> None:
    world = scene(E_T_O=pose(0.01, 0.02, 0.1))
    axis = {"align_place_obj_axis": [1, 0, 0]}
    before, after = sample(spec(**axis), world), sample(spec(**axis, **{key: value}), world)
    assert not all(np.allclose(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "key",
    ["pre_place_align", "place_align", "pre_place_offset", "place_offset", "z_ratio_range"],
)
def test_each_horizontal_key_changes_the_poses(key: str) -> None:
    value = [0.9, 0.95] if key == "z_ratio_range" else 0.33
    base = {**SLOT, "position_constraint": "object"}
    before, after = sample(spec(**base), scene()), sample(spec(**{**base, key: value}), scene())
    assert not all(np.allclose(a, b) for a, b in zip(before, after, strict=True))


def test_the_way_back_is_in_the_tools_frame() -> None:
    place = pose(0.4, 0.1, 0.3)
    place[:3, :3] = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    post = post_place_pose(place, np.array([-0.05, 0.0, 0.0]))
    assert np.allclose(post[:3, 3], [0.4, 0.1, 0.35])
    assert np.array_equal(post[:3, :3], place[:3, :3])
