# SPDX-License-Identifier: Apache-2.0
"""Steps towards a goal: which one runs, and when that changes."""

import pytest
from decider_kit import FAILURE, RUNNING, SUCCESS, Leaf, Rig, Script, choice, leaf, ticked

from behavior_tree import NodeExecutionError
from behavior_tree.decider import Decision, case, holders, node, rd, rlds

BOTH = pytest.mark.parametrize("compat", [None, "cortex"])


def chain(ports="", more=""):
    """Steps 1, 2, 3 with the entries r1, e1, ...: runnable, enterable."""
    rig = Rig()
    steps = "".join(
        f'<Rd name="{i}" runnable="r{i}" enterable="e{i}" {more}><Do name="s{i}"/></Rd>'
        for i in (1, 2, 3)
    )
    entries = {f"{kind}{i}": False for kind in "re" for i in (1, 2, 3)}
    tree = rig.tree(f'<RLDS name="rlds" {ports}>{steps}</RLDS>', goal=False, **entries)

    def tick(**changes):
        for key, value in changes.items():
            tree.root_blackboard().set(key, value)
        status = tree.tick_exactly_once()
        return f"{rig.take()} {status.name[0]}".strip()

    return tick, tree, rig


def test_the_last_step_that_can_run_runs():
    tick, _, _ = chain()
    assert tick(e1=True, e2=True, r1=True, r2=True) == "+s2 s2 R"
    assert tick(e3=True, r3=True) == "-s2 +s3 s3 R"
    assert tick(e3=False, r3=False, e2=False, r2=False) == "-s3 +s1 s1 R"


def test_a_step_that_runs_goes_on_while_it_is_runnable():
    tick, _, _ = chain()
    tick(e1=True, r1=True, e2=True, r2=True)
    assert tick(e2=False) == "s2 R"
    assert tick(r2=False) == "-s2 +s1 s1 R"


def test_as_the_reference_only_the_last_step_knows_that_it_runs():  # D4
    tick, _, _ = chain('compat="cortex"')
    tick(e1=True, r1=True, e2=True, r2=True)
    assert tick(e2=False) == "-s2 +s1 s1 R"
    tick(e3=True, r3=True)
    assert tick(e3=False) == "s3 R"


@BOTH
def test_a_step_that_cannot_be_entered_is_not_though_it_could_run(compat):
    tick, _, _ = chain(f'compat="{compat}"' if compat else "")
    assert tick(r3=True, e1=True, r1=True) == "+s1 s1 R"


def test_a_step_can_start_when_it_can_run_if_nothing_else_is_said():
    rig = Rig()
    tree = rig.tree('<RLDS><Rd name="a" runnable="r"><Do name="x"/></Rd></RLDS>', r=True)
    tree.tick_exactly_once()
    assert rig.take() == "+x x"


@pytest.mark.parametrize("status", ["RUNNING", "FAILURE"])
def test_none_can_run(status):
    tick, tree, _ = chain(f'on_none="{status}"')
    assert tick() == status[0]
    if status == "FAILURE":
        assert str(tree.failure_reason()) == "rlds: no Rd can run: 1, 2, 3"
    assert tick(r1=True, e1=True) == "+s1 s1 R"
    assert tick(r1=False) == f"-s1 {status[0]}"


def test_the_goal_ends_it_and_what_ran_is_halted():
    tick, _, _ = chain('goal="goal"')
    tick(r1=True, e1=True)
    assert tick(goal=True) == "-s1 S"


def test_a_step_that_succeeds_is_not_the_end_unless_the_goal_is_reached():
    tick, tree, rig = chain('goal="goal"')
    rig.results["s1"] = SUCCESS
    assert tick(r1=True, e1=True) == "+s1 s1 R"
    assert tick() == "+s1 s1 R"
    tree.node_by_path("1").set_post_tick(lambda node, _: tree.root_blackboard().set("goal", True))
    assert tick() == "+s1 s1 S"


def test_a_step_that_fails_is_tried_again():
    tick, _, rig = chain()
    rig.results["s1"] = FAILURE
    assert [tick(r1=True, e1=True) for _ in range(5)] == ["+s1 s1 R"] * 5


