# SPDX-License-Identifier: Apache-2.0
"""Try and Catch: which clause runs when, what follows, and that no failure is swallowed."""

import itertools
import json

import pytest
from authoring_kit import FAILURE, RUNNING, SUCCESS, Rig, act
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import LoadError, TreeEditor, restore_tree, save_tree
from behavior_tree.cause import Cause, CauseKind
from behavior_tree.schedule import make_schedule


def attempt(*children, **ports):
    given_ports = "".join(f' {name}="{text}"' for name, text in ports.items())
    return f'<Try name="try"{given_ports}>{"".join(children)}</Try>'


def catch(child, name="", **ports):
    given_ports = "".join(f' {key.rstrip("_")}="{text}"' for key, text in ports.items())
    named = f' name="{name}"' if name else ""
    return f"<Catch{named}{given_ports}>{child}</Catch>"


def test_a_clause_mends_what_failed():
    rig = Rig()
    body = attempt(act("a"), act("b", 1, "FAILURE"), act("c"), catch(act("mend", 2)))
    assert rig.result(f"<Sequence>{body}{act('next')}</Sequence>") == ("SUCCESS", 5)
    assert rig.take() == "0 +a, 1 -a, 1 +b, 2 -b, 2 +mend, 4 -mend, 4 +next, 5 -next"


def test_success_passes_the_clauses():
    rig = Rig()
    assert rig.result(attempt(act("a"), catch(act("mend")))) == ("SUCCESS", 1)
    assert rig.result(attempt('<Act _skipIf="true"/>', catch(act("mend")))) == ("SKIPPED", 0)
    assert "mend" not in rig.times("+")


@pytest.mark.parametrize("policy", ["halt", "finish"])
@pytest.mark.parametrize("order", list(itertools.permutations("fo")))
@pytest.mark.parametrize("fails_at", [1, 2, 3])
@pytest.mark.parametrize("concurrently", ["true", "false"])
def test_the_verdict_comes_when_no_part_of_the_try_runs(policy, order, fails_at, concurrently):
    """The clause runs once, after all, whatever ends first and whatever is listed last."""
    rig = Rig()
    times = {"f": (fails_at, "FAILURE"), "o": (2, "SUCCESS")}
    children = [act(name, *times[name], after="beginning") for name in order]
    body = attempt(*children, catch(act("mend")), on_failure=policy, concurrent=concurrently)
    status, _ = rig.result(f"<Sequence>{body}{act('next')}</Sequence>")
    assert status == "SUCCESS"
    begins = [name for _, sign, name in rig.log if sign == "+"]
    assert begins[-2:] == ["mend", "next"]
    last = max(time for time, sign, name in rig.log if sign in "-!" and name in "fo")
    assert rig.times("+")["mend"] == last
    assert rig.times("+").keys() == rig.times("-").keys() | rig.times("!").keys()
    if policy == "finish" and concurrently == "true":
        assert last == max(fails_at, 2)


def test_the_first_clause_that_fits_runs():
    clauses = (
        catch(act("for arm"), of="arm;hand"),
        catch(act("asked"), if_="worse"),
        catch(act("for all")),
    )
    for failing, worse, expected in (
        ("arm", False, "for arm"),
        ("base", True, "asked"),
        ("base", False, "for all"),
    ):
        rig = Rig()
        results = {"arm": "SUCCESS", "hand": "SUCCESS", "base": "SUCCESS", failing: "FAILURE"}
        parts = [act(name, 1, result) for name, result in results.items()]
        tree = rig.tree(attempt(f"<Sequence>{parts[0]}{parts[1]}</Sequence>", parts[2], *clauses))
        tree.root_blackboard().set("worse", worse)
        assert rig.run(tree) is SUCCESS
        assert [name for _, sign, name in rig.log if sign == "+"][-1] == expected


@pytest.mark.parametrize("name", ["Sub", "mine", "inside", "step"])
def test_what_failed_is_named_like_in_a_list(name):
    rig = Rig()
    more = f'<BehaviorTree ID="Sub">{act("inside", 1, "FAILURE")}</BehaviorTree>'
    tried = '<Step name="step" execute_after="beginning"><SubTree ID="Sub" name="mine"/></Step>'
    assert rig.result(attempt(tried, catch(act("m"), of=name)), more) == ("SUCCESS", 2)


def test_a_clause_for_a_kind_of_cause_and_its_reason():
    rig = Rig()

    def refuse(node):
        node.set_failure_reason(Cause(CauseKind.REJECTED, "no goal today", remedy="ask again"))
        return FAILURE

    rig.factory.register_simple_action("Ask", refuse)
    body = attempt(
        '<Ask name="ask"/>',
        catch(act("late"), kind="TIMED_OUT;SERVER_LOST"),
        catch(act("no"), kind="REJECTED", reason="{why}"),
    )
    tree = rig.tree(body)
    assert rig.run(tree) is SUCCESS
    assert "no" in rig.times("+")
    assert "late" not in rig.times("+")
    assert tree.root_blackboard().get("why") == "ask: no goal today: ask again"


