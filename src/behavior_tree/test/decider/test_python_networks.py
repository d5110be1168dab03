# SPDX-License-Identifier: Apache-2.0
"""Networks written in Python, and the XML that they become."""

import pytest
from decider_kit import RUNNING, SUCCESS
from tree_kit import Clock

from behavior_tree import BehaviorTreeFactory, LogicError, NodeTypeTakenError, StatefulActionNode
from behavior_tree.decider import (
    Action,
    Decider,
    Decision,
    Network,
    action,
    atomic,
    call,
    case,
    decider,
    lock,
    node,
    rd,
    repeat,
    rlds,
    run_for,
    sequence,
    state,
    state_machine,
    wait,
    write_context,
)


class Table:
    """What is known of a table with a block."""

    def __init__(self):
        self.near = self.held = False
        self.log = []

    def look(self):
        self.log.append("look")

    def reset(self):
        self.log.append("reset")


class Dispatch(Decider):
    """Picks until it holds the block, then places it."""

    def decide(self):
        return "place" if self.context.held else Decision("pick", "red")


class Reach(Action):
    """Says where it goes."""

    def step(self):
        self.context.log.append(f"reach {self.params}")


def pick_and_place(table, **arguments):
    picking = rlds(
        "picking",
        rd("reach", node(Reach)),
        rd("grasp", atomic(call("Grasp", grasp)), runnable=lambda table: table.near),
    )
    place = node(Dispatch, case("pick", picking), case("place", node(Reach)))
    return Network("Table", place, context=table, monitors=[Table.look], **arguments)


def grasp(table):
    table.held = True
    table.log.append("grasp")


def test_classes_and_functions_share_the_context():
    table = Table()
    network = pick_and_place(table)
    tree = network.tree(BehaviorTreeFactory(Clock()))
    tree.tick_exactly_once()
    table.near = True
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert table.log == ["look", "reach red", "look", "grasp", "look", "reach None"]
    network.reset(tree)
    assert table.log[-1] == "reset"


def test_its_xml_loads_where_it_is_registered_and_is_the_same():
    network, table = pick_and_place(Table()), Table()
    factory = BehaviorTreeFactory()
    pick_and_place(table).register_nodes(factory)
    tree = factory.create_tree_from_text(network.xml())
    tree.tick_exactly_once()
    assert table.log == ["look", "reach red"]
    assert network.xml() == pick_and_place(Table()).xml()


def test_its_xml_names_every_part_and_describes_its_types():
    assert (
        pick_and_place(None)
        .xml()
        .startswith(
            """<root BTCPP_format="4" main_tree_to_execute="Table">
    <BehaviorTree ID="Table">
        <Monitors>
            <TableLook name="look"/>
            <Dispatch>
                <Case name="pick">
                    <RLDS name="picking">
                        <Rd name="reach">
                            <Reach/>
                        </Rd>
                        <TableRdGrasp name="grasp">
                            <Atomic>
                                <TableGrasp name="Grasp"/>
                            </Atomic>
                        </TableRdGrasp>
                    </RLDS>
                </Case>
                <Case name="place">
                    <Reach/>
                </Case>
            </Dispatch>
        </Monitors>
    </BehaviorTree>
    <TreeNodesModel>
        <Decorator ID="Atomic">"""
        )
    )
    assert '<Metadata description="Says where it goes."/>' in pick_and_place(None).xml()


def test_all_parts_become_elements():
    parts = decider(
        "d",
        case(
            "a",
            sequence(
                lock(True, of="a"),
                run_for(0.5, wait(2)),
                write_context("k", 3),
                lock(False, of="a"),
                name="s",
            ),
            when="n < 3 && k == 'x'",
            exit="n := 1",
        ),
        case("b", repeat(state_machine("m", state("x", wait(1), next="x"), on_done="idle"))),
        on_done="restart",
    )
    lines = [line.strip() for line in Network("Net", parts).xml().splitlines()]
    assert '<Decider name="d" on_done="restart">' in lines
    assert '<Case name="a" exit="n := 1" if="n &lt; 3 &amp;&amp; k == \'x\'">' in lines
    assert '<Lock set="true" node="a"/>' in lines
    assert '<RunFor msec="500">' in lines
    assert '<Sleep msec="2000"/>' in lines
    assert '<WriteContext key="k" value="3"/>' in lines
    assert '<Repeat num_cycles="-1">' in lines
    assert '<State name="x" next="x">' in lines


def test_a_function_decides():
    seen = []
    root = decider(
        "d",
        case("a", action("A", seen.append, enter=lambda c: seen.append("in"))),
        case("b", action("B", lambda c: SUCCESS, exit=lambda c: seen.append("out"))),
        decide=lambda choice: choice[0],
        on_done="idle",
    )
    choice = ["a"]
    tree = Network("Net", root, context=choice).tree()
    assert tree.tick_exactly_once() is RUNNING
    choice[0] = Decision("b")
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert seen == ["in", choice, "out"]
    choice[0] = "c"
    with pytest.raises(RuntimeError, match="there is no Case 'c': choose one of 'a', 'b'"):
        tree.tick_exactly_once()


def test_the_same_part_at_two_places_is_one_type():
    shared = node(Reach, name="shared")
    network = Network("Net", decider("d", case("a", shared, when="n"), case("b", shared)))
    assert network.xml().count('<Action ID="Reach">') == 1
    network.tree()


def test_two_types_of_one_name_are_told_apart():
    first, second = (action("go", lambda c, n=n: c.append(n)) for n in (1, 2))
    seen = []
    root = sequence(first, second)
    xml = Network("Net", root, context=seen).xml()
    assert "<NetGo " in xml
    assert "<NetGo2 " in xml


def test_a_network_has_a_name_of_its_own():
    factory = BehaviorTreeFactory()
    Network("Net", wait(1)).register(factory)
    with pytest.raises(LogicError, match="there is a tree 'Net' already"):
        Network("Net", wait(1)).register(factory)
    with pytest.raises(LogicError, match="forbidden character"):
        Network("a net", wait(1))
    for name in ("One", "Two"):  # functions have no name to share
        Network(name, action("go", lambda context: None)).register(factory)
    Network("Reaching", node(Reach)).register(factory)
    with pytest.raises(NodeTypeTakenError, match=r"\[Reach\]"):
        Network("Other", node(Reach)).register(factory)


def test_a_node_that_knows_no_context_takes_part():
    class Plain(StatefulActionNode):
        def on_start(self):
            return SUCCESS

    assert Network("Net", sequence(node(Plain))).tree().tick_exactly_once() is SUCCESS


def test_mistakes_are_found_at_the_registration():
    with pytest.raises(RuntimeError, match="a Decider has <Sleep> as a child"):
        Network("Net", decider("d", wait(1))).tree()
    with pytest.raises(RuntimeError, match="nobody releases this lock of 'a'"):
        Network("Net", decider("d", case("a", lock(True)))).tree()


def test_the_reference_in_one_word_is_in_all_its_parts():
    xml = Network("Net", decider("d", case("a", rlds("r", rd("x", lock(False))))), compat="cortex")
    assert xml.xml().count('compat="cortex"') == 3
