# SPDX-License-Identifier: Apache-2.0
"""Every decorator: results of successive ticks, calls and halts of the child."""

from collections import deque

import pytest
from tree_kit import Rig, letter, watch, xml

from behavior_tree import BehaviorTreeFactory, NodeExecutionError, NodeStatus

TABLE = [
    ("<Inverter><A/></Inverter>", "S", "F", "A"),
    ("<Inverter><A/></Inverter>", "F", "S", "A"),
    ("<Inverter><A/></Inverter>", "RS", "RF", "A a"),
    ("<Inverter><A/></Inverter>", "K", "K", "A"),
    ("<ForceSuccess><A/></ForceSuccess>", "RF", "RS", "A a"),
    ("<ForceSuccess><A/></ForceSuccess>", "K", "K", "A"),
    ("<ForceFailure><A/></ForceFailure>", "RS", "RF", "A a"),
    ("<ForceFailure><A/></ForceFailure>", "K", "K", "A"),
    ('<RetryUntilSuccessful num_attempts="3"><A/></RetryUntilSuccessful>', "F", "RRF", "A A A"),
    ('<RetryUntilSuccessful num_attempts="3"><A/></RetryUntilSuccessful>', "FS", "RS", "A A"),
    ('<RetryUntilSuccessful num_attempts="0"><A/></RetryUntilSuccessful>', "S", "F", ""),
    ('<RetryUntilSuccessful num_attempts="-2"><A/></RetryUntilSuccessful>', "S", "F", ""),
    (
        '<RetryUntilSuccessful num_attempts="-1"><A/></RetryUntilSuccessful>',
        "FFFS",
        "RRRS",
        "A A A A",
    ),
    (
        '<RetryUntilSuccessful num_attempts="2"><A/></RetryUntilSuccessful>',
        "RFRF",
        "RRF",
        "A a A a",
    ),
    ('<RetryUntilSuccessful num_attempts="2"><A/></RetryUntilSuccessful>', "K", "KK", "A A"),
    ('<Repeat num_cycles="3"><A/></Repeat>', "S", "RRS", "A A A"),
    ('<Repeat num_cycles="3"><A/></Repeat>', "SF", "RF", "A A"),
    ('<Repeat num_cycles="0"><A/></Repeat>', "S", "S", ""),
    ('<Repeat num_cycles="2"><A/></Repeat>', "RSRS", "RRS", "A a A a"),
    ('<Repeat num_cycles="2"><A/></Repeat>', "K", "K", "A"),
    ("<KeepRunningUntilFailure><A/></KeepRunningUntilFailure>", "SSF", "RRF", "A A A"),
    ("<KeepRunningUntilFailure><A/></KeepRunningUntilFailure>", "K", "RR", "A A"),
    ("<RunOnce><A/></RunOnce>", "RS", "RSKK", "A a"),
    ('<RunOnce then_skip="false"><A/></RunOnce>', "F", "FFF", "A"),
    ("<RunOnce><A/></RunOnce>", "KS", "KSK", "A A"),
    ('<Precondition if="true"><A/></Precondition>', "RS", "RS", "A a"),
    ('<Precondition if="false"><A/></Precondition>', "S", "F", ""),
    ('<Precondition if="false" else="SKIPPED"><A/></Precondition>', "S", "K", ""),
    ('<Precondition if="false" else="RUNNING"><A/></Precondition>', "S", "RR", ""),
    ('<LoopInt queue="1;2;3" value="{v}"><A/></LoopInt>', "S", "RRRS", "A A A"),
    ('<LoopInt queue="1;2;3" value="{v}"><A/></LoopInt>', "SF", "RF", "A A"),
    ('<LoopString queue="a;b" if_empty="FAILURE"><A/></LoopString>', "RS", "RRRF", "A a A"),
    ('<LoopDouble queue="" if_empty="SKIPPED"><A/></LoopDouble>', "S", "K", ""),
]


