# SPDX-License-Identifier: Apache-2.0
"""ConcurrentSequence: who starts when, what a failure does; it is a node like any other."""

import itertools
import json
import tracemalloc
from xml.etree import ElementTree

import py_trees
import pytest
from authoring_kit import FAILURE, RUNNING, SUCCESS, Rig, act, concurrent
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_kit import watch

from behavior_tree import (
    BehaviorTreeFactory,
    LoadError,
    NodeStatus,
    TreeEditor,
    restore_tree,
    save_tree,
    write_tree_nodes_model_xml,
    write_tree_to_xml,
    write_tree_xsd,
)
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.cli import main
from behavior_tree.monitoring.loggers.document import tree_document
from behavior_tree.nodes.authoring import AUTHORING_NODES


def test_without_steps_it_is_a_sequence():
    rig = Rig()
    assert rig.result(concurrent(act("a"), act("b", 2))) == ("SUCCESS", 3)
    assert rig.take() == "0 +a, 1 -a, 1 +b, 3 -b"


def test_each_child_starts_when_what_it_comes_after_has_ended():
    rig = Rig()
    body = concurrent(
        act("a", 4), act("b", 1, after="beginning"), act("c", 2), act("d", 1, after="a;c")
    )
    assert rig.result(body) == ("SUCCESS", 5)
    assert rig.take() == "0 +a, 0 +b, 1 -b, 1 +c, 3 -c, 4 -a, 4 +d, 5 -d"


def test_what_lies_between_is_not_waited_for():
    rig = Rig()
    body = concurrent(act("a"), act("long", 9), act("c", 1, after="a"), act("d", 1))
    assert rig.result(body) == ("SUCCESS", 10)
    assert rig.take() == "0 +a, 1 -a, 1 +long, 1 +c, 2 -c, 2 +d, 3 -d, 10 -long"


def test_a_child_may_come_after_a_later_one():
    rig = Rig()
    body = concurrent(act("a", 1, after="b"), act("b", 1, after="beginning"))
    assert rig.result(body) == ("SUCCESS", 2)
    assert rig.take() == "0 +b, 1 -b, 1 +a, 2 -a"


def test_names_are_those_of_steps_of_what_is_in_them_and_of_subtrees():
    rig = Rig()
    more = (
        f'<BehaviorTree ID="Grasp"><Sequence>{act("g", 1)}{act("h", 1)}</Sequence></BehaviorTree>'
    )
    for name in ("Grasp", "left", "step"):
        body = concurrent(
            '<Step name="step" execute_after="beginning"><SubTree ID="Grasp" name="left"/></Step>',
            act("far", 5, after="beginning"),
            act("then", 1, after=name),
        )
        assert rig.result(body, more) == ("SUCCESS", 5)
        assert rig.times("+")["then"] == rig.times("-")["h"]
        rig.log.clear()
        rig.clock.now = 100.0


def test_what_takes_no_time_is_done_in_one_tick():
    rig = Rig()
    body = concurrent(*(act(name, 0) for name in "abc"), act("d", 0, after="a"))
    assert rig.tree(body).tick_exactly_once() is SUCCESS
    assert rig.take() == "0 +a, 0 -a, 0 +b, 0 -b, 0 +d, 0 -d, 0 +c, 0 -c"


def test_skipped_children_count_as_ended():
    rig = Rig()
    skipped = '<Act name="s" _skipIf="true"/>'
    assert rig.result(concurrent(skipped, act("b"))) == ("SUCCESS", 1)
    assert rig.result(concurrent(skipped, skipped)) == ("SKIPPED", 0)


def test_it_runs_again_from_the_beginning():
    rig = Rig()
    body = concurrent(act("a"), act("b", 1, after="beginning"))
    assert rig.result(f'<Repeat num_cycles="2">{body}</Repeat>') == ("SUCCESS", 2)
    assert rig.take() == "0 +a, 0 +b, 1 -a, 1 -b, 1 +a, 1 +b, 2 -a, 2 -b"


