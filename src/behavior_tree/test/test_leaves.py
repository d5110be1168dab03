# SPDX-License-Identifier: Apache-2.0
"""Built-in leaves and the bases of user leaves."""

import pytest
from tree_kit import Rig, letter, watch, xml

from behavior_tree import (
    BehaviorTreeFactory,
    ConditionNode,
    LoadError,
    LogicError,
    NodeConfig,
    NodeExecutionError,
    NodeStatus,
    NodeType,
    StatefulActionNode,
    SyncActionNode,
)


def run(body, **entries):
    rig = Rig()
    tree = rig.tree(body)
    for key, value in entries.items():
        tree.root_blackboard().set(key, value)
    return letter(tree.tick_once()), dict(tree.root_blackboard().items())


def test_always():
    assert run("<AlwaysSuccess/>")[0] == "S"
    assert run("<AlwaysFailure/>")[0] == "F"


def test_script_writes_and_script_condition_asks():
    assert run('<Script code="x := 2; y := x * 3"/>') == ("S", {"x": 2, "y": 6.0})
    assert run('<Script code=""/>')[0] == "S"
    assert run('<ScriptCondition code="x &gt; 1"/>', x=2)[0] == "S"
    assert run('<ScriptCondition code="x &gt; 1"/>', x=1)[0] == "F"


def test_empty_script_condition_raises():
    with pytest.raises(NodeExecutionError, match="empty"):
        run('<ScriptCondition code=""/>')


def test_script_text_may_come_from_the_blackboard_and_change():
    rig = Rig()
    tree = rig.tree('<Script code="{code}"/>')
    board = tree.root_blackboard()
    for text, expected in (("x := 1", 1), ("x := 5", 5)):
        board.set("code", text)
        tree.tick_once()
        assert board.get("x") == expected


def test_sleep_counts_on_the_trees_clock():
    rig = Rig()
    tree = rig.tree('<Sleep msec="300"/>')
    assert tree.tick_once() is NodeStatus.RUNNING
    rig.clock.now += 0.29
    assert tree.tick_once() is NodeStatus.RUNNING
    rig.clock.now += 0.02
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_sleep_zero_is_done_at_once():
    assert run('<Sleep msec="0"/>')[0] == "S"


def test_halted_sleep_starts_from_the_beginning():
    rig = Rig()
    tree = rig.tree('<Sleep msec="300"/>')
    tree.tick_once()
    rig.clock.now += 0.2
    tree.halt_tree()
    tree.tick_once()
    rig.clock.now += 0.2
    assert tree.tick_once() is NodeStatus.RUNNING


@pytest.mark.parametrize(
    ("value", "before", "after"),
    [
        ("42", {}, "42"),
        ("42", {"k": 7}, 42),
        ("2.5", {"k": 1.0}, 2.5),
        ("true", {"k": False}, True),
        ("{a}", {"a": 3}, 3),
        ("{a}", {"a": 3, "k": 1.0}, 3.0),
        ("{a}", {"a": [1, 2]}, [1, 2]),
        ("", {}, ""),
    ],
)
def test_set_blackboard(value, before, after):
    status, entries = run(f'<SetBlackboard value="{value}" output_key="k"/>', **before)
    assert (status, entries["k"]) == ("S", after)


def test_set_blackboard_output_key_in_braces_is_indirect():
    assert run('<SetBlackboard value="1" output_key="{name}"/>', name="target")[1]["target"] == "1"


def test_set_blackboard_into_an_entry_that_a_port_made():
    body = (
        '<Sequence><SetBlackboard output_key="a" value="42"/>'
        '<SetBlackboard output_key="b" value="{a}"/></Sequence>'
    )
    assert run(body) == ("S", {"a": "42", "b": "42"})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<SetBlackboard value="{nowhere}" output_key="{name}"/>', "nobody has written"),
        ('<SetBlackboard value="x" output_key="k"/>', "convert"),
    ],
)
def test_set_blackboard_errors(body, words):
    with pytest.raises(NodeExecutionError, match=words):
        run(body, k=3)


def test_set_blackboard_of_an_empty_entry_fails():
    assert run('<SetBlackboard value="{empty}" output_key="k"/>')[0] == "F"


def test_unset_blackboard():
    status, entries = run('<UnsetBlackboard key="k"/>', k=3)
    assert (status, "k" in entries) == ("S", False)
    assert run('<UnsetBlackboard key="never"/>')[0] == "S"


def test_was_entry_updated():
    rig = Rig()
    tree = rig.tree('<WasEntryUpdated entry="{k}"/>')
    results = [letter(tree.tick_once())]
    for _ in range(2):
        tree.root_blackboard().set("k", 1)
        results += [letter(tree.tick_once()), letter(tree.tick_once())]
    assert results == ["F", "S", "F", "S", "F"]


def test_sync_action_must_not_return_running():
    class Bad(SyncActionNode):
        def tick(self):
            return NodeStatus.RUNNING

    factory = BehaviorTreeFactory()
    factory.register_node_type(Bad, "Bad")
    with pytest.raises(NodeExecutionError, match="MUST never return RUNNING"):
        factory.create_tree_from_text(xml("<Bad/>")).tick_once()


@pytest.mark.parametrize("value", [None, NodeStatus.IDLE, "IDLE", 0, 7, -1, 2.0])
def test_a_result_that_is_none_is_an_error(value):
    factory = BehaviorTreeFactory()
    factory.register_simple_action("Bad", lambda node: value)
    with pytest.raises(NodeExecutionError, match="Bad::1"):
        factory.create_tree_from_text(xml("<Bad/>")).tick_once()


