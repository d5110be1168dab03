# SPDX-License-Identifier: Apache-2.0
"""Blackboards as JSON and back; classes of the user in JSON and in ports."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_kit import Rig, xml

from behavior_tree import (
    BehaviorTreeFactory,
    Blackboard,
    BlackboardError,
    InputPort,
    LoadError,
    LogicError,
    NodeStatus,
    export_blackboard_to_json,
    export_tree_to_json,
    import_blackboard_from_json,
    import_tree_from_json,
    register_json_type,
    restore_tree,
    save_tree,
)


@dataclass
class Point:
    x: float
    y: float


@dataclass
class Path:
    points: list[Point] = field(default_factory=list)
    label: str = ""


class Opaque:
    pass


register_json_type(Point)
register_json_type(Path, name="test.Path")


def there_and_back(board: Blackboard) -> Blackboard:
    again = Blackboard.create()
    import_blackboard_from_json(json.loads(json.dumps(export_blackboard_to_json(board))), again)
    return again


def test_values_with_a_json_form():
    board = Blackboard.create()
    values = {
        "i": 3,
        "d": 2.0,
        "b": True,
        "s": "text",
        "l": [1, 2.5, "x"],
        "m": {"k": [True, None]},
        "p": Point(1, 2),
        "path": Path([Point(0, 1)], "home"),
    }
    for key, value in values.items():
        board.set(key, value)
    board.create_entry("empty", int)
    board.set("object", Opaque())
    board.set("nan", float("nan"))
    exported = export_blackboard_to_json(board)
    assert exported["p"] == {"__type": "Point", "x": 1, "y": 2}
    assert exported["path"]["points"] == [{"__type": "Point", "x": 0, "y": 1}]
    assert [exported[key] for key in ("empty", "object", "nan")] == [None] * 3
    again = there_and_back(board)
    assert {key: again.get(key) for key in values} == values
    assert all(type(again.get(key)) is type(value) for key, value in values.items())
    assert again.get("empty", "none") == "none"


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(st.text(), plain))
def test_plain_values_survive(values):
    board = Blackboard.create()
    for key, value in values.items():
        if key.startswith("@"):
            continue
        board.set(key, value)
    assert dict(there_and_back(board).items()) == dict(board.items())


def test_import_obeys_the_types_of_entries_or_changes_nothing():
    board = Blackboard.create()
    board.create_entry("speed", float)
    board.create_entry("queue", deque)
    board.set("n", 5)
    with pytest.raises(BlackboardError) as caught:
        import_blackboard_from_json({"speed": "fast", "n": 1.5, "queue": [1]}, board)
    assert "[speed]" in str(caught.value)
    assert "[n]" in str(caught.value)
    assert dict(board.items()) == {"speed": None, "queue": None, "n": 5}
    with pytest.raises(BlackboardError, match='JSON type "Nope" is unknown'):
        import_blackboard_from_json({"p": {"__type": "Nope"}}, board)
    with pytest.raises(BlackboardError, match="is the name of a JSON type"):
        import_blackboard_from_json({"p": {"__type": []}}, board)
    with pytest.raises(BlackboardError, match="is no Point"):
        import_blackboard_from_json({"p": {"__type": "Point", "z": 1}}, board)
    import_blackboard_from_json({"speed": 1, "n": 2.0, "queue": [1, 2]}, board)
    assert dict(board.items()) == {"speed": 1.0, "queue": deque([1, 2]), "n": 2}
    import_blackboard_from_json({"n": None}, board)
    assert "n" not in board
    import_blackboard_from_json(None, board)


TWO = (
    '<Sequence><SubTree ID="Z" name="zebra"/><SubTree ID="A" name="ape" v="{k}"/></Sequence>',
    '<BehaviorTree ID="Z"><Script code="v := 1"/></BehaviorTree>'
    '<BehaviorTree ID="A"><Script code="v := 2; w := 3"/></BehaviorTree>',
)


def test_trees_are_matched_by_name():
    rig = Rig()
    tree = rig.tree(*TWO)
    tree.tick_once()
    exported = json.loads(json.dumps(export_tree_to_json(tree)))
    assert exported == {"Main": {"k": 2}, "zebra": {"v": 1}, "ape": {"w": 3}}
    again = rig.tree(*TWO)
    import_tree_from_json(exported, again)
    assert export_tree_to_json(again) == exported
    with pytest.raises(BlackboardError, match=r"missing: \['ape'\], unknown: \['apes'\]"):
        import_tree_from_json({"Main": None, "zebra": None, "apes": {}}, again)
    with pytest.raises(BlackboardError, match=r"zebra: \[v\]"):
        import_tree_from_json({"Main": {"k": 7}, "zebra": {"v": 1.5}, "ape": None}, again)
    assert again.root_blackboard().get("k") == 2


def test_as_upstream_the_contents_are_paired_by_position():
    rig = Rig("4.8")
    tree = rig.tree(*TWO)
    tree.tick_once()
    again = rig.tree(*TWO)
    import_tree_from_json(export_tree_to_json(tree), again)  # sorted: Main, ape, zebra
    assert dict(again.subtrees[1].blackboard.items()) == {"w": 3}
    assert again.root_blackboard().get("k") == 1  # v of the other one


def test_a_subtree_named_like_the_main_tree_is_refused():
    tree = Rig().tree('<SubTree ID="A" name="Main"/>', TWO[1])
    with pytest.raises(BlackboardError, match="called 'Main' like the main tree"):
        export_tree_to_json(tree)


def test_json_in_ports():
    factory = BehaviorTreeFactory()
    seen = []
    factory.register_simple_action(
        "Go", lambda node: seen.append(node.get_input("to")) or NodeStatus.SUCCESS,
        [InputPort("to", Point)],
    )  # fmt: skip
    tree = factory.create_tree_from_text(xml('<Go to=\'json:{"x": 1, "y": 2.5}\'/>'))
    tree.tick_once()
    assert seen == [Point(1, 2.5)]
    with pytest.raises(LoadError, match="is no Point"):
        factory.create_tree_from_text(xml("<Go to='json:{\"x\": 1}'/>"))
    with pytest.raises(LoadError, match="not JSON"):
        factory.create_tree_from_text(xml("<Go to='json:{'/>"))


def test_functions_and_mistakes_of_a_registration():
    factory = BehaviorTreeFactory()
    types = factory.types.json
    with pytest.raises(LogicError, match="no dataclass"):
        types.register(Opaque)
    types.register(Opaque, lambda value: {"n": 1}, lambda fields: Opaque())
    assert types.to_json(Opaque()) == {"__type": "Opaque", "n": 1}
    assert isinstance(types.from_json({"__type": "Opaque"}), Opaque)
    with pytest.raises(LogicError, match='"Opaque" is taken'):
        types.register(Path, name="Opaque")
    assert not BehaviorTreeFactory().types.json.knows(Opaque)


def test_registered_classes_are_saved_with_a_tree():
    rig = Rig()
    tree = rig.tree("<AlwaysSuccess/>")
    tree.root_blackboard().set("p", Point(3, 4))
    saved = json.loads(json.dumps(save_tree(tree)))
    again = rig.tree("<AlwaysSuccess/>")
    restore_tree(again, saved)
    assert again.root_blackboard().get("p") == Point(3, 4)
