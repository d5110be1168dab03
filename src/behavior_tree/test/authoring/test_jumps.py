# SPDX-License-Identifier: Apache-2.0
"""Goto, Gosub, Checkpoint: where a list goes on, what is left, what is never left open."""

import json

import pytest
from authoring_kit import FAILURE, RUNNING, SUCCESS, Rig, act, concurrent
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from behavior_tree import LoadError, TreeEditor, restore_tree, save_tree
from behavior_tree.decider import holders, register_decider_nodes
from behavior_tree.schedule import make_schedule
from behavior_tree.xml.list_elements import ListElements


def goto(name, once="", after=None):
    """A Goto; ``once``: a key that keeps it from jumping again."""
    text = f'<Goto to="{name}"/>'
    if once:
        text = (
            f'<Fallback name="go {once}"><ScriptCondition code="{once}"/>'
            f'<Sequence><Script code="{once} := true"/>{text}</Sequence></Fallback>'
        )
    return text if after is None else f'<Step execute_after="{after}">{text}</Step>'


def routine(name, child):
    return f'<Step name="{name}" execute_after="gosub">{child}</Step>'


def ran(rig, body, more="", **entries):
    """Result and story of a tree that is ticked as an executor does."""
    tree = rig.tree(body, more)
    for key, value in entries.items():
        tree.root_blackboard().set(key, value)
    for _ in range(100):
        status = tree.tick_once()
        if status is not RUNNING:
            return status.name, rig.take()
        following = tree.runtime.next_deadline()
        rig.clock.now = rig.clock.now + 0.01 if following is None else following
    raise AssertionError("it does not end")


# -- Goto


@pytest.mark.parametrize("on_failure", ["halt", "finish"])
def test_no_jump_makes_a_failure_good_that_comes_in_its_tick(on_failure):
    """``late`` began after the part that jumps, so the tick comes to it behind the Goto."""
    rig = Rig()
    late = f'<Step execute_after="x">{act("late", 2, "FAILURE")}</Step>'
    again = f"<Sequence>{act('a', 3)}{goto('again', 'done')}</Sequence>"
    body = concurrent(act("x"), late, act("again", 0, after="beginning"), again)
    body = body.replace("<ConcurrentSequence", f'<ConcurrentSequence on_failure="{on_failure}"')
    status, story = ran(rig, body, done=False)
    assert status == "FAILURE"
    assert story.count("+again") == 1


def test_a_clause_that_fails_in_the_tick_of_its_goto_fails():
    rig = Rig()
    both = f"<Parallel>{goto('a', 'done')}{act('clean up', 0, 'FAILURE')}</Parallel>"
    body = f"<Try>{act('a', 1, 'FAILURE')}<Catch>{both}</Catch></Try>"
    status, story = ran(rig, body, done=False)
    assert status == "FAILURE"
    assert story.count("+a") == 1


def test_back_to_a_child_and_on_from_there():
    rig = Rig()
    body = concurrent(act("a"), act("b"), goto("b", "done"), act("c"))
    assert ran(rig, body, done=False) == (
        "SUCCESS",
        "0 +a, 1 -a, 1 +b, 2 -b, 2 +b, 3 -b, 3 +c, 4 -c",
    )


def test_forward_over_what_has_not_begun():
    rig = Rig()
    body = concurrent(act("a", 0), goto("c"), act("b"), act("c"), act("d"))
    status, story = ran(rig, body)
    assert status == "SUCCESS"
    assert [each.split()[1] for each in story.split(", ")] == ["+a", "-a", "+c", "-c", "+d", "-d"]


def test_what_runs_before_the_target_goes_on_and_what_runs_behind_it_is_halted():
    rig = Rig()
    body = concurrent(
        act("long", 9),
        act("again", 1, after="beginning"),
        act("behind", 9, after="beginning"),
        goto("again", "done", after="again"),
    )
    assert ran(rig, body, done=False) == (
        "SUCCESS",
        "0 +long, 0 +again, 0 +behind, 1 -again, 1 !behind, 1 +again, 1 +behind, 2 -again, "
        "9 -long, 10 -behind",
    )


def test_a_checkpoint_is_a_place():
    rig = Rig()
    body = concurrent(
        '<Checkpoint name="start"/>', act("a"), act("b", 1, after="start"), goto("start", "done")
    )
    assert ran(rig, body, done=False) == (
        "SUCCESS",
        "0 +a, 0 +b, 1 -a, 1 -b, 1 +a, 1 +b, 2 -a, 2 -b",
    )


