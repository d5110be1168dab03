# SPDX-License-Identifier: Apache-2.0
"""Entries, remapping, the root blackboard, time stamps: the scenarios of gtest_blackboard.cpp."""

import time
from functools import partial

import pytest
from port_kit import Point, copier, keeper, point_type
from scenario_kit import document, subtree

from behavior_tree import (
    BidirectionalPort,
    Blackboard,
    BlackboardError,
    InputPort,
    NodeConfig,
    NodeExecutionError,
    NodeStatus,
    OutputPort,
    SyncActionNode,
    ports_list,
)
from behavior_tree.kernel.saving import restore_tree, save_tree

covers = partial(pytest.mark.upstream, "gtest_blackboard.cpp")


class Doubler(SyncActionNode):
    @classmethod
    def provided_ports(cls):
        return ports_list(InputPort("given", int), OutputPort("result", int))

    def tick(self):
        if not self.set_output("result", self.get_input("given") * 2):
            raise RuntimeError("the result goes nowhere")
        return NodeStatus.SUCCESS


def doubler(board, given=None, result=None):
    """A node used without a tree."""
    inputs = {} if given is None else {"given": given}
    outputs = {} if result is None else {"result": result}
    return Doubler("d", NodeConfig(blackboard=board, input_ports=inputs, output_ports=outputs))


@pytest.mark.parametrize(
    ("given", "result", "read", "written"),
    [
        pytest.param(
            *("{given}", "{result}", "given", "result"),
            marks=covers("BlackboardTest.GetInputsFromBlackboard"),
        ),
        pytest.param(*("{a}", "{b}", "a", "b"), marks=covers("BlackboardTest.BasicRemapping")),
        pytest.param(
            *("13", "{=}", "unused", "result"), marks=covers("BlackboardTest.GetInputsFromText")
        ),
    ],
)
def test_node_alone_reads_and_writes(given, result, read, written):
    board = Blackboard.create()
    board.set(read, 13)
    assert doubler(board, given, result).execute_tick() is NodeStatus.SUCCESS
    assert board.get(written) == 26


@covers("BlackboardTest.GetInputsFromText", "BlackboardTest.NullOutputRemapping")
@pytest.mark.parametrize("result", [None, ""])
def test_output_that_goes_nowhere(result):
    with pytest.raises(NodeExecutionError):
        doubler(Blackboard.create(), "13", result).execute_tick()


@pytest.fixture
def doubling(ours):
    ours.factory.register_node_type(Doubler, "Doubler")
    return ours


@covers("BlackboardTest.SetOutputFromText")
def test_script_writes_into_an_output(doubling):
    doubling.load('<Sequence><Doubler given="13" result="{v}"/><Script code="v = -8"/></Sequence>')
    assert doubling.run() == "S"
    assert doubling.board.get("v") == -8


@covers("BlackboardTest.WithFactory")
def test_entry_is_input_and_output(doubling):
    board = Blackboard.create()
    body = (
        '<Sequence><Doubler given="13" result="{a}"/><Doubler given="{a}" result="{a}"/>'
        '<Doubler given="{a}" result="{b}"/></Sequence>'
    )
    assert doubling.load_xml(document(body), board).run() == "S"
    assert (board.get("a"), board.get("b")) == (52, 104)


@covers("BlackboardTest.TypoInPortName")
def test_misspelt_port(doubling):
    assert "[givven]" in doubling.refuses('<Doubler givven="{v}"/>')


@covers("BlackboardTest.MoveVsCopy")
def test_values_are_kept_not_copied():
    board, value = Blackboard.create(), ["shared"]
    board.set("k", value)
    assert board.get("k") is value


@covers("BlackboardTest.SetStringView")
def test_text_is_set_again():
    board = Blackboard.create()
    for text in ("one", "one", "two"):
        board.set("k", text)
    assert board.get_stamped("k")[:2] == ("two", 3)


@covers("ParserTest.Issue605_whitespaces")
def test_spaces_around_a_pointer(stage):
    stage.load(
        '<Sequence><Script code="outer := true"/><SubTree ID="T" inner="{outer}  "/></Sequence>',
        subtree("T", '<Script code="inner := false"/>'),
    )
    assert stage.run() == "S"
    assert stage.truth("outer") is False


@covers("BlackboardTest.IssueSetBlackboard")
def test_set_blackboard_feeds_an_integer_input(ours):
    kept = keeper(ours, int)
    ours.load(
        '<Sequence><SetBlackboard value="42" output_key="v"/>'
        '<SubTree ID="T" v="{v}  "/></Sequence>',
        subtree("T", '<Keep value="{v}"/>'),
    )
    assert ours.run() == "S"
    assert kept == [42]
    assert ours.board.get_int("v") == 42


@covers("BlackboardTest.SetBlackboard_Issue725")
def test_set_blackboard_copies_a_value_of_any_class(ours):
    ours.load('<SetBlackboard value="{a}" output_key="b"/>')
    ours.board.set("a", Point(2, 7))
    assert ours.run() == "S"
    assert ours.board.get("b") == Point(2, 7)