@pytest.mark.parametrize(("body", "letters", "results", "calls"), TABLE)
@pytest.mark.parametrize("watched", [False, True])
def test_results_and_calls(body, letters, results, calls, watched):
    rig = Rig(A=letters)
    tree = rig.tree(body)
    if watched:
        watch(tree)
        tree.record_ticks()
    assert "".join(letter(tree.tick_exactly_once()) for _ in results) == results
    assert rig.take_log() == calls


@pytest.mark.parametrize(("letters", "at_once"), [("RSR", True), ("SSS", False)])
def test_what_took_time_begins_again_at_once(letters, at_once):
    """Else a round would last a period longer than its child; what takes none must not spin."""
    rig = Rig(A=letters)
    tree = rig.tree("<KeepRunningUntilFailure><A/></KeepRunningUntilFailure>")
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert tree.sleep(0) is at_once


@pytest.mark.parametrize(("body", "letters", "results", "calls"), TABLE)
def test_halt_reaches_the_child(body, letters, results, calls):
    rig = Rig(A=letters)
    tree = rig.tree(body)
    status = tree.tick_exactly_once()
    running = status is NodeStatus.RUNNING and letters[0] == "R" and calls
    rig.take_log()
    tree.halt_tree()
    assert rig.take_log() == ("!A" if running else "")
    assert all(node.status is NodeStatus.IDLE for node in tree.nodes())


def test_timeout_halts_the_child_and_says_so():
    rig = Rig(A="R")
    tree = rig.tree('<Timeout msec="500"><A/></Timeout>')
    assert tree.tick_once() is NodeStatus.RUNNING
    rig.clock.now += 0.499
    assert tree.tick_once() is NodeStatus.RUNNING
    rig.clock.now += 0.002
    assert tree.tick_once() is NodeStatus.FAILURE
    assert rig.take_log() == "A a !A"
    assert "timeout of 500 ms" in tree.failure_reason().text


def test_timeout_does_not_matter_to_a_child_that_completes():
    rig = Rig(A="RS")
    tree = rig.tree('<Timeout msec="500"><A/></Timeout>')
    tree.tick_once()
    assert tree.tick_once() is NodeStatus.SUCCESS
    rig.clock.now += 10
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_timeout_zero_is_no_limit():
    rig = Rig(A="R")
    tree = rig.tree('<Timeout msec="0"><A/></Timeout>')
    tree.tick_once()
    rig.clock.now += 1e6
    assert tree.tick_once() is NodeStatus.RUNNING


def test_delay_then_child_then_delay_again():
    rig = Rig(A="RS")
    tree = rig.tree('<Delay delay_msec="200"><A/></Delay>')
    assert tree.tick_once() is NodeStatus.RUNNING
    assert rig.take_log() == ""
    rig.clock.now += 0.25
    assert tree.tick_once() is NodeStatus.SUCCESS  # the timer has asked for a second tick
    assert rig.take_log() == "A a"
    assert tree.tick_once() is NodeStatus.RUNNING
    assert rig.take_log() == ""


def test_halted_delay_starts_from_the_beginning():
    rig = Rig(A="S")
    tree = rig.tree('<Delay delay_msec="200"><A/></Delay>')
    tree.tick_once()
    rig.clock.now += 0.15
    tree.halt_tree()
    tree.tick_once()
    rig.clock.now += 0.15
    assert tree.tick_once() is NodeStatus.RUNNING
    rig.clock.now += 0.06
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_precondition_is_checked_again_after_a_halt():
    rig = Rig(A="R")
    tree = rig.tree('<Precondition if="go"><A/></Precondition>')
    tree.root_blackboard().set("go", True)
    assert tree.tick_once() is NodeStatus.RUNNING
    tree.root_blackboard().set("go", False)
    assert tree.tick_once() is NodeStatus.RUNNING
    tree.halt_tree()
    assert tree.tick_once() is NodeStatus.FAILURE


