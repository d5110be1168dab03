# SPDX-License-Identifier: Apache-2.0
"""Random edits of several editors over a network that loses, doubles and reorders."""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sharing_kit import Shared, document, fresh, shape

from behavior_tree.sharing import Code, Running, SharedTree
from behavior_tree.sharing.remote import RemoteEditor

pytestmark = pytest.mark.slow

EXAMPLES = settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
EDITORS = ("ann", "bob", "cyd")
FRAGMENTS = (
    "<Work name='w' ticks='1'/>",
    "<Sequence><Work/><Work name='left'/></Sequence>",
    "<SubTree ID='Lib' n='1'/>",
    "<Inverter><Work ticks='{count}'/></Inverter>",
    "<BehaviorTree ID='More'><Work/></BehaviorTree>",
    "<Inverter/>",  # these are wrong
    "<Work ticks='many'/>",
    "<SubTree ID='None'/>",
    "<Work",
)
OPS = (
    *("insert", "insert", "insert", "remove", "move", "move", "replace", "set", "set", "set"),
    *("name", "condition", "rename", "duplicate", "extract", "inline", "mirror", "undo", "undo"),
    *("redo", "several", "refresh", "save"),
)
PICK = st.integers(0, 10**6)
COMMAND = st.tuples(
    st.sampled_from(EDITORS), st.sampled_from(OPS), PICK, PICK, st.sampled_from(list(Running))
)
LUCK = st.sampled_from(("", "", "", "lost", "twice", "late", "answer lost"))


def operation(op, one, two, known):
    """An operation on nodes that an editor knows, however long ago that was."""
    nodes = sorted(known, key=lambda each: int(each[1:])) or ["n1"]
    node, other = nodes[one % len(nodes)], nodes[two % len(nodes)]
    xml = FRAGMENTS[two % len(FRAGMENTS)]
    inside = known.get(other, {"children": []})["children"]
    before = inside[one % len(inside)] if inside and one % 3 else ""
    return {
        "insert": {"op": "insert", "parent": node, "xml": xml, "before": ""},
        "remove": {"op": "remove", "node": node},
        "move": {"op": "move", "node": node, "parent": other, "before": before},
        "replace": {"op": "replace", "node": node, "xml": xml},
        "set": {"op": "set", "node": node, "attributes": {"ticks": str(two % 4)}},
        "name": {"op": "set", "node": node, "attributes": {"name": f"name {two % 5}"}},
        "condition": {"op": "set", "node": node, "attributes": {"_skipIf": "count == 1"}},
        "rename": {"op": "rename", "node": node, "name": f"name{two % 5}"},
        "duplicate": {"op": "duplicate", "node": node},
        "extract": {"op": "extract", "node": node, "name": f"Tree{two % 3}"},
        "several": {
            "op": "several",
            "steps": [
                {"op": "insert", "parent": other, "xml": FRAGMENTS[one % 3]},
                {"op": "remove", "node": node},
            ],
        },
    }.get(op, {"op": op, "node": node} if op in ("inline", "mirror") else {"op": op})


def consistent(shared):
    """The files load, and the tree that ticks is what they say."""
    assert shape(shared.live) == shape(fresh(shared))
    for node in shared.live.nodes():
        spot = shared.tree.state.spots[shared.tree.live.identifier(node)]
        assert node.config().element is spot.element


