# SPDX-License-Identifier: Apache-2.0
"""The object library, and expressions over tracks."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_scene import (
    LibraryError,
    Tracker,
    checked_detection,
    library_from_dict,
    load_library,
)
from behavior_scene.library import Symmetry
from behavior_scene.objects.definitions import definitions_from
from behavior_scene.objects.expression import ExpressionError, TrackExpression

SCENES = sorted((Path(__file__).parents[3] / "config" / "scenes").glob("*.yaml"))
TEXT = """
classes:
  mug:
    shape: cylinder
    size: [0.10, 0.04]
    mesh: mug.stl
    automatic: false
    symmetry: {axis: z}
    grasps:
      - {name: rim, pose: {position: [0.04, 0, 0.05], rpy: [3.14159265, 0, 0]}, width: 0.01}
      - {name: side}
objects:
  mug_rim: {kind: grasp, object: mug, grasp: rim}
"""


def test_library_with_meshes_symmetry_grasps_and_objects(tmp_path):
    (tmp_path / "mug.stl").write_text("solid mug")
    (tmp_path / "library.yaml").write_text(TEXT)
    library = load_library(tmp_path / "library.yaml")
    mug = library.classes["mug"]
    assert mug.mesh == str(tmp_path / "mug.stl")
    assert mug.symmetry.order == 0
    assert mug.grasp("rim").width == 0.01
    np.testing.assert_allclose(mug.grasp("rim").pose.matrix()[:3, 2], (0, 0, -1), atol=1e-8)
    assert mug.grasp("handle") is None
    assert not mug.automatic
    assert definitions_from(library.objects, "library")["mug_rim"].grasp == "rim"


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_libraries_of_the_worlds_can_be_read(path):
    library = load_library(path)
    assert library.classes
    definitions_from(library.objects, str(path))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("mesh: mug.stl", "mesh: cup.stl", "class 'mug': mesh: there is no file"),
        ("name: side", "name: rim", "class 'mug': grasps: two are called 'rim'; rename one"),
        ("{axis: z}", "{axis: w}", "class 'mug': symmetry.axis: Input should be 'x', 'y' or 'z'"),
        ("{axis: z}", "{axis: z, order: 1}", "symmetry.order: 1 is no symmetry"),
        ("width: 0.01", "width: -1", "grasps.0.width: Input should be greater than or equal to 0"),
        ("width: 0.01", "widht: 1", "unknown key 'grasps.0.widht'"),
        ("automatic: false", "automatic: perhaps", "automatic: Input should be a valid boolean"),
        ("automatic: false", "instances: -1", "instances: Input should be greater than"),
        ("objects:", "things:", "unknown keys ['things']"),
        ("    symmetry: {axis: z}", "    symetry: 5", "did you mean 'symmetry'?"),
        ("classes:", "classes: 5\nmore:", "`classes` must be a mapping"),
    ],
)
def test_mistakes_name_file_class_key_and_remedy(tmp_path, old, new, said):
    (tmp_path / "mug.stl").write_text("solid mug")
    file = tmp_path / "library.yaml"
    assert old in TEXT
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(LibraryError) as error:
        load_library(file)
    assert said in str(error.value)
    assert str(file) in str(error.value)


def test_all_mistakes_are_told_at_once(tmp_path):
    file = tmp_path / "library.yaml"
    file.write_text("classes: {a: {gate: -1}, b: {shape: cone}, c: 5}")
    with pytest.raises(LibraryError) as error:
        load_library(file)
    assert [line.split("class ")[1][:3] for line in str(error.value).splitlines()] == [
        "'a'",
        "'b'",
        "'c'",
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"a: [", b"5"])
def test_files_that_are_no_library(tmp_path, content):
    file = tmp_path / "library.yaml"
    file.write_bytes(content)
    with pytest.raises(LibraryError, match=str(file)):
        load_library(file)


angle = st.floats(-math.pi, math.pi)


@given(st.sampled_from("xyz"), st.integers(2, 8), st.tuples(angle, angle, angle), angle)
def test_nearest_equivalent_pose_is_the_nearest_of_all(axis, order, rpy, turn):
    symmetry = Symmetry(axis=axis, order=order)
    reference, pose = np.eye(4), np.eye(4)
    reference[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix()
    pose[:3, :3] = Rotation.from_euler("zyx", (turn, rpy[1], rpy[0])).as_matrix()
    pose[:3, 3] = (1.0, 2.0, 3.0)

    def apart(rotation):
        return Rotation.from_matrix(reference[:3, :3].T @ rotation).magnitude()

    equivalents = [
        pose[:3, :3] @ Rotation.from_euler(axis, 2 * math.pi * k / order).as_matrix()
        for k in range(order)
    ]
    nearest = symmetry.nearest(pose, reference)
    assert apart(nearest[:3, :3]) == pytest.approx(min(map(apart, equivalents)), abs=1e-6)
    assert min(np.abs(e - nearest[:3, :3]).max() for e in equivalents) < 1e-9
    np.testing.assert_array_equal(nearest[:3, 3], pose[:3, 3])
    every = Symmetry(axis=axis).nearest(pose, reference)
    assert apart(every[:3, :3]) <= apart(nearest[:3, :3]) + 1e-6
    column = "xyz".index(axis)
    np.testing.assert_allclose(every[:3, column], pose[:3, column], atol=1e-9)


FIELDS = {"confidence": 0.7, "z": 0.1, "class_id": "cup and saucer"}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("confidence > 0.5 and z < 0.4", True),
        ("confidence > 0.8 or z < 0.05", False),
        ("not (z < 0.05)", True),
        ("class_id == 'cup and saucer'", True),
        ("class_id == 'cup' || 0 < z < 1", True),
    ],
)
def test_expressions(text, holds):
    assert TrackExpression(text, FIELDS).holds(FIELDS) is holds


@pytest.mark.parametrize("text", ["size > 1", "z <", "class_id", "__import__('os')", "z.real > 0"])
def test_what_is_no_expression_over_the_fields_is_refused(text):
    with pytest.raises(ExpressionError, match=r"cannot be read|is no condition"):
        TrackExpression(text, FIELDS)


@pytest.mark.slow
def test_symmetric_thing_does_not_turn_with_what_its_detector_cannot_tell():
    """A detector sees a can with any turn about its axis; the can's frame stays as it was."""
    library = library_from_dict(
        {"classes": {"can": {"instances": 1, "symmetry": {"axis": "z"}}, "mug": {"instances": 1}}}
    )
    tracker, rng, turned = Tracker(library), np.random.default_rng(0), {}
    for step in range(50):
        turn = Rotation.from_euler("z", rng.uniform(-math.pi, math.pi)).as_quat()
        tracker.update(
            [
                checked_detection(
                    class_id=name,
                    stamp=0.1 * step,
                    confidence=1.0,
                    position=(x, 0.0, 0.0),
                    quaternion=turn,
                    world_T_frame=np.eye(4),
                )
                for name, x in (("can", 0.0), ("mug", 1.0))
            ]
        )
        for name, track in tracker.tracks.items():
            yaw = Rotation.from_matrix(track.world_T_object[:3, :3]).as_euler("zyx")[0]
            turned.setdefault(name, []).append(yaw)
    assert np.ptp(turned["can"]) < 1e-6
    assert np.ptp(turned["mug"]) > 0.5
