# SPDX-License-Identifier: Apache-2.0
"""Each node is ticked by the cheapest kernel that does all it needs."""

import pytest
from tree_kit import tree_of

from behavior_tree import BehaviorTreeFactory, NodeConfig, NodeExecutionError, NodeStatus
from behavior_tree.nodes.control import Sequence

RUNNING, SUCCESS, FAILURE = NodeStatus.RUNNING, NodeStatus.SUCCESS, NodeStatus.FAILURE


def kernels(tree):
    return [node._run for node in tree.nodes()]


@pytest.mark.parametrize("children", [1, 2, 8, 9, 40])
@pytest.mark.parametrize("tag", ["Sequence", "Fallback", "ReactiveSequence", "Parallel"])
def test_watched_and_unwatched_trees_end_alike(tag, children):
    leaf = "AlwaysFailure" if tag == "Fallback" else "AlwaysSuccess"
    tree = tree_of(f"<{tag}>{f'<{leaf}/>' * children}</{tag}>")
    alone = tree.tick_exactly_once()
    seen = []
    tree.subscribe_status_change(lambda node, before, after: seen.append((node.uid(), after)))
    assert tree.tick_exactly_once() is alone
    assert len(seen) == 3 + 2 * children
    assert all(node.status is NodeStatus.IDLE for node in tree.nodes())


def test_a_watcher_changes_no_kernel():
    tree = tree_of("<Sequence><AlwaysSuccess/><Inverter><AlwaysFailure/></Inverter></Sequence>")
    before = kernels(tree)
    tree.subscribe_status_change(lambda *change: None)
    tree.record_ticks()
    assert kernels(tree) == before


def test_a_hook_at_a_node_that_is_being_ticked_acts_from_the_next_tick_on():
    factory = BehaviorTreeFactory()

    def hook_above(node):
        tree.root_node().set_post_tick(lambda *_: FAILURE)
        return SUCCESS

    factory.register_simple_action("Hook", hook_above)
    tree = tree_of("<Sequence><Hook/></Sequence>", factory)
    seen = []
    tree.subscribe_status_change(lambda node, before, after: seen.append((node.uid(), after)))
    assert tree.tick_exactly_once() is SUCCESS
    assert (1, SUCCESS) in seen
    assert tree.tick_exactly_once() is FAILURE


def test_a_hook_changes_only_its_node():
    tree = tree_of("<Sequence><AlwaysSuccess/><AlwaysSuccess/></Sequence>")
    before = kernels(tree)
    leaf = list(tree.nodes())[2]
    leaf.set_pre_tick(lambda node: FAILURE)
    assert [now == then for now, then in zip(kernels(tree), before, strict=True)] == [1, 1, 0]
    assert tree.tick_exactly_once() is FAILURE
    leaf.set_pre_tick(None)
    assert tree.tick_exactly_once() is SUCCESS


def test_a_hook_may_come_during_the_tick():
    factory = BehaviorTreeFactory()

    def hook_next(node):
        list(tree.nodes())[2].set_post_tick(lambda *_: FAILURE)
        return SUCCESS

    factory.register_simple_action("Hook", hook_next)
    tree = tree_of("<Sequence><Hook/><AlwaysSuccess/></Sequence>", factory)
    assert tree.tick_exactly_once() is FAILURE


def test_a_class_with_its_own_tick_gets_the_general_kernel():
    class Stubborn(Sequence):
        def tick(self):
            self.reset_children()
            return FAILURE

    factory = BehaviorTreeFactory()
    factory.register_node_type(Stubborn, "Stubborn")
    assert tree_of("<Stubborn><AlwaysSuccess/></Stubborn>", factory).tick_once() is FAILURE


def test_literals_change_with_their_ports():
    tree = tree_of(
        '<Sequence><Script name="s" code="x := 1"/><ScriptCondition name="c" code="x == 1"/>'
        '<Repeat name="r" num_cycles="1"><AlwaysSuccess/></Repeat>'
        '<Precondition name="p" if="true"><AlwaysSuccess/></Precondition>'
        '<Parallel name="q"><AlwaysSuccess/><AlwaysFailure/></Parallel></Sequence>'
    )
    assert tree.tick_exactly_once() is FAILURE
    tree.node_by_path("q").set_port("failure_count", "2")
    tree.node_by_path("q").set_port("success_count", "1")
    assert tree.tick_exactly_once() is SUCCESS
    tree.node_by_path("p").set_port("if", "x > 5")
    assert tree.tick_exactly_once() is FAILURE
    tree.node_by_path("s").set_port("code", "x = 7")
    assert tree.tick_exactly_once() is FAILURE  # the condition asks for 1
    tree.node_by_path("c").set_port("code", "x == 7")
    assert tree.tick_exactly_once() is SUCCESS
    tree.node_by_path("r").set_port("num_cycles", "2")
    assert tree.tick_exactly_once() is RUNNING


