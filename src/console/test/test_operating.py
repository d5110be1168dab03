# SPDX-License-Identifier: Apache-2.0
"""Commands of operators, on a stack that a test scripts."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from behavior_console.audit import Audit
from behavior_console.channels import Channels
from behavior_console.commands import Client, CommandError, Commands
from behavior_console.control import Control
from behavior_console.operating import Said, offer_operating
from behavior_console.orders import Drive
from behavior_console.preview_runs import PreviewRuns
from behavior_console.protocol import Answer, Command, Role
from behavior_console.tree_files import digest_of

ANN = Client(1, "ann", Role.EDIT)
BEN = Client(2, "ben", Role.OPERATE)
EVE = Client(3, "eve", Role.VIEW)


class ScriptedStack:
    """Notes what it is asked, and answers what the test says."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.says = Said(True, "done")
        self.silent = False
        self.revisions: dict[str, str] = {}

    def _answer(self, *asked: Any) -> Said:
        self.asked.append(asked)
        if self.silent:
            raise CommandError("no executor takes missions: start a stack with 'behavior up'")
        return self.says

    async def start(self, order, action_id, policy, priority):
        what = order.drives or (order.name, dict(order.parameters))
        return self._answer("start", *what, policy, priority)

    def use_motions(self, motions, action_id):
        self.given = action_id
        self.asked.append(("motions", motions, bool(action_id)))

    async def tree_revision(self, mission):
        return self.revisions.get(mission, "")

    async def preflight(self, order):
        return self._answer("preflight", order.name, dict(order.parameters))

    async def control(self, verb, action_id):
        return self._answer(verb, action_id)

    async def run_control(self, line):
        return self._answer("run", line)

    async def move(self, action_id, place):
        return self._answer("move", action_id, place)

    async def set_level(self, level):
        return self._answer("level", level)

    async def freeze(self, names, freeze):
        return self._answer("freeze", list(names), freeze)


class Desk:
    """The commands, and all that they act on."""

    def __init__(self) -> None:
        self.stack, self.channels = ScriptedStack(), Channels()
        self.previews = PreviewRuns(lambda row: None, command=(sys.executable, "-c", "pass"))
        control = Control(lambda: 0.0, lambda: None)
        self.commands = Commands(Audit(None, lambda entry: None, lambda text: None), control)
        offer_operating(self.commands, self.stack, self.channels, self.previews)

    def give(self, command: str, client: Client = ANN, /, **args: Any) -> Answer:
        return asyncio.run(self.commands.run(client, Command(1, command, args)))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_mission_is_started_with_its_parameters(desk: Desk) -> None:
    answer = desk.give("mission.start", name="dig", parameters={"depth": "1"}, policy="replace")
    assert answer.ok
    assert answer.value["action_id"]
    assert desk.stack.asked == [("start", "dig", {"depth": "1"}, 3, 0)]


def test_who_asked_for_a_mission_is_shown_with_its_parameters(desk: Desk) -> None:
    answer = desk.give("mission.start", name="dig", parameters={"depth": "1"})
    row = desk.channels.value("orders")[answer.value["action_id"]]
    assert row == {"who": "ann #1", "parameters": {"depth": "1"}}
    for _ in range(250):
        desk.give("mission.start", name="dig")
    assert len(desk.channels.value("orders")) == 200
    assert answer.value["action_id"] not in desk.channels.value("orders")


def test_missions_that_wait_are_shown_in_the_order_of_the_executor(desk: Desk) -> None:
    desk.channels.set("queue", [{"action_id": each} for each in "abc"])
    desk.stack.says = Said(True, "c a b")
    assert desk.give("mission.move", action_id="c", place=1).ok
    assert desk.stack.asked == [("move", "c", 1)]
    assert [row["action_id"] for row in desk.channels.value("queue")] == ["c", "a", "b"]
    desk.stack.says = Said(False, "nothing to move: no mission 'x' waits")
    assert desk.give("mission.move", action_id="x", place=1).message == desk.stack.says.message
    for bad in ({"place": 0}, {"place": "1"}, {"place": True}, {"action_id": "a 2", "place": 1}):
        assert not desk.give("mission.move", **{"action_id": "a", **bad}).ok
    assert "mission.move" in desk.give("run.queue c 1").message
    assert len(desk.stack.asked) == 2


