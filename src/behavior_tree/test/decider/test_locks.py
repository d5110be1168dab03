# SPDX-License-Identifier: Apache-2.0
"""Parts that decisions do not interrupt, and how their locks end."""

import pytest
from decider_kit import FAILURE, RUNNING, SUCCESS, Rig, Script, choice, leaf, ticked

from behavior_tree import NodeExecutionError, TreeRunner
from behavior_tree.decider import (
    Network,
    atomic,
    call,
    case,
    force_unlock,
    holders,
    lock,
    node,
    sequence,
)

BOTH = pytest.mark.parametrize("compat", [None, "cortex"])
GRASP = (
    '<Decider name="a"><Case name="b" if="n == 0">{}</Case>'
    '<Case name="c"><Do name="other"/></Case></Decider>'
)
ATOMIC = GRASP.format('<Atomic name="at"{}><Do name="grasp"/></Atomic>')


def grasping(ports="", **results):
    rig = Rig()
    rig.results.update(results)
    tree = rig.tree(ATOMIC.format(" " + ports), n=0)
    tree.tick_exactly_once()
    tree.root_blackboard().set("n", 1)  # from now on the Decider wants the other case
    rig.take()
    return rig, tree


def test_a_lock_keeps_all_above_from_deciding_until_its_part_is_done():
    rig, tree = grasping()
    assert [each.name for each in holders(tree)] == ["at"]
    tree.tick_exactly_once()
    assert rig.take() == "grasp"
    rig.results["grasp"] = SUCCESS
    tree.tick_exactly_once()
    assert rig.take() == "grasp"
    assert holders(tree) == []
    tree.tick_exactly_once()
    assert rig.take() == "+other other"


@BOTH
def test_the_lock_is_taken_in_the_tick_in_which_the_part_is_entered(compat):
    script = Script(A="B")
    tree = ticked(
        choice("A", node("Atomic", leaf("x"), name="B"), leaf("C")), script, compat=compat
    )
    script.take()
    script.choices["A"] = "C"
    tree.tick_exactly_once()
    assert script.take() == "decide x"


def test_a_halt_in_an_atomic_part_leaves_it_leaf_first_and_releases_the_lock():
    script = Script(A="B", B="D")
    inner = choice("B", node("Atomic", choice("D", leaf("x")), name="D"))
    script.choices["D"] = "x"
    tree = ticked(choice("A", inner), script)
    script.take()
    assert len(holders(tree)) == 1
    tree.halt_tree()
    assert script.take() == "exit x, exit D, exit B, exit A"
    assert holders(tree) == []


@pytest.mark.parametrize("result", [SUCCESS, FAILURE])
def test_the_lock_goes_with_the_result(result):
    rig, tree = grasping()
    rig.results["grasp"] = result
    assert tree.tick_exactly_once() is result
    assert holders(tree) == []


def test_the_lock_goes_with_an_error_and_what_ran_is_left():
    rig = Rig()
    body = '<Sequence><Do name="grasp"/><Boom name="gripper"/></Sequence>'
    tree = rig.tree(GRASP.format(f'<Atomic name="at" exit="x := 1">{body}</Atomic>'), n=0)
    rig.results["grasp"] = SUCCESS
    with pytest.raises(NodeExecutionError, match=r"'gripper'.*gripper is broken"):
        tree.tick_exactly_once()
    assert holders(tree) == []
    assert tree.root_blackboard().get("x") == 1
    assert not any(each.entered for each in tree.nodes() if hasattr(each, "entered"))


def test_a_time_limit_ends_the_part_and_the_lock_with_a_reason():
    rig, tree = grasping('timeout_msec="2000"')
    rig.clock.now += 1.9
    assert tree.tick_exactly_once() is RUNNING
    rig.clock.now += 0.2
    assert tree.tick_exactly_once() is FAILURE
    assert rig.take() == "grasp -grasp"
    assert holders(tree) == []
    assert str(tree.failure_reason()) == (
        "at: timeout of 2000 ms, 'grasp' was running; the lock is released"
    )


