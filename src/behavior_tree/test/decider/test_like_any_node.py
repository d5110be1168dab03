# SPDX-License-Identifier: Apache-2.0
"""The nodes of networks are edited, saved, described and watched like any other."""

import json
from xml.etree import ElementTree

import py_trees
import pytest
from decider_kit import FAILURE, RUNNING, SUCCESS, Rig
from tree_kit import xml

from behavior_tree import (
    BehaviorTreeError,
    BehaviorTreeFactory,
    LoadError,
    NodeType,
    TreeEditor,
    restore_tree,
    save_tree,
    write_tree_nodes_model_xml,
    write_tree_to_xml,
    write_tree_xsd,
)
from behavior_tree.cli import main
from behavior_tree.decider import Case, Decision, holders, register_decider_nodes
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.nodes.decider import DECIDER_NODES

NETWORK = (
    '<Monitors name="w"><Script code="seen := 1"/><Decider name="d"><Case name="a" if="n == 0">'
    '<RLDS name="r"><Rd name="low"><Do name="x"/></Rd><Rd name="high" runnable="m == 1">'
    '<Atomic name="at" timeout_msec="900"><Do name="y"/></Atomic></Rd></RLDS></Case>'
    '<Case name="b"><StateMachine name="m"><State name="s" next="t" timeout_msec="400" '
    'on_timeout="t"><Do name="z"/></State><State name="t"><RunFor name="f" msec="500">'
    '<Do name="v"/></RunFor></State></StateMachine></Case></Decider></Monitors>'
)


def network(**entries):
    rig = Rig()
    return rig, rig.tree(NETWORK, **{"n": 0, "m": 0, **entries})


def test_editors_are_told_of_all_nodes_with_their_ports():
    factory = BehaviorTreeFactory()
    assert "Decider" not in write_tree_nodes_model_xml(factory.manifests().values())
    register_decider_nodes(factory)
    assert not factory.builtin_nodes() & DECIDER_NODES.keys()  # Groot2 does not know them
    text = write_tree_nodes_model_xml(factory.manifests().values())
    models = {each.get("ID"): each for each in ElementTree.fromstring(text)[0]}
    assert models.keys() == DECIDER_NODES.keys()
    for type_id, node_class in DECIDER_NODES.items():
        assert models[type_id].tag == node_class.node_type.tag
        ports = {each.get("name"): each for each in models[type_id] if each.tag != "MetadataFields"}
        assert ports.keys() == node_class.provided_ports().keys()
        assert all(each.text for each in ports.values()), f"a port of {type_id} is not described"
        assert node_class.__doc__
    factory.register_behavior_tree_from_text(text)
    assert 'name="RLDSType"' in write_tree_xsd(factory)
    kinds = {each.node_type for each in DECIDER_NODES.values()}
    assert kinds == {NodeType.CONTROL, NodeType.DECORATOR, NodeType.ACTION, NodeType.CONDITION}


def test_the_command_knows_the_nodes(tmp_path, capsys):
    file = tmp_path / "net.xml"
    model = '<TreeNodesModel><Action ID="Do"/></TreeNodesModel>'
    file.write_text(xml(NETWORK, model))
    assert main(["check", str(file)]) == 0
    assert main(["show", str(file)]) == 0
    assert "── Case 'a'" in capsys.readouterr().out
    file.write_text(xml(NETWORK.replace('next="t"', 'next="u"'), model))
    assert main(["check", str(file)]) == 1
    assert "next names the State 'u', which is not there" in capsys.readouterr().out
    assert main(["models"]) == 0
    assert '<Control ID="RLDS">' in capsys.readouterr().out


DEEP = {
    "cases": ('<Decider><Case name="c">', "</Case></Decider>"),
    "steps": ('<RLDS><Rd name="r">', "</Rd></RLDS>"),
    "parts": ("<Atomic><RunFor msec='5000'>", "</RunFor></Atomic>"),
    "states": ('<StateMachine><State name="s">', "</State></StateMachine>"),
    "monitors": ("<Monitors><AlwaysSuccess/>", "</Monitors>"),
}


