# SPDX-License-Identifier: Apache-2.0
"""One tree, several editors: what is made, what is refused, what is taken back."""

import gc
import json
from pathlib import Path

import pytest
from sharing_kit import MAIN, Clock, Shared, document, factory, files, fresh, shape

from behavior_tree import LoadError, LogicError, NodeStatus
from behavior_tree.kernel.subtree import Subtree
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.monitoring.tree_records import RecordKind, TreeRecords
from behavior_tree.monitoring.uid_document import UidDocument
from behavior_tree.sharing import Code, Edit, Limits, Running, SharedTree
from behavior_tree.sharing.document import Replica
from behavior_tree.sharing.remote import RemoteEditor


@pytest.fixture
def shared(tmp_path):
    return Shared(tmp_path)


def test_an_edit_reaches_files_tree_and_replicas_and_only_what_it_means(shared):
    before, first = shared.text, shared.editor("bob")
    answer = shared.do("set", node=shared.id("d"), attributes={"ticks": "7"})
    assert (answer.code, answer.revision) == (Code.MADE, 1)
    assert shared.text == before.replace('"d" ticks="1"', '"d" ticks="7"')
    assert shared.node("d").raw_port("ticks") == "7"
    second = shared.editor("bob")
    assert second is first
    assert second.replica.nodes[shared.id("d")]["attributes"]["ticks"] == "7"
    assert second.replica.files[str(shared.path)]["modified"]


def test_a_subtree_is_edited_once_and_all_uses_follow(shared):
    shared.do("insert", parent=shared.id("l"), xml="<Work name='z'/>")
    shared.do("set", node=shared.id("x"), attributes={"name": "q"})
    shared.do("move", node=shared.id("right y"), parent=shared.id("l"), before=shared.id("q"))
    for use in ("s", "t"):
        assert [node.name() for node in shared.node(f"{use}/l").children] == ["right y", "q", "z"]
    assert shape(shared.live) == shape(fresh(shared))


def test_steps_are_checked_as_one(shared):
    wrapped = "<Inverter name='i'><AlwaysFailure name='no'/></Inverter>"
    made = shared.do("insert", parent=shared.id("f"), xml=wrapped)
    assert made.code is Code.MADE
    step = [
        {"op": "remove", "node": shared.id("no")},
        {"op": "move", "node": shared.id("c"), "parent": shared.id("i")},
    ]
    alone = shared.do("remove", node=shared.id("no"))
    assert alone.code is Code.REFUSED
    assert "Inverter" in alone.message
    assert shared.do("several", steps=step).code is Code.MADE
    assert shared.node("c")._up is shared.node("i")
    assert shape(shared.live) == shape(fresh(shared))


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ("{", "not JSON"),
        ("[]", "an object"),
        ('{"op": "fly"}', "'fly'"),
        ('{"op": "remove"}', "[node]"),
        ('{"op": "remove", "node": 3}', "[node]"),
        ('{"op": "remove", "node": "n3", "force": 1}', "[force]"),
        ('{"op": "remove", "node": "n999"}', "not there any more"),
        ('{"op": "remove", "node": "n1"}', "is the root of"),
        ('{"op": "set", "node": "n7", "attributes": {"path": "x"}}', "included"),
        ('{"op": "set", "node": "n3", "attributes": {}}', "[attributes]"),
        ('{"op": "insert", "parent": "n3", "xml": "<Work"}', "XML"),
        ('{"op": "insert", "parent": "n3", "xml": "<Nap/>"}', "Nap"),
        ('{"op": "insert", "parent": "n3", "xml": "<Work/>", "before": "n1"}', "'n1' is not in"),
        ('{"op": "move", "node": "n3", "parent": "n4"}', "into itself"),
        ('{"op": "several", "steps": []}', "[steps]"),
        ('{"op": "several", "steps": [{"op": "undo"}]}', "'undo'"),
        ('{"op": "mirror", "node": "n4", "normal": [0, 0, 0]}', "plane"),
        ('{"op": "mirror", "node": "n4", "normal": [0, 1e999, 0]}', "[normal]"),
        ('{"op": "mirror", "node": "n4", "distance": 1' + "0" * 400 + "}", "[distance]"),
        ('{"op": "rename", "node": "n4", "name": "\\ud800"}', "not Unicode"),
        ('{"op": "remove", "node": "\\udfff"}', "not Unicode"),
        ('{"op": "undo", "running": "maybe"}', "[running]"),
        ('{"op": "undo"}', "no edit of yours"),
        ('{"op": "rename", "node": "n1", "name": "x"}', "trees and their nodes"),
        ('{"op": "set", "node": "n4", "attributes": {"name": "\\u0000"}}', "control"),
        ('{"op": "set", "node": "n4", "attributes": {"a b": ""}}', "name in XML"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_sentence_and_changes_nothing(shared, operation, why):
    files, before = shared.tree.files.data, shape(shared.live)
    answer = shared.tree.submit(Edit("ann", 1, operation))
    assert answer.code is Code.REFUSED
    assert why in answer.message
    assert (shared.tree.files.data, shape(shared.live)) == (files, before)
    assert shared.tree.revision == 0


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Edit("", 1, "{}"), "a name"),
        (Edit("x" * 201, 1, "{}"), "a name"),
        (Edit("a\n", 1, "{}"), "a name"),
        (Edit("a", 0, "{}"), "from 1"),
        (Edit("a", 1, "x" * 300_000), "256 KiB"),
    ],
)
def test_what_has_no_sensible_size_is_not_looked_at(shared, edit, why):
    answer = shared.tree.submit(edit)
    assert answer.code is Code.REFUSED
    assert why in answer.message
    assert shared.tree.last_number(edit.editor) == 0


