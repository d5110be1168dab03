# SPDX-License-Identifier: Apache-2.0
"""Named states: how they follow each other, and what is done at the end."""

import pytest
from decider_kit import FAILURE, RUNNING, SUCCESS, Rig, Script, leaf, ticked

from behavior_tree import NodeExecutionError
from behavior_tree.decider import state, state_machine, transition

PECK = (
    '<StateMachine name="peck" {}>'
    '<State name="down" next="up" enter="log := \'d\'"><Do name="x"/></State>'
    '<State name="up"><Do name="y"/></State></StateMachine>'
)


def test_the_next_state_is_entered_in_the_tick_in_which_the_former_ends():
    rig = Rig()
    tree = rig.tree(PECK.format(""))
    tree.tick_exactly_once()
    assert rig.take() == "+x x"
    rig.results["x"] = SUCCESS
    tree.tick_exactly_once()
    assert rig.take() == "x +y y"
    assert tree.node_by_path("peck").state == "up"
    rig.results["y"] = SUCCESS
    assert tree.tick_exactly_once() is SUCCESS


@pytest.mark.parametrize(
    ("ports", "letter", "after"),
    [
        ("", "S", "+x x"),
        ('on_done="restart"', "R", "+x x"),
        ('on_done="idle"', "R", ""),
        ('compat="cortex"', "R", ""),  # D7
        ('compat="cortex" on_done="restart"', "R", "+x x"),
    ],
)
def test_what_is_done_at_the_end(ports, letter, after):
    rig = Rig()
    tree = rig.tree(PECK.format(ports + ' initial="up"'))
    rig.results["y"] = SUCCESS
    assert tree.tick_exactly_once().name[0] == letter
    assert rig.take() == "+y y"
    tree.tick_exactly_once()
    assert rig.take() == after.replace("x", "y")
    tree.halt_tree()
    tree.tick_exactly_once()
    assert rig.take().endswith("+y y")  # another session begins anew


def test_one_change_in_a_tick():
    rig = Rig()
    rig.results.update(x=SUCCESS, y=SUCCESS)
    body = PECK.replace('<State name="up">', '<State name="up" next="down">').format("")
    tree = rig.tree(body)
    assert tree.tick_exactly_once() is RUNNING
    assert rig.take() == "+x x +y y"
    tree.tick_exactly_once()
    assert rig.take() == "+x x +y y"


def test_transitions_are_looked_at_before_what_runs():
    rig = Rig()
    tree = rig.tree(
        '<StateMachine name="m"><State name="a" next="c" exit="left := 1"><Do name="x"/>'
        '<Transition to="b" if="lost"/><Transition to="c" if="n &gt; 1"/></State>'
        '<State name="b"><Do name="y"/></State><State name="c"><Do name="z"/></State>'
        "</StateMachine>",
        lost=False,
        n=0,
    )
    tree.tick_exactly_once()
    tree.root_blackboard().set("n", 2)
    tree.tick_exactly_once()
    assert rig.take() == "+x x -x +z z"
    assert tree.root_blackboard().get("left") == 1


def test_a_state_without_a_child_waits_for_its_transitions():
    rig = Rig()
    tree = rig.tree(
        '<StateMachine><State name="a"><Transition to="b" if="go"/></State>'
        '<State name="b"><Do name="y"/></State></StateMachine>',
        go=False,
    )
    assert tree.tick_exactly_once() is RUNNING
    tree.root_blackboard().set("go", True)
    tree.tick_exactly_once()
    assert rig.take() == "+y y"


def test_a_time_limit_of_a_state():
    rig = Rig()
    body = PECK.format("").replace('next="up"', 'next="up" timeout_msec="500" {}')
    tree = rig.tree(body.format('on_timeout="up"'))
    tree.tick_exactly_once()
    rig.clock.now += 0.6
    tree.tick_exactly_once()
    assert rig.take() == "+x x -x +y y"
    tree = rig.tree(body.format(""))
    tree.tick_exactly_once()
    rig.clock.now += 0.6
    assert tree.tick_exactly_once() is FAILURE
    assert str(tree.failure_reason()) == "down: timeout of 500 ms"


def test_a_state_after_a_failure():
    rig = Rig()
    rig.results["x"] = FAILURE
    tree = rig.tree(PECK.replace('next="up"', 'next="up" on_failure="up"').format(""))
    assert tree.tick_exactly_once() is RUNNING
    assert rig.take() == "+x x +y y"
    tree = rig.tree(PECK.format(""))
    assert tree.tick_exactly_once() is FAILURE
    assert tree.failure_reason().path == "x"


def test_a_state_that_is_skipped_goes_on_to_the_next():
    rig = Rig()
    body = PECK.replace('next="up"', 'next="up" _skipIf="n == 0"').format("")
    tree = rig.tree(body, n=0)
    tree.tick_exactly_once()
    assert rig.take() == "+y y"


def test_a_lock_in_a_state_holds_the_machine():
    rig = Rig()
    tree = rig.tree(
        '<StateMachine><State name="a" timeout_msec="100" on_timeout="b"><Atomic><Do name="x"/>'
        '</Atomic><Transition to="b" if="go"/></State><State name="b"><Do name="y"/></State>'
        "</StateMachine>",
        go=False,
    )
    tree.tick_exactly_once()
    tree.root_blackboard().set("go", True)
    rig.clock.now += 5
    tree.tick_exactly_once()
    assert rig.take() == "+x x x"
    rig.results["x"] = SUCCESS
    assert tree.tick_exactly_once() is SUCCESS  # a has no next state


def test_a_lock_lasts_over_states():
    rig = Rig()
    tree = rig.tree(
        '<Decider name="d"><Case name="c" if="n == 0"><StateMachine name="m">'
        '<State name="a" next="b"><Sequence><Lock set="true"/><Do name="x"/></Sequence></State>'
        '<State name="b" next="c"><Sequence><Do name="y"/><Lock set="false"/></Sequence></State>'
        '<State name="c"><Do name="z"/></State></StateMachine></Case>'
        '<Case name="e"><Do name="w"/></Case></Decider>',
        n=0,
    )
    tree.tick_exactly_once()
    tree.root_blackboard().set("n", 1)
    rig.results.update(x=SUCCESS)
    tree.tick_exactly_once()
    rig.results.update(y=SUCCESS)
    tree.tick_exactly_once()
    assert rig.take() == "+x x x +y y y +z z"
    tree.tick_exactly_once()
    assert rig.take() == "-z +w w"


def test_a_state_that_an_entry_names_and_nobody_knows():
    rig = Rig()
    tree = rig.tree(PECK.format("").replace('next="up"', 'next="{to}"'), to="nowhere")
    rig.results["x"] = SUCCESS
    with pytest.raises(NodeExecutionError, match=r"no State 'nowhere': .* 'down', 'up'"):
        tree.tick_exactly_once()


def test_a_machine_in_python():
    script = Script()
    script.blocked = False
    root = state_machine(
        "m",
        state("a", leaf("x"), transition("b", lambda context: context.blocked)),
        state("b", leaf("y")),
        on_done="restart",
    )
    tree = ticked(root, script)
    script.blocked = True
    tree.tick_exactly_once()
    assert script.take() == "enter x, decide x, exit x, enter y, decide y"