def test_a_timeout_around_it_ends_the_part_and_the_lock():
    rig = Rig()
    body = '<Timeout msec="50"><Atomic><Do name="x"/></Atomic></Timeout>'
    tree = rig.tree(GRASP.format(body), n=0)
    tree.tick_exactly_once()
    rig.clock.now += 0.1
    assert tree.tick_exactly_once() is FAILURE
    assert rig.take() == "+x x -x"
    assert holders(tree) == []


def test_an_emergency_stop_releases_all_locks():
    rig, tree = grasping()
    assert [each.name for each in force_unlock(tree)] == ["at"]
    assert holders(tree) == []
    tree.tick_exactly_once()
    assert rig.take() == "-grasp +other other"


def test_a_pause_does_not_release_a_lock():
    _, tree = grasping()
    runner = TreeRunner(tree)
    runner.pause()
    assert len(holders(tree)) == 1
    runner.resume()
    runner.halt()
    assert holders(tree) == []


def two_locks(compat):
    """A > B (atomic) > C > D (atomic) > x; the deciders A and C want something else."""
    script = Script(A="B", C="D")
    inner = choice("C", node("Atomic", leaf("x"), name="D"), leaf("y"))
    tree = ticked(choice("A", node("Atomic", inner, name="B"), leaf("z")), script, compat=compat)
    assert [each.name for each in holders(tree)] == ["B", "D"]
    script.choices.update(A="z", C="y")
    script.take()
    tree.tick_exactly_once()
    return tree, script


def test_of_two_locks_the_most_distal_counts():  # D3
    _, script = two_locks(None)
    assert script.take() == "decide x"


def test_as_the_reference_of_two_locks_the_one_nearest_to_the_root_counts():
    tree, script = two_locks("cortex")
    assert script.take() == "decide C, exit x, enter y, decide y"
    assert [each.name for each in holders(tree)] == ["B"]


def timeline(compat, *after):
    """Ticks of lock, action, write, unlock, and what the dispatch may do from when on."""
    context = Script(A="B")
    steps = sequence(
        lock(True, **({"compat": compat} if compat else {})),
        leaf("act"),
        call("write", lambda context: context.log.append("write")),
        lock(False, **({"compat": compat} if compat else {})),
        *after,
    )
    root = choice("A", leaf("other"))
    root = node(root.node_class, case("B", steps), *root.children, name="A", on_done="restart")
    tree = Network("Net", root, context=context, compat=compat).tree()
    told = []
    for tick in range(6):
        if tick == 1:
            context.choices["A"] = "other"
        if tick == 2:
            context.results["act"] = SUCCESS
        tree.tick_exactly_once()
        told.append(context.take())
    return told


def test_set_and_release_as_steps_of_a_sequence():
    assert timeline(None) == [
        "enter A, decide A, enter act, decide act",
        "decide act",
        "decide act, exit act, write",  # released in the same tick
        "decide A, enter other, decide other",
        "decide A, decide other",
        "decide A, decide other",
    ]


def test_as_the_reference_setting_a_lock_and_writing_take_a_tick():
    assert timeline("cortex") == [
        "enter A, decide A",  # locked in the tick in which the sequence is entered
        "enter act, decide act",
        "decide act, exit act, write",
        "",  # the write has ended, and the lock is released
        "decide A, enter other, decide other",
        "decide A, decide other",
    ]


def test_what_follows_the_release_can_be_interrupted_before_it_is_done():
    assert timeline(None, leaf("last"))[2:4] == [
        "decide act, exit act, write, enter last, decide last",
        "decide A, exit last, enter other, decide other",
    ]


def test_a_lock_of_an_outer_node_by_name():
    rig = Rig()
    tree = rig.tree(
        '<Decider name="top"><Case name="b" if="n == 0"><Decider name="mid"><Case name="in" '
        'if="m == 0"><Sequence><Lock set="true" node="b"/><Do name="x"/><Lock set="false" '
        'node="b"/></Sequence></Case><Case name="else"><Do name="y"/></Case></Decider></Case>'
        '<Case name="c"><Do name="z"/></Case></Decider>',
        n=0,
        m=0,
    )
    tree.tick_exactly_once()
    tree.root_blackboard().set("n", 1)
    tree.tick_exactly_once()
    assert rig.take() == "+x x x"  # the Case is locked: the Decider above it decides nothing
    tree.root_blackboard().set("m", 1)
    tree.tick_exactly_once()
    assert rig.take() == "-x +y y"  # the one below it does
    tree.halt_tree()
    assert holders(tree) == []


