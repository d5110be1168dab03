# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a network are found when it is loaded, with file, line and node."""

import pytest
from decider_kit import Rig
from tree_kit import xml

from behavior_tree import BehaviorTreeFactory, LoadError, TreeEditor
from behavior_tree.decider import register_decider_nodes

WRONG = {
    "nameless case": (
        "<Decider name='d'><Case><Do/></Case></Decider>",
        'Main/d/Case] a Case needs a name (write <Case name="...">)',
    ),
    "nameless rd": ("<RLDS><Rd><Do/></Rd></RLDS>", "an Rd needs a name"),
    "nameless state": ("<StateMachine><State><Do/></State></StateMachine>", "a State needs a name"),
    "two of one name": (
        "<Decider name='d'><Case name='a' if='n'><Do/></Case><Case name='a'><Do/></Case></Decider>",
        "'d' has two of the name 'a' (give each another name)",
    ),
    "no case": (
        "<Decider name='d'><Do/></Decider>",
        'Main/d/Do] a Decider has <Do> as a child (put it into a <Case name="...">)',
    ),
    "case outside": ("<Case name='a'><Do/></Case>", "a Case stands outside of any Decider"),
    "rd in a decider": (
        "<Decider><Rd name='a'><Do/></Rd></Decider>",
        "a Decider has <Rd> as a child (put it into a <Case name",
    ),
    "transition outside": (
        "<Sequence><Transition to='a'/></Sequence>",
        "a Transition stands outside of any State",
    ),
    "unknown selection": (
        "<Decider select='c'><Case name='a'><Do/></Case></Decider>",
        "select names the Case 'c', which is not there (one of a)",
    ),
    "condition and selection": (
        "<Decider select='{s}'><Case name='a' if='n'><Do/></Case></Decider>",
        "this condition is never looked at, since the Decider has [select]",
    ),
    "unknown next": (
        "<StateMachine><State name='a' next='c'><Do/></State></StateMachine>",
        "next names the State 'c', which is not there (one of a)",
    ),
    "unknown first": (
        "<StateMachine initial='c'><State name='a'><Do/></State></StateMachine>",
        "initial names the State 'c'",
    ),
    "unknown after a failure": (
        "<StateMachine><State name='a' on_failure='c'><Do/></State></StateMachine>",
        "on_failure names the State 'c'",
    ),
    "unknown after a time": (
        "<StateMachine><State name='a' on_timeout='c'><Do/></State></StateMachine>",
        "on_timeout names the State 'c'",
    ),
    "unknown transition": (
        "<StateMachine><State name='a'><Do/><Transition to='c'/></State></StateMachine>",
        "to names the State 'c'",
    ),
    "two children": (
        "<StateMachine><State name='a'><Do/><Do/></State></StateMachine>",
        "a State runs one child besides its Transitions, it has 2 (put them into a <Sequence>)",
    ),
    "round without an action": (
        "<StateMachine><State name='a' next='b'><Script code='n := 1'/></State><State name='b' "
        "next='a'><Sequence><AlwaysSuccess/></Sequence></State></StateMachine>",
        "the States a -> b -> a go round without an action that takes time",
    ),
    "round to itself": (
        "<StateMachine><State name='a'><Transition to='a'/></State></StateMachine>",
        "the States a -> a go round",
    ),
    "round by a restart": (
        "<StateMachine on_done='restart'><State name='a'><WriteContext key='k' value='1'/></State>"
        "</StateMachine>",
        "the States a -> a go round",
    ),
    "never released": (
        "<Decider><Case name='a'><Sequence><Lock set='true'/><Do/></Sequence></Case></Decider>",
        "nobody releases this lock of 'a' (add <Lock set=\"false\"/>, or use <Atomic>",
    ),
    "another one released": (
        "<Decider name='d'><Case name='a'><Sequence><Lock set='true'/><Do/>"
        "<Lock set='false' node='d'/></Sequence></Case></Decider>",
        "nobody releases this lock of 'a'",
    ),
    "no result": (
        "<RLDS on_none='SKIPPED'><Rd name='a'><Do/></Rd></RLDS>",
        "on_none cannot be SKIPPED (RUNNING, FAILURE or SUCCESS)",
    ),
    "script": (
        "<Decider><Case name='a' if='n =='><Do/></Case></Decider>",
        "in [if]:",
    ),
    "exit script": (
        "<Decider><Case name='a' exit=':='><Do/></Case></Decider>",
        "in [exit]:",
    ),
    "scope": ("<Atomic scope='all'><Do/></Atomic>", "use one of tree, local"),
    "compat": ("<RLDS compat='old'><Rd name='a'><Do/></Rd></RLDS>", "use one of mended, cortex"),
    "monitors alone": ("<Monitors><Do/></Monitors>", "must have 2 or more children"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_is_named_with_its_place(what, tmp_path):
    body, wanted = WRONG[what]
    rig = Rig()
    file = tmp_path / "net.xml"
    file.write_text("\n" + xml(body))
    with pytest.raises(LoadError) as caught:
        rig.factory.register_behavior_tree_from_file(file)
    (problem,) = [each for each in caught.value.problems if wanted in str(each)] or [None]
    assert problem, str(caught.value)
    assert problem.file == str(file)
    assert problem.line == 2
    assert problem.path.startswith("Main/")


RIGHT = {
    "no action, but a wait": "<StateMachine><State name='a'><Transition to='b' if='n'/></State>"
    "<State name='b'><Transition to='a' if='!n'/></State></StateMachine>",
    "a part that takes time": "<StateMachine><State name='a' next='a'><RunFor msec='5'>"
    "<AlwaysSuccess/></RunFor></State></StateMachine>",
    "released": "<Decider><Case name='a'><Sequence><Lock set='true'/><Do/><Lock set='false'/>"
    "</Sequence></Case></Decider>",
    "of an entry": "<Decider><Case name='a'><Sequence><Lock set='{s}'/><Do/></Sequence></Case>"
    "</Decider>",
    "names by entries": "<StateMachine initial='{i}'><State name='a' next='{n}'><Do/></State>"
    "</StateMachine>",
}


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_is_let_pass(what):
    rig = Rig()
    rig.factory.register_behavior_tree_from_text(xml(RIGHT[what]))


ATOMIC = "<Atomic name='at'><Do/></Atomic>"
WARNED = {
    "ReactiveSequence": f"<ReactiveSequence name='r'><Do/>{ATOMIC}</ReactiveSequence>",
    "ReactiveFallback": f"<ReactiveFallback name='r'><Do/><Sequence>{ATOMIC}</Sequence>"
    "</ReactiveFallback>",
    "WhileDoElse": f"<WhileDoElse name='r'><Do/>{ATOMIC}</WhileDoElse>",
    "Switch": f"<Switch2 name='r' variable='{{v}}' case_1='1' case_2='2'>{ATOMIC}<Do/><Do/>"
    "</Switch2>",
    "while": f"<Sequence name='r' _while='n'>{ATOMIC}</Sequence>",
}


@pytest.mark.parametrize("what", WARNED)
def test_an_atomic_part_below_a_node_that_knows_no_locks_is_warned_of(what):
    rig = Rig()
    rig.factory.register_behavior_tree_from_text(xml(WARNED[what]))
    (warning,) = rig.factory.load_warnings()
    assert "this is an atomic part, but 'r' in line 1 decides anew in each tick" in str(warning)
    assert warning.severity == "warning"
    assert warning.path.endswith("/at")


def test_the_same_through_subtrees():
    rig = Rig()
    rig.factory.register_behavior_tree_from_text(
        xml(
            "<ReactiveSequence name='r'><Do/><SubTree ID='Outer'/></ReactiveSequence>",
            "<BehaviorTree ID='Outer'><SubTree ID='Inner'/></BehaviorTree>"
            f"<BehaviorTree ID='Inner'>{ATOMIC}</BehaviorTree>",
        )
    )
    (warning,) = rig.factory.load_warnings()
    assert "the tree 'Outer' has an atomic part, but 'r'" in str(warning)


def test_what_is_never_chosen_is_warned_of():
    rig = Rig()
    rig.factory.register_behavior_tree_from_text(
        xml(
            "<Decider><Case name='a'><Do/></Case><Case name='b' if='n'><RLDS>"
            "<Rd name='c' runnable='n'><Do/></Rd><Rd name='d'><Do/></Rd></RLDS></Case></Decider>"
        )
    )
    found = [str(each) for each in rig.factory.load_warnings()]
    assert len(found) == 2
    assert "this is never chosen, because 'a' in line 1 always can be" in found[0]
    assert "this is never run, because 'd' in line 1 always can be" in found[1]


def test_an_edit_is_checked_likewise():
    rig = Rig()
    tree = rig.tree("<Decider name='d'><Case name='a'><Do/></Case></Decider>")
    editor = TreeEditor(tree, rig.factory)
    with pytest.raises(LoadError, match="a Decider has <Do> as a child"):
        editor.insert("d", 0, "<Do/>")
    with pytest.raises(LoadError, match="two of the name 'a'"):
        editor.insert("d", 0, "<Case name='a'><Do/></Case>")


def test_a_factory_that_does_not_know_the_nodes_has_room_for_their_names():
    factory = BehaviorTreeFactory()
    factory.register_simple_action("State", lambda node: True)
    factory.create_tree_from_text(xml("<State/>"))
    with pytest.raises(LoadError, match=r"RLDS \(call .*\.register_decider_nodes\(factory\)"):
        factory.create_tree_from_text(xml("<RLDS/>"))
    with pytest.raises(RuntimeError, match=r"\[State\] already registered"):
        register_decider_nodes(factory)
    register_decider_nodes(Rig().factory)  # twice is no mistake
