# SPDX-License-Identifier: Apache-2.0
"""Entries, types, remapping; ports that read and write them."""

import enum
from dataclasses import dataclass
from typing import Any

import pytest
from tree_kit import xml

from behavior_tree import (
    BehaviorTreeFactory,
    BidirectionalPort,
    Blackboard,
    BlackboardError,
    ConversionError,
    InputPort,
    LoadError,
    LogicError,
    NodeExecutionError,
    NodeStatus,
    OutputPort,
    PortError,
    SyncActionNode,
    TypeRegistry,
    Unsigned,
    ports_list,
)


def test_typed_accessors_convert_without_loss():
    board = Blackboard.create()
    board.set_int("i", 3)
    board.set_double("d", 2.0)
    board.set_string("s", "7")
    board.set_bool("b", True)
    assert (board.get_int("i"), board.get_double("i"), board.get_string("i")) == (3, 3.0, "3")
    assert (board.get_int("d"), board.get_string("d")) == (2, "2.000000")
    assert (board.get_int("s"), board.get_double("s")) == (7, 7.0)
    assert (board.get_bool("b"), board.get_int("b"), board.get_string("b")) == (True, 1, "1")
    assert board.get_keys() == ["i", "d", "s", "b"]


@pytest.mark.parametrize(
    ("value", "getter"), [(2, "bool"), (1.5, "int"), ("x", "int"), ([1], "double")]
)
def test_lossy_reads_raise(value, getter):
    board = Blackboard()
    board.set("k", value)
    with pytest.raises((BlackboardError, ConversionError)):
        getattr(board, f"get_{getter}")("k")


def test_missing_keys_name_the_known_ones():
    board = Blackboard()
    board.set("speed", 1)
    with pytest.raises(BlackboardError, match=r"\[sped\].*speed"):
        board.get("sped")
    assert board.get("sped", 5) == 5


@pytest.mark.parametrize(
    ("first", "then", "stored"),
    [(1, 2.0, 2), (1.0, 2, 2.0), (1, "5", 5), (True, 1, True), ("a", "b", "b"), ([1], [2], [2])],
)
def test_a_typed_entry_takes_what_fits(first, then, stored):
    board = Blackboard()
    board.set("k", first)
    board.set("k", then)
    assert board.get("k") == stored
    assert type(board.get("k")) is type(stored)


@pytest.mark.parametrize(
    ("first", "then"), [(1, 1.5), (1, [1]), (1.0, [1]), (True, 2), ([1], 3), (1, "x")]
)
def test_a_typed_entry_refuses_what_does_not(first, then):
    board = Blackboard()
    board.set("k", first)
    with pytest.raises((LogicError, ConversionError)):
        board.set("k", then)
    assert board.get("k") == first


def test_texts_leave_a_new_entry_untyped():
    board = Blackboard()
    board.set("k", "text")
    board.set("k", 3)
    assert board.get("k") == 3


def test_each_write_counts():
    board = Blackboard()
    board.set("k", 1)
    board.set("k", 1)
    assert board.entry("k").seq == 2


def test_unset_is_local():
    root = Blackboard()
    child = Blackboard(root)
    child.add_subtree_remapping("k", "outer")
    child.set("k", 1)
    child.unset("k")
    assert root.get("outer") == 1


def test_remapping_autoremap_private_and_root():
    root = Blackboard()
    middle = Blackboard(root)
    leaf = Blackboard(middle)
    middle.enable_autoremapping()
    leaf.add_subtree_remapping("inner", "outer")
    leaf.set("inner", 1)
    leaf.set("own", 2)
    middle.set("_private", 3)
    leaf.set("@top", 4)
    assert list(root.items()) == [("outer", 1), ("top", 4)]
    assert list(middle.items()) == [("_private", 3)]
    assert list(leaf.items()) == [("own", 2)]
    assert leaf.get("@outer") == 1
    assert leaf.get("inner") == 1
    with pytest.raises(LogicError, match="single '@'"):
        leaf.get("@@top")