@pytest.mark.parametrize("what", DEEP)
def test_a_network_as_deep_as_a_tree_may_be_is_ticked_and_halted(what):
    rig = Rig()
    head, tail = DEEP[what]
    levels = 63
    more = "".join(
        f'<BehaviorTree ID="T{i}">{head * levels}{inside}{tail * levels}</BehaviorTree>'
        for i, inside in ((0, '<SubTree ID="T1"/>'), (1, '<Do name="x"/>'))
    )
    tree = rig.tree('<SubTree ID="T0"/>', more)
    for _ in range(2):
        assert tree.tick_exactly_once() is RUNNING
    tree.halt_tree()
    assert rig.take() == "+x x x -x"
    assert holders(tree) == []


def test_py_trees_ticks_and_stops_a_network():
    rig, tree = network(m=1)
    outside = py_trees.trees.BehaviourTree(tree.root_node())
    outside.tick()
    assert outside.root.status == py_trees.common.Status.RUNNING
    assert rig.take() == "+y y"
    outside.interrupt()
    outside.root.stop()
    assert rig.take() == "-y"
    assert holders(tree) == []


def test_groot2_gets_the_models_of_the_nodes():
    _, tree = network()
    document = tree_document(tree)
    for model in ('<Control ID="RLDS">', '<Decorator ID="Case">', '<Action ID="Lock">'):
        assert model in document


def test_a_network_that_is_written_loads_again():
    rig, tree = network()
    text = write_tree_to_xml(tree, rig.factory.manifests().values())
    assert '<Control ID="Decider">' in text
    again = rig.factory.create_tree_from_text(
        text.replace("<root ", '<root main_tree_to_execute="Main" ')
    )
    assert [each.full_path() for each in again.nodes()] == [
        each.full_path() for each in tree.nodes()
    ]


def test_an_alternative_is_added_while_another_one_runs():
    rig, tree = network()
    editor = TreeEditor(tree, rig.factory)
    tree.tick_exactly_once()
    rig.take()
    editor.insert("d", 0, '<Case name="new" if="m == 5"><Do name="new"/></Case>')
    editor.insert("r", 0, '<Rd name="none" runnable="false"><Do name="none"/></Rd>')
    tree.tick_exactly_once()
    assert rig.take() == "x"
    tree.root_blackboard().set("m", 5)
    tree.tick_exactly_once()
    assert rig.take() == "-x +new new"
    assert editor.undo()
    assert editor.undo()
    assert rig.take() == "-new"
    tree.root_blackboard().set("m", 0)
    tree.tick_exactly_once()
    assert rig.take() == "+x x"


def test_what_is_taken_out_is_left_and_its_lock_released():
    rig, tree = network(m=1)
    tree.tick_exactly_once()
    assert [each.name for each in holders(tree)] == ["at"]
    editor = TreeEditor(tree, rig.factory)
    editor.remove("high")
    assert rig.take() == "+y y -y"
    assert holders(tree) == []
    tree.tick_exactly_once()
    assert rig.take() == "+x x"
    editor.undo()
    tree.tick_exactly_once()
    assert rig.take() == "-x +y y"
    with pytest.raises(LoadError, match="next names the State 't'"):
        editor.remove("t")


def test_a_condition_is_changed_while_it_runs():
    rig, tree = network()
    tree.tick_exactly_once()
    editor = TreeEditor(tree, rig.factory)
    editor.set_port("a", "if", "n == 1")
    editor.rename("b", "other")
    tree.tick_exactly_once()
    assert rig.take() == "+x x -x +z z"
    with pytest.raises(LoadError, match=r"in \[if\]"):
        editor.set_port("a", "if", "n ==")


@pytest.mark.parametrize("entries", [{}, {"m": 1}, {"n": 1}])
def test_a_network_goes_on_where_it_was(entries):
    rig, tree = network(**entries)
    rig.results["z"] = SUCCESS
    tree.tick_exactly_once()
    rig.clock.now += 0.3
    tree.tick_exactly_once()
    rig.take()
    saved = json.loads(json.dumps(save_tree(tree)))
    held = [each.name for each in holders(tree)]
    another = rig.tree(NETWORK)
    restore_tree(another, saved)
    assert [each.name for each in holders(another)] == held
    another.root_blackboard().set("n", 1 - entries.get("n", 0))  # what is locked goes on
    if held:
        assert another.tick_exactly_once() is RUNNING
        assert rig.take() == "y"
        rig.clock.now += 0.7
        another.tick_exactly_once()
        assert rig.take() == "-y"
    else:
        another.tick_exactly_once()
        assert rig.take() == ("-v +x x" if entries else "-x +z z +v v")


