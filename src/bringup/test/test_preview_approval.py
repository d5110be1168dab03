# SPDX-License-Identifier: Apache-2.0
"""What happens between a preview and the mission that is run for real. No stack."""

from __future__ import annotations

import argparse
import hashlib
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from behavior_msgs.msg import MissionAction
from rich.console import Console
from std_msgs.msg import String

from behavior_bringup.errors import UsageError
from behavior_bringup.preview import motions, run, verb
from behavior_bringup.preview.live_state import BelievedObject, LiveState
from behavior_bringup.preview.report import Preview
from behavior_bringup.preview.trees import MissionTrees, seen_by, tree_changes, trees_of
from behavior_bringup.stacks.stack import Stack
from behavior_executor.client import MissionOutcome
from behavior_executor.editing.live_editor import LiveEditorError
from behavior_sim.recordings.motion_summary import MotionSummary

OPTIONS = argparse.Namespace(namespace="", tolerance=0.01, approve=False)


def seen(place: float) -> LiveState:
    """A stack with a red block at a place along x [m]."""
    pose = np.eye(4)
    pose[0, 3] = place
    red = BelievedObject(name="red", class_id="block", pose=pose)
    return LiveState(joints={}, objects={"red": red})


def preview(**more: object) -> Preview:
    still = MotionSummary(times=np.zeros(1), tool=np.zeros((1, 3)), touched=(), clearance=None)
    return Preview(
        mission="pick",
        parameters={},
        success=True,
        reason="done",
        duration=20.0,
        begin=seen(0.3),
        end=seen(0.5),
        motion=still,
        **more,  # type: ignore[arg-type]
    )


class Answering(Console):
    """A terminal at which somebody has these answers."""

    def __init__(self, *answers: str) -> None:
        super().__init__(file=io.StringIO(), width=200)
        self.answers = [*answers]

    def input(self, prompt: str = "", **_: object) -> str:  # type: ignore[override]
        self.print(prompt)
        return self.answers.pop(0)

    @property
    def text(self) -> str:
        return str(self.file.getvalue())  # type: ignore[attr-defined]


@pytest.mark.parametrize(("last", "runs"), [("yes", True), ("n", False)])
def test_what_changes_while_a_person_decides_is_asked_about_again(
    monkeypatch: pytest.MonkeyPatch, last: str, runs: bool
) -> None:
    looks = [seen(0.3), seen(0.4), seen(0.4)]
    monkeypatch.setattr(run, "observed", lambda *_: looks.pop(0))
    console = Answering("y", last)
    assert verb.may_run(Stack("test"), preview(), OPTIONS, console, asked=True) is runs
    assert console.text.count("Run pick for real?") == 2
    assert "Changed since" not in console.text
    assert "Changed while you decided: red has moved by 100 mm." in console.text


def test_what_a_person_has_been_told_is_not_asked_about_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "observed", lambda *_: seen(0.4))
    console = Answering("y")
    assert verb.may_run(Stack("test"), preview(), OPTIONS, console, asked=True)
    assert "Changed since: red has moved by 100 mm." in console.text


@pytest.fixture(autouse=True)
def trees(monkeypatch: pytest.MonkeyPatch) -> list[MissionTrees]:
    """What the next looks at the mission's trees see; when there are no more: the last again."""
    looks = [MissionTrees()]
    monkeypatch.setattr(run, "trees_now", lambda *_: looks.pop(0) if looks[1:] else looks[0])
    return looks


def test_a_tree_that_was_edited_since_does_not_run_unasked(
    monkeypatch: pytest.MonkeyPatch, trees: list[MissionTrees]
) -> None:
    monkeypatch.setattr(run, "observed", lambda *_: seen(0.3))
    found, approve = (
        preview(trees=MissionTrees(files={"a.xml": "1"})),
        argparse.Namespace(namespace="", tolerance=0.01, approve=True),
    )
    trees[:] = [MissionTrees(files={"a.xml": "1"})]
    assert verb.may_run(Stack("test"), found, approve, Answering(), asked=False)
    for edited, told in [
        (MissionTrees(files={"a.xml": "2"}), "a.xml has been edited"),
        (MissionTrees(files={}, unknown=("nobody knows",)), "nobody knows"),
        (
            MissionTrees(files={"a.xml": "1"}, unsaved=("pick",)),
            "the tree of 'pick' has been edited",
        ),
    ]:
        trees[:] = [edited]
        console = Answering()
        assert not verb.may_run(Stack("test"), found, approve, console, asked=False)
        assert f"Changed since: {told}." in console.text