def test_writing_through_a_remap_keeps_the_type_rules():
    root = Blackboard()
    root.set("n", 1)
    child = Blackboard(root)
    child.add_subtree_remapping("m", "n")
    child.set("m", 2.0)
    assert root.get("n") == 2
    with pytest.raises(LogicError):
        child.set("m", 2.5)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12", int, 12),
        (" 12 ", int, 12),
        ("-3", int, -3),
        ("7", Unsigned, 7),
        ("1.5", float, 1.5),
        ("1e3", float, 1000.0),
        ("-inf", float, float("-inf")),
        ("TRUE", bool, True),
        ("0", bool, False),
        ("a b", str, "a b"),
        ("1;2;3", list[int], [1, 2, 3]),
        ("1;2;", list[int], [1, 2]),
        ("", list[float], []),
        ("a;b", list[str], ["a", "b"]),
        ("true;0", list[bool], [True, False]),
        ("json:[1, 2]", list[float], [1.0, 2.0]),
        ("SUCCESS", NodeStatus, NodeStatus.SUCCESS),
        ("BLUE", Color, Color.BLUE),
        ("2", Color, Color.BLUE),
        ('{"a": 1}', dict, {"a": 1}),
        ("3", int | None, 3),
        ("x", int | str, "x"),
        ("anything", Any, "anything"),
    ],
)
def test_text_to_type(text, kind, value):
    got = TypeRegistry().from_text(text, kind)
    assert got == value
    assert kind is Any or type(got) is type(value) or kind is Unsigned


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12abc", int),
        ("1.5", int),
        ("", int),
        ("-1", Unsigned),
        ("x", float),
        ("yes", bool),
        ("tRUE", bool),
        ("1;x", list[int]),
        ("success", NodeStatus),
        ("GREEN", Color),
        ("9", Color),
        ("[", dict),
        ("99999999999999999999", int),
        ("x", object),
        ("+1", int),
        ("1e999", float),
        ("-1e999", float),
    ],
)
def test_text_that_does_not_convert(text, kind):
    with pytest.raises(ConversionError):
        TypeRegistry().from_text(text, kind)


def test_infinity_is_said_in_words():
    assert TypeRegistry().from_text("-Infinity", float) == float("-inf")


@pytest.mark.parametrize("number", [1.7, float("inf"), float("nan")])
def test_a_number_that_no_member_of_an_enumeration_has_is_refused(number):
    assert TypeRegistry().cast(2.0, Color) is Color(2)
    with pytest.raises(ConversionError):
        TypeRegistry().cast(number, Color)


@pytest.mark.parametrize("json", ["[" * 100_000, '{"x": ' + "9" * 5000 + "}", '{"__type": []}'])
def test_json_that_cannot_be_read_is_a_conversion_error(json):
    types = TypeRegistry()
    types.json.register(Pose)
    with pytest.raises(ConversionError):
        types.from_text(f"json:{json}", Pose)


def test_lenient_numbers_as_in_4_8():
    lenient = TypeRegistry(exact=True)
    assert (lenient.from_text("12abc", int), lenient.from_text("1.5", int)) == (12, 1)
    with pytest.raises(ConversionError):
        lenient.from_text(" 1", int)


@dataclass
class Pose:
    x: float
    y: float


class Mover(SyncActionNode):
    """Copies its input to its output."""

    @classmethod
    def provided_ports(cls):
        return ports_list(
            InputPort("goal", Pose, description="where to"),
            InputPort("speed", float, 0.5),
            InputPort("note", str, None),
            OutputPort("reached", Pose),
            BidirectionalPort("count", int, None),
        )

    def tick(self):
        self.seen = (self.get_input("goal"), self.get_input("speed"), self.get_input("note", None))
        self.written = self.set_output("reached", self.seen[0])
        if self.raw_port("count"):
            self.set_output("count", self.get_input("count", 0) + 1)
        return NodeStatus.SUCCESS


def mover_tree(attributes, converter=None):
    factory = BehaviorTreeFactory()
    if converter is not None:
        factory.register_converter(Pose, converter)
    factory.register_node_type(Mover, "Mover")
    return factory.create_tree_from_text(xml(f"<Mover {attributes}/>"))


def to_pose(text):
    return Pose(*map(float, text.split(",")))


def test_objects_pass_through_typed_ports():
    tree = mover_tree('goal="{g}" reached="{r}" speed="2" count="{c}"')
    board = tree.root_blackboard()
    pose = Pose(1, 2)
    board.set("g", pose)
    tree.tick_once()
    tree.tick_once()
    assert tree.root_node().seen == (pose, 2.0, None)
    assert board.get("r") is pose
    assert board.get("c") == 2


def test_a_registered_converter_makes_objects_from_literals_and_from_texts():
    tree = mover_tree('goal="1,2"', to_pose)
    tree.tick_once()
    assert tree.root_node().seen == (Pose(1, 2), 0.5, None)
    assert tree.root_node().written is False
    tree = mover_tree('goal="{g}"', to_pose)
    tree.root_blackboard().create_entry("h")
    tree.root_blackboard().set("g", "3,4")
    tree.tick_once()
    assert tree.root_node().seen[0] == Pose(3, 4)