@EXAMPLES
@given(st.lists(st.tuples(COMMAND, LUCK, LUCK, st.integers(0, 2)), min_size=1, max_size=25))
def test_all_come_to_the_same_tree_and_it_always_loads(commands):
    with tempfile.TemporaryDirectory() as folder:
        shared = Shared(Path(folder))
        tree = shared.tree
        editors = {name: RemoteEditor(name) for name in EDITORS}
        for each in editors.values():
            each.catch_up(tree.document_id, tree.update_for())
        updates, late_edits, late_updates = [], [], []
        tree.subscribe(lambda update, revision: updates.append(update))
        made, codes = Counter(), Counter()

        def send(edit, luck):
            before = tree.revision
            answer = tree.submit(edit)
            made[edit.editor, edit.number] += tree.revision > before
            codes[answer.code] += 1
            if luck != "answer lost":
                editors[edit.editor].answered(edit, answer)

        for (name, op, one, two, running), luck, update_luck, ticks in commands:
            editor = editors[name]
            edit = editor.propose(operation(op, one, two, editor.replica.nodes), running)
            if luck == "late":
                late_edits.append(edit)
            elif luck != "lost":
                for _ in range(1 + (luck == "twice")):
                    send(edit, luck)
            consistent(shared)
            for update in updates:
                if update_luck == "late":
                    late_updates.append(update)
                elif update_luck != "lost":
                    for each in list(editors.values())[: 1 + one % 3]:
                        each.replica.apply(update)
            updates.clear()
            for _ in range(ticks):
                shared.live.tick_once()
            tree.poll()
        for edit in reversed(late_edits):
            send(edit, "")
        for update in reversed(late_updates):
            for each in editors.values():
                each.replica.apply(update)
        for editor in editors.values():
            for edit in editor.unanswered:
                send(edit, "")
        shared.live.halt_tree()
        tree.poll()
        consistent(shared)
        assert all(count <= 1 for count in made.values())
        assert Code.HELD_BACK not in codes
        for each in editors.values():
            each.catch_up(tree.document_id, tree.update_for(each.replica.state_vector))
        new = RemoteEditor("new")
        new.catch_up(tree.document_id, tree.update_for())
        shown = [document(each.replica) for each in (*editors.values(), new)]
        assert all(each == shown[0] for each in shown)
        spots = tree.state.spots
        assert shown[0][0] == {
            id: {
                "tag": spot.element.tag,
                "attributes": spot.element.attributes,
                "children": list(spot.children),
            }
            for id, spot in spots.items()
        }


@EXAMPLES
@given(st.lists(COMMAND, min_size=1, max_size=15))
def test_an_editor_alone_takes_everything_back_to_the_byte(commands):
    with tempfile.TemporaryDirectory() as folder:
        shared = Shared(Path(folder))
        states = [shared.tree.files.data]
        for _, op, one, two, _ in commands:
            if op in ("undo", "redo", "save", "refresh"):
                continue
            known = shared.editor().replica.nodes
            fields = operation(op, one, two, known)
            answer = shared.do(running=Running.HALT, **fields)
            if answer.code is Code.MADE:
                states.append(shared.tree.files.data)
        for data in reversed(states[:-1]):
            assert shared.do("undo", running=Running.HALT).code is Code.MADE
            assert shared.tree.files.data == data
        for data in states[1:]:
            assert shared.do("redo", running=Running.HALT).code is Code.MADE
            assert shared.tree.files.data == data
        consistent(shared)


@EXAMPLES
@given(st.lists(COMMAND, min_size=1, max_size=10))
def test_saved_loaded_and_saved_again_is_the_same(commands):
    """A crash after every answer: what was acknowledged is there, to the byte."""
    with tempfile.TemporaryDirectory() as folder:
        shared = Shared(Path(folder), kept=True)
        for name, op, one, two, _ in commands:
            fields = operation(op, one, two, shared.editor(name).replica.nodes)
            shared.do(who=name, running=Running.HALT, **fields)
            if not shared.kept.exists():
                continue
            kept = shared.kept.read_bytes()
            again = SharedTree(shared.path, shared.factory.fork(), kept=shared.kept)
            assert again.files.data == shared.tree.files.data
            assert again.state.spots.keys() == shared.tree.state.spots.keys()
            assert shared.kept.read_bytes() == kept
        assert shared.do("save", running=Running.HALT).code is Code.MADE
        saved = shared.path.read_bytes()
        shared.do("save", running=Running.HALT)
        assert shared.path.read_bytes() == saved == shared.tree.files.data[shared.path]