def test_what_the_executor_refuses_comes_with_its_fields(desk: Desk) -> None:
    desk.stack.says = Said(False, "mission 'dig': parameter 'depth': 5 is more than 2")
    answer = desk.give("mission.start", name="dig", parameters={"depth": "5"})
    assert not answer.ok
    assert answer.value == {"problems": {"depth": "5 is more than 2"}}


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({}, "'name' is a text"),
        ({"name": " "}, "name of a mission is missing"),
        ({"name": "dig", "parameters": ["a"]}, "'parameters' is a map"),
        ({"name": "dig", "parameters": {"depth": 1}}, "'depth' is a text"),
        ({"name": "dig", "policy": "now"}, "'policy' is one of default, reject, queue, replace"),
        ({"name": "dig", "policy": ["queue"]}, "'policy' is a text"),
        ({"name": "dig", "priority": 256}, "from 0 to 255"),
        ({"name": "dig", "priority": True}, "from 0 to 255"),
        ({"steps": []}, "'steps' is a list"),
        ({"steps": [{"navigate": {"x": 1.0}}]}, "'y' of a place is a finite number"),
        ({"steps": [{"navigate": {"x": 1.0, "y": float("nan")}}]}, "'y' of a place"),
        ({"steps": [{"run": "dig"}]}, "a step is {'navigate'"),
    ],
)
def test_orders_that_make_no_sense_are_refused(desk: Desk, args: dict[str, Any], why: str) -> None:
    answer = desk.give("mission.start", **args)
    assert not answer.ok
    assert why in answer.message
    assert desk.stack.asked == []


def test_places_on_the_map_become_a_drive(desk: Desk) -> None:
    place = {"x": 1, "y": 2.5, "yaw": 0.5, "frame": "map"}
    assert desk.give("mission.start", steps=[{"navigate": place}]).ok
    assert desk.stack.asked == [("start", Drive(1.0, 2.5, 0.5, "map"), 2, 0)]


def test_objects_are_held_and_let_go(desk: Desk) -> None:
    assert desk.give("scene.freeze", names=["red"]).ok
    assert desk.give("scene.freeze", names=["red", "blue"], freeze=False).ok
    assert desk.stack.asked == [("freeze", ["red"], True), ("freeze", ["red", "blue"], False)]
    assert "'names' is a list" in desk.give("scene.freeze", names=[]).message
    assert "'name' is a text" in desk.give("scene.freeze", names=[1]).message
    assert "true or false" in desk.give("scene.freeze", names=["red"], freeze="no").message


def test_run_commands_name_nodes_by_path_or_number(desk: Desk) -> None:
    desk.channels.set("tree", {"nodes": [[7, None, "Place", "p", "Action", "main/p"]]})
    for name, args in [
        ("run.step", {}),
        ("run.give up", {"node": "main/p"}),
        ("run.retry", {"uid": 7}),
        ("run.concurrent off", {}),
    ]:
        assert desk.give(name, **args).ok
    lines = [line for _, line in desk.stack.asked]
    assert lines == ["step", "give up main/p", "retry main/p", "concurrent off"]
    assert "no more in the tree" in desk.give("run.retry", uid=8).message


def test_values_need_the_role_that_edits(desk: Desk) -> None:
    assert desk.give("blackboard.set", key="pick/target", value="a  b").ok
    assert desk.stack.asked == [("run", "set pick/target = a  b")]
    desk.commands.control.give(ANN.number)
    assert "needs the role edit" in desk.give("blackboard.set", BEN, key="n", value="1").message
    assert "by 'blackboard.set'" in desk.give("run.set n = 1", BEN).message


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("run. set n = 1", {}),
        ("run.set\tn = 1", {}),
        ("run.", {"node": "set n = 1"}),
        ("run.\u2003set n = 1", {}),
        ("run. queue c 1", {}),
    ],
)
def test_blanks_do_not_lead_around_what_a_role_may(desk: Desk, command: str, args: Any) -> None:
    assert not desk.give(command, BEN, **args).ok
    assert desk.stack.asked == []


DEEP = functools.reduce(lambda v, _: [v], range(1000), 1)