def test_a_literal_that_does_not_convert_is_found_at_load():
    with pytest.raises(LoadError, match=r"\[?goal") as caught:
        mover_tree('goal="1,x"', to_pose)
    assert "can not be converted" in str(caught.value)


def test_an_empty_entry_is_a_clear_error():
    tree = mover_tree('goal="{g}"')
    with pytest.raises(
        NodeExecutionError, match=r"reads blackboard key \[g\], which nobody has written"
    ):
        tree.tick_once()


def test_a_value_of_the_wrong_type_is_a_clear_error():
    tree = mover_tree('goal="{g}"')
    with pytest.raises(LogicError, match="type of a port shall not change"):
        tree.root_blackboard().set("g", 5)


def test_undeclared_ports_are_errors():
    tree = mover_tree('goal="{g}"')
    node = tree.root_node()
    with pytest.raises(PortError, match=r"declares no port \[gaol\]; its ports: goal, speed"):
        node.get_input("gaol")
    with pytest.raises(PortError, match="is an input"):
        node.set_output("speed", 1.0)


def test_accessors_of_the_binding():
    factory = BehaviorTreeFactory()
    seen = {}

    def work(node):
        seen.update(
            i=node.get_input_int("v"),
            d=node.get_input_double("v"),
            s=node.get_input_string("v"),
            none=node.get_input_int("w"),
            bad=node.get_input_bool("v"),
        )
        node.set_output_int("o", 3)
        return NodeStatus.SUCCESS

    ports = [InputPort("v"), InputPort("w", int, None), OutputPort("o", int)]
    factory.register_simple_action("Work", work, ports)
    tree = factory.create_tree_from_text(xml('<Work v="{v}" o="{=}"/>'))
    tree.root_blackboard().set("v", 7)
    tree.tick_once()
    assert seen == {"i": 7, "d": 7.0, "s": "7", "none": None, "bad": None}
    assert tree.root_blackboard().get("o") == 3


def test_mutable_literals_are_fresh_for_each_reader():
    factory = BehaviorTreeFactory()
    seen = []
    factory.register_simple_action(
        "Work",
        lambda n: seen.append(n.get_input("v")) or NodeStatus.SUCCESS,
        [InputPort("v", list[int])],
    )
    tree = factory.create_tree_from_text(xml('<Work v="1;2"/>'))
    tree.tick_once()
    seen[0].append(3)
    tree.tick_once()
    assert seen[1] == [1, 2]


def test_set_port_changes_a_live_node():
    tree = mover_tree('goal="1,2"', to_pose)
    tree.tick_once()
    tree.root_node().set_port("goal", "5,6")
    tree.tick_once()
    assert tree.root_node().seen[0] == Pose(5, 6)


@pytest.mark.parametrize("name", ["", "1x", "_x", "a b", "a.b", "name", "ID", "_skipIf"])
def test_bad_port_names(name):
    with pytest.raises(LogicError):
        InputPort(name, int)


def test_an_output_default_must_be_a_key():
    OutputPort("o", int, "{key}")
    with pytest.raises(LogicError, match="must be a blackboard key"):
        OutputPort("o", int, "3")


def test_ports_of_different_types_on_one_key_are_found_at_load():
    factory = BehaviorTreeFactory()
    factory.register_simple_action("Out", lambda n: NodeStatus.SUCCESS, [OutputPort("o", str)])
    factory.register_simple_action("In", lambda n: NodeStatus.SUCCESS, [InputPort("i", int)])
    factory.register_simple_action("Real", lambda n: NodeStatus.SUCCESS, [InputPort("i", float)])
    factory.create_tree_from_text(xml('<Sequence><Out o="{k}"/><In i="{k}"/></Sequence>'))
    with pytest.raises(LoadError, match=r"initially created with type \[int\]"):
        factory.create_tree_from_text(xml('<Sequence><In i="{k}"/><Real i="{k}"/></Sequence>'))


def test_stamps_count_writes_also_through_a_remapping():
    board = Blackboard.create()
    inner = Blackboard.create(board)
    inner.add_subtree_remapping("k", "x")
    with pytest.raises(BlackboardError):
        inner.get_stamped("k")
    board.set("x", 1)
    first = inner.get_stamped("k")
    inner.set("k", 1)
    second = board.get_stamped("x")
    assert first[:2] == (1, 1)
    assert second[:2] == (1, 2)
    assert second[2] >= first[2] > 0.0