@pytest.mark.parametrize("concurrently", ["true", "{c}"])
def test_the_switch_for_trials(concurrently):
    rig = Rig()
    body = concurrent(
        act("a", 1, after="b"), act("b", 1, after="beginning"), act("c"), concurrent=concurrently
    )
    tree = rig.tree(body)
    if concurrently == "true":
        TreeEditor(tree, rig.factory).set_port("all", "concurrent", "false")
    else:
        tree.root_blackboard().set("c", False)
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +b, 1 -b, 1 +a, 2 -a, 2 +c, 3 -c"


# -- failures --------------------------------------------------------------------------------------


def test_a_failure_halts_what_runs():
    rig = Rig()
    body = concurrent(
        act("a", 1, "FAILURE"), act("b", 5, after="beginning"), act("c", 1), act("d", 1, after="a")
    )
    tree = rig.tree(body)
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +a, 0 +b, 1 -a, 1 !b"
    assert tree.failure_reason().path == "a"


def test_what_runs_may_finish_but_nothing_starts_and_the_verdict_waits():
    rig = Rig()
    body = concurrent(
        act("a", 1, "FAILURE"),
        act("b", 3, after="beginning"),
        act("c"),
        act("d", 4, "FAILURE", after="beginning"),
        on_failure="finish",
    )
    tree = rig.tree(body)
    assert rig.run(tree, until=3.5) is RUNNING
    assert rig.run(tree) is FAILURE
    assert rig.take() == "0 +a, 0 +b, 0 +d, 1 -a, 3 -b, 4 -d"
    assert str(tree.failure_reason()) == "all: a: a went wrong; d: d went wrong"


@pytest.mark.parametrize("policy", ["halt", "finish"])
@pytest.mark.parametrize("fails_at", [1, 2, 3])
@pytest.mark.parametrize("order", list(itertools.permutations("fo")))
@pytest.mark.parametrize("concurrently", ["true", "false"])
def test_a_failure_is_never_swallowed(policy, fails_at, order, concurrently):
    """One fails, the other one succeeds, in any order of time and of the list."""
    rig = Rig()
    times = {"f": (fails_at, "FAILURE"), "o": (2, "SUCCESS")}
    children = [act(name, *times[name], after="beginning") for name in order]
    group = concurrent(*children, on_failure=policy, concurrent=concurrently)
    tree = rig.tree(f"<Sequence>{group}{act('next')}</Sequence>")
    assert rig.run(tree) is FAILURE
    assert "next" not in rig.times("+")
    if policy == "finish" and concurrently == "true":
        assert rig.clock.now == 100 + max(fails_at, 2)  # the verdict is that of all
    assert rig.times("+").keys() == rig.times("-").keys() | rig.times("!").keys()


def test_a_failure_belongs_to_the_innermost_group():
    rig = Rig()
    inner = concurrent(act("a", 1, "FAILURE"), act("b", 2, after="beginning"), on_failure="finish")
    inner = inner.replace('name="all"', 'name="inner"')
    handled = f'<Fallback name="saved">{inner}{act("mend")}</Fallback>'
    body = concurrent(handled, act("far", 9, after="beginning"))
    assert rig.result(body) == ("SUCCESS", 9)
    assert rig.take() == "0 +a, 0 +b, 0 +far, 1 -a, 2 -b, 2 +mend, 3 -mend, 9 -far"


def test_it_is_halted_as_a_whole():
    rig = Rig()
    tree = rig.tree(concurrent(act("a"), act("b", 5, after="beginning"), act("c", 5, after="a")))
    rig.run(tree, until=2)
    rig.take()
    tree.halt_tree()
    assert {name for _, sign, name in rig.log if sign == "!"} == {"b", "c"}
    rig.log.clear()
    rig.clock.now = 100.0
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +a, 0 +b, 1 -a, 1 +c, 5 -b, 6 -c"


def test_a_leaf_may_halt_its_tree():
    rig = Rig()
    rig.factory.register_simple_action("Stop", lambda node: stop())
    tree = rig.tree(concurrent(act("a", 5), '<Step execute_after="beginning"><Stop/></Step>'))
    calls = []

    def stop():
        calls.append(1)
        if len(calls) == 1:
            tree.halt_tree()
        return SUCCESS

    assert tree.tick_exactly_once() is RUNNING
    assert rig.take() == "0 +a, 0 !a"
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +a, 5 -a"


