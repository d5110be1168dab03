# SPDX-License-Identifier: Apache-2.0
"""Modules that are switched, and their nodes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from navigation_bench import FakeModule

from behavior_navigation.rules.entities import Entity, EntityPool
from behavior_navigation.rules.state import NavigationState
from behavior_tree import BehaviorTreeFactory, NodeStatus, NodeType, Tree

CAMEL = st.from_regex(r"[a-z][A-Za-z0-9]{0,20}", fullmatch=True)


class Switches:
    """A pool with one module, and a tree of one of its nodes."""

    def __init__(self, name: str = "rpp") -> None:
        self.state = NavigationState()
        self.module = FakeModule()
        self.entity = Entity(name, self.module)
        self.pool = EntityPool(self.state, [self.entity])
        self.factory = BehaviorTreeFactory()
        self.pool.register_nodes(self.factory)

    def tree(self, node: str, timeout: float = 2.0) -> Tree:
        return self.factory.create_tree_from_text(
            f"<root BTCPP_format='4'><BehaviorTree ID='t'><{node} timeout='{timeout}'/>"
            "</BehaviorTree></root>"
        )

    def tick(self, tree: Tree, seconds: float = 0.1) -> NodeStatus:
        self.state.now += seconds
        self.pool.update()
        return tree.tick_exactly_once()


@given(st.lists(CAMEL, min_size=1, max_size=5, unique=True))
@settings(max_examples=50, deadline=None)
def test_three_nodes_for_each_name(names: list[str]) -> None:
    factory = BehaviorTreeFactory()
    before = set(factory.manifests())
    EntityPool(NavigationState(), [Entity(name, FakeModule()) for name in names]).register_nodes(
        factory
    )
    added = set(factory.manifests()) - before
    assert added == {f"{name}{verb}" for name in names for verb in ("Enable", "Disable", "Toggle")}
    for node in added:
        manifest = factory.manifests()[node]
        assert manifest.type is NodeType.ACTION
        assert manifest.description
        assert all(port.description for port in manifest.ports.values())


@pytest.mark.parametrize("name", ["", "Rpp", "path planner", "2rpp", "rpp_x", "tp:1"])
def test_names_that_begin_no_node_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="camel case"):
        Entity(name, FakeModule())


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        EntityPool(NavigationState(), [Entity("a", FakeModule()), Entity("a", FakeModule())])


def test_switching_takes_a_tick_or_more_and_is_told_in_the_state() -> None:
    s = Switches()
    s.pool.update()
    assert s.state.entities == {"rpp": True}
    tree = s.tree("rppDisable")
    s.module.silent = True
    assert [s.tick(tree) for _ in range(3)] == 3 * [NodeStatus.RUNNING]
    s.module.silent = False
    assert s.tick(tree) is NodeStatus.SUCCESS
    assert s.state.entities == {"rpp": False}
    assert not s.module.on
    assert s.module.orders == [False]


def test_switching_twice_does_no_harm() -> None:
    s = Switches()
    for _ in range(2):
        tree = s.tree("rppEnable")
        s.tick(tree)
        assert s.tick(tree) is NodeStatus.SUCCESS
    assert s.module.on


def test_toggle_goes_both_ways() -> None:
    s = Switches()
    for expected in (False, True, False):
        tree = s.tree("rppToggle")
        s.tick(tree)
        assert s.tick(tree) is NodeStatus.SUCCESS
        assert s.module.on is expected


def test_toggle_needs_to_know() -> None:
    s = Switches()
    s.module.silent = True
    tree = s.tree("rppToggle")
    assert s.tick(tree) is NodeStatus.FAILURE
    assert "not known" in tree.failure_reason().text
    assert s.module.orders == []


def test_silence_and_refusal_are_failures_with_reasons() -> None:
    s = Switches()
    s.module.silent = True
    tree = s.tree("rppEnable", timeout=1.0)
    statuses = [s.tick(tree, 0.5) for _ in range(4)]
    assert statuses == 3 * [NodeStatus.RUNNING] + [NodeStatus.FAILURE]
    assert "rpp was not enabled: no answer within 1 s" in tree.failure_reason().text
    assert s.state.entities == {"rpp": None}
    s = Switches()
    s.module.refuses = "it is unconfigured"
    tree = s.tree("rppDisable")
    s.tick(tree)
    assert s.tick(tree) is NodeStatus.FAILURE
    assert "rpp was not disabled: it is unconfigured" in tree.failure_reason().text
    assert s.state.entities == {"rpp": True}


def test_the_newest_wish_counts() -> None:
    s = Switches()
    s.module.silent = True
    disable, enable = s.tree("rppDisable"), s.tree("rppEnable")
    s.tick(disable)
    disable.halt_tree()  # the request is out all the same
    s.tick(enable)
    s.module.silent = False
    s.tick(enable)
    assert s.tick(enable) is NodeStatus.SUCCESS
    assert s.module.orders == [False, True]
    assert s.module.on


def test_a_module_that_comes_up_is_not_switched_for_a_node_that_was_halted() -> None:
    s = Switches()
    s.module.absent = True
    disable, other = s.tree("rppDisable"), s.tree("rppDisable")
    s.tick(disable)
    s.tick(other)
    disable.halt_tree()
    s.tick(other)
    s.module.absent = False  # the other one still waits
    assert s.tick(other) is NodeStatus.SUCCESS
    assert s.state.entities == {"rpp": False}
    s.module.on, s.module.absent = True, True
    s.tick(disable)
    disable.halt_tree()
    s.pool.update()
    s.module.absent = False
    s.pool.update()
    s.pool.update()
    assert s.state.entities == {"rpp": True}
    assert s.module.on


def test_a_module_that_comes_up_gets_the_newest_wish_only() -> None:
    s = Switches()
    s.module.absent = True
    disable, enable = s.tree("rppDisable"), s.tree("rppEnable")
    s.tick(disable)
    s.tick(enable)
    s.tick(enable)
    s.module.absent = s.module.on = False
    assert s.tick(enable) is NodeStatus.SUCCESS
    assert s.entity.switched == 1
    assert s.module.on


def test_a_wish_that_was_overtaken_has_failed() -> None:
    s = Switches()
    s.module.silent = True
    disable, enable = s.tree("rppDisable"), s.tree("rppEnable")
    s.tick(disable)
    s.tick(enable)
    assert s.tick(disable) is NodeStatus.FAILURE
    assert "to be enabled instead" in disable.failure_reason().text


def test_a_module_that_changes_by_itself_is_noticed() -> None:
    s = Switches()
    s.pool.update()
    s.module.on = False
    s.pool.update()
    assert s.state.entities == {"rpp": False}
