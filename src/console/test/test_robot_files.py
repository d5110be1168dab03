# SPDX-License-Identifier: Apache-2.0
"""The robot as pages draw it: light meshes with their colours, and no way to other files."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
import trimesh
from starlette.applications import Starlette
from starlette.testclient import TestClient

from behavior_console.light_mesh import light_mesh
from behavior_console.robot_files import MOST_TRIANGLES, RobotFiles, robot_routes

PANDA = Path(__file__).parents[3] / "config/robots/panda.yaml"
RED = [200, 10, 20, 255]


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A red ball of 5120 triangles and 0.1 m, as makers of robots publish them."""
    mesh = trimesh.creation.icosphere(subdivisions=4, radius=0.1)
    material = trimesh.visual.material.SimpleMaterial(diffuse=RED)
    mesh.visual = trimesh.visual.TextureVisuals(material=material)
    file = tmp_path_factory.mktemp("meshes") / "ball.obj"
    mesh.export(file)
    return file


def robot(*meshes: Path) -> RobotFiles:
    links = "".join(
        f"""<link name="l{number}"><inertial/><collision><geometry><sphere radius="1"/></geometry>
        </collision><visual><geometry><mesh filename="file://{mesh}"/></geometry></visual></link>"""
        for number, mesh in enumerate(meshes)
    )
    return RobotFiles(ElementTree.fromstring(f'<robot name="r">{links}<gazebo/></robot>'))


def page(files: RobotFiles) -> TestClient:
    return TestClient(Starlette(routes=robot_routes(files)))


def loaded(glb: bytes) -> trimesh.Trimesh:
    scene = trimesh.load_scene(io.BytesIO(glb), file_type="glb")
    (mesh,) = scene.dump(concatenate=False)
    assert isinstance(mesh, trimesh.Trimesh)
    return mesh


def test_a_mesh_comes_with_few_triangles_its_size_and_its_color(ball: Path) -> None:
    mesh = loaded(light_mesh(ball, 500))
    assert 300 <= len(mesh.faces) <= 520
    assert mesh.extents == pytest.approx([0.2, 0.2, 0.2], rel=0.03)
    assert mesh.visual.material.main_color.tolist() == RED


def test_a_small_mesh_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "box.stl"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file)
    mesh = loaded(light_mesh(file, MOST_TRIANGLES))
    assert len(mesh.faces) == 12
    assert mesh.extents.tolist() == [1.0, 2.0, 3.0]


def test_the_page_gets_only_what_it_draws(ball: Path) -> None:
    files = robot(ball)
    answer = page(files).get("/api/robot")
    root = ElementTree.fromstring(answer.text)
    assert {child.tag for link in root for child in link} == {"visual"}
    assert [each.tag for each in root] == ["link"]
    (mesh,) = root.iter("mesh")
    assert mesh.get("filename") == f"/api/mesh/{files.mesh_names[0]}"
    assert str(ball.parent) not in answer.text
    assert page(files).get(mesh.get("filename", "")).content[:4] == b"glTF"


@pytest.mark.parametrize(
    "name",
    [
        "ball.obj",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "a\0.glb",
        "x" * 9000,
    ],
)
def test_no_name_leads_to_another_file(ball: Path, name: str) -> None:
    (ball.parent / "secret.glb").write_bytes(b"secret")
    client = page(robot(ball))
    answer = client.get(f"/api/mesh/{name}".replace("\0", "%00"))
    assert answer.status_code == 404
    absolute = client.get(f"/api/mesh/{ball.parent}/secret.glb")
    assert absolute.status_code == 404


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    broken, missing = tmp_path / "broken.stl", tmp_path / "missing.dae"
    broken.write_bytes(b"solid nothing")
    files = robot(broken, missing)
    client = page(files)
    answers = [client.get(f"/api/mesh/{name}") for name in files.mesh_names]
    assert [answer.status_code for answer in answers] == [422, 422]
    texts = " ".join(answer.text for answer in answers)
    assert "broken.stl" in texts
    assert "missing.dae" in texts
    assert str(tmp_path) not in texts


def test_a_stack_without_an_arm_says_so() -> None:
    answer = page(RobotFiles.of_file("")).get("/api/robot")
    assert (answer.status_code, answer.text) == (204, "")


def test_a_robot_of_this_suite_comes_as_a_whole() -> None:
    files = RobotFiles.of_file(str(PANDA))
    root = ElementTree.fromstring(files.urdf)
    assert {"panda_link0", "tool"} <= {link.get("name") for link in root.iter("link")}
    finger = next(
        link.find("visual/geometry/mesh")
        for link in root.iter("link")
        if link.get("name") == "panda_leftfinger"
    )
    assert finger is not None
    name = finger.get("filename", "").rpartition("/")[2]
    assert len(files.mesh(name)) < 60_000
    assert files.mesh(name) is files.mesh(name)
