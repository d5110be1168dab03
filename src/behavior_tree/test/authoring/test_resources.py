# SPDX-License-Identifier: Apache-2.0
"""Leaves that may run at once and command the same are found before anything moves."""

import pytest
from authoring_kit import SUCCESS, Act, Rig, concurrent
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import InputPort, LoadError, TreeEditor


class Arm(Act):
    commands = ("arm",)


class Side(Act):
    """One arm of two."""

    commands = ("{side} arm",)

    @classmethod
    def provided_ports(cls):
        return {**super().provided_ports(), "side": InputPort("side", str, "left")}


class Base(Act):
    commands = ("base",)


def make():
    rig = Rig()
    for node_class in (Arm, Side, Base):
        rig.factory.register_node_type(node_class, node_class.__name__, rig)
    return rig


def step(child, after="beginning"):
    return f'<Step execute_after="{after}">{child}</Step>'


A, B, BASE = '<Arm name="a"/>', '<Arm name="b"/>', '<Base name="base"/>'
LEFT, RIGHT = '<Side name="l"/>', '<Side name="r" side="right"/>'
SUB = f'<BehaviorTree ID="Sub"><Sequence>{BASE}{B}</Sequence></BehaviorTree>'

TOGETHER = {
    "list": concurrent(A, step(B)),
    "parallel": f"<Parallel>{A}{B}</Parallel>",
    "all": f"<ParallelAll>{BASE}{A}<Sequence>{LEFT}{B}</Sequence></ParallelAll>",
    "explicit": f'<Control ID="Parallel">{A}{B}</Control>',
    "tried": f"<Try>{A}{step(B)}<Catch>{BASE}</Catch></Try>",
    "subtree": concurrent(A, step('<SubTree ID="Sub"/>')),
    "chains": concurrent(BASE, A, step(LEFT, "base"), step(B, "l")),
    "routine": concurrent(
        '<Step name="r" execute_after="gosub"><Arm name="b"/></Step>', A, step('<Gosub to="r"/>')
    ),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_two_at_once_are_refused(what):
    with pytest.raises(LoadError) as caught:
        make().tree(TOGETHER[what], SUB)
    (problem,) = caught.value.problems
    assert problem.message == "'a' and 'b' may run at once, and both command 'arm'"
    assert problem.remedy == "let one come after the other"


ONE_BY_ONE = {
    "sequence": f"<Sequence>{A}{B}</Sequence>",
    "list": concurrent(A, B),
    "after it": concurrent(A, step(BASE), step(B, "a")),
    "in a chain": concurrent(A, LEFT, step(BASE), step(B, "l;base")),
    "for a trial": concurrent(A, step(B), concurrent="false"),
    "other things": f"<Parallel>{A}{BASE}{LEFT}{RIGHT}</Parallel>",
    "who knows": f'<Parallel>{LEFT}<Side name="x" side="{{s}}"/></Parallel>',
    "clause": f"<Try>{A}<Catch>{B}</Catch></Try>",
    "fallback": f"<Fallback>{A}{B}</Fallback>",
}


@pytest.mark.parametrize("what", ONE_BY_ONE)
def test_one_after_the_other_is_good(what):
    make().tree(ONE_BY_ONE[what], SUB)


def test_names_with_ports():
    with pytest.raises(LoadError, match="both command 'left arm'"):
        make().tree(f'<Parallel>{LEFT}<Side name="x" side="left"/></Parallel>')


def test_what_a_tree_commands_is_found_where_it_is_used():
    inner = '<BehaviorTree ID="In"><SubTree ID="Sub"/></BehaviorTree>'
    with pytest.raises(LoadError, match="both command 'arm'"):
        make().tree(f'<Parallel><SubTree ID="In"/>{A}</Parallel>', SUB + inner)


def test_an_edit_that_lets_two_run_at_once_is_refused():
    rig = make()
    tree = rig.tree(concurrent(A, '<Step name="s" execute_after="a"><Arm name="b"/></Step>'))
    editor = TreeEditor(tree, rig.factory)
    with pytest.raises(LoadError, match="'a' and 'b' may run at once"):
        editor.set_port("s", "execute_after", "beginning")
    with pytest.raises(LoadError, match="'a' and 'c' may run at once"):
        editor.insert("all", -1, step('<Arm name="c"/>'))
    editor.insert("all", -1, step(BASE))
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +a, 0 +base, 1 -a, 1 -base, 1 +b, 2 -b"


def test_an_edit_inside_a_subtree_is_seen_from_around_it():
    rig = make()
    more = f'<BehaviorTree ID="Drive"><Sequence name="q">{BASE}</Sequence></BehaviorTree>'
    tree = rig.tree(concurrent(A, step('<SubTree ID="Drive" name="d"/>')), more)
    editor = TreeEditor(tree, rig.factory)
    with pytest.raises(LoadError, match="'a' and 'b' may run at once"):
        editor.insert("d/q", -1, B)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Arm", "Base", "Act"]),
            st.sampled_from(["previous", "beginning", "n0", "n1"]),
            st.integers(1, 3),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_loads_never_runs_two_at_once(children):
    rig = make()
    body = concurrent(
        *(
            step(f'<{kind} name="n{index}" seconds="{seconds}"/>', after)
            for index, (kind, after, seconds) in enumerate(children)
        )
    )
    try:
        tree = rig.tree(body)
    except LoadError:
        return
    assert rig.run(tree) is SUCCESS
    running = set()
    for _, sign, name in rig.log:
        kind = children[int(name[1:])][0]
        if sign == "+":
            assert kind == "Act" or kind not in running
            running.add(kind)
        else:
            running.discard(kind)