@covers("BlackboardTest.BlackboardBackup")
def test_entries_are_saved_and_restored(ours):
    ours.load(
        """<Sequence><Script code="mine := true; word := 'hi'"/>"""
        """<SubTree ID="T" given="1" message="{word}" _autoremap="true"/></Sequence>""",
        subtree(
            "T",
            '<Sequence><Script code="seen := given"/><Script code="mine = false"/></Sequence>',
        ),
    )

    def values():
        boards = [each.blackboard for each in ours.tree.subtrees]
        return [{k: v for k, v in board.items() if v is not None} for board in boards]

    before, saved = values(), save_tree(ours.tree)
    assert ours.run() == "S"
    assert values() != before
    restore_tree(ours.tree, saved)
    assert values() == before
    assert ours.run() == "S"


@covers("BlackboardTest.RootBlackboard")
def test_root_is_reached_from_everywhere(doubling):
    doubling.load(
        """<Sequence><Script code="msg := 'hello'"/><SubTree ID="A"/><Script code="@v5 := 0"/>"""
        """<SubTree ID="C"/><Script code="v1 := 1"/><Script code="@v2 := 2"/></Sequence>""",
        subtree("A", '<Sequence><SubTree ID="B"/><Script code="@v3 := 3"/></Sequence>')
        + subtree(
            "B",
            """<Sequence><ScriptCondition code="@msg == 'hello'"/><Script code="@v4 := 4"/>"""
            """</Sequence>""",
        )
        + subtree("C", '<Doubler given="2" result="{@v5}"/>'),
    )
    assert doubling.run() == "S"
    assert [doubling.number(f"v{n}") for n in (1, 2, 3, 4, 5)] == [1, 2, 3, 4, 4]


@covers("BlackboardTest.TimestampedInterface")
def test_writes_are_counted_and_stamped():
    board = Blackboard.create()
    with pytest.raises(BlackboardError):
        board.get_stamped("k")
    for count, number in enumerate((42, 69), 1):
        before = time.monotonic()
        board.set("k", number)
        value, written, stamp = board.get_stamped("k")
        assert (value, written) == (number, count)
        assert before <= stamp <= time.monotonic()


@covers("BlackboardTest.SetBlackboard_Upd_Ts_SeqId")
def test_set_blackboard_counts_as_a_write(ours):
    ours.load(
        '<Sequence><Script code="v := a"/><Sleep msec="5"/>'
        '<SetBlackboard value="{b}" output_key="v"/></Sequence>'
    )
    ours.board.set("a", Point(2, 2))
    ours.board.set("b", Point(3, 3))
    assert ours.tick() == "R"
    _, first_count, first_stamp = ours.board.get_stamped("v")
    ours.wait(10)
    assert ours.tick() == "S"
    value, count, stamp = ours.board.get_stamped("v")
    assert value == Point(3, 3)
    assert count > first_count
    assert stamp > first_stamp


@covers("BlackboardTest.SetBlackboard_WithPortRemapping")
def test_texts_of_set_blackboard_take_the_type_of_the_entry(ours):
    copier(point_type(ours), "Move", Point, lambda point: Point(point.x + 1, point.y + 2))
    ours.load(
        '<Sequence><SetBlackboard output_key="pos" value="0;0"/><Repeat num_cycles="3"><Sequence>'
        '<Move input="{pos}" output="{pos}"/><SubTree ID="T" _autoremap="true" new="2.2;2.4"/>'
        '<Sleep msec="20"/><SetBlackboard output_key="pos" value="22;22"/></Sequence></Repeat>'
        "</Sequence>",
        subtree(
            "T",
            '<Sequence><SetBlackboard output_key="pos" value="3;5"/>'
            '<SetBlackboard output_key="pos" value="{new}"/></Sequence>',
        ),
    )
    assert ours.tick() == "R"
    assert ours.board.get_as("pos", Point) == Point(2.2, 2.4)
    assert ours.run() == "S"
    assert ours.board.get("pos") == Point(22, 22)


@covers("BlackboardTest.DebugMessageShowsRemappedEntries_Issue408")
def test_text_for_people_shows_remapped_entries():
    parent = Blackboard.create()
    parent.set("outer", 42)
    child = Blackboard.create(parent)
    child.add_subtree_remapping("inner", "outer")
    child.set("own", "hello")
    assert child.debug_message().splitlines() == [
        "own (BT::AnyTypeAllowed, 1 writes): 'hello'",
        "inner (int) -> outer of the parent",
    ]


@covers("BlackboardTest.GetLockedPortContentWithDefault_Issue942")
def test_default_pointer_is_written(ours):
    def write(node):
        assert node.set_output("value", 42)
        return NodeStatus.SUCCESS

    ours.factory.register_simple_action("Write", write, [BidirectionalPort("value", int, "{=}")])
    assert ours.load("<Write/>").run() == "S"
    assert ours.board.get("value") == 42