def test_names_of_scripts_may_come_to_mean_something_else():
    factory = BehaviorTreeFactory()
    tree = tree_of('<ScriptCondition code="mode == 1"/>', factory)
    board = tree.root_blackboard()
    board.set("mode", 1)
    assert tree.tick_exactly_once() is SUCCESS
    board.unset("mode")
    board.set("mode", 2)
    assert tree.tick_exactly_once() is FAILURE
    factory.register_scripting_enum("mode", 1)
    assert tree.tick_exactly_once() is SUCCESS


def test_a_new_remapping_moves_the_names_of_a_script():
    factory = BehaviorTreeFactory()
    factory.register_behavior_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="Main"><SubTree ID="Inner"/></BehaviorTree>'
        '<BehaviorTree ID="Inner"><Script code="x := 5"/></BehaviorTree></root>'
    )
    tree = factory.create_tree("Main")
    outer, inner = (each.blackboard for each in tree.subtrees)
    tree.tick_exactly_once()
    assert (inner.get("x"), "x" in outer) == (5, False)
    inner.unset("x")
    inner.add_subtree_remapping("x", "y")
    tree.tick_exactly_once()
    assert outer.get("y") == 5


@pytest.mark.parametrize("bad", [ValueError("lost"), None])
def test_an_error_of_a_running_child_names_the_child_not_its_parallel(bad):
    def go_on(node):
        if bad is not None:
            raise bad
        return "nonsense"

    factory = BehaviorTreeFactory()
    factory.register_simple_stateful_action("Move", lambda node: RUNNING, go_on)
    tree = tree_of('<Parallel><Move name="a"/><Move name="b"/></Parallel>', factory)
    assert tree.tick_exactly_once() is RUNNING
    with pytest.raises(NodeExecutionError) as caught:
        tree.tick_exactly_once()
    assert caught.value.path == "a"


def test_children_of_a_parallel_that_went_on_complete_one_by_one():
    left = {"a": 2, "b": 3}

    def go_on(node):
        left[node.name()] -= 1
        return RUNNING if left[node.name()] else SUCCESS

    factory = BehaviorTreeFactory()
    factory.register_simple_stateful_action("Move", lambda node: RUNNING, go_on)
    tree = tree_of('<Parallel><Move name="a"/><Move name="b"/></Parallel>', factory)
    results = [tree.tick_exactly_once() for _ in range(4)]
    assert results == [RUNNING, RUNNING, RUNNING, SUCCESS]
    assert left == {"a": 0, "b": 0}
    assert all(node.status is NodeStatus.IDLE for node in tree.nodes())


def test_same_conditions_are_shared_on_one_blackboard_only():
    factory = BehaviorTreeFactory()
    factory.register_behavior_tree_from_text(
        '<root BTCPP_format="4">'
        '<BehaviorTree ID="In"><AlwaysSuccess _onSuccess="x := 2"/></BehaviorTree>'
        '<BehaviorTree ID="Main"><Sequence><AlwaysSuccess _onSuccess="x := 1"/>'
        '<AlwaysSuccess _onSuccess="x := 1"/><AlwaysSuccess _onSuccess="x := 2"/>'
        '<SubTree ID="In" name="in"/></Sequence></BehaviorTree></root>'
    )
    tree = factory.create_tree("Main")
    one, same, other = tree.root_node().children[:3]
    inner = tree.node_by_path("in").children[0]
    assert one._conditions is same._conditions
    assert len({id(each._conditions) for each in (one, other, inner)}) == 3
    assert tree.tick_exactly_once() is SUCCESS
    assert [each.blackboard.get("x") for each in tree.subtrees] == [2, 2]


@pytest.mark.parametrize("result", ["Success", "Failure"])
def test_conditions_of_a_leaf_that_always_gives_the_same(result):
    post = '_onSuccess="said := 1" _onFailure="said := 2"'
    tree = tree_of(f'<Always{result} _skipIf="stop" {post}/>')
    board = tree.root_blackboard()
    board.set("stop", False)
    assert tree.tick_exactly_once() is NodeStatus[result.upper()]
    assert board.get("said") == (1 if result == "Success" else 2)
    board.set("stop", True)
    assert tree.tick_exactly_once() is NodeStatus.SKIPPED


def test_dictionaries_of_a_config_are_made_once_and_belong_to_it():
    one, other = NodeConfig(), NodeConfig()
    one.input_ports["a"] = "1"
    assert one.input_ports == {"a": "1"}
    assert other.input_ports == {}
    given = {"b": "2"}
    assert NodeConfig(output_ports=given).output_ports is given
