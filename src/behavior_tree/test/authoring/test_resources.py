# SPDX-License-Identifier: Apache-2.0
"""Leaves that may run at once and command the same are found before anything moves."""

import pytest
from authoring_kit import FAILURE, RUNNING, SUCCESS, Act, Rig, concurrent
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import CauseKind, InputPort, LoadError, TreeEditor
from behavior_tree.kernel.saving import restore_tree, save_tree
from behavior_tree.run_control import RunControl
from behavior_tree.xml.resources import _Resources


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


PARTS = {
    "both arm": frozenset({"left arm", "right arm"}),
    "body": frozenset({"base", "both legs"}),
}
BOTH = '<Side name="both" side="both"/>'


def made_of(parts=PARTS):
    rig = make()
    rig.factory.declare_resources(parts)
    return rig


def test_what_is_made_of_others_is_not_moved_beside_them():
    with pytest.raises(LoadError) as caught:
        made_of().tree(f"<ParallelAll>{BOTH}{LEFT}{RIGHT}{A}{BASE}</ParallelAll>")
    assert [problem.message for problem in caught.value.problems] == [
        "'both' and 'l' may run at once, and both command 'left arm'",
        "'both' and 'r' may run at once, and both command 'right arm'",
    ]
    for body in (f"<Sequence>{BOTH}{LEFT}</Sequence>", concurrent(BOTH, step(A), step(BASE))):
        rig = made_of()
        assert rig.run(rig.tree(body)) is SUCCESS
    make().tree(f"<Parallel>{BOTH}{LEFT}</Parallel>")  # nobody has said that they share anything


def test_two_that_share_a_part_are_not_moved_at_once():
    parts = {"both arm": PARTS["both arm"], "upper arm": frozenset({"torso", "left arm"})}
    body = f'<Parallel>{BOTH}<Side name="up" side="upper"/></Parallel>'
    with pytest.raises(LoadError, match="both command 'left arm'"):
        made_of(parts).tree(body)


def test_parts_that_only_the_run_can_tell_are_refused_then():
    rig = made_of()
    tree = rig.tree(chosen("both", TWO_SIDES))
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +x, 0 !x"
    assert tree.failure_reason().text.startswith("'left arm' is commanded by 'x', which runs")
    free = made_of()
    assert free.run(free.tree(chosen("other", TWO_SIDES))) is SUCCESS


def test_an_edit_beside_what_is_made_of_others_is_refused():
    rig = made_of()
    tree = rig.tree(concurrent(BOTH, step(BASE)))
    with pytest.raises(LoadError, match="'both' and 'l' may run at once"):
        TreeEditor(tree, rig.factory).insert("all", -1, step(LEFT))


def test_each_of_many_at_once_is_looked_at_once(monkeypatch):
    looked_at = []
    used = _Resources._used
    monkeypatch.setattr(_Resources, "_used", lambda self, e: looked_at.append(e) or used(self, e))
    for body in (
        f"<ParallelAll>{A}{BASE * 100}</ParallelAll>",
        concurrent(A, *100 * [step(BASE)]),
    ):
        looked_at.clear()
        with pytest.raises(LoadError) as caught:
            make().tree(body)
        assert len(looked_at) == 101
        assert len(caught.value.problems) == 99, "one for each, though there are 4950 pairs"


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


BESIDE = '<ParallelAll max_failures="2"><Side name="x" side="{s}" seconds="3"/>%s</ParallelAll>'
TWO_SIDES = concurrent('<Side name="x" side="{s}"/>', step(LEFT))


def chosen(side, body):
    return f"<Sequence><Script code=\"s := '{side}'\"/>{body}</Sequence>"


def test_what_only_the_run_can_tell_is_refused_before_it_moves():
    rig = make()
    tree = rig.tree(chosen("left", TWO_SIDES))
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +x, 0 !x"
    reason = tree.failure_reason()
    assert reason.path.endswith("l")
    said = "'left arm' is commanded by 'x', which runs: let one come after the other"
    assert reason.text == said
    assert reason.cause.kind is CauseKind.REJECTED


def test_the_one_that_runs_goes_on():
    rig = make()
    assert rig.run(rig.tree(chosen("left", BESIDE % LEFT))) is SUCCESS
    assert rig.take() == "0 +x, 3 -x"


def test_the_other_side_moves_beside_it():
    rig = make()
    assert rig.run(rig.tree(chosen("right", BESIDE % LEFT))) is SUCCESS
    assert rig.take() == "0 +x, 0 +l, 1 -l, 3 -x"


def test_one_that_is_skipped_claims_nothing():
    rig = make()
    beside = BESIDE.replace("2", "1") % '<Side name="l" _skipIf="true"/>'
    assert rig.run(rig.tree(chosen("left", beside))) is SUCCESS
    assert rig.take() == "0 +x, 3 -x"


def test_what_has_ended_or_was_halted_holds_nothing():
    rig = make()
    later = '<Sequence><Act name="wait" seconds="4"/><Side name="l"/></Sequence>'
    tree = rig.tree(chosen("left", BESIDE.replace("2", "1") % later))
    assert rig.run(tree, until=0.5) is RUNNING
    tree.halt_tree()
    rig.take()
    assert rig.run(tree) is SUCCESS
    assert [what for what in rig.take().split() if what[0] in "+-"] == [
        *("+x,", "+wait,", "-x,", "-wait,", "+l,", "-l")
    ]


def test_who_takes_over_halts_the_other_and_is_not_refused():
    rig = make()
    danger = '<Sequence><ScriptCondition code="alarm"/><Side name="back" side="{s}"/></Sequence>'
    work = '<Side name="work" side="{s}" seconds="9"/>'
    tree = rig.tree(chosen("left", f"<ReactiveFallback>{danger}{work}</ReactiveFallback>"))
    tree.root_blackboard().set("alarm", False)
    assert rig.run(tree, until=1) is RUNNING
    tree.root_blackboard().set("alarm", True)
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +work, 0 +back, 0 !work, 1 -back"


def test_what_goes_on_after_a_restart_still_commands():
    rig = make()
    body = BESIDE % '<Sequence><Act name="wait"/><Side name="l"/></Sequence>'
    tree, again = (rig.tree(chosen("left", body)) for _ in range(2))
    assert rig.run(tree, until=0.5) is RUNNING
    restore_tree(again, save_tree(tree))
    rig.take()
    assert rig.run(again) is SUCCESS
    assert "+l" not in rig.take()


def test_an_operator_decides_on_it_as_on_any_failure():
    rig = make()
    tree = rig.tree(chosen("left", TWO_SIDES))
    control = RunControl(tree)
    assert rig.run(tree, until=0.5) is RUNNING
    assert control.failed == ["l"]
    rig.clock.now += 1.0
    control.retry("l")
    assert rig.run(tree) is SUCCESS