def test_no_clause_that_fits_leaves_the_failure_as_it_is():
    rig = Rig()
    tree = rig.tree(attempt(act("a", 1, "FAILURE"), catch(act("b"), if_="false")))
    assert rig.run(tree) is FAILURE
    assert str(tree.failure_reason()) == "a: a went wrong"


def test_a_clause_that_fails_is_told_besides_what_it_was_for():
    rig = Rig()
    tree = rig.tree(attempt(act("a", 1, "FAILURE"), catch(act("b", 1, "FAILURE"))))
    assert rig.run(tree) is FAILURE
    assert str(tree.failure_reason()) == "try: a: a went wrong; b: b went wrong"


def test_a_clause_that_cleans_up_keeps_the_failure():
    rig = Rig()
    tree = rig.tree(attempt(act("a", 1, "FAILURE"), catch(act("b"), then="fail")))
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +a, 1 -a, 1 +b, 2 -b"
    assert str(tree.failure_reason()) == "a: a went wrong"


# -- again -----------------------------------------------------------------------------------------


def flaky(rig, limit, *clauses):
    """A leaf that fails ``limit`` times."""
    rig.factory.register_simple_action("Count", lambda node: count(node))

    def count(node):
        board = node.config().blackboard
        board.set("n", board.get("n") + 1)
        board.set("r", FAILURE if board.get("n") < limit else SUCCESS)
        return SUCCESS

    tree = rig.tree(attempt('<Act name="a" seconds="1" result="{r}"/>', *clauses))
    tree.root_blackboard().set("n", 0)
    tree.root_blackboard().set("r", FAILURE if limit else SUCCESS)
    return tree


def run_awake(rig, tree):
    """As an executor does: a wake-up is another tick."""
    while True:
        status = tree.tick_once()
        following = tree.runtime.next_deadline()
        if status is not RUNNING or following is None:
            return status
        rig.clock.now = following


def test_a_clause_leads_to_another_attempt():
    rig = Rig()
    tree = flaky(rig, 2, catch("<Count/>", then="retry"))
    assert run_awake(rig, tree) is SUCCESS
    assert rig.take() == "0 +a, 1 -a, 1 +a, 2 -a, 2 +a, 3 -a"


def test_attempts_have_a_limit_behind_which_the_next_clause_fits():
    rig = Rig()
    clauses = (catch("<Count/>", then="retry", max_retries="1"), catch(act("give up")))
    tree = flaky(rig, 9, *clauses)
    assert run_awake(rig, tree) is SUCCESS
    assert rig.take() == "0 +a, 1 -a, 1 +a, 2 -a, 2 +give up, 3 -give up"
    assert run_awake(rig, tree) is SUCCESS  # another run has its own attempts
    assert rig.take() == "3 +a, 4 -a, 4 +a, 5 -a, 5 +give up, 6 -give up"


def test_a_loop_that_takes_no_time_takes_a_tick_each():
    rig = Rig()
    tree = rig.tree(
        attempt(act("a", 0, "FAILURE"), catch("<AlwaysSuccess/>", then="retry", max_retries="-1"))
    )
    for _ in range(5):
        assert tree.tick_once() is RUNNING
    assert rig.take() == ", ".join(["0 +a, 0 -a"] * 5)


def test_attempts_may_be_nested():
    rig = Rig()
    inner = attempt(act("a", 1, "FAILURE"), catch(act("b", 1, "FAILURE"), of="a"))
    body = attempt(inner.replace('"try"', '"inner"'), catch(act("c"), of="b"), catch(act("d")))
    assert rig.result(body) == ("SUCCESS", 3)
    assert rig.take() == "0 +a, 1 -a, 1 +b, 2 -b, 2 +c, 3 -c"


# -- like any node ---------------------------------------------------------------------------------

BODY = attempt(
    act("a", 1, "FAILURE"),
    act("b", 3, after="beginning"),
    catch(act("m", 2), then="retry", max_retries="1"),
    catch(act("n", 2)),
    on_failure="finish",
)
STORY = "0 +a, 0 +b, 1 -a, 3 -b, 3 +m, 5 -m, 5 +a, 5 +b, 6 -a, 8 -b, 8 +n, 10 -n"


@pytest.mark.parametrize("until", [0, 1, 3, 4.5, 5, 6, 9])
def test_it_goes_on_where_it_was_saved(until):
    rig = Rig()
    tree = rig.tree(BODY)
    while tree.tick_once() is RUNNING and tree.runtime.next_deadline() <= 100 + until:
        rig.clock.now = tree.runtime.next_deadline()
    saved = json.loads(json.dumps(save_tree(tree)))
    kept = list(rig.log)
    again = rig.tree(BODY)
    restore_tree(again, saved)
    rig.log[:] = kept
    assert run_awake(rig, again) is SUCCESS
    assert rig.take() == STORY


