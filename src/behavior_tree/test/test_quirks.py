# SPDX-License-Identifier: Apache-2.0
"""Each documented quirk in both settings; those of scripts and conditions are tested beside these."""

# ruff: noqa: E501

import pytest
from tree_kit import Rig, letter, xml

import behavior_tree
from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, LoadError, restore_tree, save_tree
from behavior_tree.blackboard.casts_4_8 import to_double
from behavior_tree.quirks import MENDED, UPSTREAM_4_8, quirks_for

BOTH = pytest.mark.parametrize("compat", [None, "4.8"])


def result(rig, tree):
    try:
        return letter(tree.tick_exactly_once())
    except BehaviorTreeError:
        return "raised"


def test_versions():
    assert quirks_for(None) is MENDED
    assert quirks_for("4.8") is UPSTREAM_4_8
    with pytest.raises(ValueError, match=r"3\.8"):
        BehaviorTreeFactory(compat="3.8")


@BOTH
def test_b_subtree_remap_to_root(compat):
    rig = Rig(compat)
    tree = rig.tree(
        '<SubTree ID="T" p="{@x}"/>', '<BehaviorTree ID="T"><Script code="p := 3"/></BehaviorTree>'
    )
    assert result(rig, tree) == ("raised" if compat else "S")
    assert tree.root_blackboard().get_keys() == (["@x"] if compat else ["x"])


@BOTH
def test_e_precondition_latch(compat):
    rig = Rig(compat, A="R")
    tree = rig.tree('<Precondition if="go"><A/></Precondition>')
    tree.root_blackboard().set("go", True)
    tree.tick_once()
    tree.halt_tree()
    tree.root_blackboard().set("go", False)
    assert result(rig, tree) == ("R" if compat else "F")


@BOTH
def test_f_set_blackboard_literal(compat):
    rig = Rig(compat)
    tree = rig.tree(
        '<Sequence><SetBlackboard output_key="a" value="42"/>'
        '<SetBlackboard output_key="b" value="{a}"/></Sequence>'
    )
    assert result(rig, tree) == ("F" if compat else "S")


@BOTH
def test_if_then_else_with_a_skipped_condition(compat):
    rig = Rig(compat, A="K", B="S")
    assert result(rig, rig.tree("<IfThenElse><A/><B/></IfThenElse>")) == (
        "raised" if compat else "K"
    )
    rig = Rig(compat, A="K", B="S")
    assert result(rig, rig.tree("<WhileDoElse><A/><B/></WhileDoElse>")) == (
        "raised" if compat else "K"
    )


@BOTH
def test_parallel_with_all_children_skipped(compat):
    rig = Rig(compat, A="K")
    assert result(rig, rig.tree("<Parallel><A/></Parallel>")) == ("S" if compat else "K")


@BOTH
def test_loop_over_an_empty_entry(compat):
    rig = Rig(compat, A="S")
    assert result(rig, rig.tree('<LoopInt queue="{q}"><A/></LoopInt>')) == (
        "raised" if compat else "S"
    )


@BOTH
def test_missing_ports(compat):
    rig = Rig(compat)
    if compat:
        assert result(rig, rig.tree("<Sleep/>")) == "raised"
    else:
        with pytest.raises(LoadError, match=r"Missing mandatory port \[msec\]"):
            rig.tree("<Sleep/>")


@BOTH
def test_numbers_with_garbage_behind(compat):
    rig = Rig(compat, A="S")
    body = '<Repeat num_cycles="1x"><A/></Repeat>'
    if compat:
        assert result(rig, rig.tree(body)) == "S"
    else:
        with pytest.raises(LoadError, match="can not be converted"):
            rig.tree(body)


@BOTH
def test_numbers_given_to_a_subtree(compat):
    rig = Rig(compat)
    tree = rig.tree(
        '<SubTree ID="T" q="5"/>', '<BehaviorTree ID="T"><Script code="r := q + 1"/></BehaviorTree>'
    )
    assert result(rig, tree) == ("raised" if compat else "S")


@BOTH
def test_halting_an_update_decorator(compat):
    rig = Rig(compat, A="S", B="R")
    body = '<ReactiveSequence><P/><WaitValueUpdate entry="{x}"><B/></WaitValueUpdate></ReactiveSequence>'
    rig = Rig(compat, P="SF", B="R")
    tree = rig.tree(body)
    tree.root_blackboard().set("x", 1)
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert rig.take_log() == ("P B P" if compat else "P B P !B")