def test_the_innermost_list_that_has_the_name_is_meant():
    rig = Rig()
    inner = concurrent(act("x"), goto("x", "one")).replace('"all"', '"inner"')
    body = concurrent(act("x2"), inner, act("y"), goto("x2", "two"))
    status, story = ran(rig, body, one=False, two=False)
    assert status == "SUCCESS"
    names = [each.split()[1] for each in story.split(", ") if "+" in each]
    assert names == ["+x2", "+x", "+x", "+y", "+x2", "+x", "+y"]


def test_out_of_an_inner_list():
    rig = Rig()
    inner = concurrent(act("x", 5), goto("a", "done", after="beginning"))
    body = concurrent(act("a"), inner.replace('"all"', '"inner"'))
    status, story = ran(rig, body, done=False)
    assert (status, story) == ("SUCCESS", "0 +a, 1 -a, 1 +x, 1 !x, 1 +a, 2 -a, 2 +x, 7 -x")


def test_a_clause_may_jump_back_to_what_is_tried():
    rig = Rig()
    body = (
        f'<Try name="t">{act("a")}<Act name="b" seconds="1" result="{{r}}"/>'
        '<Catch><Sequence><Script code="r := \'SUCCESS\'"/><Goto to="b"/></Sequence></Catch></Try>'
    )
    tree_result = ran(rig, body, r="FAILURE")
    assert tree_result == ("SUCCESS", "0 +a, 1 -a, 1 +b, 2 -b, 2 +b, 3 -b")


def test_a_loop_that_takes_no_time_takes_a_tick_each():
    rig = Rig()
    tree = rig.tree(concurrent(act("a", 0), goto("a")))
    for _ in range(5):
        assert tree.tick_once() is RUNNING
    assert rig.take() == ", ".join(["0 +a, 0 -a"] * 5)
    assert not rig.factory.load_warnings()  # who knows how long such a leaf takes?
    rig = Rig()
    rig.tree(concurrent("<AlwaysSuccess/>", '<Checkpoint name="c"/>', goto("c")))
    assert "this goes round in every tick" in str(rig.factory.load_warnings()[0])


def test_a_jump_leaves_no_lock_and_no_try_open():
    rig = Rig()
    register_decider_nodes(rig.factory)
    held = []
    rig.factory.register_simple_action("Look", lambda node: held.append(holders(tree)) or SUCCESS)
    inside = f"<Sequence>{act('in')}{goto('start', 'done')}{act('never')}</Sequence>"
    body = concurrent(
        '<Checkpoint name="start"/>',
        "<Look/>",
        f"<Try><Atomic>{inside}</Atomic><Catch>{act('mend')}</Catch></Try>",
    )
    tree = rig.tree(body)
    tree.root_blackboard().set("done", False)
    assert tree.tick_once() is RUNNING
    assert [each.registration_id() for each in holders(tree)] == ["Atomic"]
    while tree.tick_once() is RUNNING:
        rig.clock.now = tree.runtime.next_deadline() or rig.clock.now + 0.01
    assert held == [[], []]
    assert holders(tree) == []
    assert "mend" not in rig.times("+")


def test_after_a_failure_no_jump_is_taken():
    rig = Rig()
    body = concurrent(
        act("a", 1, "FAILURE"),
        f'<Step execute_after="beginning"><Sequence>{act("b", 2)}<Goto to="a"/></Sequence></Step>',
        act("c", 3, after="beginning"),
        on_failure="finish",
    )
    assert ran(rig, body) == ("FAILURE", "0 +a, 0 +b, 0 +c, 1 -a, 2 -b, 3 -c")


# -- Gosub


def test_a_routine_runs_where_it_is_called_and_returns():
    rig = Rig()
    body = concurrent(
        routine("look", act("turn")),
        act("a"),
        '<Gosub to="look"/>',
        act("b"),
        '<Gosub to="look"/>',
    )
    assert ran(rig, body) == (
        "SUCCESS",
        "0 +a, 1 -a, 1 +turn, 2 -turn, 2 +b, 3 -b, 3 +turn, 4 -turn",
    )


def test_a_routine_is_called_from_anywhere_in_the_list():
    rig = Rig()
    inner = concurrent(act("x"), '<Fallback><Gosub to="open"/></Fallback>')
    body = concurrent(routine("open", act("o")), inner.replace('"all"', '"inner"'), act("y"))
    assert ran(rig, body) == ("SUCCESS", "0 +x, 1 -x, 1 +o, 2 -o, 2 +y, 3 -y")