def test_it_is_halted_at_any_time():
    for until in range(11):
        rig = Rig()
        tree = rig.tree(BODY)
        while tree.tick_once() is RUNNING and tree.runtime.next_deadline() <= 100 + until:
            rig.clock.now = tree.runtime.next_deadline()
        tree.halt_tree()
        assert tree.runtime.next_deadline() is None
        begun = [name for _, sign, name in rig.log if sign == "+"]
        assert sorted(begun) == sorted(name for _, sign, name in rig.log if sign != "+")
        rig.log.clear()
        rig.clock.now = 100.0
        assert run_awake(rig, tree) is SUCCESS
        assert rig.take() == STORY


def test_it_is_edited_while_a_clause_runs():
    rig = Rig()
    tree = rig.tree(
        attempt(act("a", 1, "FAILURE"), catch(act("b", 5), "one"), catch(act("c"), "two"))
    )
    editor = TreeEditor(tree, rig.factory)
    rig.run(tree, until=3)
    rig.clock.now = 103.0
    editor.insert("try", 0, act("new"))
    assert rig.run(tree, until=4) is RUNNING
    rig.clock.now = 104.0
    editor.remove("one")
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +a, 1 -a, 1 +b, 4 !b, 4 +c, 5 -c"
    editor.undo()
    rig.clock.now = 100.0
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +new, 1 -new, 1 +a, 2 -a, 2 +b, 7 -b"


def test_the_schedule_is_that_of_what_is_tried():
    rig = Rig()
    tree = rig.tree(BODY)
    schedule = make_schedule(tree, lambda node: node.get_input_double("seconds") or 0.0)
    assert [str(bar.node.name) for bar in schedule.bars] == ["a", "b"]
    assert schedule.end == 3


MISTAKES = {
    "no clause": (attempt(act("a")), "a Try has no clause"),
    "nothing": (attempt(catch(act("a"))), "there is nothing to try before this"),
    "behind": (attempt(act("a"), catch(act("b")), act("c")), "this stands behind a Catch"),
    "outside": (f"<Sequence>{catch(act('a'))}</Sequence>", "a Catch stands outside of any Try"),
    "of": (
        attempt(act("a"), catch(act("b"), of="a;x")),
        r"of names 'x', which is not tried \(one of a\)",
    ),
    "kind": (attempt(act("a"), catch(act("b"), kind="LOST")), "there is no kind of cause 'LOST'"),
    "if": (attempt(act("a"), catch(act("b"), if_="1 +")), r"in \[if\]"),
    "order": (
        attempt(act("a"), act("s", after="mend"), catch(act("c"), "mend")),
        "execute_after names 'mend', which is not there",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_found_at_load(what):
    body, message = MISTAKES[what]
    with pytest.raises(LoadError, match=message) as caught:
        Rig().tree(body.replace("><", ">\n<"))
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].line > 1


def test_what_is_odd_is_warned_of():
    rig = Rig()
    rig.tree(attempt(act("a"), catch(act("b")), catch(act("c"), of="a")))
    (problem,) = rig.factory.load_warnings()
    assert "this never runs, because the clause in line 1 catches all" in str(problem)
    rig = Rig()
    rig.tree(attempt("<AlwaysFailure/>", catch("<AlwaysSuccess/>", then="retry", max_retries="-1")))
    assert "this goes round in every tick" in str(rig.factory.load_warnings()[0])
    rig = Rig()
    rig.tree(
        attempt(act("a"), catch("<AlwaysSuccess/>", then="retry", max_retries="2"), catch(act("b")))
    )
    assert not rig.factory.load_warnings()


# -- properties ------------------------------------------------------------------------------------


@st.composite
def attempts(draw, depth=2):
    """Nested attempts, and their result by a model that knows only the rules."""
    counter = iter(range(1000))

    def part(levels):
        if levels and draw(st.booleans()):
            return whole(levels - 1)
        good = draw(st.booleans())
        seconds = draw(st.integers(0, 3))
        result = "SUCCESS" if good else "FAILURE"
        return act(f"n{next(counter)}", seconds, result), good

    def whole(levels):
        tried = [part(levels) for _ in range(draw(st.integers(1, 3)))]
        good = all(each for _, each in tried)
        children = [
            f'<Step execute_after="{draw(st.sampled_from(["previous", "beginning"]))}">{xml}</Step>'
            for xml, _ in tried
        ]
        for _ in range(draw(st.integers(1, 2))):
            fits = draw(st.booleans())
            then = draw(st.sampled_from(["go_on", "fail"]))
            xml, mended = part(levels)
            children.append(catch(xml, if_="true" if fits else "false", then=then))
            if fits:
                good = good or (mended and then == "go_on")
                break
        policy = draw(st.sampled_from(["halt", "finish"]))
        return f'<Try on_failure="{policy}">{"".join(children)}</Try>', good

    return whole(depth)


@settings(max_examples=200, deadline=None)
@given(attempts())
def test_the_innermost_attempt_gets_the_failure(drawn):
    body, good = drawn
    rig = Rig()
    tree = rig.tree(body)
    assert rig.run(tree) is (SUCCESS if good else FAILURE)
    begun = [name for _, sign, name in rig.log if sign == "+"]
    assert sorted(begun) == sorted(name for _, sign, name in rig.log if sign != "+")
    assert len(set(begun)) == len(begun)