@pytest.mark.parametrize("args", [{b"depth": 1}, {"deep": DEEP}, {b"depth": 1, "deep": DEEP}])
def test_whatever_a_command_is_given_it_is_answered_and_audited(tmp_path: Path, args: Any) -> None:
    desk, file = Desk(), tmp_path / "audit.jsonl"
    desk.commands._audit.file = file
    desk.commands._audit.hand_on = lambda entry: entry.row()
    answer = asyncio.run(desk.commands.run(ANN, Command(1, "stop", args)))
    assert answer.ok
    assert json.loads(file.read_text(encoding="utf-8"))["command"] == "stop"


def test_levels_are_chosen_by_their_words(desk: Desk) -> None:
    assert desk.give("mode.set", level="manual").ok
    assert desk.stack.asked == [("level", 1)]
    assert "manual or autonomous" in desk.give("mode.set", level="teleoperation").message


def test_the_stop_needs_no_control_and_does_both(desk: Desk) -> None:
    desk.give("mission.start", ANN, name="dig")
    desk.stack.asked.clear()
    assert "has control" in desk.give("mission.cancel", BEN).message
    assert desk.give("stop", BEN).ok
    assert desk.stack.asked == [("run", "stop"), ("cancel", "")]
    assert "needs the role operate" in desk.give("stop", EVE).message


def test_a_stop_that_did_not_work_says_so(desk: Desk) -> None:
    desk.channels.set("mission", {"ended": False})
    desk.stack.says = Said(False, "no answer")
    answer = desk.give("stop")
    assert not answer.ok
    assert "use the emergency stop: no answer" in answer.message


def test_a_stop_cancels_although_nobody_controls_runs(desk: Desk) -> None:
    async def run_control(line: str) -> Said:
        raise CommandError("nobody serves behavior/control_run")

    desk.stack.run_control = run_control  # type: ignore[method-assign]
    answer = desk.give("stop")
    assert desk.stack.asked == [("cancel", "")]
    assert "use the emergency stop: nobody serves" in answer.message


def test_a_stop_where_nothing_ran_is_one(desk: Desk) -> None:
    async def control(verb: str, action_id: str) -> Said:
        return Said(False, "no mission runs")

    desk.stack.control = control  # type: ignore[method-assign]
    assert desk.give("stop").ok


def test_who_watches_may_ask_whether_a_mission_could_start(desk: Desk) -> None:
    desk.stack.says = Said(True, "everything is there\naction /dig\ntopic /soil")
    answer = desk.give("mission.preflight", EVE, name="dig")
    assert answer == Answer(True, "everything is there", {"there": ["action /dig", "topic /soil"]})
    assert "needs the role operate" in desk.give("mission.start", EVE, name="dig").message


def test_no_answer_is_a_sentence(desk: Desk) -> None:
    desk.stack.silent = True
    assert "behavior up" in desk.give("run.step").message


PREVIEWED = {
    "state": "done",
    "mission": "dig",
    "parameters": {"depth": "1"},
    "tree_files": {},
    "tree_revisions": {},
    "tree_changes": [],
    "begin": {
        "red": {
            "position": [0.0, 0.0, 0.0],
            "orientation_xyzw": [0.0, 0.0, 0.0, 1.0],
            "sight": "tracked",
            "derived": False,
        }
    },
}


def here(y: float = 0.0, yaw: float = 0.0, state: str = "tracked", kind: str = "detected") -> dict:
    """An object of the scene as it is shown."""
    turn = [0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)]
    return {"pose": [0.0, y, 0.0, *turn], "state": state, "kind": kind}


UNMOVED = {"red": here(0.005, yaw=0.19), "slot": here(kind="approach")}
STARTED = ("start", "dig", {"depth": "1"}, 2, 0)


def test_the_motions_of_a_preview_are_handed_over_first(desk: Desk) -> None:
    desk.channels.patch("objects", UNMOVED)
    for motions in ("[1]", ""):
        desk.previews.row, desk.previews.motions = dict(PREVIEWED), motions
        assert desk.give("preview.approve").ok
    assert desk.stack.asked == [("motions", "[1]", True), STARTED, STARTED]