def test_two_editors_one_deletes_what_the_other_moves(shared):
    node, place = shared.id("c"), shared.id("top")
    assert shared.do("remove", "ann", node=node).code is Code.MADE
    answer = shared.do("move", "bob", node=node, parent=place)
    assert answer.code is Code.REFUSED
    assert f"'{node}' is not there any more" in answer.message


def test_the_same_edit_again_is_not_made_again(shared):
    editor = shared.editor()
    edit = editor.propose({"op": "insert", "parent": shared.id("f"), "xml": "<Work/>"})
    first = shared.tree.submit(edit)
    assert [shared.tree.submit(edit) for _ in range(3)] == [first] * 3
    assert shared.tree.revision == 1
    other = shared.tree.submit(Edit("ann", 1, '{"op": "undo"}'))
    assert (other.code, "as number 2" in other.message) == (Code.LATE, True)


def test_what_comes_late_is_not_made(shared):
    late = Edit("ann", 1, json.dumps({"op": "remove", "node": shared.id("c")}))
    assert shared.tree.submit(Edit("ann", 2, late.text)).code is Code.MADE
    answer = shared.tree.submit(late)
    assert (answer.code, "as number 3" in answer.message) == (Code.LATE, True)


# -- what runs -----------------------------------------------------------------------------------


def test_an_edit_of_what_runs_asks_how(shared):
    shared.live.tick_once()
    answer = shared.do("set", node=shared.id("a"), attributes={"ticks": "0"})
    assert answer.code is Code.RUNNING
    assert "'a'" in answer.message
    assert '"after"' in answer.message
    assert shared.node("a").raw_port("ticks") == "2"
    beside = shared.do("set", node=shared.id("d"), attributes={"ticks": "0"})
    assert beside.code is Code.MADE
    assert shared.node("a").status is NodeStatus.RUNNING


def test_an_edit_waits_until_what_it_changes_has_ended(shared):
    shared.live.tick_once()
    node = shared.node("a")
    fields = {"node": shared.id("a"), "attributes": {"ticks": "9"}, "running": Running.AFTER}
    assert shared.do("set", **fields).code is Code.WAITING
    assert shared.tree.poll() == []
    assert "ticks='2'" in shared.text
    shared.live.tick_once()
    shared.live.tick_once()
    assert node.status is NodeStatus.SUCCESS
    (answer,) = shared.tree.poll()
    assert answer.code is Code.MADE
    assert node.raw_port("ticks") == "9"
    again = shared.tree.submit(shared.editor().unanswered[0])
    assert again == answer  # whoever asks again hears of it


def test_an_edit_that_waited_may_have_lost_its_target(shared):
    shared.live.tick_once()
    node = shared.id("a")
    shared.do("set", node=node, attributes={"ticks": "9"}, running=Running.AFTER)
    assert shared.do("remove", "bob", node=node, running=Running.HALT).code is Code.MADE
    (answer,) = shared.tree.poll()
    assert answer.code is Code.REFUSED
    assert "not there any more" in answer.message


def test_an_edit_halts_what_runs_if_that_is_wanted(shared):
    shared.live.tick_once()
    node = shared.node("a")
    assert shared.do("remove", node=shared.id("a"), running=Running.HALT).code is Code.MADE
    assert node.status is NodeStatus.IDLE
    assert shared.live.tick_once() is NodeStatus.RUNNING
    assert shared.live.active_path() == "left b"


def test_what_runs_begins_anew_with_its_new_port_if_it_is_halted(shared):
    shared.live.tick_once()
    node = shared.node("a")
    fields = {"node": shared.id("a"), "attributes": {"ticks": "4"}, "running": Running.HALT}
    assert shared.do("set", **fields).code is Code.MADE
    assert shared.node("a") is node
    assert node.status is NodeStatus.IDLE
    for _ in range(4):
        assert shared.live.tick_exactly_once() is NodeStatus.RUNNING
        assert node.status is NodeStatus.RUNNING
    shared.live.tick_exactly_once()
    assert node.status is NodeStatus.SUCCESS


def test_edits_that_wait_when_the_tree_goes_are_made_in_the_files(shared):
    shared.live.tick_once()
    shared.do("remove", node=shared.id("a"), running=Running.AFTER)
    shared.tree.detach()
    assert [answer.code for answer in shared.tree.poll()] == [Code.MADE]
    assert 'name="a"' not in shared.text


@pytest.mark.slow
def test_edits_while_it_ticks_leave_all_else_alone(shared):
    """1000 ticks, 100 edits: the nodes of branches that are not meant are the same objects,
    and what runs goes on as without any edit.
    """
    alone = fresh(shared)
    alone.root_blackboard().set("count", 2)
    mine = {"f", "c", "d"}
    nodes = [node for node in shared.live.nodes() if not mine & {node.name()}]
    others = [node for node in alone.nodes() if not mine & {node.name()}]
    place = shared.id("f")
    codes, new = [], None
    for tick in range(1000):
        assert shared.live.tick_exactly_once() is alone.tick_exactly_once()
        assert [node.status for node in nodes] == [node.status for node in others]
        if tick % 20 == 7:
            xml = f"<Work name='w{tick}'/>"
            new = shared.do("insert", parent=place, xml=xml, running=Running.HALT)
            codes.append(new.code)
        elif tick % 20 == 15:
            codes.append(shared.do("remove", node=new.nodes[0], running=Running.HALT).code)
    assert codes == [Code.MADE] * 100
    assert [node for node in shared.live.nodes() if not mine & {node.name()}] == nodes


