# SPDX-License-Identifier: Apache-2.0
"""Robots of recordings, which may come from anybody: only meshes of installed robots are read."""

import pytest
from mcap.writer import Writer

from behavior_console.records.recorded_robot import installed_mesh, recorded_robot

URDF = """<robot name="r"><link name="a"><visual><geometry>
<mesh filename="file:///else/where/share/arms/meshes/a.dae"/></geometry></visual></link></robot>"""


def recording(path, text):
    data = text.encode() + b"\0"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channel = writer.register_channel("/robot_description", "cdr", schema)
        writer.add_message(channel, 1, b"\0\1\0\0" + len(data).to_bytes(4, "little") + data, 1)
        writer.finish()
    return path


@pytest.fixture
def share(tmp_path):
    folder = tmp_path / "share"
    (folder / "arms" / "meshes").mkdir(parents=True)
    for name in ("a.dae", "secret.txt"):
        (folder / "arms" / "meshes" / name).write_text("x")
    (tmp_path / "outside.stl").write_text("x")
    (folder / "arms" / "link.stl").symlink_to(tmp_path / "outside.stl")
    return folder


@pytest.mark.parametrize(
    "filename",
    [
        "package://arms/meshes/a.dae",
        "file:///home/ann/.venv/lib/share/arms/meshes/a.dae",
        "/opt/share/ros/share/arms/meshes/a.dae",
    ],
)
def test_a_mesh_is_found_by_what_all_machines_share(share, filename):
    assert installed_mesh(filename, [share]) == share / "arms" / "meshes" / "a.dae"


@pytest.mark.parametrize(
    "filename",
    [
        "",
        "package://arms/meshes/secret.txt",
        "package://arms/../../outside.stl",
        "file:///share/../outside.stl",
        "package://arms/link.stl",
        "package://arms/meshes/b.dae",
        "https://example.org/share/arms/b.dae",
    ],
)
def test_nothing_else_is_read(share, filename):
    assert installed_mesh(filename, [share]) is None


def test_the_page_asks_for_meshes_of_the_recording_that_it_shows(tmp_path):
    robot = recorded_robot(recording(tmp_path / "r.mcap", URDF), record="kept/r.mcap")
    (name,) = robot.mesh_names
    assert f"/api/mesh/{name}?record=kept%2Fr.mcap" in robot.urdf
    with pytest.raises(ValueError, match=r"a\.dae"):  # no such robot is installed here
        robot.mesh(name)


@pytest.mark.parametrize("text", ["", "no URDF"])
def test_without_a_robot_there_is_none(tmp_path, text):
    assert recorded_robot(recording(tmp_path / "r.mcap", text)).urdf == ""
