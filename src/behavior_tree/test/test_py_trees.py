# SPDX-License-Identifier: Apache-2.0
"""py_trees behaviours and subtrees as nodes; our trees under py_trees; py_trees 2.3 to 2.6."""

from __future__ import annotations

import dataclasses
import operator
import re
from typing import Any

import py_trees
import pytest
from py_trees.common import Status
from tree_kit import Rig, xml

from behavior_tree import (
    BehaviorTreeFactory,
    BidirectionalPort,
    InputPort,
    LoadError,
    LogicError,
    NodeExecutionError,
    NodeStatus,
    OutputPort,
    write_tree_to_xml,
)

SUCCESS, FAILURE, RUNNING = NodeStatus.SUCCESS, NodeStatus.FAILURE, NodeStatus.RUNNING
COUNTER_PORTS = [InputPort("duration", int), InputPort("completion_status", Any, None)]


@pytest.fixture(autouse=True)
def _clean_blackboard():
    py_trees.blackboard.Blackboard.clear()
    yield
    py_trees.blackboard.Blackboard.clear()


class Doubler(py_trees.behaviour.Behaviour):
    """Reads ``number``, writes ``result``, takes two ticks."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.board = self.attach_blackboard_client(name)
        self.board.register_key("number", py_trees.common.Access.READ)
        self.board.register_key("result", py_trees.common.Access.WRITE)
        self.log: list[str] = []

    def setup(self, **kwargs: Any) -> None:
        self.log.append("setup" + "".join(kwargs))

    def initialise(self) -> None:
        self.log.append("initialise")
        self._ticks = 0

    def update(self) -> Status:
        self._ticks += 1
        if self._ticks < 2:
            return Status.RUNNING
        if self.board.number < 0:
            self.feedback_message = "negative number"
            return Status.FAILURE
        self.board.result = self.board.number * 2
        return Status.SUCCESS

    def terminate(self, new_status: Status) -> None:
        self.log.append(f"terminate {new_status.name}")


def doubling(**options: Any) -> BehaviorTreeFactory:
    factory = BehaviorTreeFactory()
    ports = [InputPort("number", int), OutputPort("result", int)]
    factory.register_py_trees_behaviour("Doubler", Doubler, ports, **options)
    return factory


def two_doublers() -> str:
    return xml(
        '<Sequence><Doubler number="4" result="{x}"/><Doubler number="{x}" result="{y}"/>'
        "</Sequence>"
    )


def test_constructor_arguments_come_from_literal_ports():
    factory = BehaviorTreeFactory()
    factory.register_py_trees_behaviour(
        "TickCounter", py_trees.behaviours.TickCounter, [InputPort("duration", int)]
    )
    with pytest.raises(LoadError, match="Missing mandatory port"):
        factory.create_tree_from_text(xml("<TickCounter/>"))
    with pytest.raises(LoadError, match="argument of the constructor"):
        factory.create_tree_from_text(xml('<TickCounter duration="{d}"/>'))
    factory.unregister_node_type("TickCounter")
    factory.register_py_trees_behaviour(
        "TickCounter",
        lambda name, duration: py_trees.behaviours.TickCounter(name, duration, Status.SUCCESS),
        [InputPort("duration", int)],
    )
    tree = factory.create_tree_from_text(xml('<TickCounter duration="2"/>'))
    assert [tree.tick_exactly_once() for _ in range(3)] == [RUNNING, RUNNING, SUCCESS]


def test_ports_travel_over_the_py_trees_blackboard():
    tree = doubling().create_tree_from_text(two_doublers())
    assert tree.tick_while_running(0) is SUCCESS
    assert tree.root_blackboard().get("x") == 8
    assert tree.root_blackboard().get("y") == 16


def test_failure_carries_the_feedback_message():
    tree = doubling().create_tree_from_text(xml('<Sequence><Doubler number="-1"/></Sequence>'))
    tree.record_ticks()
    assert tree.tick_while_running(0) is FAILURE
    assert str(tree.failure_reason()).endswith(": negative number")
    assert [text for _, text in tree.given_reasons()] == ["negative number"]


def test_halt_stops_the_behaviour_once_and_it_starts_again():
    tree = doubling(setup_arguments={"node": 1}).create_tree_from_text(xml('<Doubler number="1"/>'))
    behaviour = tree.root_node().behaviour
    tree.tick_exactly_once()
    tree.halt_tree()
    tree.halt_tree()
    assert behaviour.log == ["setupnode", "initialise", "terminate INVALID"]
    assert tree.tick_exactly_once() is RUNNING
    assert tree.tick_exactly_once() is SUCCESS
    assert behaviour.log[3:] == ["initialise", "terminate SUCCESS"]


def test_stale_values_of_another_node_are_no_output():
    factory = doubling()
    factory.register_py_trees_behaviour(
        "Idler", py_trees.behaviours.Success, [OutputPort("result", int)]
    )
    tree = factory.create_tree_from_text(
        xml('<Sequence><Doubler number="4" result="{x}"/><Idler result="{z}"/></Sequence>')
    )
    assert tree.tick_while_running(0) is SUCCESS
    assert "z" not in tree.root_blackboard()


class Accumulator(py_trees.behaviour.Behaviour):
    def update(self) -> Status:
        board = py_trees.blackboard.Blackboard
        board.set("/acc/total", board.get("/acc/total") + 1)
        return Status.SUCCESS


def test_bidirectional_port_in_a_namespace():
    factory = BehaviorTreeFactory()
    factory.register_py_trees_behaviour(
        "Accumulate", Accumulator, [BidirectionalPort("total", int)], namespace="/acc"
    )
    tree = factory.create_tree_from_text(
        xml(
            '<Sequence><Script code="sum:=5"/><Accumulate total="{sum}"/>'
            '<Accumulate total="{sum}"/></Sequence>'
        )
    )
    assert tree.tick_once() is SUCCESS
    assert tree.root_blackboard().get("sum") == 7


def py_trees_subtree(name: str) -> py_trees.behaviour.Behaviour:
    root = py_trees.composites.Selector(name, memory=False)
    check = py_trees.behaviours.CheckBlackboardVariableValue(
        "enough",
        py_trees.common.ComparisonExpression("battery", 0.3, operator.gt),
    )
    charge = py_trees.decorators.Inverter(
        name="not", child=py_trees.behaviours.TickCounter("charge", 2, Status.FAILURE)
    )
    root.add_children([check, charge])
    return root


def with_subtree() -> Any:
    factory = BehaviorTreeFactory()
    factory.register_py_trees_behaviour("Power", py_trees_subtree, [InputPort("battery", float)])
    return factory.create_tree_from_text(
        xml(
            '<Sequence name="main"><Power name="power" battery="{level}"/>'
            '<AlwaysSuccess name="go"/></Sequence>'
        )
    )


def test_a_whole_py_trees_subtree_is_one_node():
    tree = with_subtree()
    tree.root_blackboard().set("level", 0.9)
    assert tree.tick_once() is SUCCESS
    tree.root_blackboard().set("level", 0.1)
    assert [tree.tick_exactly_once() for _ in range(3)] == [RUNNING, RUNNING, SUCCESS]
    assert [node.name for node in tree.nodes()] == ["main", "power", "go"]
    assert '<Power name="power"' in write_tree_to_xml(tree)


def test_py_trees_draws_and_visits_the_inner_behaviours():
    tree = with_subtree()
    tree.root_blackboard().set("level", 0.1)
    outside = py_trees.trees.BehaviourTree(tree.root_node())
    outside.setup(timeout=1)
    snapshot, names = py_trees.visitors.SnapshotVisitor(), []

    class Names(py_trees.visitors.VisitorBase):
        def run(self, behaviour: Any) -> None:
            names.append(str(behaviour.name))

    outside.visitors += [snapshot, Names(full=False)]
    outside.tick()
    assert names == ["enough", "charge", "not", "power", "power", "main"]
    assert outside.root.status == Status.RUNNING
    assert outside.tip().name == "charge"
    text = py_trees.display.ascii_tree(
        outside.root,
        show_status=True,
        visited=snapshot.visited,
        previously_visited=snapshot.previously_visited,
    )
    for name in ("main", "power", "enough", "not", "charge", "go"):
        assert name in text
    dot = py_trees.display.dot_tree(outside.root).to_string()
    assert "charge" in dot
    assert "go" in dot
    outside.tick()
    outside.interrupt()
    outside.shutdown()


def test_every_picture_of_py_trees_shows_our_nodes():
    tree = Rig(A="SF", B="R").tree(
        '<Fallback name="choose"><Sequence name="try"><A name="a"/><B name="b"/></Sequence>'
        '<Inverter name="not"><AlwaysSuccess name="yes"/></Inverter></Fallback>'
    )
    tree.tick_once()
    root, display = tree.root_node(), py_trees.display
    pictures = [
        display.ascii_tree(root, show_status=True),
        display.unicode_tree(root, show_status=True),
        display.xhtml_tree(root, show_status=True),
        display.dot_tree(root).to_string(),
    ]
    for picture in pictures:
        for name in ("choose", "try", "a", "b", "not", "yes"):
            assert re.search(rf"\b{name}\b", picture), (name, picture)
    assert pictures[0].count("[*]") == 3  # those that run


def test_visitors_of_py_trees_see_what_was_ticked():
    tree = Rig(A="S", B="RS").tree(
        '<Sequence name="s"><A name="a"/><B name="b"/><AlwaysSuccess name="c"/></Sequence>'
    )
    outside = py_trees.trees.BehaviourTree(tree.root_node())
    snapshot = py_trees.visitors.SnapshotVisitor()
    debug = py_trees.visitors.DebugVisitor()
    outside.visitors += [snapshot, debug]
    outside.tick()
    ids = {node.name(): node.id for node in tree.nodes()}
    assert snapshot.visited == {
        ids["a"]: Status.SUCCESS,
        ids["b"]: Status.RUNNING,
        ids["s"]: Status.RUNNING,
    }
    assert snapshot.changed
    outside.tick()
    assert set(snapshot.visited) == {ids["b"], ids["c"], ids["s"]}
    assert outside.root.status == Status.SUCCESS


def test_py_trees_interrupts_inner_behaviours():
    tree = doubling().create_tree_from_text(xml('<Doubler number="1"/>'))
    outside = py_trees.trees.BehaviourTree(tree.root_node())
    outside.setup(timeout=1)
    outside.tick()
    outside.root.stop(Status.INVALID)
    assert tree.root_node().behaviour.log == ["setup", "initialise", "terminate INVALID"]


def test_mistakes_in_the_registration_are_named():
    factory = BehaviorTreeFactory()
    with pytest.raises(LogicError, match="each node needs its own"):
        factory.register_py_trees_behaviour("A", py_trees.behaviours.Success("a"))  # type: ignore
    shared = py_trees.behaviours.Success("a")
    factory.register_py_trees_behaviour("Shared", lambda: shared)
    factory.register_py_trees_behaviour("Wrong", lambda name: 5)  # type: ignore
    with pytest.raises(LoadError) as caught:
        factory.create_tree_from_text(xml("<Sequence><Shared/><Shared/><Wrong/></Sequence>"))
    assert "has a parent" in str(caught.value)
    assert "no Behaviour" in str(caught.value)


def test_invalid_result_is_an_error():
    class Silent(py_trees.behaviour.Behaviour):
        def update(self) -> Status:
            return Status.INVALID

    factory = BehaviorTreeFactory()
    factory.register_py_trees_behaviour("Silent", Silent)
    tree = factory.create_tree_from_text(xml("<Silent/>"))
    with pytest.raises(NodeExecutionError, match="returned INVALID"):
        tree.tick_once()


def test_our_tree_inside_a_sequence_with_memory_of_py_trees():
    tree = Rig(A="RS").tree('<Sequence><A name="a"/></Sequence>')
    root = py_trees.composites.Sequence("outer", memory=True)
    root.add_children([py_trees.behaviours.Success("first"), tree.root_node()])
    outside = py_trees.trees.BehaviourTree(root)
    outside.setup(timeout=1)
    outside.tick()
    assert root.status == Status.RUNNING
    assert py_trees.display.ascii_tree(root, show_status=True).count("[*]") == 3
    outside.tick()
    assert root.status == Status.SUCCESS


# -- typed ports, py_trees 2.5 on -----------------------------------------------------------------


@pytest.fixture
def typed():
    ports = pytest.importorskip("py_trees.ports")

    def port(data_type: type, **options: Any) -> Any:
        default = options.pop("default_value", None)
        info = ports.PortInformation(data_type=data_type, required=default is None, **options)
        if hasattr(info, "has_default"):  # py_trees 2.6
            return dataclasses.replace(info, default_value=default)
        return info

    class Scale(ports.PortsMixin, py_trees.behaviour.Behaviour, register=False):
        INPUT_PORTS = {"value": port(float), "factor": port(float, default_value=3.0)}
        OUTPUT_PORTS = {
            "scaled": port(float, description="product"),
            "unit": port(str, default_value="m"),
        }

        @classmethod
        def input_ports(cls) -> dict[str, Any]:
            return cls.INPUT_PORTS

        @classmethod
        def output_ports(cls) -> dict[str, Any]:
            return cls.OUTPUT_PORTS

        def update(self) -> Status:
            factor = self.get_input("factor", 3.0)
            self._set_output("scaled", self.get_input("value") * factor)
            return Status.SUCCESS

    factory = BehaviorTreeFactory()
    factory.register_py_trees_behaviour("Scale", Scale)
    return factory


def test_typed_ports_become_ports(typed):
    ports = typed.manifests()["Scale"].ports
    assert list(ports) == ["value", "factor", "scaled", "unit"]
    assert ports["value"].required
    assert not ports["factor"].required
    assert ports["scaled"].description == "product"
    with pytest.raises(LoadError, match="Missing mandatory port"):
        typed.create_tree_from_text(xml("<Scale/>"))


def test_typed_ports_of_two_nodes_are_apart(typed):
    tree = typed.create_tree_from_text(
        xml(
            '<Sequence><Scale value="2" scaled="{x}" unit="{u}"/>'
            '<Scale value="{x}" factor="0.5" scaled="{y}"/></Sequence>'
        )
    )
    assert tree.tick_once() is SUCCESS
    board = tree.root_blackboard()
    assert (board.get("x"), board.get("y")) == (6.0, 3.0)
    assert board.get("u", None) == (
        "m" if typed.manifests()["Scale"].ports["factor"].default else None
    )
    assert tree.tick_once() is SUCCESS


def test_a_behaviour_whose_setup_failed_is_set_up_again():
    class Late(Doubler):
        def setup(self, **kwargs: Any) -> None:
            super().setup(**kwargs)
            if self.log == ["setup"]:
                raise RuntimeError("no server yet")

    factory = BehaviorTreeFactory()
    factory.register_py_trees_behaviour("Late", Late)
    tree = factory.create_tree_from_text(xml("<Late/>"))
    with pytest.raises(NodeExecutionError, match="no server yet"):
        tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert tree.root_node().behaviour.log == ["setup", "setup", "initialise"]
