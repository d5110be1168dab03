# SPDX-License-Identifier: Apache-2.0
"""Trees are edited over ROS while they tick."""

import json
import re
import threading
from pathlib import Path

import pytest
from behavior_msgs.srv import EditTree
from rclpy.parameter import Parameter

from behavior_executor.client import MissionClient
from behavior_executor.editing.live_editor import LiveEditor, LiveEditorError
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import QOS_REQUESTS
from behavior_ros.testing import Spinner, until
from behavior_tree.sharing import Code, Running

PAGE = Path(__file__).resolve().parents[3] / "docs/authoring.md"
TREE = """<!-- Naps -->
<root BTCPP_format="4">
  <BehaviorTree ID="naps">
    <Sequence name="all">
      <Sleep name="long"  msec='600000'/> <!-- as long as it is let -->
      <Script name="mark" code="a := 1"/>
      <ScriptCondition name="look" code="a == 2"/>
    </Sequence>
  </BehaviorTree>
</root>"""


class Stack:
    """An executor that is started again on the same files."""

    def __init__(self, spinner: Spinner, folder: Path, **more: object) -> None:
        self.spinner, self.folder, self.more = spinner, folder, more
        (folder / "trees").mkdir()
        self.tree = folder / "trees" / "naps.xml"
        self.tree.write_text(TREE)
        self.executor = self.make()

    def make(self) -> BehaviorExecutor:
        values = {
            "tree_directories": [str(self.folder / "trees")],
            "nodes_file": "",
            "managers": [""],
            "journal_file": str(self.folder / "run" / "journal"),
            "restart_policy": "fail",
            **self.more,
        }
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        return BehaviorExecutor(parameter_overrides=overrides)


@pytest.fixture
def stack(spinner: Spinner, tmp_path: Path) -> Stack:
    made = Stack(spinner, tmp_path)
    spinner.start(made.executor)
    return made


@pytest.mark.timeout(180)
def test_a_mission_is_edited_to_its_end_by_two(stack: Stack) -> None:
    outcomes = []

    def run() -> None:
        with MissionClient(node_name="runner") as client:
            outcomes.append(client.run("naps", timeout=150.0))

    heard = []
    with LiveEditor("ann") as ann, LiveEditor("bob", on_news=heard.append) as bob:
        with pytest.raises(LiveEditorError, match="no mission runs"):
            ann.join()
        runner = threading.Thread(target=run)
        runner.start()
        until(lambda: stack.executor.core.queue.running is not None)
        ann.join("naps", timeout=60.0)
        bob.join("naps", timeout=60.0)
        assert bob.peer.editors == ("ann", "bob")
        look, long = ann.replica.find("look"), ann.replica.find("long")
        fix = {"op": "set", "node": look, "attributes": {"code": "a == 1"}}
        assert ann.edit(fix, timeout=60.0).code is Code.MADE
        answer = ann.edit({"op": "remove", "node": long}, timeout=60.0)
        assert answer.code is Code.RUNNING
        assert "'long'" in answer.message
        while bob.replica.revision < 1 or len([each for each in heard if each.editor]) < 2:
            bob.spin(0.1)
        assert bob.replica.nodes[look]["attributes"]["code"] == "a == 1"
        told = [(each.editor, each.answer.code) for each in heard if each.editor]
        assert told[:2] == [("ann", Code.MADE), ("ann", Code.RUNNING)]
        halt = {"op": "remove", "node": long}
        assert bob.edit(halt, Running.HALT, timeout=60.0).code is Code.MADE
        runner.join(150.0)
        assert outcomes[0].succeeded, outcomes[0].message
        assert ann.edit({"op": "save"}, timeout=60.0).code is Code.MADE
        line = "      <Sleep name=\"long\"  msec='600000'/>"
        assert line not in stack.tree.read_text()
        assert "<!-- as long as it is let -->" in stack.tree.read_text()
        assert 'code="a == 1"' in stack.tree.read_text()


@pytest.mark.timeout(180)
def test_an_executor_that_is_started_again_offers_what_was_edited(stack: Stack) -> None:
    with LiveEditor("ann") as ann:
        ann.join("naps", timeout=60.0)
        mark = ann.replica.find("mark")
        edit = {"op": "set", "node": mark, "attributes": {"code": "a := 2"}}
        assert ann.edit(edit, timeout=60.0).code is Code.MADE
        stack.spinner.do(stack.executor.destroy_node)
        again = stack.spinner.do(stack.make)
        stack.spinner.do(stack.spinner.nodes.remove, stack.executor)
        stack.spinner.do(stack.spinner.nodes.append, again)
        stack.spinner.do(stack.spinner.executor.add_node, again)
        other = {"op": "rename", "node": mark, "name": "note"}
        assert ann.edit(other, timeout=90.0).code is Code.MADE
        assert ann.replica.nodes[mark]["attributes"] == {"name": "note", "code": "a := 2"}
        assert stack.tree.read_text() == TREE


@pytest.mark.timeout(180)
def test_who_floods_is_answered_and_ticks_go_on(stack: Stack) -> None:
    """Hundreds of requests at once: each has its answer, and most are held back."""
    client = stack.spinner.node("flood")
    service = client.create_client(EditTree, "behavior/edit_tree", qos_profile=QOS_REQUESTS)
    assert service.wait_for_service(60.0)
    with LiveEditor("ann") as ann:
        ann.join("naps", timeout=60.0)
        mark = ann.replica.find("mark")
        text = json.dumps({"op": "set", "node": mark, "attributes": {"code": "a := 3"}})
        pending = [
            service.call_async(
                EditTree.Request(tree="naps", editor="flood", number=number, edit=text)
            )
            for number in range(1, 401)
        ]
        edit = {"op": "set", "node": mark, "attributes": {"code": "a := 4"}}
        assert ann.edit(edit, timeout=60.0).code is Code.MADE
        until(lambda: all(each.done() for each in pending))
        codes = [each.result().code for each in pending]
        assert codes.count(EditTree.Response.CODE_HELD_BACK) > 0
        assert set(codes) <= {
            EditTree.Response.CODE_MADE,
            EditTree.Response.CODE_HELD_BACK,
        }


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested alone")
@pytest.mark.timeout(180)
def test_the_program_of_the_page_runs(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python ros\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for theirs, ours in (
        ("stack_blocks", "naps"),
        ('"reach"', '"mark"'),
        ('"timeout": "5"', '"code": "a := 5"'),
        ("spin(10.0)", "spin(0.1)"),
    ):
        assert theirs in program
        program = program.replace(theirs, ours)
    exec(compile(program, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == "MADE  ('ann',)\n"


@pytest.mark.timeout(90)
def test_who_may_only_look_is_refused(spinner: Spinner, tmp_path: Path) -> None:
    spinner.start(Stack(spinner, tmp_path, edit_trees=False).executor)
    with LiveEditor("ann") as ann:
        ann.join("naps", timeout=60.0)
        edit = {"op": "remove", "node": ann.replica.find("look")}
        answer = ann.edit(edit, timeout=60.0)
        assert answer.code is Code.REFUSED
        assert "edit_trees" in answer.message