def test_time_that_is_left_is_saved():
    rig, tree = network(n=1)
    rig.results["z"] = SUCCESS
    tree.tick_exactly_once()
    rig.clock.now += 0.4
    saved = json.loads(json.dumps(save_tree(tree)))
    another = rig.tree(NETWORK)
    restore_tree(another, saved)
    rig.clock.now += 0.05
    assert another.tick_exactly_once() is RUNNING
    rig.clock.now += 0.1
    assert another.tick_exactly_once() is SUCCESS  # of 500 ms, 400 had passed


def test_parameters_are_saved_if_they_can_be():
    rig = Rig()
    tree = rig.tree('<Decider name="d"><Case name="a" params="{p}"><Do/></Case></Decider>')
    case = tree.node_by_path("a")
    assert isinstance(case, Case)
    tree.node_by_path("d").decide = lambda: Decision("a", [1, 2])
    tree.tick_exactly_once()
    another = rig.tree('<Decider name="d"><Case name="a" params="{p}"><Do/></Case></Decider>')
    restore_tree(another, json.loads(json.dumps(save_tree(tree))))
    assert another.node_by_path("a").params_below == [1, 2]
    tree = rig.tree('<Decider name="d"><Case name="a"><Do/></Case></Decider>')
    tree.node_by_path("d").decide = lambda: Decision("a", object())
    tree.tick_exactly_once()
    with pytest.raises(BehaviorTreeError, match="give an encode function for"):
        save_tree(tree)


def test_every_change_is_in_the_record():
    _, tree = network()
    changes = []
    tree.subscribe_status_change(lambda each, _, new: changes.append(f"{each.name} {new.name[0]}"))
    tree.tick_exactly_once()
    changes.clear()
    tree.root_blackboard().set("n", 1)
    tree.tick_exactly_once()
    assert [each for each in changes if not each.startswith("Script")] == [
        *("x I", "low I", "r I", "a I", "b R", "m R", "s R", "z R"),
    ]


def test_what_failed_is_told():
    rig, tree = network(n=1)
    rig.results["z"] = FAILURE
    assert tree.tick_exactly_once() is FAILURE
    assert tree.failure_reason().path == "z"
    rig = Rig()
    tree = rig.tree('<Monitors name="w"><AlwaysFailure name="camera"/><Do name="x"/></Monitors>')
    assert tree.tick_exactly_once() is FAILURE
    assert str(tree.failure_reason()).startswith("w: monitor 'camera' failed (camera: ")


def test_a_monitor_that_fails_or_does_not_end_leaves_nothing_running():
    rig = Rig()
    tree = rig.tree(
        '<Monitors name="w"><Do name="look"/><Atomic><Do name="x"/></Atomic></Monitors>'
    )
    rig.results["look"] = SUCCESS
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert rig.take() == "+look look +x x +look look x"
    rig.results["look"] = FAILURE
    assert tree.tick_exactly_once() is FAILURE
    assert rig.take() == "+look look -x"
    assert holders(tree) == []
    rig.results["look"] = RUNNING
    with pytest.raises(RuntimeError, match="monitor 'look' does not end in its tick"):
        tree.tick_exactly_once()
    assert rig.take() == "+look look -look"


def test_a_node_that_takes_the_place_of_a_case_is_refused():
    rig = Rig()
    rig.factory.add_substitution_rule("a", "AlwaysSuccess")
    tree = rig.tree('<Decider name="d"><Case name="a"><Do/></Case></Decider>')
    with pytest.raises(RuntimeError, match="'a' is not a Case: put it into one"):
        tree.tick_exactly_once()


def test_context_is_written_at_once():
    rig = Rig()
    tree = rig.tree(
        '<Sequence><WriteContext key="held" value="3"/><WriteContext key="name" value="red"/>'
        '<WriteContext key="copy" value="{held}"/><WriteContext key="far" value="1.5"/></Sequence>'
    )
    assert tree.tick_exactly_once() is SUCCESS
    board = tree.root_blackboard()
    assert [board.get(key) for key in ("held", "name", "copy", "far")] == [3, "red", 3, 1.5]
