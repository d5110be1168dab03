# SPDX-License-Identifier: Apache-2.0
"""`behavior mission edit` beside an executor in this process."""

import json
from pathlib import Path

import pytest
from rclpy.parameter import Parameter

from behavior_bringup.cli import main
from behavior_bringup.stacks import connection
from behavior_bringup.teaching import verb
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.testing import Spinner, ros, spinner

__all__ = ["ros", "spinner"]

TREE = """<root BTCPP_format="4"><BehaviorTree ID="naps">
  <Sequence name="all"><Sleep name="long" msec='10'/> <!-- kept --></Sequence>
</BehaviorTree></root>"""

NODES = """nodes:
  - {node: MoveArm, action: move_arm, type: behavior_msgs/action/MoveArm}
"""


@pytest.fixture
def tree(
    spinner: Spinner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The file of the only mission of an executor."""
    file = tmp_path / "naps.xml"
    file.write_text(TREE)
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(NODES)
    values = {"tree_directories": [str(tmp_path)], "nodes_file": str(nodes), "managers": [""]}
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    spinner.start(BehaviorExecutor(parameter_overrides=overrides))
    monkeypatch.setattr(connection, "enter", lambda name, node="": None)
    return file


@pytest.mark.timeout(180)
def test_a_tree_is_edited_taken_back_and_saved(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edit = ["mission", "edit", "--mission", "naps", "--as"]
    assert main([*edit, "ann", "set", "long", "msec=20"]) == 0
    shown = capsys.readouterr().out
    assert "made, revision 1" in shown
    assert "editors: ann" in shown
    assert f"not saved: {tree}" in shown
    assert tree.read_text() == TREE
    assert main([*edit, "bob", "undo"]) == 1
    assert "no edit of yours" in capsys.readouterr().err
    assert main([*edit, "ann", "undo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "MADE"
    assert main([*edit, "ann", "rename", "long", "short"]) == 0
    assert main([*edit, "bob", "save"]) == 0
    assert tree.read_text() == TREE.replace('"long"', '"short"')
    leaf = '<MoveArm name="taught 1" mode="JOINTS" joints="0.5"/>'
    monkeypatch.setattr(verb, "_leaves", lambda options: [leaf])
    teach = ["teach", "--mission", "naps", "--as", "ann", "--parent", "all", "--before", "short"]
    assert main(teach) == 0
    assert main([*edit, "ann", "save"]) == 0
    assert tree.read_text().index("taught 1") < tree.read_text().index("short")
    assert main([*edit, "ann", "undo"]) == 0
    assert main([*edit, "bob", "save"]) == 0
    assert tree.read_text() == TREE.replace('"long"', '"short"')
    capsys.readouterr()
    assert main([*edit, "cy", "show"]) == 0
    shown = capsys.readouterr().out
    assert "all saved" in shown
    assert '<Sleep name="short" msec="10" />' in shown
    assert main([*edit, "cy", "remove", "nobody"]) == 2
    assert "there is no node 'nobody'" in capsys.readouterr().err.replace("There", "there")
    assert main([*edit, "cy", "undo", "everything"]) == 2
    assert main(["mission", "edit", "show"]) == 1
    assert "no mission runs" in capsys.readouterr().err.replace("No", "no")
