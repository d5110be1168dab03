# SPDX-License-Identifier: Apache-2.0
"""In which order a network decides, leaves and enters."""

import pytest
from decider_kit import Choice, Leaf, Rig, Script, abc, choice, leaf, ticked

from behavior_tree import NodeStatus
from behavior_tree.decider import Decision, case, node

BOTH = pytest.mark.parametrize("compat", [None, "cortex"])


@BOTH
@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        pytest.param({}, "decide A, decide B, decide C", id="nothing changes: all only decide"),
        pytest.param(
            *({"A": "E"}, "decide A, exit C, exit B, enter E, decide E"),
            id="the old branch is left leaf first, before another is entered",
        ),
        pytest.param(
            *({"B": "D"}, "decide A, decide B, exit C, enter D, decide D"),
            id="only what lies below the change is left",
        ),
    ],
)
def test_each_node_is_entered_before_it_decides_and_then_what_changes(compat, chosen, told):
    tree, script = abc(compat)
    assert script.take() == "enter A, decide A, enter B, decide B, enter C, decide C"
    script.choices.update(chosen)
    tree.tick_exactly_once()
    assert script.take() == told


@BOTH
def test_a_halt_leaves_the_whole_path_leaf_first(compat):
    tree, script = abc(compat)
    script.take()
    tree.halt_tree()
    assert script.take() == "exit C, exit B, exit A"
    tree.halt_tree()
    assert script.take() == ""


def test_a_path_that_shrinks_leaves_what_is_no_longer_on_it():  # D1
    tree, script = abc()
    script.take()
    script.choices["B"] = None
    assert tree.tick_exactly_once() is NodeStatus.RUNNING
    assert script.take() == "decide A, decide B, exit C"
    assert tree.active_path().endswith("B")


def test_a_path_that_extends_leaves_nothing():  # D2
    tree, script = abc()
    script.choices["B"] = None
    tree.tick_exactly_once()
    script.take()
    script.choices["B"] = "C"
    tree.tick_exactly_once()
    assert script.take() == "decide A, decide B, enter C, decide C"


def test_as_the_reference_a_path_that_shrinks_leaves_nothing_and_one_that_extends_leaves_all():
    tree, script = abc("cortex")
    script.take()
    script.choices["B"] = None
    tree.tick_exactly_once()
    assert script.take() == "decide A, decide B"  # D1
    script.choices["B"] = "C"
    tree.tick_exactly_once()
    assert script.take() == "decide A, decide B, exit B, exit A, enter C, decide C"  # D2
    tree.halt_tree()
    assert script.take() == "exit C, exit B, exit A"


def test_as_the_reference_what_falls_off_the_path_begins_anew_when_it_comes_back():
    rig = Rig()
    rig.results["x"] = NodeStatus.SUCCESS
    tree = rig.tree(
        '<Decider name="d" compat="cortex"><Case name="a" if="n == 0"><Sequence><Do name="x"/>'
        '<Do name="y"/></Sequence></Case></Decider>',
        n=0,
    )
    for n in (0, 1, 0):
        tree.root_blackboard().set("n", n)
        tree.tick_exactly_once()
    assert rig.take() == "+x x +y y +x x +y y"
    tree.halt_tree()
    assert rig.take() == "-y"


@BOTH
def test_parameters_change_in_every_tick_without_entering_again(compat):
    script = Script(A=Decision("B", 1))
    tree = ticked(choice("A", leaf("B")), script, compat=compat)
    script.take()
    script.choices["A"] = Decision("B", 2)
    tree.tick_exactly_once()
    assert script.take() == "decide A, decide B"
    assert script.seen["B"] == 2


@BOTH
def test_parameters_go_one_level_down(compat):
    script = Script(A=Decision("B", "p"), B="C")
    ticked(choice("A", choice("B", leaf("C"))), script, compat=compat)
    assert script.seen == {"A": None, "B": "p", "C": None}


def test_parameters_are_there_until_the_exit_and_gone_after_it():
    class Last(Leaf):
        def exit(self):
            super().exit()
            script.seen["exit"] = self.params

    script = Script(A=Decision("B", 5))
    tree = ticked(choice("A", node(Last, name="B"), leaf("C")), script)
    script.choices["A"] = "C"
    tree.tick_exactly_once()
    assert script.seen["exit"] == 5
    script.choices["A"] = "B"
    tree.tick_exactly_once()
    assert script.seen["B"] is None


def test_parameters_are_written_where_the_case_says():
    script = Script(A=Decision("B", 7))
    part = node(Choice, case("B", leaf("x"), params="{p}"), name="A")
    tree = ticked(part, script)
    board = tree.root_blackboard()
    assert board.get("p") == 7
    script.choices["A"] = Decision("B", 8)
    tree.tick_exactly_once()
    assert board.get("p") == 8
    tree.halt_tree()
    assert board.get("p", None) is None