def test_an_edit_from_inside_a_tick_is_refused(tmp_path):
    shared = Shared(tmp_path)
    answers = []
    node = shared.node("a")
    inner = node.on_start
    fields = {"node": shared.id("c"), "attributes": {"ticks": "1"}}
    node.on_start = lambda: answers.append(shared.do("set", **fields)) or inner()
    shared.live.tick_once()
    assert [answer.code for answer in answers] == [Code.REFUSED]
    assert "inside its tick" in answers[0].message
    assert shape(shared.live) == shape(fresh(shared))


@pytest.mark.parametrize("ports", [{}, {"ticks": "9"}])
def test_who_watches_the_tree_is_told_of_conditions(shared, ports):
    document, records = UidDocument(shared.live, "Main"), []
    TreeRecords(shared.live, records.append, document=lambda _: document.text())
    attributes = {"_skipIf": "false", **ports}
    assert shared.do("set", node=shared.id("a"), attributes=attributes).code is Code.MADE
    assert records[-1].kind is RecordKind.EDIT
    assert ' _skipIf="false"' in records[-1].xml
    assert document.text() == records[-1].xml


@pytest.mark.parametrize(("node", "name"), [("l", "Other"), ("top", "Start")])
def test_who_watches_the_tree_is_told_of_another_name_of_a_tree(shared, node, name):
    told = []
    shared.live.subscribe_structure_change(lambda _: told.append(tree_document(shared.live)))
    tree = shared.tree.state.spot(shared.id(node)).parent
    assert shared.do("rename", node=tree, name=name).code is Code.MADE
    assert f'<BehaviorTree ID="{name}"' in told[-1]


def test_who_watches_the_tree_is_told_once_when_all_is_done(shared):
    told = []
    shared.live.subscribe_structure_change(
        lambda _: told.append([node.name() for node in shared.live.nodes()])
    )
    steps = [
        {"op": "set", "node": shared.id("a"), "attributes": {"name": "first"}},
        {"op": "remove", "node": shared.id("left b")},
    ]
    assert shared.do("several", steps=steps).code is Code.MADE
    (names,) = told
    assert "first" in names


def test_instances_of_trees_that_are_replaced_are_let_go(shared):
    for number in range(5):
        attributes = {"n": str(number)}
        assert shared.do("set", node=shared.id("t"), attributes=attributes).code is Code.MADE
    gc.collect()
    boards = [each for each in gc.get_objects() if type(each) is Subtree]
    assert (
        len([each for each in boards if each.blackboard.root is shared.live.root_blackboard()]) == 3
    )


# -- undo ----------------------------------------------------------------------------------------


def test_each_editor_takes_back_its_own(shared):
    before = shared.text
    shared.do("set", "ann", node=shared.id("c"), attributes={"ticks": "4"})
    shared.do("set", "bob", node=shared.id("d"), attributes={"ticks": "5"})
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.text == before.replace('"d" ticks="1"', '"d" ticks="5"')
    assert shared.do("undo", "ann").code is Code.REFUSED
    assert shared.do("redo", "ann").code is Code.MADE
    assert shared.node("c").raw_port("ticks") == "4"
    assert shared.do("undo", "bob").code is Code.MADE
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.text == before


def test_what_others_have_changed_since_is_not_taken_back(shared):
    node = shared.id("c")
    shared.do("set", "ann", node=node, attributes={"ticks": "4"})
    shared.do("set", "bob", node=node, attributes={"ticks": "5"})
    answer = shared.do("undo", "ann")
    assert answer.code is Code.REFUSED
    assert "'c'" in answer.message
    assert "'5' for [ticks] now" in answer.message


def test_undo_after_a_refused_one_goes_on_with_the_step_before(shared):
    shared.do("set", "ann", node=shared.id("d"), attributes={"ticks": "7"})
    node = shared.id("c")
    shared.do("set", "ann", node=node, attributes={"ticks": "4"})
    shared.do("set", "bob", node=node, attributes={"ticks": "5"})
    refused = shared.do("undo", "ann")
    assert refused.code is Code.REFUSED
    assert "undo again" in refused.message
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.node("d").raw_port("ticks") == "1"
    refused = shared.do("undo", "ann")  # of the one that is left: it is tried again
    assert refused.code is Code.REFUSED
    assert "undo again" not in refused.message
    shared.do("undo", "bob")
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.node("c").raw_port("ticks") == "0"
    assert [shared.do("redo", "ann").code for _ in range(2)] == [Code.MADE, Code.MADE]
    assert shared.node("d").raw_port("ticks") == "7"


def test_what_was_removed_comes_back_under_its_identifier(shared):
    node, before = shared.id("f"), shared.text
    shared.do("remove", "ann", node=node)
    shared.do("set", "bob", node=shared.id("left b"), attributes={"ticks": "9"})
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.id("f") == node
    assert shared.text == before.replace('"left b" ticks="3"', '"left b" ticks="9"')


def test_something_new_in_what_was_put_in_keeps_it_there(shared):
    new = shared.do("insert", "ann", parent=shared.id("f"), xml="<Sequence><Work/></Sequence>")
    shared.do("insert", "bob", parent=new.nodes[0], xml="<Work name='guest'/>")
    answer = shared.do("undo", "ann")
    assert answer.code is Code.REFUSED
    assert "'guest'" in answer.message