def test_motions_of_a_mission_that_nobody_takes_are_taken_back(desk: Desk) -> None:
    desk.channels.patch("objects", UNMOVED)
    desk.previews.row, desk.previews.motions = dict(PREVIEWED), "[1]"
    desk.stack.silent = True
    assert "behavior up" in desk.give("preview.approve").message
    assert desk.stack.asked == [("motions", "[1]", True), STARTED, ("motions", "", True)]
    assert desk.previews.row is not None


def test_a_preview_is_approved_once_however_often_the_button_is_pressed(desk: Desk) -> None:
    desk.channels.patch("objects", UNMOVED)
    desk.previews.row = dict(PREVIEWED)
    accepted = asyncio.Event()
    answer_at_once = desk.stack.start

    async def start(*asked: Any) -> Said:
        await accepted.wait()
        return await answer_at_once(*asked)

    async def run() -> list[Answer]:
        desk.stack.start = start  # type: ignore[method-assign]
        approve = Command(1, "preview.approve", {})
        tasks = [asyncio.create_task(desk.commands.run(ANN, approve)) for _ in range(2)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=0.1)
        accepted.set()
        return await asyncio.gather(*tasks)

    first, second = asyncio.run(run())
    assert first.ok
    assert "is being approved already" in second.message
    assert desk.stack.asked == [STARTED]


def test_another_preview_that_began_meanwhile_stays_shown(desk: Desk) -> None:
    desk.channels.patch("objects", UNMOVED)
    desk.previews.row = dict(PREVIEWED)
    answer_at_once = desk.stack.start

    async def start(*asked: Any) -> Said:
        desk.previews.row = {**PREVIEWED, "mission": "fill"}
        return await answer_at_once(*asked)

    desk.stack.start = start  # type: ignore[method-assign]
    assert desk.give("preview.approve").ok
    assert desk.previews.row["mission"] == "fill"


def test_what_was_previewed_runs_as_it_was_previewed(desk: Desk) -> None:
    assert "no preview to approve" in desk.give("preview.approve").message
    desk.previews.row = dict(PREVIEWED)
    desk.channels.patch("objects", UNMOVED)
    assert desk.give("preview.approve").ok
    assert desk.stack.asked == [("start", "dig", {"depth": "1"}, 2, 0)]
    assert desk.previews.row is None


def test_a_tree_that_was_edited_since_needs_a_second_word(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "dig.xml"
    file.write_text("<root/>", encoding="utf-8")
    trees = {"tree_files": {str(file): digest_of(file)}, "tree_revisions": {"dig": "a/3"}}
    desk.channels.patch("objects", UNMOVED)
    desk.previews.row = {**PREVIEWED, **trees}
    desk.stack.revisions = {"dig": "a/4"}
    assert "changed since the preview: the tree of 'dig'" in desk.give("preview.approve").message
    desk.stack.revisions = {"dig": "a/3"}
    file.write_text("<root></root>", encoding="utf-8")
    assert f"{file} has been edited" in desk.give("preview.approve").message
    assert desk.stack.asked == []
    file.write_text("<root/>", encoding="utf-8")
    assert desk.give("preview.approve").ok


def test_an_edited_tree_runs_all_the_same_once_the_page_has_shown_it(desk: Desk) -> None:
    """A page knows what it has shown of objects, of trees only what approving told it."""
    desk.channels.patch("objects", {"red": here(0.05)})
    desk.previews.row = {**PREVIEWED, "tree_revisions": {"dig": "a/3"}}
    desk.stack.revisions = {"dig": "a/4"}
    told = "the tree of 'dig' has been edited"
    assert told in desk.give("preview.approve", changed=True).message
    assert desk.previews.row is not None
    assert desk.previews.row["tree_changes"] == [told]
    desk.stack.revisions = {"dig": "a/5"}  # once more, since it was told
    assert told in desk.give("preview.approve", changed=True).message
    assert told in desk.give("preview.approve").message
    assert desk.stack.asked == []
    assert desk.give("preview.approve", changed=True).ok
    assert desk.stack.asked == [STARTED]


def test_an_edit_that_is_undone_needs_no_second_word(desk: Desk) -> None:
    desk.channels.patch("objects", UNMOVED)
    desk.previews.row, desk.previews.motions = {**PREVIEWED, "tree_revisions": {"dig": "a/3"}}, "[]"
    desk.stack.revisions = {"dig": "a/4"}
    assert "has been edited" in desk.give("preview.approve").message
    desk.stack.revisions = {"dig": "a/3"}
    assert desk.give("preview.approve").ok
    assert desk.stack.asked == [("motions", "[]", True), STARTED]


def test_what_has_changed_since_needs_a_second_word(desk: Desk) -> None:
    desk.previews.row = dict(PREVIEWED)
    desk.channels.patch("objects", {"red": here(0.05)})
    assert "red has moved by 50 mm" in desk.give("preview.approve").message
    assert desk.stack.asked == []
    assert desk.give("preview.approve", changed=True).ok


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ({}, "red is no more there"),
        ({"red": here(yaw=0.5)}, "red has turned by 29 degrees"),
        ({"red": here(yaw=2 * math.pi - 0.5)}, "red has turned by 29 degrees"),
        ({"red": here(), "blue": here(1.0)}, "blue is new"),
        ({"red": here(state="attached")}, "red is held now"),
        ({"red": here(state="lost")}, "red is lost now"),
    ],
)
def test_what_differs_is_what_behavior_preview_tells(
    desk: Desk, objects: dict[str, Any], words: str
) -> None:
    desk.previews.row = dict(PREVIEWED)
    desk.channels.patch("objects", objects)
    assert f"changed since the preview: {words}. " in desk.give("preview.approve").message


