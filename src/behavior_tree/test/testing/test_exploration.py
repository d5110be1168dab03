# SPDX-License-Identifier: Apache-2.0
"""Exploration: all combinations of faults, each once, the smallest story told."""

from __future__ import annotations

import itertools

import pytest

from behavior_tree.testing import Exploration, TooManyError, TreeUnderTest, explore

TREE = """<root BTCPP_format="4"><BehaviorTree ID="T">{}</BehaviorTree></root>"""


def tree(tmp_path, body):
    (tmp_path / "tree.xml").write_text(TREE.format(body))
    return TreeUnderTest(tmp_path / "tree.xml")


def tried(tree, plan, judge=lambda run: ""):
    """Names and attempts of every combination, in order."""
    seen = []

    def run(faults):
        done = tree.run(faults=faults)
        seen.append(tuple(f"{each.attempt.node[0]}{each.attempt.number}" for each in faults))
        return done

    return explore(plan, run, judge), seen[1:]


def test_each_combination_that_can_happen_comes_once_and_in_the_same_order(tmp_path):
    parallel = tree(
        tmp_path,
        '<ParallelAll max_failures="-1"><A name="a"/><B name="b"/><C name="c"/></ParallelAll>',
    )
    explored, seen = tried(parallel, Exploration(3))
    names = ["a1", "b1", "c1"]
    expected = [each for n in (1, 2, 3) for each in itertools.combinations(names, n)]
    assert seen == expected
    assert explored.runs == 7
    assert tried(parallel, Exploration(3))[1] == seen


def test_what_begins_only_after_a_fault_fails_too(tmp_path):
    fallback = tree(tmp_path, '<Fallback><A name="a"/><B name="b"/></Fallback>')
    assert tried(fallback, Exploration(2))[1] == [("a1",), ("a1", "b1")]


def test_the_smallest_failing_story_is_told_and_none_that_contains_it(tmp_path):
    body = """<Sequence><ForceSuccess><A name="a"/></ForceSuccess><Fallback><B name="b"/>
      <C name="c"/></Fallback></Sequence>"""
    explored, _ = tried(
        tree(tmp_path, body), Exploration(3), lambda run: "" if run.status == "SUCCESS" else "bad"
    )
    (story,) = [run for run, _ in explored.failures]
    assert [fault.attempt.node[0] for fault in story.faults] == ["b", "c"]


def test_a_story_has_the_simplest_kind_of_fault(tmp_path):
    leaf = tree(tmp_path, '<Sequence><A name="a"/></Sequence>')
    plan = Exploration(1, kinds=("EXCEPTION", "RUNNING"))
    explored, _ = tried(leaf, plan, lambda run: "" if run.status == "SUCCESS" else "bad")
    told = [[fault.kind for fault in run.faults] for run, _ in explored.failures]
    assert told == [["FAILURE"]], "one story, once"


@pytest.mark.parametrize("kind", ["FAILURE", "RUNNING", "SKIPPED", "EXCEPTION"])
def test_every_kind_of_fault(tmp_path, kind):
    seen = []
    leaf = tree(tmp_path, '<A name="a"/>')
    tried(leaf, Exploration(1, kinds=(kind,)), lambda run: seen.append(run.status) or "")
    assert seen == [kind]


def test_attempts_and_leaves_bound_what_is_tried(tmp_path):
    again = tree(
        tmp_path, '<RetryUntilSuccessful num_attempts="9"><A name="a"/></RetryUntilSuccessful>'
    )
    assert tried(again, Exploration(9, attempts=3))[1][-1] == ("a1", "a2", "a3")
    assert tried(again, Exploration(9, leaves=frozenset()))[1] == []


def test_more_combinations_than_may_be_tried_are_no_success(tmp_path):
    three = tree(tmp_path, "<ParallelAll max_failures='-1'><A/><B/><C/></ParallelAll>")
    with pytest.raises(TooManyError):
        tried(three, Exploration(3, most=6))
    runs = []
    with pytest.raises(TooManyError):
        explore(Exploration(1, most=2), lambda f: runs.append(f) or three.run(faults=f), str)
    assert runs == [()], "that there are too many is known before they take their time"