def test_a_node_that_two_parents_share_is_left_and_entered_when_the_parent_changes():
    rig = Rig()
    tree = rig.tree(
        '<Decider name="a"><Case name="b" if="n == 0"><SubTree ID="Shared" name="one"/></Case>'
        '<Case name="c"><SubTree ID="Shared" name="two"/></Case></Decider>',
        '<BehaviorTree ID="Shared"><Do name="d"/></BehaviorTree>',
        n=0,
    )
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert rig.take() == "+d d d"
    tree.root_blackboard().set("n", 1)
    tree.tick_exactly_once()
    assert rig.take() == "-d +d d"


def test_scripts_run_on_enter_and_on_exit_however_it_ends():
    rig = Rig()
    tree = rig.tree(
        '<Decider name="a"><Case name="b" if="n == 0" enter="e += 1" exit="x += 1"><Do name="d"/>'
        '</Case><Case name="c"><Do name="f"/></Case></Decider>',
        n=0,
        e=0,
        x=0,
    )
    board = tree.root_blackboard()

    def counts():
        return board.get("e"), board.get("x")

    tree.tick_exactly_once()
    assert counts() == (1, 0)
    board.set("n", 1)
    tree.tick_exactly_once()
    assert counts() == (1, 1)
    board.set("n", 0)
    tree.tick_exactly_once()
    rig.results["d"] = NodeStatus.FAILURE
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert counts() == (2, 2)
    del rig.results["d"]
    tree.tick_exactly_once()
    tree.halt_tree()
    assert counts() == (3, 3)


CASES = (
    '<Case name="b" if="n == 0"><Do name="b"/></Case>'
    '<Case name="c" if="n == 1"><Do name="c"/></Case>'
)


@pytest.mark.parametrize(
    ("ports", "letters"),
    [
        ("", "S"),
        ('on_done="end"', "S"),
        ('on_done="restart"', "R"),
        ('on_done="idle"', "R"),
        ('compat="cortex"', "R"),
    ],
)
def test_what_follows_when_the_case_has_succeeded(ports, letters):
    rig = Rig()
    rig.results["b"] = NodeStatus.SUCCESS
    tree = rig.tree(f'<Decider name="a" {ports}>{CASES}</Decider>', n=0)
    assert tree.tick_exactly_once().name[0] == letters
    tree.tick_exactly_once()
    again = "on_done" not in ports or "idle" not in ports
    again = again and "cortex" not in ports
    assert rig.take() == ("+b b +b b" if again else "+b b")
    tree.root_blackboard().set("n", 1)
    tree.tick_exactly_once()
    tree.root_blackboard().set("n", 0)
    tree.tick_exactly_once()
    assert rig.take() == "+c c -c +b b"


def test_a_failure_is_never_hidden():
    rig = Rig()
    rig.results["b"] = NodeStatus.FAILURE
    tree = rig.tree(f'<Decider name="a" on_done="restart">{CASES}</Decider>', n=0)
    assert tree.tick_exactly_once() is NodeStatus.FAILURE
    assert tree.failure_reason().path == "b"


@pytest.mark.parametrize("status", ["RUNNING", "FAILURE", "SUCCESS"])
def test_what_it_is_while_no_case_can_run(status):
    rig = Rig()
    tree = rig.tree(f'<Decider name="a" on_none="{status}">{CASES}</Decider>', n=7)
    assert tree.tick_exactly_once() is NodeStatus[status]
    if status == "FAILURE":
        assert str(tree.failure_reason()) == "a: no Case can run: b, c"


def test_a_case_can_be_selected_by_an_entry():
    rig = Rig()
    cases = '<Case name="b"><Do name="b"/></Case><Case name="c"><Do name="c"/></Case>'
    tree = rig.tree(f'<Decider name="a" select="{{which}}">{cases}</Decider>', which="c")
    tree.tick_exactly_once()
    tree.root_blackboard().set("which", "b")
    tree.tick_exactly_once()
    assert rig.take() == "+c c -c +b b"
    tree.root_blackboard().set("which", "")
    assert tree.tick_exactly_once() is NodeStatus.RUNNING
    assert rig.take() == "-b"
    tree.root_blackboard().set("which", "d")
    with pytest.raises(RuntimeError, match=r"there is no Case 'd': choose one of 'b', 'c'"):
        tree.tick_exactly_once()


@pytest.mark.parametrize("ports", ["", 'on_done="restart"'])
def test_a_case_that_is_skipped_is_left(ports):
    rig = Rig()
    tree = rig.tree(
        f'<Decider name="a" {ports}><Case name="b" _skipIf="n == 1"><Do name="b"/></Case>'
        "</Decider>",
        n=1,
    )
    assert tree.tick_exactly_once() is NodeStatus.SKIPPED
    assert not tree.node_by_path("b").entered
    tree.root_blackboard().set("n", 0)
    assert tree.tick_exactly_once() is NodeStatus.RUNNING