def test_edits_of_trees_with_edits_that_were_told_are_told_too() -> None:
    before, now = (MissionTrees(unsaved=("pick",), revisions={"pick": each}) for each in "ab")
    assert list(tree_changes(before, before)) == []
    assert list(tree_changes(before, now)) == ["the tree of 'pick' has been edited"]


class Onlooker:
    """Sees trees: their files, and whether there are edits that are not saved."""

    def __init__(self, trees: dict[str, dict[str, bool]]) -> None:
        self.trees = trees
        self.replica, self.peer = SimpleNamespace(files={}), SimpleNamespace(revision="")

    def join(self, name: str) -> None:
        if name not in self.trees:
            raise LiveEditorError("files of version 3 are not edited together")
        files = self.trees[name]
        self.peer.revision = f"{name}/7"
        self.replica.files = {file: {"modified": each} for file, each in files.items()}


def test_what_is_edited_and_not_saved_is_not_previewed(tmp_path: Path) -> None:
    file, other = tmp_path / "pick.xml", tmp_path / "gone.xml"
    file.write_bytes(b"<root/>")
    trees = {"pick": {str(file): False, str(other): False}, "place": {str(file): True}}
    found = seen_by(Onlooker(trees), ["pick", "old"])  # type: ignore[arg-type]
    found.refuse_unsaved()
    assert found.files == {str(file): hashlib.sha256(b"<root/>").hexdigest(), str(other): ""}
    assert found.revisions == {"pick": "pick/7"}
    assert found.unknown == (
        "whether the tree of 'old' is edited is not known: files of version 3 are not edited"
        " together",
    )
    edited = seen_by(Onlooker(trees), ["pick", "place"])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="behavior mission edit --mission place save"):
        edited.refuse_unsaved()


def test_a_drive_has_no_tree_of_its_own_name() -> None:
    order = MissionAction(type=MissionAction.NAVIGATE_TO_POSE, name="there")
    assert trees_of(Stack("not up"), order) == MissionTrees()


class Skills:
    """A client that notes what it gives to the skills."""

    def __init__(self, given: list[str], *_: object, **__: object) -> None:
        self.given = given

    def __enter__(self) -> Skills:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def listen(self, *_: object) -> None:
        pass

    def work(self, _: float) -> None:
        pass

    def announce(self, *_: object) -> Callable[[String], None]:
        return lambda message: self.given.append(message.data)


def test_the_motions_that_are_done_are_those_of_the_preview_that_was_approved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trees: list[MissionTrees]
) -> None:
    file = tmp_path / "motions.json"
    file.write_text("[2]", encoding="utf-8")  # by another preview, while the question stood
    given: list[str] = []
    monkeypatch.setattr(motions, "enter", lambda *_: None)
    monkeypatch.setattr(motions, "StackClient", partial(Skills, given))
    done = MissionOutcome(code=0, message="done", duration=20.0)
    missions: list[str] = []
    monkeypatch.setattr(run, "run_for_real", lambda *given: missions.append(given[2]) or done)
    monkeypatch.setattr(run, "observed", lambda *_: seen(0.5))
    found = preview(motions=file, motions_text="[1]")
    assert verb.execute(Stack("test"), found, OPTIONS, Answering()) == 0
    (mission,) = missions
    assert mission
    assert given == [f"{mission}\n[1]", f"{mission}\n"]
    trees[:] = [MissionTrees(unsaved=("pick",))]  # edited when nobody looked
    console = Answering()
    verb.execute(Stack("test"), found, OPTIONS, console)
    assert "Changed since the preview: the tree of 'pick' has been edited." in console.text