# -- mistakes --------------------------------------------------------------------------------------

MISTAKES = {
    "unknown": (
        concurrent(act("a"), act("b", after="x")),
        r"execute_after names 'x', which is not there \(previous, beginning, or one of a, b\)",
    ),
    "twice": (concurrent(act("a"), act("a"), act("b", after="a")), "and 2 children are called so"),
    "cycle": (
        concurrent(act("a", after="c"), act("b"), act("c")),
        "wait for each other and none can start: a -> c -> b -> a",
    ),
    "itself": (concurrent(act("a", after="a")), "none can start: a -> a"),
    "not alone": (concurrent(act("a"), act("b", after="a;previous")), "'previous' stands alone"),
    "late": (concurrent(act("a", after="{x}")), "must be known when the tree is loaded"),
    "outside": (f"<Sequence>{act('a', after='previous')}</Sequence>", "outside of any Concurrent"),
    "deeper": (concurrent(f"<Inverter>{act('a', after='beginning')}</Inverter>"), "outside of any"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_found_at_load_with_their_line(what):
    body, message = MISTAKES[what]
    with pytest.raises(LoadError, match=message) as caught:
        Rig().tree(body.replace("><", ">\n<"))
    (problem,) = caught.value.problems
    lines = body.replace("><", ">\n<").split("\n")
    assert "<Step" in lines[problem.line - 1]


def test_all_mistakes_come_in_one_report():
    with pytest.raises(LoadError) as caught:
        Rig().tree(concurrent(act("a", after="x"), act("b", after="c"), act("c", after="b")))
    unknown, circle = caught.value.problems
    assert "execute_after names 'x', which is not there" in str(unknown)
    assert "none can start: b -> c -> b" in str(circle)


def test_a_factory_that_does_not_know_the_nodes_says_so():
    text = '<root BTCPP_format="4"><BehaviorTree ID="M"><ConcurrentSequence><AlwaysSuccess/>'
    text += "</ConcurrentSequence></BehaviorTree></root>"
    factory = BehaviorTreeFactory()
    with pytest.raises(LoadError, match=r"register_authoring_nodes\(factory\) before loading"):
        factory.create_tree_from_text(text)
    register_authoring_nodes(factory)
    register_authoring_nodes(factory)  # twice is no mistake
    assert factory.create_tree_from_text(text).tick_exactly_once() is SUCCESS


# -- like any node ---------------------------------------------------------------------------------

LIST = concurrent(act("a", 2), act("b", 5, after="beginning"), act("c", 2))


def test_editors_are_told_of_the_nodes_with_their_ports():
    factory = BehaviorTreeFactory()
    register_authoring_nodes(factory)
    assert not factory.builtin_nodes() & AUTHORING_NODES.keys()  # Groot2 does not know them
    text = write_tree_nodes_model_xml(factory.manifests().values())
    models = {each.get("ID"): each for each in ElementTree.fromstring(text)[0]}
    assert models.keys() == AUTHORING_NODES.keys()
    for type_id, node_class in AUTHORING_NODES.items():
        assert models[type_id].tag == node_class.node_type.tag
        ports = {each.get("name"): each for each in models[type_id] if each.tag != "MetadataFields"}
        assert ports.keys() == node_class.provided_ports().keys()
        assert all(each.text for each in ports.values()), f"a port of {type_id} is not described"
        assert node_class.__doc__
    assert 'name="ConcurrentSequenceType"' in write_tree_xsd(factory)


def test_what_is_written_loads_again_and_groot2_gets_the_models():
    rig = Rig()
    tree = rig.tree(LIST)
    document = tree_document(tree)
    assert '<Decorator ID="Step">' in document
    assert '<input_port name="execute_after"' in document
    text = write_tree_to_xml(tree, rig.factory.manifests().values())
    assert 'execute_after="beginning"' in text
    again = rig.factory.create_tree_from_text(
        text.replace("<root ", '<root main_tree_to_execute="Main" ')
    )
    assert rig.run(again) is SUCCESS
    assert rig.clock.now == 107.0


def test_the_command_checks_them(tmp_path, capsys):
    file = tmp_path / "list.xml"
    model = '<TreeNodesModel><Action ID="Act"><input_port name="seconds" default="1"/>'
    model += '<input_port name="result" default=""/></Action></TreeNodesModel>'
    root = '<root BTCPP_format="4"><BehaviorTree ID="M">{}</BehaviorTree>{}</root>'
    file.write_text(root.format(LIST, model))
    assert main(["check", str(file)]) == 0
    file.write_text(root.format(LIST.replace("beginning", "z"), model))
    assert main(["check", str(file)]) == 1
    assert "execute_after names 'z'" in capsys.readouterr().out


@pytest.mark.parametrize("until", [0, 2, 3, 6])
def test_it_goes_on_where_it_was_saved(until):
    rig = Rig()
    tree = rig.tree(LIST)
    rig.run(tree, until)
    rig.take()
    saved = json.loads(json.dumps(save_tree(tree)))
    whole = Rig()
    whole.run(whole.tree(LIST))
    again = rig.tree(LIST)
    restore_tree(again, saved)
    rig.take()
    assert rig.run(again) is SUCCESS
    assert rig.clock.now == 107.0
    assert rig.log == whole.log[-len(rig.log) :]


def test_it_is_edited_while_it_runs():
    rig = Rig()
    tree = rig.tree(LIST)
    editor = TreeEditor(tree, rig.factory)
    rig.run(tree, until=1)
    editor.insert("all", -1, act("d", 1, after="a"))
    editor.insert("all", -1, act("e", 1, after="beginning"))
    rig.clock.now = 101.0
    assert rig.run(tree) is SUCCESS
    assert rig.take() == ("0 +a, 0 +b, 1 +e, 2 -a, 2 -e, 2 +d, 3 -d, 5 -b, 5 +c, 7 -c")
    assert editor.undo()
    assert editor.undo()
    rig.clock.now = 100.0
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +a, 0 +b, 2 -a, 5 -b, 5 +c, 7 -c"


def test_an_edit_moves_a_child_in_time():
    rig = Rig()
    tree = rig.tree(LIST)
    editor = TreeEditor(tree, rig.factory)
    rig.run(tree, until=1)
    rig.clock.now = 101.0
    with pytest.raises(LoadError, match="execute_after names 'nobody'"):
        editor.set_port("Step::3", "execute_after", "nobody")
    editor.replace("c", act("c", 2, after="beginning"))
    rig.run(tree, until=1)
    assert rig.take() == "0 +a, 0 +b, 1 +c"
    with pytest.raises(LoadError, match="wait for each other"):
        editor.set_port(tree.node_by_path("c").parent, "execute_after", "c")
    editor.set_port(tree.node_by_path("c").parent, "execute_after", "b")
    assert rig.run(tree) is SUCCESS  # what runs goes on
    assert rig.take() == "2 -a, 3 -c, 5 -b"
    with pytest.raises(LoadError, match="which is not there"):
        editor.remove(tree.node_by_path("b").parent)
    with pytest.raises(LoadError, match="which is not there"):
        editor.rename("b", "other")


def test_what_runs_and_is_taken_out_is_halted_and_not_waited_for():
    rig = Rig()
    tree = rig.tree(LIST)
    editor = TreeEditor(tree, rig.factory)
    rig.run(tree, until=1)
    rig.clock.now = 101.0
    editor.remove(tree.node_by_path("b").parent)
    assert rig.run(tree) is SUCCESS
    assert rig.take() == "0 +a, 0 +b, 1 !b, 2 -a, 2 +c, 4 -c"


def test_a_tick_in_which_nothing_changes_allocates_nothing():
    rig = Rig()
    tree = rig.tree(LIST)
    node = tree.root_node()
    run = node._run
    run(node)
    run(node)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(100):
            run(node)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 400  # the frames of Python's calls, and a number


def test_changes_are_told_from_the_parent_down():
    rig = Rig()
    tree = rig.tree(concurrent(act("a", 1, after="beginning")))
    told = watch(tree)
    rig.run(tree)
    assert told == [
        *("all I>R", "Step I>R", "a I>R"),
        *("a R>S", "a S>I", "Step R>S", "Step S>I", "all R>S", "all S>I"),
    ]


def test_py_trees_ticks_and_stops_it():
    rig = Rig()
    outside = py_trees.trees.BehaviourTree(rig.tree(LIST).root_node())
    outside.tick()
    assert outside.root.status == py_trees.common.Status.RUNNING
    outside.interrupt()
    outside.root.stop()
    assert rig.take() == "0 +a, 0 +b, 0 !a, 0 !b"


# -- properties ------------------------------------------------------------------------------------


@st.composite
def lists(draw):
    """Children with their time, result, and what they come after: always one of those before. No
    two sums of times are the same, so that nothing depends on an order within a moment.
    """
    children = []
    for index in range(draw(st.integers(1, 7))):
        others = st.sampled_from([f"n{place}" for place in range(index)]) if index else st.nothing()
        after = draw(
            st.one_of(
                st.sampled_from(["previous", "beginning"]),
                st.lists(others, min_size=1, max_size=2, unique=True).map(";".join),
            )
            if index
            else st.sampled_from(["previous", "beginning"])
        )
        seconds = draw(st.integers(1, 4)) + 2**index / 1000
        children.append((seconds, after, draw(st.sampled_from(["SUCCESS"] * 6 + ["FAILURE"]))))
    return children


def expected(children, policy):
    """Beginnings and ends, computed without a tree: no failure until a child begins, or none."""
    begins, ends = {}, {}
    for index, (seconds, after, _) in enumerate(children):
        if after == "previous":
            waits = [index - 1] if index else []
        else:
            waits = [] if after == "beginning" else [int(name[1:]) for name in after.split(";")]
        known = [ends[each] if children[each][2] == "SUCCESS" else None for each in waits]
        begins[index] = None if None in known else max(known, default=0)
        ends[index] = None if begins[index] is None else begins[index] + seconds
    failures = [
        ends[index]
        for index, child in enumerate(children)
        if child[2] == "FAILURE" and ends[index] is not None
    ]
    first = min(failures, default=None)
    if first is None:
        return "SUCCESS", round(max(ends.values()), 6), begins
    if policy == "halt":
        return "FAILURE", round(first, 6), begins
    running = [ends[i] for i in ends if begins[i] is not None and begins[i] < first]
    return "FAILURE", round(max([first, *running]), 6), begins


@settings(max_examples=300, deadline=None)
@given(lists(), st.sampled_from(["halt", "finish"]))
def test_it_takes_as_long_as_its_longest_chain(children, policy):
    rig = Rig()
    body = concurrent(
        *(
            act(f"n{index}", seconds, result, after)
            for index, (seconds, after, result) in enumerate(children)
        ),
        on_failure=policy,
    )
    status, duration, begins = expected(children, policy)
    assert rig.result(body) == (status, duration)
    for name, time in rig.times("+").items():
        assert time == round(begins[int(name[1:])], 6)
    assert rig.times("+").keys() == rig.times("-").keys() | rig.times("!").keys()
    alone = Rig()
    alone_body = body.replace('name="all"', 'name="all" concurrent="false"')
    result, sequential = alone.result(alone_body)
    if status == "SUCCESS":
        assert result == "SUCCESS"
        assert duration <= sequential == round(sum(seconds for seconds, _, _ in children), 6)
        assert alone.times("+").keys() == rig.times("+").keys()


@settings(max_examples=100, deadline=None)
@given(lists(), st.integers(0, 12))
def test_it_goes_on_after_a_restart_at_any_time(children, pause):
    body = concurrent(
        *(act(f"n{i}", *(child[0], child[2]), child[1]) for i, child in enumerate(children)),
        on_failure="finish",
    )
    whole = Rig()
    result = whole.run(whole.tree(body))
    rig = Rig()
    tree = rig.tree(body)
    if rig.run(tree, until=pause) is not RUNNING:
        return
    kept = list(rig.log)
    again = rig.tree(body)
    restore_tree(again, json.loads(json.dumps(save_tree(tree))))
    tree.root_node().status = NodeStatus.IDLE
    rig.log[:] = kept
    assert rig.run(again) is result
    assert rig.log == whole.log