def test_what_a_routine_fails_for_is_told():
    rig = Rig()
    tree = rig.tree(concurrent(routine("look", act("turn", 1, "FAILURE")), '<Gosub to="look"/>'))
    assert rig.run(tree) is FAILURE
    assert str(tree.failure_reason()) == "turn: turn went wrong"


def test_a_routine_runs_once_at_a_time():
    rig = Rig()
    body = concurrent(
        routine("look", act("turn", 2)),
        '<Gosub name="one" to="look"/>',
        '<Step execute_after="beginning"><Gosub name="two" to="look"/></Step>',
        on_failure="finish",
    )
    tree = rig.tree(body)
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +turn, 2 -turn"
    assert "'look' is running already" in str(tree.failure_reason())


def test_a_halt_reaches_the_routine():
    rig = Rig()
    tree = rig.tree(concurrent(routine("look", act("turn", 5)), '<Gosub to="look"/>'))
    rig.run(tree, until=1)
    tree.halt_tree()
    assert rig.take() == "0 +turn, 0 !turn"
    rig.run(tree, until=1)
    assert rig.take() == "0 +turn"
    tree = rig.tree(
        concurrent(
            routine("look", act("turn", 5)), '<Timeout msec="1000"><Gosub to="look"/></Timeout>'
        )
    )
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +turn, 1 !turn"


def test_routines_call_routines_but_not_themselves():
    rig = Rig()
    body = concurrent(
        routine("a", f"<Sequence>{act('x')}<Gosub to='b'/></Sequence>"),
        routine("b", act("y")),
        '<Gosub to="a"/>',
    )
    assert ran(rig, body) == ("SUCCESS", "0 +x, 1 -x, 1 +y, 2 -y")
    with pytest.raises(LoadError, match=r"'[ab]' calls itself by this"):
        rig.tree(body.replace(act("y"), '<Gosub to="a"/>'))


def test_the_schedule_goes_into_routines():
    rig = Rig()
    body = concurrent(
        routine("look", act("turn", 3)), act("a"), '<Gosub to="look"/>', '<Gosub to="look"/>'
    )
    tree = rig.tree(body)
    schedule = make_schedule(tree, lambda node: node.get_input_double("seconds") or 0.0)
    assert [(str(bar.node.name), bar.begin) for bar in schedule.bars] == [
        *(("a", 0), ("turn", 1), ("turn", 4)),
    ]
    assert ran(rig, body)[0] == "SUCCESS"
    assert rig.clock.now - 100 == schedule.end


# -- mistakes