@BOTH
def test_format_version(compat):
    rig = Rig(compat)
    text = '<root BTCPP_format="5"><BehaviorTree ID="Main"><AlwaysSuccess/></BehaviorTree></root>'
    if compat:
        rig.factory.create_tree_from_text(text)
    else:
        with pytest.raises(LoadError):
            rig.factory.create_tree_from_text(text)


@BOTH
def test_explicit_category(compat):
    rig = Rig(compat)
    rig.factory.create_tree_from_text(xml('<Action ID="Sequence"><AlwaysSuccess/></Action>'))
    told = [each.message for each in rig.factory.load_warnings()]
    assert told == ([] if compat else ["Sequence is a Control, not an Action"])


@BOTH
def test_d_explicit_child_of_reactive_sequence(compat):
    rig = Rig(compat)
    body = '<ReactiveSequence><Action ID="AlwaysSuccess"/></ReactiveSequence>'
    if compat:
        with pytest.raises(LoadError, match="Unknown node type: Action"):
            rig.tree(body)
    else:
        assert result(rig, rig.tree(body)) == "S"


@BOTH
def test_switch_prefixes(compat):
    rig = Rig(compat, A="S", B="S", C="S")
    tree = rig.tree('<Switch2 variable="1.0x" case_1="1" case_2="2"><A/><B/><C/></Switch2>')
    tree.tick_once()
    assert rig.take_log() == ("A" if compat else "C")


@BOTH
def test_problems_in_trees_that_are_not_used(compat):
    rig = Rig(compat)
    unused = '<BehaviorTree ID="Unused"><Script code="1 +"/></BehaviorTree>'
    if compat:
        rig.tree("<AlwaysSuccess/>", unused)
    else:
        with pytest.raises(LoadError, match="Unused/Script"):
            rig.tree("<AlwaysSuccess/>", unused)


@BOTH
def test_set_blackboard_between_number_types(compat):
    rig = Rig(compat)
    tree = rig.tree('<SetBlackboard value="{i}" output_key="d"/>')
    tree.root_blackboard().set("i", 2)
    tree.root_blackboard().set("d", 0.5)
    assert result(rig, tree) == ("raised" if compat else "S")


@BOTH
def test_skipped_simple_action(compat):
    from behavior_tree import NodeStatus

    seen = []
    rig = Rig(compat)
    rig.factory.register_simple_action(
        "Work", lambda node: seen.append(node.status().name) or NodeStatus.SKIPPED
    )
    tree = rig.tree("<KeepRunningUntilFailure><Work/></KeepRunningUntilFailure>")
    tree.tick_exactly_once()
    tree.tick_exactly_once()
    assert seen == ["RUNNING", "SKIPPED" if compat else "RUNNING"]


def _raise(*_):
    raise ValueError("boom")


CALLBACKS = {
    "action": (lambda f: f.register_simple_action("X", _raise), "<X/>"),
    "condition": (lambda f: f.register_simple_condition("X", _raise), "<X/>"),
    "onStart": (lambda f: f.register_simple_stateful_action("X", _raise, _raise), "<X/>"),
    "decorator": (
        lambda f: f.register_simple_decorator("X", _raise),
        "<X><AlwaysSuccess/></X>",
    ),
}


@pytest.mark.parametrize("what", CALLBACKS)
@pytest.mark.parametrize("compat", ["4.8", None])
def test_exception_in_a_callback(what, compat, capsys):
    factory = behavior_tree.BehaviorTreeFactory(compat=compat)
    register, xml = CALLBACKS[what]
    register(factory)
    tree = factory.create_tree_from_text(
        f'<root BTCPP_format="4"><BehaviorTree ID="M">{xml}</BehaviorTree></root>'
    )
    if compat is None:
        with pytest.raises(behavior_tree.BehaviorTreeError, match="boom"):
            tree.tick_once()
    else:
        assert tree.tick_once() is behavior_tree.NodeStatus.FAILURE
        error = capsys.readouterr().err
        assert f"Python exception in {what} [X]" in error
        assert "ValueError: boom" in error