def test_what_others_have_moved_into_something_new_keeps_it_there(shared):
    new = shared.do("insert", "ann", parent=shared.id("top"), xml="<Fallback><Work/></Fallback>")
    shared.do("move", "bob", node=shared.id("c"), parent=new.nodes[0])
    before = shared.text
    answer = shared.do("undo", "ann")
    assert answer.code is Code.REFUSED
    assert "has got 'c'" in answer.message
    assert shared.text == before


def test_what_others_have_moved_out_of_something_new_stays_and_comes_back_no_second_time(shared):
    wrapped = "<Fallback name='g'><Work name='z'/><Work/></Fallback>"
    shared.do("insert", "ann", parent=shared.id("top"), xml=wrapped)
    moved = shared.id("z")
    shared.do("move", "bob", node=moved, parent=shared.id("top"))
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.id("z") == moved
    before = shared.text
    answer = shared.do("redo", "ann")
    assert answer.code is Code.REFUSED
    assert "'z' (n19) is there already" in answer.message
    assert shared.text == before
    shared.do("remove", "bob", node=moved)
    assert shared.do("redo", "ann").code is Code.MADE
    assert shared.node("z")._up is shared.node("g")
    assert shape(shared.live) == shape(fresh(shared))


def test_what_others_have_put_into_something_unwrapped_keeps_it_so(shared):
    inner = shared.id("f")
    out = {"op": "move", "node": inner, "parent": shared.id("top")}
    steps = [out, {"op": "remove", "node": shared.id("both")}]
    assert shared.do("several", "ann", steps=steps).code is Code.MADE
    shared.do("insert", "bob", parent=inner, xml="<Work name='guest'/>")
    before = shared.text
    answer = shared.do("undo", "ann")
    assert answer.code is Code.REFUSED
    assert "'f' (n13) has got 'guest'" in answer.message
    assert shared.text == before


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [("move", "f", "top", "both"), ("move", "both", "f", "")], id="inside and outside"
        ),
        pytest.param(
            [("move", "f", "top", "both"), ("remove", "both"), ("remove", "c")], id="unwrapped"
        ),
        pytest.param(
            [("move", "f", "top", "both"), ("move", "a", "f", ""), ("remove", "both")],
            id="something moved into what was unwrapped",
        ),
    ],
)
def test_many_steps_are_taken_back_beside_other_edits(shared, steps):
    made = []
    for op, node, *where in steps:
        step = {"op": op, "node": shared.id(node)}
        if where:
            step |= {"parent": shared.id(where[0]), "before": where[1] and shared.id(where[1])}
        made.append(step)
    before = shared.editor("reader").replica.nodes
    assert shared.do("several", "ann", steps=made).code is Code.MADE
    spared = shared.id("s")
    shared.do("set", "bob", node=spared, attributes={"name": "r"})
    assert shared.do("undo", "ann").code is Code.MADE
    shared.do("set", "bob", node=spared, attributes={"name": "s"})
    assert shared.editor("reader").replica.nodes == before
    assert shape(shared.live) == shape(fresh(shared))


def test_an_edit_that_nobody_can_write_down_stops_no_other(tmp_path):
    shared = Shared(tmp_path, kept=True)
    for op in ({"op": "remove", "node": "\ud800"}, {"op": "\ud800"}):
        answer = shared.tree.submit(Edit("eve", shared.tree.last_number("eve") + 1, json.dumps(op)))
        assert answer.code is Code.REFUSED
        answer.message.encode()
    node = shared.id("c")
    assert shared.do("set", "ann", node=node, attributes={"ticks": "4"}).code is Code.MADE


@pytest.mark.parametrize("ticks", [True, False])
def test_an_edit_that_changed_nothing_is_taken_back_when_its_node_is_gone(shared, ticks):
    node = shared.id("c")
    if not ticks:
        shared.tree.detach()
    shared.do("set", "ann", node=node, attributes={"ticks": None})
    shared.do("remove", "bob", node=node)
    before = shared.text
    assert shared.do("undo", "ann").code is Code.MADE
    assert shared.text == before


def test_a_move_is_taken_back_beside_other_edits(shared):
    shared.do("move", "ann", node=shared.id("d"), parent=shared.id("f"), before=shared.id("c"))
    shared.do("insert", "bob", parent=shared.id("f"), xml="<Work name='e'/>")
    node = shared.node("d")
    assert shared.do("undo", "ann").code is Code.MADE
    assert [each.name() for each in shared.node("f").children] == ["c", "d", "e"]
    assert shared.node("d") is node


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "extract", "node": "f", "name": "New"},
        {"op": "inline", "node": "s"},
        {"op": "duplicate", "node": "both"},
        {"op": "rename", "node": "Lib", "name": "Other"},
        {"op": "rename", "node": "a", "name": "b"},
        {"op": "rename_entry", "tree": "Lib", "entry": "n", "name": "m"},
        {"op": "mirror", "node": "Main"},
        {"op": "set", "node": "top", "attributes": {"_onSuccess": "count = 1"}},
        {"op": "replace", "node": "s", "xml": "<SubTree ID='Lib' name='s' n='1'/>"},
        {"op": "set", "node": "t", "attributes": {"n": "{count}"}},
        {"op": "replace", "node": "both", "xml": "<Work name='left b'/>"},
    ],
)
def test_refactorings_reach_the_tree_and_are_taken_back_beside_other_edits(shared, operation):
    before = shared.text, shared.lib
    fields = {
        name: shared.id(value) if name in ("node", "tree") else value
        for name, value in operation.items()
    }
    assert shared.do(who="ann", **fields).code is Code.MADE
    assert shape(shared.live) == shape(fresh(shared))
    fields = {"node": shared.id("top"), "attributes": {"_skipIf": "count == 9"}}
    assert shared.do("set", "bob", **fields).code is Code.MADE
    assert shared.do("undo", "ann").code is Code.MADE
    assert shape(shared.live) == shape(fresh(shared))
    assert shared.do("undo", "bob").code is Code.MADE
    assert (shared.text, shared.lib) == before
    assert shared.do("redo", "ann").code is Code.MADE
    assert shape(shared.live) == shape(fresh(shared))