MISTAKES = {
    "nobody": (
        concurrent(act("a"), goto("x")),
        r"to names 'x', which is no child of a list around this \(one of a, Goto\)",
    ),
    "two": (
        concurrent(act("a"), act("a"), goto("a")),
        "to names 'a', and 2 children are called so",
    ),
    "two routines": (
        concurrent(routine("r", act("x")), routine("r", act("y")), '<Gosub to="r"/>'),
        "to names 'r', and 2 children are called so",
    ),
    "no list": (f"<Sequence>{goto('x')}</Sequence>", "put the Goto into a ConcurrentSequence"),
    "from the blackboard": (concurrent(act("a"), goto("{x}")), "must be known when the tree is"),
    "deeper": (
        concurrent(f"<Sequence>{act('a')}{act('b')}</Sequence>", goto("a")),
        "to names 'a', which is no child",
    ),
    "out of a routine": (
        concurrent(act("a"), routine("r", goto("a")), '<Gosub to="r"/>'),
        "to names 'a', which is no child",
    ),
    "no routine": (
        concurrent(act("a"), '<Gosub to="a"/>'),
        r"which no list around this has for a Gosub \(write <Step name=\"a\" execute_after=\"gosub",
    ),
    "itself": (
        concurrent(routine("r", '<Gosub to="r"/>'), act("a")),
        "'r' calls itself by this",
    ),
    "after a routine": (
        concurrent(routine("r", act("x")), act("a", after="r"), '<Gosub to="r"/>'),
        "execute_after names 'r', which is not there",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_found_at_load(what):
    body, message = MISTAKES[what]
    with pytest.raises(LoadError, match=message) as caught:
        Rig().tree(body.replace("><", ">\n<"))
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].line >= 1


def test_a_routine_that_nobody_calls_is_warned_of():
    rig = Rig()
    rig.tree(concurrent(routine("r", act("x")), act("a")))
    assert "no Gosub runs this" in str(rig.factory.load_warnings()[0])
    rig = Rig()
    rig.tree(concurrent(routine("r", act("x")), '<Gosub to="r"/>'))
    assert not rig.factory.load_warnings()


def test_a_name_that_is_jumped_to_cannot_be_edited_away():
    rig = Rig()
    tree = rig.tree(concurrent(act("a"), goto("a", "done"), act("b")))
    editor = TreeEditor(tree, rig.factory)
    for edit in (lambda: editor.remove("a"), lambda: editor.rename("a", "c")):
        with pytest.raises(LoadError, match="to names 'a', which is no child"):
            edit()
    editor.remove("b")


def test_another_name_in_a_gosub_that_runs_counts_from_its_next_call():
    rig = Rig()
    body = concurrent(
        routine("look", act("turn", 2)),
        routine("wave", act("arm", 2)),
        '<Repeat num_cycles="2"><Gosub name="call" to="look"/></Repeat>',
    )
    tree = rig.tree(body)
    tree.tick_once()
    TreeEditor(tree, rig.factory).set_port("call", "to", "wave")
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +turn, 2 -turn, 2 +arm, 4 -arm"


def test_a_gosub_that_was_given_another_name_halts_what_it_has_begun():
    rig = Rig()
    both = routine("look", act("turn", 2)) + routine("wave", act("arm", 2))
    body = f'<Timeout msec="1000"><Gosub name="call" to="look"/></Timeout>{act("a", 5)}'
    tree = rig.tree(f"<ConcurrentSequence>{both}{body}</ConcurrentSequence>")
    tree.tick_once()
    TreeEditor(tree, rig.factory).set_port("call", "to", "wave")
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +turn, 1 !turn"


# -- like any node


@pytest.mark.parametrize("ticks", range(9))
def test_it_goes_on_where_it_was_saved(ticks):
    body = concurrent(
        routine("look", act("turn", 2)),
        act("a"),
        '<Gosub to="look"/>',
        act("side", 5, after="a"),
        goto("a", "done", after="Gosub"),
    )
    whole = Rig()
    expected = ran(whole, body, done=False)
    rig = Rig()
    tree = rig.tree(body)
    tree.root_blackboard().set("done", False)
    for _ in range(ticks):
        if tree.tick_once() is not RUNNING:
            return
        rig.clock.now = tree.runtime.next_deadline() or rig.clock.now
    kept = list(rig.log)
    again = rig.tree(body)
    restore_tree(again, json.loads(json.dumps(save_tree(tree))))
    rig.log[:] = kept
    while (status := again.tick_once()) is RUNNING:
        rig.clock.now = again.runtime.next_deadline() or rig.clock.now + 0.01
    assert (status.name, rig.take()) == expected


# -- properties


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["previous", "beginning"])),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_jumps_end_what_they_leave_and_the_list_comes_to_its_end(children, data):
    """Whatever is jumped to from wherever: each beginning has one end, and all is done at last."""
    count = len(children)
    parts = [act(f"n{i}", seconds, after=after) for i, (seconds, after) in enumerate(children)]
    entries = {}
    for number in range(data.draw(st.integers(1, 3))):
        target = data.draw(st.integers(0, count - 1))
        after = data.draw(st.sampled_from(["previous", "beginning", "n0"]))
        entries[f"k{number}"] = False
        parts.insert(
            data.draw(st.integers(0, len(parts))), goto(f"n{target}", f"k{number}", after=after)
        )
    rig = Rig()
    try:
        status, story = ran(rig, concurrent(*parts), **entries)
    except LoadError:
        assume(False)  # they wait for each other
    assert status == "SUCCESS"
    open_names = set()
    for each in story.split(", "):
        sign, name = each.split()[1][0], each.split()[1][1:]
        assert (name in open_names) == (sign != "+")
        (open_names.add if sign == "+" else open_names.remove)(name)
    assert not open_names


def test_many_names_among_many_children_are_looked_up_once_each(monkeypatch):
    described = []
    original = ListElements.described
    monkeypatch.setattr(
        ListElements, "described", lambda self, e: described.append(e) or original(self, e)
    )
    number = 100
    children = [
        f'<Checkpoint name="c{i}"/><Goto to="c{i}" _skipIf="true"/>{routine(f"r{i}", act(f"a{i}"))}'
        f'<Gosub to="r{i}"/>'
        for i in range(number)
    ]
    Rig().tree(concurrent(*children))
    assert len(described) <= 3 * 4 * number  # of each child by order, jumps and resources
