# SPDX-License-Identifier: Apache-2.0
"""What the page on authoring shows runs, and what it names is there."""

import re
from pathlib import Path
from types import ModuleType

import pytest
from authoring_kit import RUNNING, SUCCESS, Rig

from behavior_tree.cause import CauseKind
from behavior_tree.cli import edit as command_line
from behavior_tree.cli import main
from behavior_tree.nodes.authoring import AUTHORING_NODES
from behavior_tree.sharing import edits as sharing

PAGE = Path(__file__).resolve().parents[4] / "docs/authoring.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the package is tested alone")


def blocks(language, page=PAGE):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", ["authoring", "run_control"])
def test_the_python_blocks_run_one_after_the_other(name):
    module, page = ModuleType("page"), PAGE.with_stem(name)
    for block in blocks("python", page):
        line = page.read_text(encoding="utf-8").split(block)[0].count("\n")
        exec(compile("\n" * line + block, str(page), "exec"), vars(module))


def test_the_list_runs_as_its_picture_shows():
    rig = Rig()
    document = blocks("xml")[0]
    for name, seconds in (("Walk", 7.6), ("LeftArm", 2.0), ("RightArm", 2.1)):
        document = document.replace(f"<{name}/>", f'<Act name="{name}" seconds="{seconds}"/>')
    assert rig.run(rig.factory.create_tree_from_text(document)) is SUCCESS
    assert rig.times("+") == {"Walk": 0, "LeftArm": 1, "RightArm": 2.5}
    assert rig.times("-") == {"Walk": 7.6, "LeftArm": 3, "RightArm": 4.6}


def test_the_clauses_of_the_page_run_as_it_tells():
    rig = Rig()
    (document,) = (block for block in blocks("xml") if "<Try" in block)
    results = {"DriveToTable": "SUCCESS", "LiftArm": "SUCCESS", "Grasp": "FAILURE"}
    for name in ("DriveToTable", "LiftArm", "Grasp", "OpenHand", "CallOperator", "FoldArm"):
        document = document.replace(
            f"<{name}", f'<Act _skipIf="false" result="{results.get(name, "SUCCESS")}"'
        )
    tree = rig.tree(document)
    while tree.tick_once() is RUNNING:
        rig.clock.now = tree.runtime.next_deadline()
    begins = [name for _, sign, name in rig.log if sign == "+"]
    assert begins == ["drive", "arm", "grasp", "Act"] * 3  # the third time the last clause
    assert tree.failure_reason().path == "grasp"


def test_the_jumps_of_the_page_run_as_it_tells():
    rig = Rig()
    (document,) = (block for block in blocks("xml") if "<Goto" in block)
    for name in ("TurnHead", "Pick", "Drop"):
        document = document.replace(f"<{name}", f'<Act name="{name}"')
    tree = rig.tree(document)
    tree.root_blackboard().set("done", False)
    while tree.tick_once() is RUNNING:
        rig.clock.now = tree.runtime.next_deadline() or rig.clock.now + 0.01
        tree.root_blackboard().set("done", rig.clock.now > 104)
    assert [name for _, sign, name in rig.log if sign == "+"] == ["TurnHead", "Pick", "Drop"] * 2


def test_the_page_lists_all_kinds_of_causes():
    row = re.search(r"^\| `kind` \| .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert set(re.findall(r"`([A-Z_]+)`", row[0])) == {kind.name for kind in CauseKind}


def test_the_pictures_are_drawn_from_the_file(capsys, tmp_path):
    example = PAGE.parents[1] / "examples/17_walk_and_arms.xml"
    assert main(["check", str(example)]) == 0
    capsys.readouterr()
    assert main(["schedule", str(example)]) == 0
    assert capsys.readouterr().out in blocks("text")
    drawn = tmp_path / "drawn.svg"
    assert main(["schedule", str(example), "--svg", str(drawn)]) == 0
    kept = (PAGE.parent / "images/schedules/walk_and_arms.svg").read_text(encoding="utf-8")
    name = re.compile(r'<text class="title".*')
    assert name.sub("", drawn.read_text(encoding="utf-8")) == name.sub("", kept)


def test_the_edit_at_the_command_line_shows_what_would_change(capsys, monkeypatch):
    (command,) = re.findall(r"^behavior tree (edit .*)", PAGE.read_text(encoding="utf-8"), re.M)
    monkeypatch.chdir(PAGE.parents[1])
    assert main(command.split()) == 0
    changed = [line for line in capsys.readouterr().out.splitlines() if line[0] in "+-"]
    assert sum("Together" in line for line in changed) == 2  # the tree, and the main tree
    assert "Together" not in Path(command.split()[1]).read_text(encoding="utf-8")


def test_operations_of_the_page_are_those_that_there_are():
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("| `op` | fields |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (`\w.*?) \|", table, re.M)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(sharing.OPERATIONS)
    for name, shape in command_line.OPERATIONS.items():
        assert re.search(re.escape(f"`{name} {shape}`").replace(r"\ ", r"\s"), text), name


def test_the_table_of_nodes_has_every_node_with_its_ports():
    text = PAGE.read_text(encoding="utf-8").split("## The nodes")[1].split("##")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*?) ?\|$", text, re.MULTILINE))
    assert rows.keys() == AUTHORING_NODES.keys()
    for type_id, told in rows.items():
        ports = AUTHORING_NODES[type_id].provided_ports().keys()
        assert set(re.findall(r"`(\w+)`", told)) == ports
