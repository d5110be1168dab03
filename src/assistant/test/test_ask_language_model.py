# SPDX-License-Identifier: Apache-2.0
"""The tree node that asks a language model."""

from __future__ import annotations

import json
import threading
import time

import pytest

from behavior_assistant.ask_language_model import MOST_SHOWN, AskLanguageModel
from behavior_assistant.asker import MOST_AT_ONCE, Asker
from behavior_assistant.script import Script
from behavior_assistant.settings import Settings
from behavior_tree import BehaviorTreeFactory, Blackboard, CauseKind, NodeStatus
from behavior_tree.testing import SimulatedClock

PATIENCE = 60.0
"""[s] after which a test hangs; nothing takes that long."""


class Held:
    """A model that answers when it is let, and remembers what it was asked."""

    def __init__(self, *answers, held=False):
        self.asked, self._answers = [], list(answers)
        self.may_answer = threading.Event()
        if not held:
            self.may_answer.set()

    def complete(self, messages, schema, timeout):
        self.asked.append(messages[-1].content)
        assert self.may_answer.wait(PATIENCE)
        return json.dumps(self._answers.pop(0))


YES = {"answer": "yes", "reason": "it looks so"}
NO = {"answer": "no", "reason": "it is blue"}
OBJECTS = {
    "red_block": {"position": [0.5, 0.1, 0.03], "held": False, "lost": False},
    "blue_block": {"position": [0.4, 0.0, 0.03], "held": True, "lost": False},
}


class World:
    """A tree of the one node, with its model, log and clock."""

    def __init__(self, model, attributes='question="Is it red?"', objects=lambda: OBJECTS):
        self.log, self.clock = [], SimulatedClock()
        self.asker = Asker(Settings, model=model, clock=self.clock)
        factory = BehaviorTreeFactory()
        factory.register_node_type(
            AskLanguageModel, "AskLanguageModel", self.asker, objects, self.log.append
        )
        self.board = Blackboard.create()
        self.tree = factory.create_tree_from_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="T"><AskLanguageModel {attributes}/>'
            "</BehaviorTree></root>",
            self.board,
        )

    def run(self):
        """Tick until it has ended, as often as it wakes."""
        end = time.monotonic() + PATIENCE
        while (status := self.tick()) is NodeStatus.RUNNING:
            assert time.monotonic() < end
            self.tree.sleep(1.0)
        return status

    def tick(self):
        return self.tree.tick_exactly_once()

    @property
    def reason(self):
        return self.tree.failure_reason()


def test_yes_is_success_and_no_is_failure_with_the_models_reason():
    world = World(Held(YES, NO), 'question="Is it red?" answer="{a}" reason="{r}"')
    assert world.run() is NodeStatus.SUCCESS
    assert (world.board.get("a"), world.board.get("r")) == ("yes", "it looks so")
    assert world.run() is NodeStatus.FAILURE
    assert "says 'no', not 'yes': it is blue" in world.reason.text
    assert world.log == [
        "asked 'Is it red?': yes (it looks so) after 0.0 s",
        "asked 'Is it red?': no (it is blue) after 0.0 s",
    ]


def test_a_tick_never_waits_for_the_model_and_its_answer_wakes_the_tree():
    model = Held(YES, held=True)
    world = World(model)
    for _ in range(3):
        assert world.tick() is NodeStatus.RUNNING  # would hang if it waited: the model is held
    model.may_answer.set()
    assert world.tree.sleep(PATIENCE)
    assert world.tick() is NodeStatus.SUCCESS


def test_it_fails_when_its_time_is_over_while_the_model_still_thinks():
    model = Held(YES, held=True)
    world = World(model, 'question="Is it red?" timeout="2.0"')
    assert world.tick() is NodeStatus.RUNNING
    world.clock.now = 2.5
    assert world.tick() is NodeStatus.FAILURE
    assert world.reason.cause.kind is CauseKind.TIMED_OUT
    model.may_answer.set()


