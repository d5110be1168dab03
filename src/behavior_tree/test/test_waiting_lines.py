# SPDX-License-Identifier: Apache-2.0
"""Nodes that only wait for a running child below them are not ticked one by one: nobody sees it."""

import random
from itertools import repeat

import pytest

from behavior_tree import BehaviorTreeFactory, NodeExecutionError, NodeStatus, StatefulActionNode
from behavior_tree.editing import TreeEditor
from behavior_tree.kernel.saving import restore_tree, save_tree

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE
IDLE, SKIPPED = NodeStatus.IDLE, NodeStatus.SKIPPED
WRAPPERS = (
    "<Sequence>{0}</Sequence>",
    "<Sequence><AlwaysSuccess/>{0}<AlwaysSuccess/></Sequence>",
    "<Fallback><AlwaysFailure/>{0}</Fallback>",
    "<Inverter>{0}</Inverter>",
    "<ForceSuccess>{0}</ForceSuccess>",
    '<Repeat num_cycles="2">{0}</Repeat>',
    '<RetryUntilSuccessful num_attempts="2">{0}</RetryUntilSuccessful>',
    "<ReactiveSequence><AlwaysSuccess/>{0}</ReactiveSequence>",
    '<SubTree ID="Inner"/>',
    "<Sequence>{0}<Breaks/></Sequence>",
    "<Fallback>{0}<Breaks/></Fallback>",
)


def nested(wrappers, leaf):
    for wrapper in reversed(wrappers):
        leaf = wrapper.format(leaf)
    return leaf


def tree_of(body, act):
    factory = BehaviorTreeFactory()
    factory.register_simple_stateful_action("Act", act, act)
    factory.register_simple_action("Breaks", lambda node: 1 / 0)
    text = (
        f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree>'
        '<BehaviorTree ID="Inner"><Sequence><Act/><Act/></Sequence></BehaviorTree></root>'
    )
    factory.register_behavior_tree_from_text(text)
    tree = factory.create_tree("Main")
    tree.factory = factory  # for editors
    return tree


def history(body, results, halt_at, hooked):
    """What a tree does; with ``hooked`` all nodes have a hook, so that each is ticked."""
    given, seen = enumerate(results), []

    def act(node):
        number, result = next(given)
        if number == halt_at:
            tree.halt_tree()
        return result

    tree = tree_of(body, act)
    if hooked:
        for node in tree.nodes():
            node.set_post_tick(lambda node, status: SKIPPED)
    tree.subscribe_status_change(lambda *change: seen.append((change[0].uid(), *change[1:])))
    for _ in range(15):
        try:
            seen.append(tree.tick_exactly_once())
        except NodeExecutionError as error:
            seen.append(str(error))
        seen.append([node.status for node in tree.nodes()])
    return seen


@pytest.mark.parametrize("seed", range(60))
def test_nobody_sees_that_nodes_were_passed_over(seed):
    dice = random.Random(seed)
    body = nested(dice.choices(WRAPPERS, k=dice.randint(1, 6)), "<Act/>")
    results = dice.choices((RUNNING, RUNNING, RUNNING, SUCCESS, FAILURE, SKIPPED), k=100)
    halt_at = dice.choice((-1, dice.randint(1, 6)))
    told = history(body, results, halt_at, hooked=False)
    assert told == history(body, results, halt_at, hooked=True), body


def test_nodes_that_wait_are_passed_over():
    tree = tree_of(nested(WRAPPERS[:7] * 20, "<Act/>"), lambda node: RUNNING)
    for _ in range(2):
        assert tree.tick_exactly_once() is RUNNING
    waiting = [node for node in tree.nodes() if node._waits is not None]
    assert len(waiting) == 140


def test_a_hook_at_a_node_that_waits_is_called():
    tree = tree_of(nested(WRAPPERS[:7], "<Act/>"), lambda node: RUNNING)
    for _ in range(3):
        tree.tick_exactly_once()
    for node in tree.nodes():
        if node.status is RUNNING and node.children:
            node.set_pre_tick(lambda node: FAILURE)
            break
    assert tree.tick_exactly_once() is FAILURE


def test_an_edit_below_nodes_that_wait_is_followed():
    results = iter([RUNNING] * 2 + [SUCCESS] * 9)
    tree = tree_of(nested(WRAPPERS[:2], "<Act/>"), lambda node: next(results))
    for _ in range(2):
        tree.tick_exactly_once()
    inner = tree.root_node().children[0]
    TreeEditor(tree, tree.factory).remove(inner.children[0])
    assert tree.tick_exactly_once() is SUCCESS


def test_a_number_of_cycles_that_is_edited_counts():
    results = iter([RUNNING, RUNNING, SUCCESS, SUCCESS, SUCCESS, SUCCESS])
    body = '<Sequence><Repeat num_cycles="4"><Act/></Repeat></Sequence>'
    tree = tree_of(body, lambda node: next(results))
    for _ in range(2):
        tree.tick_exactly_once()
    editor = TreeEditor(tree, tree.factory)
    editor.set_port(tree.root_node().children[0], "num_cycles", "1")
    assert tree.tick_exactly_once() is SUCCESS


def test_what_waits_is_halted_and_begins_anew():
    tree = tree_of(nested(WRAPPERS[:4] * 3, "<Act/>"), lambda node: RUNNING)
    for _ in range(3):
        tree.tick_exactly_once()
    tree.halt_tree()
    assert {node.status for node in tree.nodes()} == {IDLE}
    assert tree.tick_exactly_once() is RUNNING
    assert all(node.status is RUNNING for node in tree.nodes() if node.children)


def test_nodes_that_wait_count_as_ticked():
    tree = tree_of(nested(WRAPPERS[:7], "<Act/>"), lambda node: RUNNING)
    tree.record_ticks()
    for _ in range(3):
        tree.tick_exactly_once()
    ticked = set(tree.ticked_nodes())
    assert ticked == {node for node in tree.nodes() if node.status is RUNNING}


def test_a_state_that_waits_for_another_child_is_restored():
    log = []
    gives = {"first": iter((RUNNING, SKIPPED, RUNNING)), "second": repeat(RUNNING)}

    class GoesOn(StatefulActionNode):
        def on_start(self):
            return self.on_running()

        def on_running(self):
            log.append(self.name)
            return next(gives[self.name])

        def save_state(self):
            return {}

    factory = BehaviorTreeFactory()
    factory.register_node_type(GoesOn, "GoesOn")
    body = '<Sequence><GoesOn name="first"/><GoesOn name="second"/></Sequence>'
    tree = factory.create_tree_from_text(
        f'<root BTCPP_format="4"><BehaviorTree ID="Main">{body}</BehaviorTree></root>'
    )
    for _ in range(2):
        tree.tick_exactly_once()
    saved = save_tree(tree)
    tree.halt_tree()
    tree.tick_exactly_once()
    restore_tree(tree, saved)
    tree.tick_exactly_once()
    assert log == ["first", "first", "second", "first", "second"]
