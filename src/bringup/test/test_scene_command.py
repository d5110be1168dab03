# SPDX-License-Identifier: Apache-2.0
"""`behavior scene`: arguments to messages, messages to text, and what goes wrong in words."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from behavior_msgs.action import CheckScene, ManageScene
from behavior_msgs.msg import (
    SceneObject,
    SceneObjectArray,
    SceneQuestion,
    SceneShape,
    SceneTrack,
    SceneTrackArray,
    Sighting,
)
from behavior_msgs.srv import WhereSeen

from behavior_bringup.cli import main
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.scene import scene_verbs
from behavior_bringup.scene.scene_cli import QUESTIONS, add_scene
from behavior_bringup.scene.scene_requests import goal_from, object_rows, question_from
from behavior_bringup.scene.scene_verbs import changes
from behavior_ros import to_time


def parsed(text: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_scene(parser.add_subparsers())
    return parser.parse_args(["scene", *text.split()])


def asked(text: str) -> SceneQuestion:
    return question_from(parsed(f"ask {text}"), 100.0)


def scene(*objects: SceneObject) -> SceneObjectArray:
    message = SceneObjectArray(objects=list(objects))
    message.header.stamp = to_time(50.0)
    return message


def cup(x: float = 0.5, **changed: Any) -> SceneObject:
    made = SceneObject(name="cup", class_id="mug", last_seen=to_time(49.0), **changed)
    made.pose.position.x = x
    return made


class FakeClient:
    """Answers as a scene would."""

    def __init__(self) -> None:
        self.newest: SceneObjectArray | None = scene(cup())
        self.goals: list[Any] = []
        self.requests: list[Any] = []
        self.result: Any = None
        self.snapshots: Iterator[SceneObjectArray] = iter(())
        self.feedback: list[Any] = []

    def objects(self) -> SceneObjectArray | None:
        return self.newest

    def tracks(self) -> SceneTrackArray:
        message = SceneTrackArray(tracks=[SceneTrack(id="mug_3", stable=True, history=7)])
        message.header.stamp = to_time(50.0)
        return message

    def _end(self, goal: Any, on_feedback: Callable[[Any], None]) -> Any:
        self.goals.append(goal)
        for feedback in self.feedback:
            on_feedback(feedback)
        return self.result

    manage = check = _end

    def where(self, request: WhereSeen.Request) -> Any:
        self.requests.append(request)
        return self.result

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        self.newest = next(self.snapshots, self.newest)
        return condition()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    fake = FakeClient()

    @contextmanager
    def provide(stack: str, namespace: str) -> Iterator[FakeClient]:
        yield fake

    monkeypatch.setattr(scene_verbs, "_client", provide)
    return fake


def run(text: str) -> int:
    return main(["scene", *text.split()])


# -- questions -------------------------------------------------------------------------------------


def test_every_question_of_the_message_can_be_asked() -> None:
    kinds = {
        name
        for name in dir(SceneQuestion)
        if name.isupper() and name != "SLOT_TYPES" and isinstance(getattr(SceneQuestion, name), int)
    }
    assert {name.upper().replace("-", "_") for name in QUESTIONS} == kinds


def test_bounds_by_question() -> None:
    near = asked("distance cup hand --max 0.2")
    assert (near.question, near.object, near.reference) == (SceneQuestion.DISTANCE, "cup", "hand")
    assert (near.minimum, near.maximum) == (0.0, 0.2)
    above = asked("distance-z cup hand --max -0.1")
    assert (above.minimum, above.maximum) == (-math.inf, -0.1)
    rule = asked("visible cup")
    assert (rule.minimum, rule.maximum) == (0.0, 0.0)
    old = asked("stale cup --min 3")
    assert (old.minimum, old.maximum) == (3.0, math.inf)
    moved = asked("moved cup --ago 5 --min 0.1")
    assert moved.since.sec == 95


def test_shapes_and_colours() -> None:
    message = asked("contains-points door --capsule 0.4 0.1 --at 0 0.2 -0.1 --hue 340 20 --min 9")
    assert message.shape.kind == SceneShape.CAPSULE
    assert list(message.shape.dimensions) == [0.4, 0.1]
    assert message.shape_pose.position.z == -0.1
    assert message.shape_pose.orientation.w == 1.0
    assert message.check_color
    assert (message.color.hue_min, message.color.hue_max) == (340.0, 20.0)
    assert (message.color.saturation_max, message.color.value_max) == (1.0, 1.0)
    assert not asked("contains-frame door cup --sphere 0.4").check_color


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("contains-points cup", "needs a shape: --sphere"),
        ("distance cup hand --sphere 1", "takes no shape"),
        ("contains-frame cup hand --sphere 1 --hue 0 9", "takes no colour"),
        ("held cup --ago 3", "takes no --ago"),
    ],
)
def test_arguments_of_other_questions_are_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        asked(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "required: COMMAND"),
        ("ask why cup", "invalid choice: 'why'"),
        ("ask held", "required: object"),
        ("ask distance a b --box 1 2", "expected 3 arguments"),
        ("ask distance a b --sphere 1 --box 1 2 3", "not allowed with argument"),
        ("setup", "required: NAME"),
        ("delete", "required: NAME"),
        ("attach cup", "required: link"),
        ("save", "required: MEMORY"),
        ("freeze --timeout 0", "must be a number above 0"),
        ("setup cup --definition @/nowhere", "cannot be read"),
        ("ask contains-points cup", "needs a shape"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    text: str, words: str, client: FakeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(text) in (1, 2)
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def answered(code: int, *, yes: bool, text: str) -> CheckScene.Result:
    result = CheckScene.Result(code=code, message=text)
    result.answer.answer, result.answer.text, result.answer.revision = yes, text, 3
    result.answer.value = math.nan
    result.answer.mean_hsv = [math.nan] * 3
    return result


@pytest.mark.slow
def test_ask_says_yes_or_no_and_so_does_the_exit_code(
    client: FakeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.result = answered(CheckScene.Result.SUCCESS, yes=True, text="it is")
    assert run("ask held cup") == 0
    assert capsys.readouterr().out == "yes: it is\n"
    assert client.goals[-1].once
    client.result = answered(CheckScene.Result.ANSWER_IS_NO, yes=False, text="it is not")
    assert run("ask held cup --json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["answer"] is False
    assert told["value"] is None
    assert told["mean_hsv"] is None


def test_ask_waits_and_shows_the_value(
    client: FakeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.feedback = [CheckScene.Feedback(), CheckScene.Feedback()]
    client.feedback[0].answer.text = "0.4 m"
    client.result = answered(CheckScene.Result.TIMED_OUT, yes=False, text="0.3 m")
    assert run("ask distance cup hand --max 0.2 --wait 2") == 1
    captured = capsys.readouterr()
    assert (client.goals[-1].once, client.goals[-1].timeout) == (False, 2.0)
    assert captured.err == "0.4 m\n"
    assert captured.out == "no: 0.3 m\n"


def test_ask_without_an_answer_tells_why(
    client: FakeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.result = CheckScene.Result(
        code=CheckScene.Result.UNKNOWN_OBJECT, message="'cap' is no object"
    )
    assert run("ask held cap") == 2, "no answer is no no"
    assert capsys.readouterr().err == "behavior: 'cap' is no object\n"


# -- changes ---------------------------------------------------------------------------------------


def test_changes_become_goals(tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text("cup: {class: mug}")
    goal = goal_from(parsed(f"setup cup --definition @{file} --history 3 --timeout 9"))
    assert goal.operation == ManageScene.Goal.SETUP
    assert goal.definition == "cup: {class: mug}"
    assert (list(goal.names), goal.minimum_history, goal.timeout) == (["cup"], 3, 9.0)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BringupError, match="cannot be read: it is no text"):
        goal_from(parsed(f"setup cup --definition @{file}"))
    preview = goal_from(parsed("setup cup --preview 1 2 3"))
    assert preview.preview
    assert preview.nominal_pose.pose.position.z == 3.0
    attach = goal_from(parsed("attach cup hand"))
    assert (list(attach.names), attach.link) == (["cup"], "hand")
    renamed = goal_from(parsed("rename cup_3 mine"))
    assert (list(renamed.names), renamed.definition) == (["cup_3"], '["mine"]')
    assert goal_from(parsed("restore before")).definition == "before"
    assert list(goal_from(parsed("freeze")).names) == []
    assert goal_from(parsed("clear")).operation == ManageScene.Goal.CLEAR


def test_changes_tell_the_revision_and_what_is_waited_for(
    client: FakeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.feedback = [ManageScene.Feedback(pending=["cup: not seen"])] * 3
    client.result = ManageScene.Result(revision=12, objects=[cup()])
    assert run("setup cup") == 0
    captured = capsys.readouterr()
    assert captured.out == "setup: cup (revision 12)\n"
    assert captured.err == "waiting: cup: not seen\n"
    client.result.code, client.result.message = ManageScene.Result.TIMED_OUT, "not within 5 s"
    assert run("setup cup") == 1
    assert "behavior: Not within 5 s" in capsys.readouterr().err


# -- looks -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_list_shows_objects_and_tracks(
    client: FakeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    client.newest = scene(cup(state=SceneObject.ATTACHED, attached_link="hand"))
    assert run("list") == 0
    table = capsys.readouterr().out
    assert all(word in table for word in ("cup", "mug", "attached", "0.500 0.000", "1.000", "hand"))
    assert run("list --json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["state"], row["age"], row["held_by"]) == ("cup", "attached", 1, "hand")
    assert run("list --tracks") == 0
    assert "mug_3" in capsys.readouterr().out
    client.newest = scene()
    assert run("list") == 0
    assert capsys.readouterr().out == "The scene has no objects\n"


def test_only_changes_are_worth_telling() -> None:
    known: dict[str, dict[str, Any]] = {}

    def told(*objects: SceneObject) -> list[tuple[str, str]]:
        return [(row["name"], row["state"]) for row in changes(known, object_rows(scene(*objects)))]

    assert told(cup()) == [("cup", "tracked")]
    assert told(cup()) == []
    assert told(cup(0.504)) == []
    assert told(cup(0.506)) == [("cup", "tracked")]
    assert told(cup(0.506, state=SceneObject.STALE)) == [("cup", "stale")]
    assert told() == [("cup", "gone")]
    assert told() == []


def test_watch_prints_changes(client: FakeClient, capsys: pytest.CaptureFixture[str]) -> None:
    def snapshots() -> Iterator[SceneObjectArray]:
        yield scene(cup())
        yield scene(cup(state=SceneObject.STALE, text="not seen"))
        raise KeyboardInterrupt

    client.snapshots = snapshots()
    assert run("watch cup") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "cup tracked at 0.500 0.000 0.000",
        "cup stale at 0.500 0.000 0.000: not seen",
    ]


@pytest.mark.slow
def test_where_asks_the_memory(client: FakeClient, capsys: pytest.CaptureFixture[str]) -> None:
    sighting = Sighting(name="cup", class_id="mug")
    sighting.pose.header.stamp = to_time(42.0)
    client.result = WhereSeen.Response(sightings=[sighting])
    assert run("where cup --limit 3 --json") == 0
    assert json.loads(capsys.readouterr().out)[0]["time"] == 42.0
    assert (client.requests[-1].name, client.requests[-1].limit) == ("cup", 3)
    assert run("where --class mug") == 0
    assert "42.000" in capsys.readouterr().out
    client.result = WhereSeen.Response(code=104, message="there is no memory")
    assert run("where cup") == 1
    assert "There is no memory" in capsys.readouterr().err