def test_a_halt_abandons_the_question_and_the_next_one_is_asked_anew():
    model = Held(NO, YES, held=True)
    world = World(model)
    assert world.tick() is NodeStatus.RUNNING
    world.tree.halt_tree()
    assert world.log == ["asked 'Is it red?': abandoned"]
    model.may_answer.set()
    wait_until(lambda: len(model._answers) == 1)
    assert world.run() is NodeStatus.SUCCESS


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_abandoned_questions_do_not_pile_up():
    model = Held(*[YES] * MOST_AT_ONCE, held=True)
    world = World(model)
    for _ in range(MOST_AT_ONCE):
        assert world.tick() is NodeStatus.RUNNING
        world.tree.halt_tree()
    assert world.tick() is NodeStatus.FAILURE
    assert "under way" in world.reason.text
    model.may_answer.set()


def test_chosen_entries_and_objects_are_shown_and_nothing_else():
    model = Held(YES)
    world = World(model, 'question="Is it so?" entries="said;score;thing;none" objects="red_block"')
    world.board.set("said", "pick it " + "x" * 1000)
    world.board.set("score", float("nan"))
    world.board.set("thing", object())
    world.board.set("hidden", "secret")
    assert world.run() is NodeStatus.SUCCESS
    shown = json.loads(model.asked[0].split("\n\nAnswer with")[0])
    assert shown["objects"] == {"red_block": OBJECTS["red_block"]}
    assert len(shown["entries"].pop("said")) < 600
    assert shown["entries"] == {"score": "nan", "thing": "(object)", "none": None}


def test_all_objects_are_shown_up_to_a_limit():
    many = {f"b{number}": {} for number in range(1000)}
    model = Held(YES)
    world = World(model, 'question="Many?" objects="*"', objects=lambda: many)
    assert world.run() is NodeStatus.SUCCESS
    assert len(json.loads(model.asked[0].split("\n\nAnswer with")[0])["objects"]) == MOST_SHOWN


def test_it_chooses_among_answers_of_the_trees_own():
    model = Held({"answer": "left", "reason": "r"})
    ports = 'question="Where?" choices="left;right" expected="left" answer="{a}"'
    world = World(model, ports)
    assert world.run() is NodeStatus.SUCCESS
    assert world.board.get("a") == "left"


def test_an_answer_that_is_no_choice_is_none():
    world = World(Held({"answer": "maybe", "reason": "r"}, {"answer": "maybe", "reason": "r"}))
    assert world.run() is NodeStatus.FAILURE
    assert "Input should be 'yes' or 'no'" in world.reason.text


@pytest.mark.parametrize(
    ("ports", "why"),
    [
        ('question=" "', "1 to 4000 characters"),
        ('question="?" timeout="0"', "timeout"),
        ('question="?" timeout="nan"', "timeout"),
        ('question="?" choices="one" expected="one"', "two or more"),
        ('question="?" choices="a;a" expected="a"', "two or more"),
        ('question="?" expected="maybe"', "'maybe' is not one of"),
        ('question="?" objects="green"', "no ['green']; it has ['blue_block', 'red_block']"),
    ],
)
def test_what_cannot_be_asked_is_told_and_nobody_is_asked(ports, why):
    model = Held()
    world = World(model, ports)
    assert world.tick() is NodeStatus.FAILURE
    assert why in world.reason.text
    assert model.asked == []


def test_without_a_scene_no_objects_can_be_shown():
    world = World(Held(), 'question="?" objects="*"', objects=lambda: None)
    assert world.tick() is NodeStatus.FAILURE
    assert "no fresh scene" in world.reason.text


def test_without_configuration_it_fails_and_names_the_parameter():
    factory = BehaviorTreeFactory()
    asker = Asker(Settings, missing="set the parameter language_model.url")
    factory.register_node_type(AskLanguageModel, "AskLanguageModel", asker)
    tree = factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="T"><AskLanguageModel question="?"/>'
        "</BehaviorTree></root>"
    )
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert "language_model.url" in tree.failure_reason().text


def test_what_breaks_in_the_thread_is_a_failure():
    class Broken:
        def complete(self, messages, schema, timeout):
            raise ZeroDivisionError("oops")

    world = World(Broken())
    assert world.run() is NodeStatus.FAILURE
    assert "ZeroDivisionError" in world.reason.text


def test_a_script_can_stand_for_the_model():
    script = Script([("Is it red", [{"answer": "yes", "reason": "scripted"}])])
    assert World(script).run() is NodeStatus.SUCCESS