@pytest.mark.parametrize(("compat", "known"), [("4.8", []), (None, ["M"])])
def test_trees_from_text_stay_registered(compat, known):
    factory = behavior_tree.BehaviorTreeFactory(compat=compat)
    factory.create_tree_from_text(
        '<root BTCPP_format="4"><BehaviorTree ID="M"><AlwaysSuccess/></BehaviorTree></root>'
    )
    assert factory.registered_behavior_trees() == known


@BOTH
def test_exact_values_of_the_first_real_above_all_integers(compat):
    """Upstream compares the bound as a real, which rounds it up to this one."""
    rig = Rig(compat)
    tree = rig.tree('<Script code="a := 2; a := 9223372036854775808.0"/>')
    assert result(rig, tree) == ("S" if compat else "raised")
    assert tree.root_blackboard().get("a") == (-(2**63) if compat else 2)


@pytest.mark.parametrize(
    ("integer", "known"), [(-(2**63), True), (-(2**63) + 1, False), (2**53, False), (5, True)]
)
def test_exact_values_of_large_integers_as_reals(integer, known):
    """Upstream compares absolute values; that of the smallest integer does not exist."""
    if known:
        assert to_double(integer) == float(integer)
    else:
        with pytest.raises(BehaviorTreeError, match="Loss of precision"):
            to_double(integer)


@BOTH
def test_exact_values_of_integers_that_no_port_of_32_bits_takes(compat):
    rig = Rig(compat, A="R")
    tree = rig.tree(
        '<Sequence><Script code="n := 3000000000"/><Repeat num_cycles="{n}"><A/></Repeat>'
        "</Sequence>"
    )
    assert result(rig, tree) == ("raised" if compat else "R")


@BOTH
def test_exact_values_of_sets_and_numbers(compat):
    rig = Rig(compat, A="S")
    tree = rig.tree('<SetBlackboard value="{literal}" output_key="i"/>')
    board = tree.root_blackboard()
    board.set_int("i", 1)
    if compat:
        with pytest.raises(BehaviorTreeError):
            board.set_bool("i", False)  # True would be taken
    else:
        board.set_bool("i", False)
    board.set_string("text", "12abc")
    if compat:
        assert board.get_int("text") == 12
    else:
        with pytest.raises(BehaviorTreeError):
            board.get_int("text")


@BOTH
def test_script_integers_are_not_the_integers_of_set_int(compat):
    rig = Rig(compat)
    tree = rig.tree(
        '<Sequence><Script code="literal := 3"/>'
        '<SetBlackboard value="{literal}" output_key="i"/></Sequence>'
    )
    tree.root_blackboard().set_int("i", 1)
    assert result(rig, tree) == ("raised" if compat else "S")


@BOTH
def test_queues_are_typed(compat):
    rig = Rig(compat, A="S")
    tree = rig.tree('<LoopInt queue="{q}" value="{i}"><A/></LoopInt>')
    board = tree.root_blackboard()
    board.set_string("q", "1;2")
    assert [result(rig, tree) for _ in range(3)] == ["R", "R", "S"]
    if compat:  # the text became a queue, which is empty now
        assert type(board.get("q")).__name__ == "IntQueue"
        assert not board.get("q")
    else:
        assert board.get_string("q") == "1;2"


@BOTH
def test_ports_that_cannot_be_read(compat):
    rig = Rig(compat, A="S")
    tree = rig.tree('<RunOnce then_skip="{skip}"><A/></RunOnce>')
    tree.root_blackboard().set_string("other", "")
    assert result(rig, tree) == ("S" if compat else "raised")


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        '<root BTCPP_format="4"><BehaviorTree ID="My/Tree"><AlwaysSuccess/></BehaviorTree></root>',
        xml('<Sequence><SubTree ID="T" name="x"/><SubTree ID="T" name="x"/></Sequence>')[:-7]
        + '<BehaviorTree ID="T"><AlwaysSuccess/></BehaviorTree></root>',
        xml('<AlwaysSuccess name="&#9;"/>'),
    ],
)
def test_names_of_any_kind(compat, text):
    rig = Rig(compat)
    if compat:
        assert letter(rig.factory.create_tree_from_text(text).tick_once()) == "S"
    else:
        with pytest.raises(LoadError):
            rig.factory.create_tree_from_text(text)