def test_names_that_are_exchanged_mean_others_in_the_tree_that_ticks(tmp_path):
    main = """<root BTCPP_format="4"><BehaviorTree ID="Main"><ConcurrentSequence>
      <Step execute_after="beginning"><Work name="a" ticks="1"/></Step>
      <Step execute_after="beginning"><Work name="b" ticks="9"/></Step>
      <Step execute_after="a"><Work name="behind a" ticks="9"/></Step>
    </ConcurrentSequence></BehaviorTree></root>"""
    shared = Shared(tmp_path, main)
    shared.live.tick_once()
    a, b = shared.id("a"), shared.id("b")
    steps = [
        {"op": "set", "node": id, "attributes": {"name": name}}
        for id, name in ((a, "other"), (b, "a"), (a, "b"))
    ]
    assert shared.do("several", steps=steps).code is Code.MADE
    for _ in range(3):
        shared.live.tick_once()
    assert shared.node("a").status is NodeStatus.RUNNING
    assert shared.node("behind a").status is NodeStatus.IDLE


def test_a_tree_that_gets_another_name_goes_on(shared):
    while shared.live.active_path() != "s/l/x" and shared.live.active_path() != "s/x":
        shared.live.tick_once()
    node = next(each for each in shared.live.nodes() if each.name() == "x")
    assert shared.do("rename", node=shared.id("Lib"), name="Other").code is Code.MADE
    assert node.status is NodeStatus.RUNNING
    assert node in list(shared.live.nodes())


def test_mirrored_twice_is_the_same(shared):
    before, nodes = shared.text, list(shared.live.nodes())
    shared.do("mirror", node=shared.id("Main"))
    assert "right b" in shared.text
    shared.do("mirror", node=shared.id("Main"))
    assert shared.text == before
    assert list(shared.live.nodes()) == nodes


# -- files ---------------------------------------------------------------------------------------


def test_saving_writes_the_edit_alone_and_takes_in_what_others_have_changed(shared):
    shared.do("set", node=shared.id("c"), attributes={"ticks": "4"})
    disk = shared.path.read_text().replace('"left b" ticks="3"', '"left b" ticks="6"')
    shared.path.write_text(disk)
    assert shared.do("save").code is Code.MADE
    assert shared.path.read_text() == disk.replace('"c"/>', '"c" ticks="4"/>')
    assert shared.node("left b").raw_port("ticks") == "6"
    assert not any(each["modified"] for each in shared.editor().replica.files.values())
    assert shared.do("undo").code is Code.MADE  # the others' change stays
    assert shared.do("save").code is Code.MADE
    assert shared.path.read_text() == disk


def test_a_conflict_on_disk_is_told_and_nothing_is_overwritten(shared):
    shared.do("set", node=shared.id("d"), attributes={"ticks": "4"})
    disk = shared.path.read_text().replace('"d" ticks="1"', '"d" ticks="2"')
    shared.path.write_text(disk)
    answer = shared.do("save")
    assert answer.code is Code.REFUSED
    assert "'4' here and '2' on disk" in answer.message
    assert shared.path.read_text() == disk


def test_all_edits_that_are_not_saved_are_dropped_and_come_back(shared):
    shared.do("set", node=shared.id("c"), attributes={"ticks": "4"})
    shared.do("remove", node=shared.id("d"))
    edited = shared.text
    disk = shared.path.read_text().replace('"left b" ticks="3"', '"left b" ticks="6"')
    shared.path.write_text(disk)
    assert shared.do("revert", "bob").code is Code.MADE
    assert shared.text == disk
    assert shared.node("left b").raw_port("ticks") == "6"
    assert not shared.tree.files.modified
    assert shared.do("undo", "bob").code is Code.MADE
    assert shared.text == edited


def test_what_has_changed_on_disk_is_taken_in_before_a_tree_is_built(shared):
    updates = []
    shared.tree.subscribe(lambda update, revision: updates.append(revision))
    shared.tree.refresh()
    assert updates == []
    shared.do("set", node=shared.id("c"), attributes={"ticks": "4"})
    disk = shared.path.read_text().replace('"left b" ticks="3"', '"left b" ticks="6"')
    shared.path.write_text(disk)
    late = Edit("bob", 1, json.dumps({"op": "remove", "node": shared.id("d")}))
    assert shared.tree.begin(late) is None
    prepared = shared.tree.prepare(late)
    shared.tree.refresh()
    assert updates == [1, 2]
    assert shared.tree.is_stale(prepared)
    assert shared.text == disk.replace('"c"/>', '"c" ticks="4"/>')
    tree = shared.tree.build(shared.factory)
    assert tree.node_by_path("left b").raw_port("ticks") == "6"


