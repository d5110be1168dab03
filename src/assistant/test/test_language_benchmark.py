# SPDX-License-Identifier: Apache-2.0
"""The judges of benchmarks/language_trees.py are right in both directions."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from chat_server import chat_server, completion

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

import block_world
import language_trees

from behavior_assistant.endpoint import Endpoint
from behavior_assistant.settings import Settings

INSTRUCTIONS = {each.id: each for each in language_trees.load()}
WRONG = [(each.id, text) for each in INSTRUCTIONS.values() for text in each.wrong]
PUT_ON = INSTRUCTIONS["put_on"]


@pytest.fixture(scope="module")
def checker():
    return language_trees.make_checker()


def answered(name, inside, checker):
    return language_trees.answer_one(
        INSTRUCTIONS[name], language_trees.known_answer(inside), checker
    )


def test_there_are_thirty_of_all_kinds():
    assert len(INSTRUCTIONS) == 30
    kinds = Counter(each.kind for each in INSTRUCTIONS.values())
    assert kinds == {
        "pick": 6,
        "stack": 5,
        "sort": 3,
        "order": 3,
        "retry": 3,
        "condition": 5,
        "refuse": 5,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_what_is_right_counts_as_right(name, checker):
    instruction = INSTRUCTIONS[name]
    result = answered(name, "" if instruction.refuse else instruction.right, checker)
    assert result.passed, result.why


@pytest.mark.slow
@pytest.mark.parametrize(("name", "inside"), WRONG)
def test_what_is_wrong_counts_as_wrong(name, inside, checker):
    result = answered(name, inside, checker)
    assert not result.passed
    assert result.verdict == ("unusable" if "SuppressCollisions" in inside else "wrong")


def test_to_refuse_what_can_be_done_is_a_fault(checker):
    assert answered("pick_one", "", checker).verdict == "refused"
    assert not answered("pick_one", "", checker).passed


@pytest.mark.parametrize(
    "inside",
    [
        '<Repeat num_cycles="-1"><AlwaysSuccess/></Repeat>',
        '<RetryUntilSuccessful num_attempts="-1"><AlwaysFailure/></RetryUntilSuccessful>',
        "<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>",
        '<Sleep msec="100000000"/>',
    ],
)
def test_a_tree_without_an_end_is_wrong(inside, checker):
    assert answered("pick_one", inside, checker).verdict == "wrong"


def test_a_tree_that_breaks_is_wrong(checker):
    broken = '<Script code="x := 1 / nothing"/>'
    assert answered("pick_one", broken, checker).verdict in ("wrong", "unusable")


def test_the_rules_of_the_world():
    world = block_world.BlockWorld({"red": "blue", "blue": "table"}, slips={"red": 1})
    assert world.pick("blue") == "something stands on blue"
    assert world.pick("green") == "there is no block 'green'"
    assert world.pick("red") == "red slipped"
    assert world.pick("red") == ""
    assert world.pick("blue") == "the hand holds red"
    assert world.put_on("red") == "red is not clear"
    assert world.put_on("moon") == "there is no 'moon'"
    assert world.put_on("left_tray") == ""
    assert world.put_on("blue") == "the hand holds nothing"
    assert world.places == {"red": "left_tray", "blue": "table"}


@pytest.mark.slow
def test_an_endpoint_is_asked_and_reported(checker, monkeypatch, capsys, tmp_path):
    def reply(request):
        text = request["messages"][-1]["content"]
        found = [e for e in chosen if e.instruction in text]
        inside = found[0].right
        answer = {"can_be_done": bool(inside), "explanation": "e"}
        return completion({**answer, "xml": language_trees.whole(inside)} if inside else answer)

    chosen = [PUT_ON, INSTRUCTIONS["which_one"], INSTRUCTIONS["three_tries"]]
    with chat_server(reply) as server:
        endpoint = Endpoint(Settings(url=server.url))
        monkeypatch.setattr(language_trees, "load", lambda: chosen)
        monkeypatch.setattr(language_trees, "model_of", lambda _: endpoint)
        file = tmp_path / "results.json"
        monkeypatch.setattr(sys, "argv", ["language_trees.py", "--json", str(file)])
        assert language_trees.main() == 0
    assert (
        "PutOn(target* (name of the block or tray)" in server.requests[0]["messages"][0]["content"]
    )
    assert "all        3 of 3 (95 % confidence: 44 to 100 %)" in capsys.readouterr().out
    assert [each["verdict"] for each in json.loads(file.read_text())] == [
        "right",
        "refused",
        "right",
    ]


@pytest.mark.slow
def test_without_a_model_the_variable_is_named(monkeypatch, capsys):
    monkeypatch.delenv("BEHAVIOR_LANGUAGE_MODEL_URL", raising=False)
    monkeypatch.delenv("BEHAVIOR_LANGUAGE_MODEL_SCRIPT", raising=False)
    monkeypatch.setattr(sys, "argv", ["language_trees.py"])
    assert language_trees.main() == 1
    assert "BEHAVIOR_LANGUAGE_MODEL_URL" in capsys.readouterr().err
