# SPDX-License-Identifier: Apache-2.0
"""Trees run with injected outcomes on a simulated clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from behavior_tree import BehaviorTreeFactory, LoadError, NodeStatus
from behavior_tree.testing import Coverage, TimedEvent, TreeUnderTest

BRING = """<root BTCPP_format="4" main_tree_to_execute="bring">
  <BehaviorTree ID="bring">
    <Sequence name="mission">
      <RetryUntilSuccessful name="thrice" num_attempts="{attempts}">
        <Sequence name="fetch">
          <Ready name="ready?"/>
          <SubTree ID="Take" name="take" object="{object}"/>
        </Sequence>
      </RetryUntilSuccessful>
      <Sleep name="rest" msec="500"/>
      <Place name="place" target="{object}" _skipIf="object == 'nothing'"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="Take">
    <Pick name="pick" object="{object}" code="{code}" width="{@width}"/>
  </BehaviorTree>
  <TreeNodesModel>
    <SubTree ID="bring">
      <input_port name="attempts" type="int" default="3"/>
      <input_port name="object" type="std::string" default="cup"/>
    </SubTree>
    <Condition ID="Ready"/>
    <Action ID="Pick"><input_port name="object"/><output_port name="code" type="unsigned int"/>
      <output_port name="width" type="double"/></Action>
    <Action ID="Place"><input_port name="target"/></Action>
  </TreeNodesModel>