def test_too_many_failures_in_a_row_fail_it_with_the_reason():
    tick, tree, rig = chain(more='max_failures="2"')
    rig.results["s1"] = FAILURE
    assert tick(r1=True, e1=True) == "+s1 s1 R"
    rig.results["s1"] = SUCCESS
    assert tick() == "+s1 s1 R"
    rig.results["s1"] = FAILURE
    assert tick() == "+s1 s1 R"
    assert tick() == "+s1 s1 F"
    reason = tree.failure_reason()
    assert str(reason).startswith("rlds: '1' failed 2 times in a row (s1: ")
    assert tick() == "+s1 s1 R"  # a new session counts anew


def test_the_steps_get_the_parameters_while_tested_and_while_they_run():  # D5
    seen = {}

    def network(compat):
        class Step(Leaf):
            pass

        script = Script(A=Decision("B", "p"))
        inner = rlds("B", rd("r", node(Step, name="x"), runnable=lambda c: True))
        tested = inner.children[0].node_class
        tested.is_enterable = lambda self: seen.setdefault(compat, self.params) == "p"
        ticked(choice("A", inner), script, compat=compat)
        return script.seen["x"]

    assert network(None) == "p"
    assert network("cortex") is None
    assert seen == {None: "p", "cortex": "p"}


def test_a_new_session_has_no_active_step():
    rig = Rig()
    tree = rig.tree(
        '<Decider name="d"><Case name="a" if="n == 0"><RLDS><Rd name="1" runnable="true" '
        'enterable="e"><Do name="x"/></Rd></RLDS></Case><Case name="b"><Do name="y"/></Case>'
        "</Decider>",
        n=0,
        e=True,
    )
    board = tree.root_blackboard()
    tree.tick_exactly_once()
    board.set("e", False)
    board.set("n", 1)
    tree.tick_exactly_once()
    board.set("n", 0)
    rig.take()
    tree.tick_exactly_once()
    assert rig.take() == "-y"


def test_a_condition_that_raises_names_its_step_and_nothing_stays_locked():
    rig = Rig()
    tree = rig.tree(
        '<RLDS name="r"><Rd name="near"><Decider name="d"><Case name="c"><Do name="x"/></Case>'
        '</Decider></Rd><Rd name="grasp" runnable="nothing &gt; 3"><Do name="y"/></Rd></RLDS>'
    )
    with pytest.raises(NodeExecutionError, match=r"node 'grasp' \[Rd\]: .*nothing"):
        tree.tick_exactly_once()
    assert holders(tree) == []
    assert rig.take() == ""


def test_a_python_condition_that_raises_names_its_step_and_leaves_what_ran():
    def broken(context):
        return context.missing

    script = Script()
    tree = ticked(rlds("r", rd("low", leaf("x")), rd("high", leaf("y"), lambda c: False)), script)
    assert script.take() == "enter x, decide x"
    tree.node_by_path("high").is_enterable = lambda: broken(script)
    with pytest.raises(NodeExecutionError, match=r"node 'high'.*no attribute 'missing'"):
        tree.tick_exactly_once()
    assert script.take() == "exit x"


def test_steps_hold_what_the_decider_below_has_locked():
    rig = Rig()
    tree = rig.tree(
        '<RLDS name="r" goal="g"><Rd name="1"><Atomic><Do name="x"/></Atomic></Rd>'
        '<Rd name="2" runnable="up"><Do name="y"/></Rd></RLDS>',
        g=False,
        up=False,
    )
    tree.tick_exactly_once()
    tree.root_blackboard().set("up", True)
    tree.root_blackboard().set("g", True)
    assert tree.tick_exactly_once() is RUNNING
    rig.results["x"] = SUCCESS
    assert tree.tick_exactly_once() is SUCCESS
    assert rig.take() == "+x x x x"


def test_an_rlds_in_python_asks_functions():
    script = Script()
    script.near = False
    tree = ticked(
        rlds(
            "pick",
            rd("reach", leaf("go")),
            rd("grasp", leaf("close"), runnable=lambda context: context.near),
            goal=lambda context: "done" in context.seen,
        ),
        script,
    )
    assert script.take() == "enter go, decide go"
    script.near = True
    tree.tick_exactly_once()
    assert script.take() == "exit go, enter close, decide close"
    script.seen["done"] = True
    assert tree.tick_exactly_once() is SUCCESS
    assert case("x", leaf("y")).type_id == "Case"
