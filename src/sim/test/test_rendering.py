# SPDX-License-Identifier: Apache-2.0
"""Recordings, and pictures of them wherever OpenGL is to be had."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from behavior_motion.robot.resources import resolve
from behavior_sim.cameras.opengl import missing_library
from behavior_sim.recordings import rendering
from behavior_sim.recordings.recording import MotionRecorder, Recording, RecordingError
from behavior_sim.recordings.rendering import Caption, caption_at, render_recording
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.collada import load_collada

TRIANGLE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit meter="0.5"/></asset>
 <library_effects><effect id="e"><profile_COMMON><technique><phong><diffuse>
  <color>1 0 0 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
 <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="a" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
   <technique_common><accessor source="#a" count="4" stride="3">
    <param name="X"/><param name="Y"/><param name="Z"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <polylist count="1" material="s"><input semantic="VERTEX" source="#v" offset="1"/>
   <input semantic="NORMAL" source="#p" offset="0"/>
   <vcount>4</vcount><p>3 0 3 1 3 2 3 3</p></polylist>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene>
  <node><translate>0 0 2</translate><rotate>0 0 1 90</rotate>
   <instance_geometry url="#g"><bind_material><technique_common>
    <instance_material symbol="s" target="#m"/></technique_common></bind_material>
   </instance_geometry></node>
 </visual_scene></library_visual_scenes>
</COLLADA>
"""


@pytest.fixture
def recording(simulation: Simulation, tmp_path: Path) -> Path:
    simulation.recorder = MotionRecorder(simulation.config)
    for _ in range(50):
        simulation.advance(10)
    path = tmp_path / "sub" / "motion.npz"
    simulation.recorder.recording().save(path)
    return path


def test_recording_round_trip(simulation: Simulation, recording: Path) -> None:
    loaded = Recording.load(recording)
    # 1 s in chunks of 20 ms: every fourth is the first beyond 1/15 s.
    assert len(loaded.times) == 13
    assert np.diff(loaded.times).min() >= 1 / 15 - 1e-9
    assert loaded.qpos.shape == (len(loaded.times), simulation.world.model.nq)
    assert loaded.config() == simulation.config


def test_reset_starts_a_new_recording(simulation: Simulation) -> None:
    recorder = simulation.recorder = MotionRecorder(simulation.config)
    simulation.advance(10)
    simulation.reset(1)
    with pytest.raises(RecordingError, match="nothing was recorded"):
        recorder.recording()


def test_no_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"missing\.npz"):
        Recording.load(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(RecordingError, match="is no recording"):
        Recording.load(tmp_path / "text.npz")


def test_picture_and_animation(recording: Path, tmp_path: Path) -> None:
    report = render_recording(
        recording,
        tmp_path / "end.png",
        tmp_path / "all.gif",
        captions=[Caption(0.0, "Pick: approach")],
        timeout=240,
    )
    if report.backend == "none":
        pytest.skip(f"no OpenGL here: {report.message}")
    picture = np.asarray(Image.open(report.png).convert("RGB"))
    assert picture.shape[:2] == rendering.PICTURE_SIZE[::-1]
    assert picture.reshape(-1, 3).std(axis=0).min() > 5, "an empty picture"
    with Image.open(report.gif) as animation:
        assert animation.size == rendering.ANIMATION_SIZE
        assert report.frames > 5
        first = np.asarray(animation.convert("L"))
    band, above = first[-30:], first[-100:-40]
    assert band.mean() < above.mean() / 2, "no caption"
    assert band.max() > 200, "an empty caption"
    assert Path(report.gif).stat().st_size < 3_000_000


def test_captions_hold_until_the_next_one() -> None:
    story = [Caption(1.0, "pick"), Caption(3.0, "place")]
    told = [caption_at(story, moment) for moment in (0.9, 1.0, 2.9, 3.0, 99.0)]
    assert told == ["", "pick", "pick", "place", "place"]
    assert caption_at([], 1.0) == ""


def test_without_opengl_nothing_is_raised(recording: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    monkeypatch.setattr(rendering, "missing_library", lambda backend: "")
    report = render_recording(recording, tmp_path / "end.png")
    assert report.backend == "none"
    assert "EGL: " in report.message
    assert "OSMesa: " in report.message


def test_missing_libraries_are_told_with_their_packages() -> None:
    assert missing_library("egl", find=lambda name: f"lib{name}.so.1") == ""
    told = missing_library("egl", find=lambda name: None)
    assert told == (
        "libEGL and libOpenGL missing (apt-get install libegl1 libopengl0 libgl1-mesa-dri)"
    )
    told = missing_library("osmesa", find=lambda name: None)
    assert told == "libOSMesa missing (apt-get install libosmesa6)"


def test_missing_recording_is_reported(tmp_path: Path) -> None:
    report = render_recording(tmp_path / "missing.npz", tmp_path / "end.png", timeout=60)
    assert report.backend == "none"
    assert "missing.npz" in report.message


def test_collada(tmp_path: Path) -> None:
    file = tmp_path / "square.dae"
    file.write_text(TRIANGLE)
    (part,) = load_collada(file)
    assert part.color == (1.0, 0.0, 0.0, 1.0)
    corners = part.vertices[part.faces]
    assert corners.shape == (2, 3, 3)
    # Turned by a right angle, lifted by 2, then halved to metres.
    assert part.vertices == pytest.approx(
        np.array([[0, 0, 1], [0, 0.5, 1], [-0.5, 0.5, 1], [-0.5, 0, 1]]), abs=1e-6
    )


def test_what_wears_a_broken_texture_is_grey(tmp_path: Path) -> None:
    file = tmp_path / "square.dae"
    file.write_text(TRIANGLE.replace("<color>1 0 0 1</color>", '<texture texture="none"/>'))
    (part,) = load_collada(file)
    assert part.color == (0.7, 0.7, 0.7, 1.0)
    assert len(part.faces) == 2


def test_what_is_wrong_in_a_collada_file_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "square.dae"
    file.write_text(TRIANGLE.replace('url="#e"', 'url="#f"'))
    with pytest.raises(ValueError, match=r"square\.dae holds no triangles"):
        load_collada(file)
    assert "square.dae: Effect not found: #f" in caplog.text


@pytest.mark.slow
def test_collada_agrees_with_the_robots_hulls(config) -> None:
    """The visual meshes lie within the hulls that stand for them, give or take a centimetre."""
    import mujoco

    (packages,) = config.robot.description.package_dirs
    meshes = resolve(packages, Path()) / "example-robot-data/robots/panda_description/meshes"
    folder, hulls = meshes / "visual", meshes / "collision"
    for name in ("link0", "link4", "hand"):
        points = np.vstack([part.vertices for part in load_collada(folder / f"{name}.dae")])
        spec = mujoco.MjSpec()
        mesh = spec.add_mesh(name="hull", file=str(hulls / f"{name}.stl"))
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull")
        model = spec.compile()
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.mesh_quat[0])
        hull = model.mesh_vert @ turn.reshape(3, 3).T + model.mesh_pos[0]
        assert points.min(axis=0) == pytest.approx(hull.min(axis=0), abs=0.015)
        assert points.max(axis=0) == pytest.approx(hull.max(axis=0), abs=0.015)