def test_a_default_in_the_model_of_a_tree_reaches_the_tree_that_ticks(tmp_path):
    shared = Shared(tmp_path, main=MAIN.replace(' n="3"', ""))
    port = '<SubTree ID="Lib"><input_port name="n" default="2"/></SubTree>'
    root = shared.editor("reader").replica.files[str(tmp_path / "lib.xml")]["root"]
    models = f"<TreeNodesModel>{port}</TreeNodesModel>"
    assert shared.do("insert", parent=root, xml=models).code is Code.MADE
    nodes = shared.editor("reader").replica.nodes
    port = next(id for id, node in nodes.items() if node["tag"] == "input_port")
    kept = shared.node("s/l")
    assert shared.do("set", node=port, attributes={"default": "7"}).code is Code.MADE
    assert shared.node("s/l") is kept, "which says it itself"
    assert shared.node("t/x").config().blackboard.get("n") == 7
    assert shape(shared.live) == shape(fresh(shared))


def test_the_tree_that_ticks_may_be_replaced_but_not_taken_out(shared):
    new = "<BehaviorTree ID='Main'><SubTree ID='Lib' name='u' n='1'/></BehaviorTree>"
    before, main = shape(shared.live), shared.id("Main")
    text = shared.text
    assert shared.do("replace", node=main, xml=new).code is Code.MADE
    assert shared.live.root_node().name() == "u"
    assert shape(shared.live) == shape(fresh(shared))
    assert shared.do("undo").code is Code.MADE
    assert (shape(shared.live), shared.text) == (before, text)
    root = shared.editor("reader").replica.files[str(shared.path)]["root"]
    other = {"op": "set", "node": root, "attributes": {"main_tree_to_execute": "Lib"}}
    steps = [other, {"op": "remove", "node": shared.id("Main")}]
    answer = shared.do("several", steps=steps)
    assert answer.code is Code.REFUSED
    assert "tree 'Main' ticks and would be gone" in answer.message
    assert (shape(shared.live), shared.text) == (before, text)
    assert shared.do("set", node=shared.id("c"), attributes={"ticks": "1"}).code is Code.MADE


def test_a_tree_that_takes_the_place_of_an_included_one_ticks(shared):
    root = shared.editor("reader").replica.files[str(shared.path)]["root"]
    own = "<BehaviorTree ID='Lib'><Work name='k'/></BehaviorTree>"
    assert shared.do("insert", parent=root, xml=own).code is Code.MADE
    assert shared.node("s/k").name() == "k"
    assert shape(shared.live) == shape(fresh(shared))
    assert shared.do("undo").code is Code.MADE
    assert shape(shared.live) == shape(fresh(shared))


MORE = '<root BTCPP_format="4"><BehaviorTree ID="More"><Work name="m"/></BehaviorTree></root>'


def test_files_that_others_include_on_disk_are_shared_too(tmp_path):
    shared = Shared(tmp_path, kept=True)
    shared.editor("reader")
    more = tmp_path / "more.xml"
    more.write_text(MORE)
    disk = shared.path.read_text().replace("<include ", '<include path="more.xml"/><include ')
    shared.path.write_text(
        disk.replace('<SubTree ID="Lib" name="t" n="3"/>', '<SubTree ID="More" name="t"/>')
    )
    assert shared.do("refresh").code is Code.MADE
    assert shape(shared.live) == shape(fresh(shared))
    assert shared.do("rename", node=shared.id("m"), name="q").code is Code.MADE
    assert shared.node("t/q").name() == "q"
    assert shared.do("save").code is Code.MADE
    assert 'name="q"' in more.read_text()
    again = SharedTree(shared.path, factory(), kept=shared.kept)
    assert again.problem == ""
    assert again.state.spots.keys() == shared.tree.state.spots.keys()


def test_files_that_others_include_no_more_are_not_shared(tmp_path):
    shared = Shared(tmp_path)
    reader = shared.editor("reader")
    disk = shared.path.read_text().replace('<include path="lib.xml"/>', "")
    for use in ('<SubTree ID="Lib" name="s" n="{count}"/>', '<SubTree ID="Lib" name="t" n="3"/>'):
        disk = disk.replace(use, "")
    shared.path.write_text(disk)
    assert shared.do("revert").code is Code.MADE
    assert shared.editor("reader").replica.files.keys() == {str(shared.path)}
    assert document(reader.replica) == document(shared.editor("new").replica)
    assert shape(shared.live) == shape(fresh(shared))
    answer = shared.do("undo")
    assert answer.code is Code.REFUSED
    assert "which files are included" in answer.message


def test_the_files_go_on_telling_which_tree_is_run(tmp_path):
    path = tmp_path / "one.xml"
    path.write_text(MORE)
    tree = SharedTree(path, factory(), now=Clock())
    new = "<BehaviorTree ID='Other'><Work/></BehaviorTree>"
    insert = {"op": "insert", "parent": "n1", "xml": new}
    answer = tree.submit(Edit("ann", 1, json.dumps(insert)))
    assert answer.code is Code.REFUSED
    assert "[main_tree_to_execute]" in answer.message
    named = {"op": "set", "node": "n1", "attributes": {"main_tree_to_execute": "More"}}
    both = {"op": "several", "steps": [named, insert]}
    assert tree.submit(Edit("ann", 2, json.dumps(both))).code is Code.MADE
    assert tree.build(factory()).root_node().name() == "m"


