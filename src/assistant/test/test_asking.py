# SPDX-License-Identifier: Apache-2.0
"""From an instruction to a proposal: checked, simulated, and never run."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from assistant_kit import PICK, checker, tree

from behavior_assistant.asking import Asking, ask
from behavior_assistant.audit import Audit
from behavior_assistant.composing import LONGEST_INSTRUCTION, compose, prompt
from behavior_assistant.episodes import Episode, summary
from behavior_assistant.errors import LanguageModelError, UnusableAnswerError
from behavior_assistant.node_lines import node_line
from behavior_assistant.proposals import Proposals
from behavior_assistant.script import Script
from behavior_bringup.errors import BringupError


def answer(xml, explanation="picks the cup"):
    return {"can_be_done": True, "explanation": explanation, "xml": xml}


REFUSAL = {"can_be_done": False, "explanation": "there is no such cup"}


class Recorded(Script):
    """A script that keeps what it was asked."""

    def __init__(self, *answers):
        super().__init__([(".", answers)])
        self.asked = []

    def complete(self, messages, schema, timeout):
        self.asked.append(list(messages))
        return super().complete(messages, schema, timeout)


def composed(model, **options):
    objects = {"cup": {"position": [0.1, 0.2, 0.3]}}
    return compose("pick the cup", model=model, checker=checker(), objects=objects, **options)


def test_the_model_is_shown_nodes_objects_and_rules():
    model = Recorded(answer(PICK))
    found = composed(model)
    assert (found.tree.xml, found.attempts) == (PICK, 1)
    system, user = model.asked[0]
    assert "Pick(object_name* (object of the scene))" in system.content
    assert '"cup": {"position": [0.1, 0.2, 0.3]}' in system.content
    assert "can_be_done to false" in system.content
    assert "SuppressCollisions" not in system.content
    assert user.content.startswith("Instruction: pick the cup")


def test_faults_are_explained_until_there_are_none():
    model = Recorded(answer("<root/>"), answer(tree("<Fly/>")), answer(PICK))
    found = composed(model)
    assert (found.tree.xml, found.attempts) == (PICK, 3)
    assert "Node not recognized: Fly" in model.asked[2][-1].content
    assert "Instruction: pick the cup" in model.asked[2][-1].content


def test_a_fault_that_stays_is_an_error_after_so_many_attempts():
    model = Recorded(answer(tree("<Fly/>")))
    with pytest.raises(UnusableAnswerError, match="Fly"):
        composed(model, attempts=2)
    assert len(model.asked) == 2


def test_an_unsafe_tree_is_never_taken():
    with pytest.raises(UnusableAnswerError, match="only a person"):
        composed(Recorded(answer(tree("<SuppressCollisions/>"))))


def test_a_refusal_is_an_answer_but_not_with_a_tree():
    assert composed(Recorded(REFUSAL)).tree is None
    with pytest.raises(UnusableAnswerError, match="although it cannot be done"):
        composed(Recorded({**REFUSAL, "xml": PICK}))


def test_instructions_have_a_size():
    for text in ("", "  ", "x" * (LONGEST_INSTRUCTION + 1)):
        with pytest.raises(LanguageModelError, match="an instruction has"):
            compose(text, model=Recorded(REFUSAL), checker=checker(), objects={})


def test_thousands_of_objects_do_not_fill_the_question():
    many = {f"b{n}": {} for n in range(10_000)}
    assert len(prompt(checker(), many, "")) < 50_000


def test_a_node_in_one_line():
    manifests = checker().manifests()
    assert node_line(manifests["Place"]) == "Place(target*)"
    assert node_line(manifests["Sequence"]).startswith("Sequence() [children]")


class World:
    """A simulated world in which every second episode succeeds."""

    ran = 0

    def checker(self):
        return checker()

    def objects(self):
        return {}

    def run(self, checked, episodes, on_episode):
        found = [
            Episode(seed=seed, success=seed % 2 == 0, reason="r", seconds=2.0)
            for seed in range(episodes)
        ]
        for each in found:
            on_episode(each)
        self.ran += len(found)
        return found


@pytest.fixture
def room(tmp_path):
    class Room:
        world = World()
        said: list[str] = []
        proposals = Proposals(tmp_path, Audit(tmp_path / "audit.jsonl"))

        def ask(self, model):
            @contextmanager
            def brought_up():
                yield self.world

            asking = Asking(
                model=model,
                proposals=self.proposals,
                world=brought_up,
                say=self.said.append,
                episodes=4,
            )
            return ask("pick the cup", "fetch", asking)

    room = Room()
    room.said = []
    return room


def test_a_tree_is_shown_with_its_success_and_waits_for_a_person(room):
    done, words = room.ask(Script([(".", [answer(PICK)])]))
    (kept,) = room.proposals.all()
    assert done
    assert words == f"it waits for you: behavior proposals approve {kept.id}"
    assert (kept.mission, kept.reason, kept.status) == ("fetch", "pick the cup", "open")
    assert kept.trial.startswith("2 of 4 simulated episodes")
    assert room.said[:2] == ["picks the cup", PICK]
    assert room.said[2] == "seed 0: SUCCESS after 2.0 s: r"
    assert room.said[3].startswith("seed 1: FAILURE")
    assert "(95 % confidence: 15 to 85 %)" in room.said[-1]


def test_what_is_refused_or_faulty_is_not_simulated(room):
    assert room.ask(Script([(".", [REFUSAL])])) == (False, "there is no tree: there is no such cup")
    with pytest.raises(UnusableAnswerError):
        room.ask(Script([(".", [answer(tree("<Fly/>"))])]))
    assert (room.world.ran, room.proposals.all()) == (0, [])


def test_a_simulation_that_breaks_proposes_nothing(room):
    def broken(*_):
        raise BringupError("the stack went down")

    room.world.run = broken
    with pytest.raises(BringupError, match="went down"):
        room.ask(Script([(".", [answer(PICK)])]))
    assert room.proposals.all() == []


def test_no_episodes_have_no_rate():
    assert summary([]) == "not simulated"