def test_precondition_is_checked_again_after_its_child_was_skipped():
    rig = Rig(A="S")
    tree = rig.tree('<Precondition if="go"><A _skipIf="skip"/></Precondition>')
    for go, skip, expected in (
        (True, True, NodeStatus.SKIPPED),
        (False, False, NodeStatus.FAILURE),
        (True, False, NodeStatus.SUCCESS),
    ):
        tree.root_blackboard().set("go", go)
        tree.root_blackboard().set("skip", skip)
        assert tree.tick_once() is expected
    assert rig.calls["A"] == 1


def test_repeat_count_comes_from_the_blackboard_each_time():
    rig = Rig(A="S")
    tree = rig.tree('<Repeat num_cycles="{n}"><A/></Repeat>')
    tree.root_blackboard().set("n", 5)
    tree.tick_exactly_once()
    tree.root_blackboard().set("n", 2)
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS


def test_loop_takes_items_out_of_a_shared_deque_and_copies_a_list():
    rig = Rig(A="S")
    tree = rig.tree('<LoopInt queue="{q}" value="{v}"><A/></LoopInt>')
    board = tree.root_blackboard()
    shared = deque([7, 8])
    board.set("q", shared)
    assert tree.tick_once() is NodeStatus.RUNNING
    assert board.get("v") == 7
    assert list(shared) == [8]
    tree.halt_tree()
    board.unset("q")
    items = [1, 2]
    board.set("q", items)
    assert [letter(tree.tick_exactly_once()) for _ in range(3)] == ["R", "R", "S"]
    assert items == [1, 2]


def test_loop_over_an_entry_nobody_wrote_is_empty():
    rig = Rig(A="S")
    assert rig.ticks('<LoopInt queue="{q}" if_empty="SKIPPED"><A/></LoopInt>', 1) == "K"


@pytest.mark.parametrize(
    ("tag", "otherwise"), [("SkipUnlessUpdated", "K"), ("WaitValueUpdate", "R")]
)
def test_child_runs_when_the_entry_was_written(tag, otherwise):
    rig = Rig(A="S")
    tree = rig.tree(f'<{tag} entry="{{x}}"><A/></{tag}>')
    assert letter(tree.tick_once()) == otherwise
    tree.root_blackboard().set("x", 1)
    assert letter(tree.tick_once()) == "S"
    assert letter(tree.tick_once()) == otherwise
    tree.root_blackboard().set("x", 1)
    assert letter(tree.tick_once()) == "S"


def test_halting_an_update_decorator_halts_its_child():
    rig = Rig(A="R")
    tree = rig.tree('<WaitValueUpdate entry="{x}"><A/></WaitValueUpdate>')
    tree.root_blackboard().set("x", 1)
    tree.tick_once()
    tree.halt_tree()
    assert rig.take_log() == "A !A"


def test_a_simple_decorator_gets_the_result_and_the_node():
    rig = Rig(A="F")
    seen = []

    def swallow(status, node):
        seen.append((status, node.name()))
        return NodeStatus.SUCCESS

    rig.factory.register_simple_decorator("Swallow", swallow)
    assert rig.ticks('<Swallow name="s"><A/></Swallow>', 1) == "S"
    assert seen == [(NodeStatus.FAILURE, "s")]


def test_a_child_that_an_error_left_failed_is_reset_by_a_tick_that_does_not_tick_it():
    factory = BehaviorTreeFactory()
    factory.register_simple_action("Act", lambda node: NodeStatus.FAILURE)
    tree = factory.create_tree_from_text(
        xml('<LoopInt queue="{q}"><Act _onFailure="missing = 1"/></LoopInt>')
    )
    tree.root_blackboard().set("q", deque([1]))
    with pytest.raises(NodeExecutionError):
        tree.tick_exactly_once()
    child = tree.root_node().child
    assert child.status is NodeStatus.FAILURE
    assert tree.tick_exactly_once() is NodeStatus.SUCCESS
    assert child.status is NodeStatus.IDLE