def test_a_tree_that_ticks_already_is_shared_though_its_file_has_changed(tmp_path):
    path, made = files(tmp_path), factory()
    tree = made.create_tree_from_file(path)
    sources = [each.definition.source for each in tree.subtrees]
    contents = {Path(each.file): each.data for each in sources}
    path.write_text(path.read_text().replace('"left b" ticks="3"', '"left b" ticks="6"'))
    shared = SharedTree(path, made.fork(), contents=contents, now=Clock())
    shared.attach(tree, made)
    ann = RemoteEditor("ann")
    ann.catch_up(shared.document_id, shared.update_for())
    remove = ann.propose({"op": "remove", "node": ann.replica.find("c")})
    assert shared.submit(remove).code is Code.MADE
    assert "c" not in [node.name for node in tree.nodes()]
    assert tree.node_by_path("left b").raw_port("ticks") == "3"
    assert shared.submit(ann.propose({"op": "refresh"})).code is Code.MADE
    assert tree.node_by_path("left b").raw_port("ticks") == "6"


def test_files_that_cannot_be_shared(tmp_path):
    for text, error in (
        ("<root BTCPP_format='4'><BehaviorTree ID='M'><Nap/></BehaviorTree></root>", LoadError),
        (
            "<root BTCPP_format='3'><BehaviorTree ID='M'><AlwaysSuccess/></BehaviorTree></root>",
            LogicError,
        ),
    ):
        with pytest.raises(error):
            Shared(tmp_path, text)


# -- floods and strange messages -----------------------------------------------------------------


@pytest.mark.slow
def test_an_editor_that_floods_is_held_back_and_others_are_not(tmp_path):
    clock = Clock(0.0)
    shared = Shared(tmp_path, now=clock, limits=Limits(rate=50.0, burst=20))
    text = json.dumps({"op": "set", "node": shared.id("c"), "attributes": {"ticks": "1"}})
    answers = []
    for number in range(1, 10_001):  # within one second
        clock.now = number / 10_000
        answers.append(shared.tree.submit(Edit("flood", number, text)))
        if number % 1000 == 0:
            other = Edit("calm", number, text)
            assert shared.tree.submit(other).code is Code.MADE
    codes = [answer.code for answer in answers]
    assert len(codes) == 10_000
    assert 65 <= codes.count(Code.MADE) <= 75
    assert set(codes) == {Code.MADE, Code.HELD_BACK}
    held = next(answer for answer in answers if answer.code is Code.HELD_BACK)
    clock.now += held.retry_after + 1e-6
    assert shared.tree.submit(Edit("flood", 10_001, text)).code is Code.MADE


def test_editors_and_waiting_edits_are_limited(tmp_path):
    shared = Shared(tmp_path, limits=Limits(editors=3, waiting=2))
    shared.live.tick_once()
    fields = {"node": shared.id("a"), "attributes": {"ticks": "1"}, "running": Running.AFTER}
    codes = [shared.do("set", name, **fields).code for name in ("ann", "bob", "cyd", "dan")]
    assert codes == [Code.WAITING, Code.WAITING, Code.REFUSED, Code.HELD_BACK]


def test_steps_that_can_be_taken_back_are_limited(tmp_path):
    shared = Shared(tmp_path, limits=Limits(steps=3))
    for ticks in "12345":
        shared.do("set", node=shared.id("c"), attributes={"ticks": ticks})
    codes = [shared.do("undo").code for _ in range(4)]
    assert codes == [Code.MADE] * 3 + [Code.REFUSED]
    assert shared.node("c").raw_port("ticks") == "2"


def test_garbage_instead_of_updates_and_state_vectors(shared):
    for vector in (b"\xff\xff\xff\xff\xff", b"\x05\x01\x01", b"\x01\x01\x01\x01", b"\0" * 2000):
        with pytest.raises(LogicError, match="no Yjs state vector"):
            shared.tree.update_for(vector)
    endless = bytes.fromhex("f0968311c8d24aa557e8c94028c985c8fa11945189c68c3f8204")
    with pytest.raises(LogicError):  # for which the library would go on for hours
        shared.tree.update_for(endless)
    replica = Replica()
    with pytest.raises(LogicError):
        replica.apply(b"garbage")


def test_a_replica_reads_only_what_an_edit_has_changed(shared):
    before, node = shared.editor().replica.nodes, shared.id("c")
    assert shared.do("set", node=node, attributes={"ticks": "7"}).code is Code.MADE
    after = shared.editor().replica.nodes
    assert after[node]["attributes"]["ticks"] == "7"
    assert "ticks" not in before[node]["attributes"], "who holds the old one keeps it"
    assert [id for id in after if after[id] is not before[id]] == [node]


def test_a_replica_shows_nothing_half(shared):
    replica, updates = Replica(), []
    replica.apply(shared.tree.update_for())
    before = document(replica)
    shared.tree.subscribe(lambda update, revision: updates.append(update))
    shared.do("insert", parent=shared.id("f"), xml="<Work name='e'/>")
    shared.do("move", node=shared.id("e"), parent=shared.id("f"), before=shared.id("c"))
    shared.do("remove", node=shared.id("c"))
    replica.apply(updates[2])
    replica.apply(updates[1])
    assert document(replica) == before  # the first was lost
    replica.apply(shared.tree.update_for(replica.state_vector))
    assert document(replica) == document(shared.editor().replica)


@pytest.mark.parametrize("name", ["a", "c"])
def test_a_replica_that_missed_an_edit_shows_the_tree_of_before_and_comes_to_that_of_now(
    shared, name
):
    replica, updates = Replica(), []
    shared.do("set", node=shared.id(name), attributes={"ticks": "5"})
    replica.apply(shared.tree.update_for())
    before = document(replica)
    shared.tree.subscribe(lambda update, revision: updates.append(update))
    shared.do("set", node=shared.id("a"), attributes={"ticks": "6"})  # this is lost
    shared.do("insert", parent=shared.id("f"), xml="<Work name='e'/>")
    shared.do("remove", node=shared.id("e"))
    shared.do("set", node=shared.id("c"), attributes={"ticks": "7"})
    for update in updates[1:]:
        replica.apply(update)
        assert document(replica) == before
    replica.apply(shared.tree.update_for(replica.state_vector))
    assert document(replica) == document(shared.editor().replica)


