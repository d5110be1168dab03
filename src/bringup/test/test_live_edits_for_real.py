# SPDX-License-Identifier: Apache-2.0
"""Two editors change a mission that runs, each in a process of his own, and the executor's process
is killed in the middle of an edit: nothing that was acknowledged is lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from behavior_msgs.msg import MissionAction

from behavior_executor.client import MissionClient
from behavior_executor.editing.live_editor import LiveEditor
from behavior_executor.missions.mission import State
from behavior_ros.testing import ros, until
from behavior_tree.sharing import Answer, Code, Running

__all__ = ["ros"]

LEAVES = 40
TREE = f"""<root BTCPP_format="4"><BehaviorTree ID="naps">
  <Sequence name="all">
    <Sleep name="long" msec="600000"/> <!-- until somebody ends it -->
    <Script name="mark" code="a := 1"/>
    <ScriptCondition name="look" code="a == 2"/>
    {"".join(f'<Sleep name="leaf {n}" msec="0"/>' for n in range(LEAVES))}
  </Sequence>
</BehaviorTree></root>"""
PATIENCE = 240.0
"""[s] for what takes a few on an idle machine."""
HEARD = 4
"""Edits of the stream that are acknowledged before the executor dies."""


class Executor:
    """An executor's process, killed and started again on the same folder."""

    def __init__(self, folder: Path) -> None:
        parameters = {
            "tree_directories": f"['{folder}']",
            "nodes_file": "''",
            "managers": "['']",
            "journal_file": str(folder / "run" / "missions.sqlite"),
            "restart_policy": "resume",
        }
        self._command = [sys.executable, "-m", "behavior_executor.node.executor_node", "--ros-args"]
        for name, value in parameters.items():
            self._command += ["-p", f"{name}:={value}"]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30.0)


@pytest.fixture
def executor(ros: None, tmp_path: Path) -> Iterator[Executor]:
    (tmp_path / "naps.xml").write_text(TREE)
    made = Executor(tmp_path)
    yield made
    made.kill()


class Stream(threading.Thread):
    """Ann's edits, one after the other as soon as each was answered, each of another leaf."""

    def __init__(self, ann: LiveEditor) -> None:
        super().__init__(daemon=True)
        self._ann = ann
        self.asked: dict[str, str] = {}
        """Text that leaves were asked to get."""
        self.answers: list[Answer] = []
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            leaf = self._ann.replica.find(f"leaf {len(self.asked)}")
            self.asked[leaf] = str(1 + len(self.asked) % 3)
            edit = {"op": "set", "node": leaf, "attributes": {"msec": self.asked[leaf]}}
            self.answers.append(self._ann.edit(edit, timeout=PATIENCE))


def bob(*arguments: str) -> str:
    """What the command line says that it has done."""
    command = ["behavior", "mission", "edit", "--mission", "naps", "--as", "bob", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(editor: LiveEditor, running: Running = Running.REFUSE, **operation: object) -> None:
    answer = editor.edit(operation, running, timeout=PATIENCE)
    assert answer.code is Code.MADE, answer


def state(client: MissionClient) -> int:
    (record,) = client.history(timeout=PATIENCE)
    return int(record.state)


@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_when_the_executor_dies(
    executor: Executor, tmp_path: Path
) -> None:
    assert os.environ["ROS_DOMAIN_ID"], "the processes meet in the test's own domain"
    with MissionClient() as client, LiveEditor("ann") as ann:
        client.wait_for_executor(PATIENCE)
        publisher = client._node.create_publisher(MissionAction, "/mission/action", 10)
        until(lambda: publisher.get_subscription_count() > 0, PATIENCE)
        publisher.publish(MissionAction(action_id="first", name="naps"))
        until(lambda: client.history(timeout=PATIENCE) and state(client) == State.RUNNING, PATIENCE)
        ann.join("naps", timeout=PATIENCE)
        look, long, mark = (ann.replica.find(name) for name in ("look", "long", "mark"))

        made(ann, op="set", node=look, attributes={"code": "a == 7"})
        assert "made, revision 2" in bob("set", "mark", "code=a := 3")
        made(ann, op="undo")  # her own, although his came later
        ann.join("naps", timeout=PATIENCE)
        assert ann.replica.nodes[look]["attributes"]["code"] == "a == 2"
        assert ann.replica.nodes[mark]["attributes"]["code"] == "a := 3"
        before = ann.replica.revision

        stream = Stream(ann)
        stream.start()
        until(lambda: len(stream.answers) >= HEARD, PATIENCE)
        executor.kill()  # there is always one on its way
        heard, asked = len(stream.answers), len(stream.asked)
        executor.start()
        until(lambda: len(stream.answers) >= heard + 3, PATIENCE)
        stream.stop.set()
        stream.join(PATIENCE)
        assert {answer.code for answer in stream.answers} == {Code.MADE}
        assert asked > heard

        ann.join("naps", timeout=PATIENCE)
        shown = {leaf: ann.replica.nodes[leaf]["attributes"]["msec"] for leaf in stream.asked}
        assert shown == stream.asked
        assert ann.replica.revision == before + len(stream.answers)  # each was made once
        assert ann.replica.nodes[mark]["attributes"]["code"] == "a := 3"
        assert (tmp_path / "naps.xml").read_text() == TREE

        until(lambda: state(client) == State.RUNNING, PATIENCE)
        made(ann, op="set", node=look, attributes={"code": "a == 3"})
        made(ann, Running.HALT, op="remove", node=long)
        until(lambda: state(client) == State.FINISHED, PATIENCE)
        made(ann, op="save")
        saved = (tmp_path / "naps.xml").read_text()
        assert '<Script name="mark" code="a := 3"/>' in saved
        assert "<!-- until somebody ends it -->" in saved