def test_previews_begin_and_end_by_command(desk: Desk) -> None:
    async def run() -> None:
        answer = await desk.commands.run(ANN, Command(1, "preview.start", {"name": "dig"}))
        assert answer.ok
        await desk.commands.run(ANN, Command(2, "preview.cancel", {}))
        assert not desk.previews.runs
        answer = await desk.commands.run(ANN, Command(3, "preview.cancel", {}))
        assert answer.message == "no preview runs"

    asyncio.run(run())


def test_a_drive_to_a_place_is_previewed_and_approved(desk: Desk) -> None:
    place = {"x": 3.0, "y": 4.5, "yaw": 0.0, "frame": "map"}

    async def run() -> None:
        steps = {"steps": [{"navigate": place}]}
        assert (await desk.commands.run(ANN, Command(1, "preview.start", steps))).ok
        await desk.commands.run(ANN, Command(2, "preview.cancel", {}))

    asyncio.run(run())
    row = desk.previews.row
    assert row is not None
    assert (row["mission"], row["parameters"]) == (
        "navigate",
        {"x": "3.0", "y": "4.5", "yaw": "0.0", "frame": "map"},
    )
    desk.previews.row = {**row, "state": "done", "stood": [1.0, 2.0]}
    desk.channels.set("localization", {"pose": [1.0, 2.05, 0.0, 0, 0, 0, 1]})
    assert desk.give("preview.approve").ok
    assert desk.stack.asked == [("start", Drive(**place), 2, 0)]


def test_a_robot_that_has_driven_since_is_a_change(desk: Desk) -> None:
    parameters = {"x": "3", "y": "4"}
    row = {**PREVIEWED, "mission": "navigate", "parameters": parameters, "begin": {}}
    desk.previews.row = {**row, "stood": [1.0, 2.0]}
    desk.channels.set("localization", {"pose": [1.0, 2.5, 0.0, 0, 0, 0, 1]})
    assert "the robot stands elsewhere, by 0.50 m" in desk.give("preview.approve").message
    assert desk.give("preview.approve", changed=True).ok


def test_a_mission_may_be_named_like_a_drive(desk: Desk) -> None:
    assert desk.give("mission.start", name="navigate", parameters={"goal": "door"}).ok
    assert desk.stack.asked == [("start", "navigate", {"goal": "door"}, 2, 0)]


@pytest.mark.parametrize(
    "order",
    [
        {"steps": [{"navigate": {"x": 1, "y": 2}}, {"navigate": {"x": 2, "y": 2}}]},
        {"name": "navigate", "parameters": {"x": "there", "y": "1"}},
        {"name": "navigate", "parameters": {"y": "1"}},
        {"name": "navigate", "parameters": {"x": "inf", "y": "1"}},
    ],
)
def test_places_that_cannot_be_previewed(desk: Desk, order: dict[str, Any]) -> None:
    assert not desk.give("preview.start", **order).ok
    assert desk.previews.row is None