@pytest.mark.parametrize(
    ("value", "status"),
    [
        *((True, "SUCCESS"), (False, "FAILURE"), ("SUCCESS", "SUCCESS"), ("SKIPPED", "SKIPPED")),
        *((2, "SUCCESS"), (3, "FAILURE"), (4, "SKIPPED")),
    ],
)
def test_results_that_stand_for_a_status(value, status):
    factory = BehaviorTreeFactory()
    factory.register_simple_action("Act", lambda node: value)
    factory.register_simple_condition("Ask", lambda node: value)
    factory.register_simple_stateful_action("Work", lambda node: value, lambda node: value)
    factory.register_simple_decorator("Deco", lambda child, node: value)
    for body in ("<Act/>", "<Ask/>", "<Work/>", "<Deco><AlwaysSuccess/></Deco>"):
        assert factory.create_tree_from_text(xml(body)).tick_once().name == status


def test_an_exception_names_the_node_and_keeps_its_cause():
    factory = BehaviorTreeFactory()

    def fail(node):
        raise ValueError("no such cube")

    factory.register_simple_action("Grasp", fail)
    tree = factory.create_tree_from_text(xml('<Sequence name="s"><Grasp name="left"/></Sequence>'))
    with pytest.raises(NodeExecutionError) as caught:
        tree.tick_once()
    assert (caught.value.path, caught.value.registration_id) == ("left", "Grasp")
    assert str(caught.value) == "Exception in node 'left' [Grasp]: ValueError: no such cube"
    assert isinstance(caught.value.__cause__, ValueError)


def test_simple_action_is_running_while_its_function_works():
    factory = BehaviorTreeFactory()
    factory.register_simple_action("Work", lambda node: NodeStatus.SUCCESS)
    tree = factory.create_tree_from_text(xml("<Work/>"))
    log = watch(tree)
    tree.tick_once()
    assert log == ["Work I>R", "Work R>S", "Work S>I"]


def test_simple_stateful_action():
    factory = BehaviorTreeFactory()
    calls = []
    factory.register_simple_stateful_action(
        "Work",
        lambda node: calls.append("start") or NodeStatus.RUNNING,
        lambda node: calls.append("run") or NodeStatus.RUNNING,
        lambda node: calls.append("halt"),
    )
    tree = factory.create_tree_from_text(xml("<Work/>"))
    tree.tick_once()
    tree.tick_once()
    tree.halt_tree()
    assert calls == ["start", "run", "halt"]


def test_stateful_action_knows_that_it_was_halted():
    rig = Rig(A="R")
    tree = rig.tree("<A/>")
    tree.tick_once()
    node = tree.root_node()
    assert not node.is_halt_requested()
    tree.halt_tree()
    assert node.is_halt_requested()


def test_extra_constructor_arguments_and_a_class_made_at_run_time():
    def init(self, name, config, robot, arm):
        super(made, self).__init__(name, config)
        self.robot, self.arm = robot, arm

    made = type(
        "Made", (SyncActionNode,), {"__init__": init, "tick": lambda self: NodeStatus.SUCCESS}
    )
    factory = BehaviorTreeFactory()
    factory.register_node_type(made, "Made", "panda", 1)
    tree = factory.create_tree_from_text(xml("<Made/>"))
    assert (tree.root_node().robot, tree.root_node().arm) == ("panda", 1)
    assert tree.tick_once() is NodeStatus.SUCCESS


def test_a_node_can_be_used_without_a_tree():
    class Ask(ConditionNode):
        def tick(self):
            return NodeStatus.FAILURE

    node = Ask("alone", NodeConfig())
    assert node.execute_tick() is NodeStatus.FAILURE
    assert (node.name(), node.type(), node.status()) == (
        "alone",
        NodeType.CONDITION,
        NodeStatus.FAILURE,
    )
    assert node.tick() is NodeStatus.FAILURE


def test_registration_refuses_what_cannot_work():
    factory = BehaviorTreeFactory(strict=True)
    factory.register_simple_action("Work", lambda node: NodeStatus.SUCCESS)
    with pytest.raises(LogicError, match="already registered"):
        factory.register_simple_action("Work", lambda node: NodeStatus.SUCCESS)
    for name in ("", "Root", "has space", "a.b", "SubTree", "Action"):
        with pytest.raises(LogicError):
            factory.register_simple_action(name, lambda node: NodeStatus.SUCCESS)
    with pytest.raises(LogicError, match="builtin"):
        factory.unregister_node_type("Sequence")
    factory.unregister_node_type("Work")
    factory.register_simple_action("Work", lambda node: NodeStatus.FAILURE)


def test_stateful_base_says_what_is_missing():
    class Empty(StatefulActionNode):
        pass

    factory = BehaviorTreeFactory()
    factory.register_node_type(Empty, "Empty")
    with pytest.raises(NodeExecutionError, match="on_start"):
        factory.create_tree_from_text(xml("<Empty/>")).tick_once()


def test_a_constructor_that_fails_is_a_load_error_at_the_element():
    class Bad(SyncActionNode):
        def __init__(self, name, config):
            raise ValueError("no robot")

    factory = BehaviorTreeFactory()
    factory.register_node_type(Bad, "Bad")
    with pytest.raises(LoadError, match=r"\[Bad::2\] cannot make a Bad: ValueError: no robot"):
        factory.create_tree_from_text(xml("<Sequence><Bad/></Sequence>"))