@BOTH
def test_an_empty_instance_name(compat):
    tree = Rig(compat).tree('<AlwaysSuccess name=""/>')
    assert tree.root_node().full_path() == ("" if compat else "AlwaysSuccess::1")


@BOTH
def test_results_of_callbacks_that_mean_nothing(compat):
    rig = Rig(compat)
    rig.factory.register_simple_condition("Ask", lambda node: "maybe")
    assert result(rig, rig.tree("<Ask/>")) == ("F" if compat else "raised")


@BOTH
def test_set_output_of_the_binding(compat):
    rig = Rig(compat)
    tree = rig.tree('<SetBlackboard value="1" output_key="{k}"/>')
    if compat:
        with pytest.raises(TypeError):
            tree.root_node().set_output_int("output_key", 5)
    else:
        assert tree.root_node().set_output_int("output_key", 5)
    assert tree.root_blackboard().get_int("k") == 5


@BOTH
def test_a_tree_that_nobody_refers_to(compat):
    rig = Rig(compat, A="R")
    tree = rig.tree("<A/>")
    tree.tick_once()
    del tree
    assert rig.take_log() == ("A !A" if compat else "A")


@BOTH
def test_trees_from_text_and_registered_trees(compat):
    rig = Rig(compat)
    rig.factory.register_behavior_tree_from_text(xml("<AlwaysSuccess/>").replace("Main", "T"))
    if compat:
        with pytest.raises(LoadError, match="Can't find a tree"):
            rig.tree('<SubTree ID="T"/>')
    else:
        assert result(rig, rig.tree('<SubTree ID="T"/>')) == "S"


@BOTH
def test_outputs_of_subtree_models(compat):
    model = (
        '<TreeNodesModel><SubTree ID="T"><output_port name="out"/><inout_port name="both"/>'
        "</SubTree></TreeNodesModel>"
        '<BehaviorTree ID="T"><Script code="out := 1; both := 2"/></BehaviorTree>'
    )
    rig = Rig(compat)
    if compat:
        with pytest.raises(LoadError, match=r"mandatory port called \[out\]"):
            rig.tree('<SubTree ID="T" both="{x}"/>', model)
        return
    tree = rig.tree('<SubTree ID="T" both="{x}"/>', model)
    assert result(rig, tree) == "S"
    assert dict(tree.root_blackboard().items()) == {"x": 2}, "an open output stays inside"
    with pytest.raises(LoadError, match=r"mandatory port called \[both\]"):
        Rig().tree('<SubTree ID="T" out="{x}"/>', model)


@BOTH
def test_a_literal_queue_is_copied_when_the_loop_starts_from_idle(compat):
    rig = Rig(compat, A="S")
    tree = rig.tree('<LoopInt queue="1;2" if_empty="SKIPPED" _failureIf="stop"><A/></LoopInt>')
    tree.root_blackboard().set("stop", True)
    root = tree.root_node()
    assert letter(root.execute_tick()) == "F"  # and keeps that status, as nobody resets it
    tree.root_blackboard().set("stop", False)
    assert letter(root.execute_tick()) == ("K" if compat else "R")


@BOTH
@pytest.mark.parametrize(
    ("watch", "missed"),
    [
        ('<WasEntryUpdated entry="{k}"/>', "F"),
        ('<SkipUnlessUpdated entry="{k}"><A/></SkipUnlessUpdated>', "K"),
        ('<WaitValueUpdate entry="{k}"><A/></WaitValueUpdate>', "R"),
    ],
)
def test_a_write_after_unset_is_noticed(compat, watch, missed):
    rig = Rig(compat, A="S")
    tree = rig.tree(watch)
    board = tree.root_blackboard()
    for _ in range(2):
        board.unset("k")
        board.set("k", 1)
        last = result(rig, tree)
        again = result(rig, tree)
    assert (last, again) == (missed if compat else "S", missed)


def test_a_write_after_unset_is_noticed_after_a_restore():
    rig = Rig()
    tree = rig.tree('<WasEntryUpdated entry="{k}"/>')
    tree.root_blackboard().set("k", 1)
    assert result(rig, tree) == "S"
    saved = save_tree(tree)
    tree.root_blackboard().unset("k")
    restore_tree(tree, saved)
    assert result(rig, tree) == "F"
    tree.root_blackboard().unset("k")
    tree.root_blackboard().set("k", 1)
    assert result(rig, tree) == "S"