def test_a_lock_that_is_left_set_goes_with_its_node():
    rig = Rig()
    body = '<Sequence><Lock set="{on}"/><Do name="x"/></Sequence>'
    tree = rig.tree(GRASP.format(body), n=0, on=True)
    rig.results["x"] = FAILURE
    assert tree.tick_exactly_once() is FAILURE
    assert holders(tree) == []


def test_a_lock_of_nothing_is_an_error():
    rig = Rig()
    tree = rig.tree(GRASP.format('<Lock set="true" node="none"/>'), n=0)
    with pytest.raises(NodeExecutionError, match=r"no node around this Lock named 'none' can be"):
        tree.tick_exactly_once()
    assert holders(tree) == []


def nested(scope):
    rig = Rig()
    tree = rig.tree(
        '<Decider name="top"><Case name="b" if="n == 0"><SubTree ID="Net" name="net" '
        '_autoremap="true"/></Case><Case name="c"><Do name="z"/></Case></Decider>',
        '<BehaviorTree ID="Net"><Decider name="in"><Case name="d" if="m == 0">'
        f'<Atomic name="at" scope="{scope}"><Do name="x"/></Atomic></Case>'
        '<Case name="e"><Do name="y"/></Case></Decider></BehaviorTree>',
        n=0,
        m=0,
    )
    tree.tick_exactly_once()
    tree.root_blackboard().set("m", 1)
    tree.tick_exactly_once()
    assert rig.take() == "+x x x"  # held in both scopes
    tree.root_blackboard().set("n", 1)
    tree.tick_exactly_once()
    return rig.take()


def test_a_lock_reaches_to_the_root_or_stays_in_its_network():
    assert nested("tree") == "x"
    assert nested("local") == "-x +z z"


@BOTH
def test_monitors_run_once_per_tick_before_any_decision_also_while_locked(compat):
    script = Script(A="B")
    root = choice("A", node("Atomic", leaf("x"), name="B"), leaf("C"))
    tree = ticked(
        root,
        script,
        compat=compat,
        monitors=[
            lambda context: context.log.append("look"),
            call("m", lambda c: c.log.append("m")),
        ],
    )
    assert script.take() == "look, m, enter A, decide A, enter x, decide x"
    tree.tick_exactly_once()
    assert script.take() == "look, m, decide x"
    tree.halt_tree()
    script.take()
    tree.tick_exactly_once()
    assert script.take().count("look") == 1


def test_a_reset_releases_locks_and_leaves_leaf_first_in_both_modes():  # D6
    class Context(Script):
        def reset(self):
            self.log.append("reset")

    for compat in (None, "cortex"):
        script = Context(A="B")
        root = choice("A", node("Atomic", choice("B", leaf("x")), name="B"))
        script.choices["B"] = "x"
        network = Network("Net", root, context=script, compat=compat)
        tree = network.tree()
        tree.tick_exactly_once()
        script.take()
        network.reset(tree)
        assert script.take() == "exit x, exit B, exit A, reset"
        assert holders(tree) == []


def test_a_hook_that_ends_what_is_locked_leaves_no_lock():
    _, tree = grasping()
    tree.node_by_path("b").set_post_tick(lambda node, status: SUCCESS)
    assert tree.tick_exactly_once() is SUCCESS
    assert holders(tree) == []
    assert not any(each.entered for each in tree.nodes() if hasattr(each, "entered"))


def test_an_atomic_part_in_python_is_the_same():
    script = Script(A="B")
    root = node(choice("A").node_class, case("B", atomic(leaf("x"), timeout_msec=50)), name="A")
    tree = ticked(root, script)
    assert [each.registration_id() for each in holders(tree)] == ["Atomic"]