</root>"""


@pytest.fixture
def bring(tmp_path: Path) -> TreeUnderTest:
    (tmp_path / "bring.xml").write_text(BRING)
    return TreeUnderTest(tmp_path / "bring.xml", coverage=Coverage())


def test_every_leaf_succeeds_unless_a_case_says_otherwise(bring):
    run = bring.run()
    assert (run.status, run.seconds) == ("SUCCESS", 0.5)
    assert run.story == [
        "    0.00  ready? SUCCESS",
        "    0.00  take/pick SUCCESS",
        "    0.00  rest RUNNING",
        "    0.50  rest SUCCESS",
        "    0.50  place SUCCESS",
    ]


def test_outcomes_by_attempt_the_last_one_stays(bring):
    assert bring.run({"pick": ["FAILURE", "SUCCESS"]}).begun("pick") == 2
    run = bring.run({"pick": ["SUCCESS", "FAILURE"], "place": ["FAILURE"]})
    assert (run.status, run.begun("pick")) == ("FAILURE", 1)
    run = bring.run({"pick": [{"status": "FAILURE", "times": 2, "reason": "slipped"}, "SUCCESS"]})
    assert (run.status, run.begun("pick")) == ("SUCCESS", 3)
    run = bring.run({"pick": {"reason": "slipped"}})
    assert run.status == "FAILURE"
    assert "slipped" in run.reason


@pytest.mark.parametrize("selector", ["pick", "take/pick", "Pick", "ta*"])
def test_a_node_is_meant_by_name_path_type_or_pattern(bring, selector):
    assert bring.run({selector: "FAILURE"}).begun("pick") == 3


def test_the_first_rule_that_means_a_node_counts(bring):
    assert bring.run({"take/pick": "SUCCESS", "*": "FAILURE"}).begun("take/pick") == 0
    assert bring.run({"*pick": "SUCCESS", "take/pick": "FAILURE"}).status == "SUCCESS"


def test_a_node_that_is_not_there_names_those_that_are_near(bring):
    with pytest.raises(
        LoadError, match=r"no node 'pikc' in the tree 'bring' \(did you mean 'pick'"
    ):
        bring.run({"pikc": "FAILURE"})


def test_an_output_that_is_not_there_names_those_that_are(bring):
    with pytest.raises(LoadError, match=r"'take/pick' has no output 'cod'.*'code'"):
        bring.run({"pick": {"outputs": {"cod": 1}}})


def test_outputs_become_what_their_ports_hold(bring):
    run = bring.run({"pick": {"outputs": {"width": "0.05"}}})
    assert run.blackboard.get("width") == 0.05


def test_time_passes_only_in_the_simulation(bring):
    run = bring.run({"pick": {"after": 360}, "place": {"status": "RUNNING"}}, limit=400)
    assert (run.status, run.seconds) == ("RUNNING", 400.0)
    assert run.reason == "still RUNNING after 400 s: place (mission > place)"
    assert "  360.00  take/pick SUCCESS" in run.story


def test_outcomes_until_a_time(bring):
    outcomes = {"pick": [{"status": "FAILURE", "until": 1.0}, {"after": 0.2}]}
    waits = {"ready?": [{"status": "RUNNING", "until": 0.5}, "SUCCESS"]}
    run = bring.run(outcomes, blackboard={"attempts": -1})
    assert run.status == "SUCCESS"
    assert [event.time for event in run.events if event.what == "FAILURE"][-1] < 1.0
    assert bring.run(waits).status == "SUCCESS"
    until = [{"status": "RUNNING", "until": 1.5}, {"status": "RUNNING", "until": 4.0}]
    late = [*until, {"status": "FAILURE", "until": 3.0}, {"after": 0.5}]
    run = bring.run({"pick": late})
    picked = [event.time for event in run.events if str(event.node.name) == "pick"]
    assert picked == [0.0, 4.5], "it waits for as long as the chain says, and begins once"


def test_scripts_model_the_world(bring):
    outcomes = {
        "pick": {"script": "@held := true"},
        "ready?": {"succeeds_if": "@battery > 0.2"},
    }
    assert bring.run(outcomes, blackboard={"battery": 0.5}).blackboard.get("held") == 1.0
    assert bring.run(outcomes, blackboard={"battery": 0.1}).status == "FAILURE"


def test_exceptions_and_skips(bring):
    run = bring.run({"pick": {"raises": "the cable is out"}})
    assert run.status == "EXCEPTION"
    assert "take/pick" in run.reason
    assert "the cable is out" in run.reason
    assert bring.run({"*": "SKIPPED"}).status == "SKIPPED"


def test_halts_are_seen(bring):
    events = [TimedEvent(0.2, halt=True)]
    run = bring.run({"pick": {"after": 1.0}}, events=events)
    assert (run.status, run.seconds, run.halted("pick")) == ("HALTED", 0.2, 1)
    assert run.story[-1] == "    0.20  take/pick HALTED"


def test_events_change_the_world(bring):
    events = [TimedEvent(0.3, {"object": "nothing"}), TimedEvent(0.1, script="object := 'a'")]
    assert bring.run(events=events).begun("place") == 0


def test_inner_nodes_and_built_in_leaves_are_replaced(bring):
    run = bring.run({"take": "FAILURE", "rest": "FAILURE"})
    assert (run.status, run.begun("take")) == ("FAILURE", 3)
    assert bring.run({"rest": "SUCCESS"}).seconds == 0.0
    assert bring.run().seconds == 0.5, "the next run is as the file says again"


def test_programs_of_ones_own_run_unless_they_are_given_an_outcome(tmp_path):
    (tmp_path / "own.xml").write_text(
        """<root BTCPP_format="4"><BehaviorTree ID="T"><Own name="own"/></BehaviorTree></root>"""
    )
    seen = []

    def own(node):
        seen.append(node.name())
        return NodeStatus.SUCCESS

    def make(file, clock):
        factory = BehaviorTreeFactory(clock)
        factory.register_simple_action("Own", own)
        return factory

    tree = TreeUnderTest(tmp_path / "own.xml", make=make)
    assert tree.run({"own": "FAILURE"}).status == "FAILURE"
    assert seen == []
    assert tree.run().status == "SUCCESS"
    assert seen == ["own"]


def test_attempts_are_counted_for_each_node_apart(tmp_path):
    (tmp_path / "two.xml").write_text(
        """<root BTCPP_format="4"><BehaviorTree ID="T"><Parallel success_count="2">
        <RetryUntilSuccessful num_attempts="2"><Go name="same"/>
        </RetryUntilSuccessful><RetryUntilSuccessful num_attempts="2"><Go name="same"/>
        </RetryUntilSuccessful></Parallel></BehaviorTree></root>"""
    )
    run = TreeUnderTest(tmp_path / "two.xml").run({"same": ["FAILURE", "SUCCESS"]})
    assert run.begun("same") == 4


def test_unused_outcomes_are_known(bring):
    run = bring.run({"pick": ["FAILURE", "SUCCESS", "FAILURE"]})
    assert [(rule.selector, number) for rule, number, _ in run.unused] == [("pick", 3)]


def test_two_runs_tell_the_same_story(bring):
    outcomes = {"pick": ["FAILURE", {"after": 0.7}], "ready?": {"status": "SUCCESS"}}
    assert str(bring.run(outcomes)) == str(bring.run(outcomes))


def test_a_tree_that_asks_for_ticks_without_end_ends_at_the_limit(tmp_path):
    (tmp_path / "wait.xml").write_text(
        """<root BTCPP_format="4"><BehaviorTree ID="T"><Timeout msec="2000">
        <RetryUntilSuccessful name="again" num_attempts="-1"><Look/></RetryUntilSuccessful>
        </Timeout></BehaviorTree></root>"""
    )
    tree = TreeUnderTest(tmp_path / "wait.xml")
    assert tree.run({"Look": "FAILURE"}).seconds == 2.0
    assert tree.run({"Look": "FAILURE"}, limit=1.0).status == "RUNNING"


def test_a_file_with_several_trees_and_no_main_one(tmp_path):
    tree = "<BehaviorTree ID='{}'><AlwaysSuccess/></BehaviorTree>"
    (tmp_path / "two.xml").write_text(
        f'<root BTCPP_format="4">{tree.format("A")}{tree.format("B")}</root>'
    )
    with pytest.raises(LoadError, match="name one: A, B"):
        TreeUnderTest(tmp_path / "two.xml")
    assert TreeUnderTest(tmp_path / "two.xml", "B").run().status == "SUCCESS"


def properties(bring, *listed, **arguments):
    return [str(each) for each in bring.run(properties=list(listed), **arguments).violations]


def test_properties_that_hold(bring):
    assert (
        properties(
            bring,
            {"never": "object == 'bomb'"},
            {"always": "attempts == 3"},
            {"eventually": {"place": "SUCCESS"}},
            {"never_both": ["pick", "place"]},
            {"nothing_runs_below": "mission", "while": {"ready?": "FAILURE"}},
            {"every_start_ends": {"within": 0.5}},
        )
        == []
    )


@pytest.mark.parametrize(
    ("each", "text"),
    [
        ({"never": {"rest": "RUNNING"}}, "at 0 s what must never be is"),
        ({"always": "object == 'cup'"}, "at 0.2 s what must always be is not: object == 'cup'"),
        ({"eventually": {"place": "FAILURE"}}, "it had never come to {'place': 'FAILURE'}"),
        ({"eventually": "unheard_of > 3"}, "the state was never known: .*unheard_of"),
        ({"nothing_runs_below": "mission", "while": {"rest": "RUNNING"}}, "'rest' runs while"),
        ({"every_start_ends": {"within": 0.3}}, "'rest' has run for more than 0.3 s"),
    ],
)
def test_properties_that_do_not_hold(bring, each, text):
    import re

    (told,) = properties(bring, each, events=[TimedEvent(0.2, {"object": "jug"})])
    assert re.search(text, told), told


def test_two_that_must_never_run_at_once(tmp_path):
    (tmp_path / "two.xml").write_text(
        """<root BTCPP_format="4"><BehaviorTree ID="T"><Parallel success_count="2">
        <Go name="a"/><Go name="b"/></Parallel></BehaviorTree></root>"""
    )
    tree = TreeUnderTest(tmp_path / "two.xml")
    both = [{"never_both": ["a", "b"]}]
    assert tree.run(properties=both).violations == []
    (violation,) = tree.run({"Go": {"after": 1}}, properties=both).violations
    assert "'b' runs beside 'a'" in str(violation)
    assert tree.run({"a": {"after": 1}}, properties=both).violations != []


def test_a_start_that_never_ends_is_told(bring):
    run = bring.run({"pick": "RUNNING"}, properties=[{"every_start_ends": True}], limit=1.0)
    assert "'take/pick' was begun and neither ended nor halted" in str(run.violations[0])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"nevr": "x"}, "unknown key 'nevr'.*'never'"),
        ({"never": "x >"}, "is no script"),
        ({"never": {"pick": "DONE"}}, "write one of SUCCESS"),
        ({"never_both": ["pick"]}, "names 1 nodes"),
        ({"nothing_runs_below": "pick"}, "'while' belongs to nothing_runs_below"),
        ({"never": "x", "always": "x"}, "has 2 properties"),
        ({"never": {"pikc": "SUCCESS"}}, "no node 'pikc'"),
        ({"every_start_ends": {}}, "says no time"),
        ({"always": "attempts = 1"}, "compare by =="),
    ],
)
def test_wrong_properties_are_refused(bring, wrong, text):
    with pytest.raises(LoadError, match=text):
        bring.run(properties=[wrong])


def test_a_deadline_that_is_no_round_number_is_reached(tmp_path):
    (tmp_path / "rest.xml").write_text(
        """<root BTCPP_format="4"><BehaviorTree ID="T"><Sequence><Sleep msec="100"/>
        <Sleep msec="200"/></Sequence></BehaviorTree></root>"""
    )
    run = TreeUnderTest(tmp_path / "rest.xml").run(limit=1.0)
    assert (run.status, run.seconds) == ("SUCCESS", 0.1 + 0.2)


@pytest.mark.parametrize(
    "question", ["<Ask name='ask?'/>", "<ScriptCondition name='ask?' code='a'/>"]
)
def test_a_condition_is_asked_at_every_tick(tmp_path, question):
    (tmp_path / "ask.xml").write_text(
        f"""<root BTCPP_format="4"><BehaviorTree ID="T"><WhileDoElse>{question}<Go name="go"/>
        <Else name="else"/></WhileDoElse></BehaviorTree>
        <TreeNodesModel><Condition ID="Ask"/></TreeNodesModel></root>"""
    )
    asked = {"ask?": [{"status": "SUCCESS", "until": 1.0}, "FAILURE"], "go": {"after": 5}}
    run = TreeUnderTest(tmp_path / "ask.xml").run(asked)
    assert (run.halted("go"), run.begun("else"), run.seconds) == (1, 1, 1.0)