# -- crashes -------------------------------------------------------------------------------------


def restarted(shared):
    return SharedTree(shared.path, shared.factory, kept=shared.kept, now=Clock(), client=2)


def test_an_acknowledged_edit_survives_a_crash(tmp_path):
    shared = Shared(tmp_path, kept=True)
    editor = shared.editor()
    node = shared.id("c")
    edit = editor.propose({"op": "set", "node": node, "attributes": {"ticks": "4"}})
    answer = shared.tree.submit(edit)
    new = restarted(shared)  # nobody has closed the first one
    assert new.files.data == shared.tree.files.data
    assert new.submit(edit) == answer  # whose answer was lost
    assert new.revision == 1
    later = editor.propose({"op": "set", "node": node, "attributes": {"ticks": "5"}})
    assert new.submit(later).code is Code.MADE
    editor.catch_up(new.document_id, new.update_for(), new.last_number("ann"))
    assert editor.replica.nodes[node]["attributes"]["ticks"] == "5"
    assert new.submit(editor.propose({"op": "save"})).code is Code.MADE
    assert '"c" ticks="5"' in shared.path.read_text()


def test_an_edit_that_waited_at_a_crash_is_made_when_it_comes_again(tmp_path):
    shared = Shared(tmp_path, kept=True)
    shared.live.tick_once()
    fields = {"node": shared.id("a"), "attributes": {"ticks": "1"}, "running": Running.AFTER}
    assert shared.do("set", "ann", **fields).code is Code.WAITING
    assert shared.do("remove", "bob", node=shared.id("c")).code is Code.MADE
    (edit,) = shared.editor("ann").unanswered
    assert restarted(shared).submit(edit).code is Code.MADE


def test_a_node_that_cannot_be_built_or_halted_changes_nothing(tmp_path):
    shared = Shared(tmp_path)
    before = shape(shared.live)

    def broken(*_):
        raise RuntimeError("no such device")

    node = shared.node("a")
    shared.live.tick_once()
    node.on_halted = broken
    steps = [
        {"op": "set", "node": shared.id("d"), "attributes": {"ticks": "9"}},
        {"op": "remove", "node": shared.id("a")},
    ]
    answer = shared.do("several", steps=steps, running=Running.HALT)
    assert (answer.code, "no such device" in answer.message) == (Code.REFUSED, True)
    assert shape(shared.live) == before
    assert shape(shared.live) == shape(fresh(shared))


def test_an_edit_that_cannot_be_kept_is_taken_back(tmp_path):
    shared = Shared(tmp_path, kept=True)
    before, tree = shared.text, shape(shared.live)
    shared.kept.mkdir()  # nothing can be written there
    answer = shared.do("remove", node=shared.id("c"))
    assert answer.code is Code.REFUSED
    assert "could not be kept" in answer.message
    assert (shared.text, shape(shared.live)) == (before, tree)
    shared.kept.rmdir()
    assert shared.do("remove", node=shared.id("c")).code is Code.MADE


def test_a_restart_finds_files_that_others_have_changed(tmp_path):
    shared = Shared(tmp_path, kept=True)
    shared.do("set", node=shared.id("d"), attributes={"ticks": "4"})
    disk = shared.path.read_text()
    shared.path.write_text(disk.replace('"left b" ticks="3"', '"left b" ticks="6"'))
    new = restarted(shared)
    assert new.problem == ""
    assert new.files.data[shared.path].decode().count('ticks="6"') == 1
    shared.path.write_text(disk.replace('"d" ticks="1"', '"d" ticks="8"'))
    new = restarted(shared)
    assert "'4' here and '8' on disk" in new.problem
    assert '"d" ticks="4"' in new.files.data[shared.path].decode()


@pytest.mark.parametrize("damage", [b"", b"x", b"\x00" * 100])
def test_a_damaged_file_is_named_and_not_taken(tmp_path, damage):
    shared = Shared(tmp_path, kept=True)
    shared.do("remove", node=shared.id("c"))
    data = shared.kept.read_bytes()
    shared.kept.write_bytes(data[: len(data) // 2] + damage)
    with pytest.raises(LogicError, match="checksum"):
        restarted(shared)


def test_an_editor_that_was_away_catches_up(shared):
    away = RemoteEditor("away")
    away.catch_up(shared.tree.document_id, shared.tree.update_for())
    one = away.propose({"op": "remove", "node": shared.id("d")})
    two = away.propose({"op": "set", "node": shared.id("c"), "attributes": {"ticks": "1"}})
    for ticks in range(50):
        shared.do("set", node=shared.id("left b"), attributes={"ticks": str(ticks)})
    shared.do("remove", node=shared.id("d"))
    codes = [shared.tree.submit(edit).code for edit in away.unanswered]
    assert codes == [Code.REFUSED, Code.MADE]
    for edit in (one, two):
        away.answered(edit, shared.tree.submit(edit))
    assert away.unanswered == []
    away.catch_up(shared.tree.document_id, shared.tree.update_for(away.replica.state_vector))
    assert document(away.replica) == document(shared.editor("other").replica)
