# SPDX-License-Identifier: Apache-2.0
"""Steps, stops and breakpoints; what follows a failure; a run that nobody disturbs is as before."""

import pytest
from authoring_kit import FAILURE, RUNNING, SUCCESS, Rig, act, concurrent
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import BehaviorTreeError, LogicError, NodeStatus, TreeEditor
from behavior_tree.decider import register_decider_nodes
from behavior_tree.run_control import RunControl, read_breakpoints, write_breakpoints


def controlled(body, **options):
    rig = Rig()
    tree = rig.tree(body)
    return rig, tree, RunControl(tree, **options)


def sequence(*children):
    return f'<Sequence name="all">{"".join(children)}</Sequence>'


def run(rig, tree):
    """Tick at each deadline until the tree ends, or waits for an operator."""
    for _ in range(300):
        status = tree.tick_once()
        following = tree.runtime.next_deadline()
        if status is not RUNNING:
            return status
        if following is None or following > 1e6:
            return status  # timers stand still
        rig.clock.now = max(rig.clock.now, following)
    raise AssertionError("it does not end")


# -- manual steps


def test_one_leaf_at_a_time():
    rig, tree, control = controlled(sequence(act("a"), act("b", 0), act("c")))
    control.stop()
    assert run(rig, tree) is RUNNING
    assert rig.take() == ""
    assert control.held == ["a"]
    assert control.step() == ["a"]
    assert run(rig, tree) is RUNNING
    assert rig.take() == "0 +a, 1 -a"
    assert control.held == ["b"]
    control.step()
    run(rig, tree)
    assert rig.take() == "1 +b, 1 -b"
    assert control.held == ["c"]
    control.step()
    assert run(rig, tree) is SUCCESS
    assert control.held == []
    assert control.step() == []


def test_one_concurrent_group_at_a_time():
    body = concurrent(act("a"), act("b", 2, after="beginning"), act("c"), act("d", after="a"))
    rig, tree, control = controlled(body)
    control.stop()
    run(rig, tree)
    assert control.held == ["a", "b"]
    control.step()
    run(rig, tree)
    assert rig.take() == "0 +a, 0 +b, 1 -a, 2 -b"
    assert control.held == ["d", "c"]


def test_one_of_a_group():
    rig, tree, control = controlled(concurrent(act("a"), act("b", after="beginning")))
    control.stop()
    run(rig, tree)
    assert control.step("b") == ["b"]
    run(rig, tree)
    assert rig.take() == "0 +b, 1 -b"
    assert control.held == ["a"]
    with pytest.raises(BehaviorTreeError, match=r"does not wait to begin .there are 'a'"):
        control.step("b")


def test_what_runs_goes_on_after_a_stop():
    rig, tree, control = controlled(sequence(act("a"), act("b")))
    tree.tick_once()
    control.stop()
    run(rig, tree)
    assert rig.take() == "0 +a, 1 -a"
    control.go()
    assert run(rig, tree) is SUCCESS


def test_a_held_leaf_is_not_halted_and_its_conditions_wait():
    body = sequence(
        '<Act name="a" seconds="0"/>', '<Act name="b" _skipIf="skip" _onHalted="halted := true"/>'
    )
    rig, tree, control = controlled(body)
    tree.root_blackboard().set("skip", False)
    control.run_to("b")
    run(rig, tree)
    tree.root_blackboard().set("skip", True)
    control.step()
    assert tree.tick_once() is SUCCESS
    assert rig.take() == "0 +a, 0 -a"
    control.run_to("b")
    run(rig, tree)
    rig.take()
    tree.halt_tree()
    assert rig.take() == ""
    assert "halted" not in tree.root_blackboard().get_keys()


def test_a_timeout_stands_still_while_nothing_runs():
    rig, tree, control = controlled(
        f'<Timeout msec="1500">{sequence(act("a"), act("b", 0.2))}</Timeout>'
    )
    control.stop()
    for _ in range(2):
        tree.tick_once()
        rig.clock.now += 1000
        tree.tick_once()
        control.step()
        run(rig, tree)
    assert tree.root_node().status is NodeStatus.IDLE  # it has ended
    assert rig.take() == "1000 +a, 1001 -a, 2001 +b, 2001.2 -b"


def test_a_reactive_condition_is_not_held_again_while_what_follows_runs():
    body = f"<ReactiveSequence>{act('ask', 0)}{act('a', 5)}</ReactiveSequence>"
    rig, tree, control = controlled(body)
    control.stop()
    tree.tick_once()
    control.step()
    tree.tick_once()
    control.step()
    for _ in range(3):
        assert tree.tick_once() is RUNNING
    assert control.held == []
    assert "!a" not in rig.take()


def in_network(body):
    """A controlled tree in manual mode that may have decider nodes."""
    rig = Rig()
    register_decider_nodes(rig.factory)
    tree = rig.tree(body)
    tree.root_blackboard().set("x", 0)
    control = RunControl(tree)
    control.stop()
    return rig, tree, control


ROUNDS = f'<Repeat num_cycles="-1">{sequence(act("a"), act("b"))}</Repeat>'


@pytest.mark.parametrize(
    "body",
    [
        f"<ReactiveSequence><AlwaysSuccess/>{ROUNDS}</ReactiveSequence>",
        f"<WhileDoElse><AlwaysSuccess/>{ROUNDS}</WhileDoElse>",
        f"<ReactiveSequence><AlwaysSuccess/><Parallel>{ROUNDS}{act('c', 99)}</Parallel>"
        "</ReactiveSequence>",
        f'<Decider><Case name="A" if="x == 0">{act("a", 9)}</Case>'
        f'<Case name="B">{act("b", 9)}</Case></Decider>',
        f'<RLDS><Rd name="R">{act("a")}</Rd></RLDS>',
        f'<Monitors><Script code="y := 1"/><RLDS><Rd name="R">{act("a")}</Rd></RLDS></Monitors>',
    ],
    ids=["sequence", "while", "parallel", "decider", "rlds", "monitors"],
)
def test_no_motion_begins_again_by_itself_below_a_reactive_node(body):
    """Manual is manual in the second round of a loop and at the second choice, too."""
    rig, tree, control = in_network(body)
    allowed = []
    for number in range(30):
        tree.tick_exactly_once()
        begun = [name for _, sign, name in rig.log if sign == "+"]
        assert begun == [name for name in allowed if name in ("a", "b", "c")][: len(begun)]
        if control.held:
            allowed += [name.rpartition("/")[2] for name in control.step()]
        else:
            rig.clock.now += 2
            tree.root_blackboard().set("x", number // 4 % 2)
    assert allowed.count("a") > 2
    assert begun.count("a") > 2


def test_what_has_to_end_in_its_tick_is_never_held():
    rig, tree, control = in_network(
        f'<Monitors><Script name="look" code="y := 1"/><Fallback><ScriptCondition code="x == 1"/>'
        f"<AlwaysSuccess/></Fallback>{act('a')}</Monitors>"
    )
    control.add_breakpoint("look")
    tree.tick_exactly_once()
    assert control.held == ["a"]
    control.step()
    tree.tick_exactly_once()
    rig.clock.now += 1
    assert tree.tick_exactly_once() is SUCCESS
    assert rig.take() == "0 +a, 1 -a"


def test_a_transition_is_held_once_and_then_looked_at_in_every_tick():
    rig, tree, control = in_network(
        '<StateMachine><State name="rest"><Transition name="go" to="work" if="x == 1"/></State>'
        f'<State name="work">{act("a")}</State></StateMachine>'
    )
    tree.tick_exactly_once()
    assert [name.rpartition("/")[2] for name in control.held] == ["go"]
    control.step()
    for _ in range(3):
        tree.tick_exactly_once()
        assert control.held == []
    tree.root_blackboard().set("x", 1)
    tree.tick_exactly_once()
    assert [name.rpartition("/")[2] for name in control.held] == ["a"]
    assert rig.take() == ""


def test_hooks_as_groot2_sets_them_act_when_the_leaf_may_begin():
    rig, tree, control = controlled(sequence(act("a"), act("b", 0)))
    control.stop()
    tree.tick_once()
    tree.node_by_path("a").set_pre_tick(lambda node: SUCCESS)  # while it is held
    tree.tick_once()
    assert control.held == ["a"]
    control.step()
    tree.tick_once()
    assert control.held == ["b"]
    tree.node_by_path("a").set_pre_tick(None)
    control.go()
    assert tree.tick_once() is SUCCESS
    assert rig.take() == "0 +b, 0 -b"


# -- stops


def test_run_to_here_once():
    rig, tree, control = controlled(
        f'<Repeat num_cycles="2">{sequence(act("a"), act("b"))}</Repeat>'
    )
    control.run_to("b")
    run(rig, tree)
    assert rig.take() == "0 +a, 1 -a"
    assert not control.automatic
    control.go()
    assert run(rig, tree) is SUCCESS


def test_run_to_what_is_held_goes_round_to_it():
    rig, tree, control = controlled(
        f'<Repeat num_cycles="2">{sequence(act("a"), act("b"))}</Repeat>'
    )
    control.run_to("b")
    run(rig, tree)
    rig.take()
    control.run_to("a")
    run(rig, tree)
    assert rig.take() == "1 +b, 2 -b"


def test_stop_after():
    rig, tree, control = controlled(
        sequence(sequence(act("a"), act("b")).replace("all", "in"), act("c"))
    )
    control.stop_after("in")
    run(rig, tree)
    assert rig.take() == "0 +a, 1 -a, 1 +b, 2 -b"
    assert control.held == ["c"]


def test_a_breakpoint_stops_each_time_also_at_what_is_no_leaf():
    body = f'<Repeat num_cycles="2">{sequence(act("a"), act("b"))}</Repeat>'
    rig, tree, control = controlled(body)
    control.add_breakpoint("all")
    for _ in range(2):
        assert run(rig, tree) is RUNNING
        assert control.held == ["a"]
        control.go()
    assert run(rig, tree) is SUCCESS
    control.remove_breakpoint("all")
    assert run(rig, tree) is SUCCESS
    with pytest.raises(BehaviorTreeError, match="has no breakpoint"):
        control.remove_breakpoint("all")


def test_breakpoints_follow_edits():
    rig, tree, control = controlled(sequence(act("a"), act("b")))
    control.add_breakpoint("b")
    TreeEditor(tree, rig.factory).rename("b", "other")
    assert control.breakpoints == ["other"]
    run(rig, tree)
    assert control.held == ["other"]
    TreeEditor(tree, rig.factory).remove("other")
    assert control.held == []
    assert control.breakpoints == []


def test_what_is_not_there_is_named():
    _, _, control = controlled(sequence(act("grasp"), act("twice"), act("twice")))
    with pytest.raises(BehaviorTreeError, match=r"no node has the path or name 'gras' .there are"):
        control.add_breakpoint("gras")
    with pytest.raises(BehaviorTreeError, match=r"'zzz' .there are 'all', 'grasp', 'twice'"):
        control.add_breakpoint("zzz")
    with pytest.raises(BehaviorTreeError, match="several nodes have the path or name 'twice'"):
        control.run_to("twice")


def test_one_control_at_a_time_and_none_after_it_is_closed():
    rig, tree, control = controlled(sequence(act("a")))
    with pytest.raises(LogicError, match="has a RunControl already"):
        RunControl(tree)
    control.stop()
    tree.tick_once()
    control.close()
    assert run(rig, tree) is SUCCESS


def test_concurrency_is_switched_off_and_on():
    rig, tree, control = controlled(concurrent(act("a"), act("b", after="beginning")))
    control.set_concurrent(False)
    run(rig, tree)
    assert rig.take() == "0 +a, 1 -a, 1 +b, 2 -b"
    control.set_concurrent(True)
    run(rig, tree)
    assert rig.take() == "2 +a, 2 +b, 3 -a, 3 -b"


def test_breakpoints_are_kept_beside_the_file(tmp_path):
    file = tmp_path / "approach.xml"
    assert read_breakpoints(file) == []
    write_breakpoints(file, ["all/Grüße::3", "b"])
    assert read_breakpoints(file) == ["all/Grüße::3", "b"]
    write_breakpoints(file, [])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "approach.breakpoints").write_bytes(b"\xff")
    with pytest.raises(BehaviorTreeError, match="is no text in UTF-8"):
        read_breakpoints(file)


# -- failures


def test_a_failure_waits_and_may_be_retried():
    rig, tree, control = controlled(sequence(act("a"), act("b", result="FAILURE"), act("c")))
    assert run(rig, tree) is RUNNING
    assert control.failed == ["b"]
    assert tree.node_by_path("b").status is FAILURE
    TreeEditor(tree, rig.factory).set_port("b", "result", "SUCCESS")
    assert control.retry() == "b"
    assert run(rig, tree) is SUCCESS
    assert rig.take() == "0 +a, 1 -a, 1 +b, 2 -b, 2 +b, 3 -b, 3 +c, 4 -c"


def test_a_failure_may_be_skipped_or_be_one():
    rig, tree, control = controlled(
        sequence(act("a", result="FAILURE"), act("b", result="FAILURE"))
    )
    run(rig, tree)
    control.skip()
    run(rig, tree)
    assert control.failed == ["b"]
    control.give_up()
    assert run(rig, tree) is FAILURE
    reason = tree.failure_reason()
    assert reason is not None
    assert (reason.path, reason.text) == ("b", "b went wrong")


def test_nothing_begins_while_a_failure_waits_and_what_runs_goes_on():
    body = concurrent(act("a", 1, "FAILURE"), act("b", 2, after="beginning"), act("c", after="b"))
    rig, tree, control = controlled(body)
    assert run(rig, tree) is RUNNING
    assert rig.take() == "0 +a, 0 +b, 1 -a, 2 -b"
    control.skip("a")
    assert run(rig, tree) is SUCCESS


@pytest.mark.parametrize(
    "handled",
    [
        f"<Fallback>{act('a', result='FAILURE')}{act('b')}</Fallback>",
        f"<Try>{act('a', result='FAILURE')}<Catch>{act('b')}</Catch></Try>",
        f"<Inverter>{act('a', result='FAILURE')}</Inverter>",
    ],
)
def test_a_failure_that_the_tree_handles_does_not_wait(handled):
    rig, tree, _ = controlled(sequence(handled))
    assert run(rig, tree) is SUCCESS


def test_what_should_have_handled_it_waits_when_it_fails():
    body = sequence(
        f'<Fallback name="f">{act("a", result="FAILURE")}{act("b", result="FAILURE")}</Fallback>'
    )
    rig, tree, control = controlled(body)
    run(rig, tree)
    assert control.failed == ["f"]
    control.retry("f")
    run(rig, tree)
    assert rig.take().count("+") == 4
    control.skip()
    assert run(rig, tree) is SUCCESS


def test_a_failure_in_a_subtree_and_a_step_waits_and_a_halt_forgets_it():
    rig = Rig()
    more = f'<BehaviorTree ID="Sub">{act("a", result="FAILURE")}</BehaviorTree>'
    tree = rig.tree(concurrent('<Step execute_after="beginning"><SubTree ID="Sub"/></Step>'), more)
    control = RunControl(tree)
    run(rig, tree)
    assert len(control.failed) == 1
    with pytest.raises(LogicError, match="waits at the failure"):
        control.close()
    tree.halt_tree()
    rig.take()
    assert run(rig, tree) is RUNNING
    assert "+a" in rig.take()
    assert len(control.failed) == 1
    control.give_up()
    assert run(rig, tree) is FAILURE


def test_failures_are_reset_and_what_failed_is_held():
    rig, tree, control = controlled(sequence(act("a", result="FAILURE")))
    run(rig, tree)
    assert control.reset_failures() == ["a"]
    tree.tick_once()
    assert (control.failed, control.held, control.automatic) == ([], ["a"], False)


def test_a_decision_wants_a_failure():
    _, _, control = controlled(sequence(act("a")))
    for decide in (control.retry, control.skip, control.give_up):
        with pytest.raises(BehaviorTreeError, match="nothing has failed"):
            decide()
        with pytest.raises(BehaviorTreeError, match="'a' has not failed"):
            decide("a")


# -- run from here


@pytest.mark.parametrize(
    ("body", "story"),
    [
        (sequence(act("a"), act("x"), act("b")), "0 +x, 1 -x, 1 +b, 2 -b"),
        (
            sequence(act("a"), "<Timeout msec='2500'>{}</Timeout>", act("b")),
            "0 +x, 1 -x, 1 +b, 2 -b",
        ),
        (
            f"<Repeat num_cycles='2'>{sequence(act('a'), act('x'))}</Repeat>",
            "0 +x, 1 -x, 1 +a, 2 -a, 2 +x, 3 -x",
        ),
        (
            concurrent(act("a"), act("x"), act("b", 3, after="beginning"), act("c", after="a")),
            "0 +x, 0 +b, 0 +c, 1 -x, 1 -c, 3 -b",
        ),
        (
            concurrent(
                act("x", after="z"), act("a"), act("y", after="x"), act("z", after="beginning")
            ),
            "0 +x, 1 -x, 1 +a, 1 +y, 2 -a, 2 -y",
        ),
        (
            concurrent(
                act("a"), f"<Try>{act('b')}{act('x')}<Catch>{act('c')}</Catch></Try>", act("d")
            ),
            "0 +x, 1 -x, 1 +d, 2 -d",
        ),
        (f"<Fallback>{sequence(act('a'), act('x'))}{act('b')}</Fallback>", "0 +x, 1 -x"),
    ],
)
def test_a_run_begins_at_a_node(body, story):
    inner = f"<Sequence>{act('y')}{act('x')}</Sequence>"
    rig, tree, control = controlled(body.replace("{}", inner))
    control.start_from("x")
    assert run(rig, tree) is SUCCESS
    assert rig.take() == story
    assert run(rig, tree) is SUCCESS  # the next run begins at the beginning
    assert "+a" in rig.take()


@pytest.mark.parametrize("kind", ["Sequence", "AsyncSequence", "ConcurrentSequence"])
def test_what_is_passed_over_has_succeeded_until_the_end(kind):
    rig, tree, control = controlled(f"<{kind}>{act('a')}{act('x')}</{kind}>")
    changes = []
    tree.subscribe_status_change(
        lambda node, before, after: changes.append((str(node.name), before.name, after.name))
    )
    control.start_from("x")
    tree.tick_once()
    assert tree.node_by_path("a").status is SUCCESS
    run(rig, tree)
    last = {}
    for name, before, after in changes:  # each change begins where the one before has ended
        assert last.get(name, "IDLE") == before
        last[name] = after
    assert set(last.values()) == {"IDLE"}
    control.start_from("x")
    tree.halt_tree()
    assert tree.node_by_path("a").status is NodeStatus.IDLE


def test_a_run_begins_in_a_subtree_and_stops_at_once_in_manual_mode():
    rig = Rig()
    more = f'<BehaviorTree ID="Sub">{sequence(act("a"), act("x"))}</BehaviorTree>'
    tree = rig.tree(sequence(act("b"), '<SubTree ID="Sub"/>'), more)
    control = RunControl(tree)
    control.stop()
    control.start_from("x")
    run(rig, tree)
    assert [path.rsplit("/", 1)[-1] for path in control.held] == ["x"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"<Fallback>{act('a')}{act('x')}</Fallback>", "does not lead to it by success"),
        (f"<ReactiveSequence>{act('a')}{act('x')}</ReactiveSequence>", "does not lead to it"),
        (f"<ParallelAll>{act('a')}{act('x')}</ParallelAll>", "not defined what comes before it in"),
        (f"<Delay delay_msec='1'>{act('x')}</Delay>", "not defined what comes before it in Delay"),
        (f"<Try>{act('a')}<Catch>{act('x')}</Catch></Try>", "and nothing has failed"),
        (
            concurrent(
                f"<Step name='r' execute_after='gosub'>{act('x')}</Step>", "<Gosub to='r'/>"
            ),
            "only a Gosub runs 'r': begin at that",
        ),
    ],
)
def test_where_it_is_not_defined_it_is_refused_and_nothing_changes(body, why):
    whole = sequence(act("first"), body)
    rig, tree, control = controlled(whole)
    with pytest.raises(BehaviorTreeError, match=f"a run cannot begin at .*{why}"):
        control.start_from("x")
    tree.tick_once()
    assert rig.take() == "0 +first"
    with pytest.raises(LogicError, match="the tree runs: halt it"):
        control.start_from("first")


def test_a_tree_that_waits_at_a_failure_of_its_root_begins_nowhere_else():
    _, tree, control = controlled(f"<Fallback>{act('x', 0, 'FAILURE')}</Fallback>")
    assert tree.tick_once() is RUNNING
    assert control.failed == [tree.root_node().full_path()]
    with pytest.raises(LogicError, match="the tree runs: halt it"):
        control.start_from("x")


def test_what_is_skipped_on_the_way_begins_at_its_beginning_next_time():
    inner = f'<Sequence _skipIf="skip">{act("a", 0)}{act("x", 0)}</Sequence>'
    rig, tree, control = controlled(sequence(act("b", 0), inner))
    tree.root_blackboard().set("skip", True)
    control.start_from("x")
    tree.tick_once()
    tree.root_blackboard().set("skip", False)
    assert rig.take() == ""
    assert tree.tick_once() is SUCCESS
    assert "+a" in rig.take()


# -- properties


def _bodies():
    leaf = st.builds(
        lambda seconds, result: (seconds, result),
        st.sampled_from([0, 1, 2]),
        st.sampled_from(["SUCCESS", "SUCCESS", "FAILURE"]),
    )
    kinds = [
        "Sequence",
        "Fallback",
        "ConcurrentSequence",
        "ParallelAll",
        "Inverter",
        "Retry",
        "Repeat",
        "Try",
    ]
    return st.recursive(
        leaf,
        lambda inner: st.tuples(st.sampled_from(kinds), st.lists(inner, min_size=1, max_size=3)),
    )


def _xml(tree, names):
    name = f"n{next(names)}"
    if isinstance(tree[0], int):
        return act(name, *tree)
    kind, children = tree
    inner = [_xml(each, names) for each in children]
    if kind == "Inverter":
        return f'<Inverter name="{name}">{inner[0]}</Inverter>'
    if kind == "Retry":
        kind, inner = "RetryUntilSuccessful", inner[:1]
        return f'<{kind} num_attempts="2" name="{name}">{inner[0]}</{kind}>'
    if kind == "Repeat":
        return f'<Repeat num_cycles="2" name="{name}">{inner[0]}</Repeat>'
    if kind == "Try":
        return (
            f'<Try name="{name}">{inner[0]}<Catch>{inner[-1]}</Catch></Try>'
            if len(inner) > 1
            else inner[0]
        )
    if kind == "ConcurrentSequence" and len(inner) > 1:
        inner[1] = f'<Step execute_after="beginning">{inner[1]}</Step>'
    return f'<{kind} name="{name}">{"".join(inner)}</{kind}>'


def _story(body, control_it):
    rig = Rig()
    tree = rig.tree(body)
    changes = []
    tree.subscribe_status_change(
        lambda node, before, after: changes.append((node.full_path(), before, after))
    )
    control = RunControl(tree, hold_failures=False) if control_it else None
    return run(rig, tree), rig.take(), changes, control


@settings(deadline=None, max_examples=60)
@given(_bodies())
def test_a_tree_that_is_controlled_and_left_alone_ticks_as_before(tree):
    body = _xml(tree, iter(range(1000)))
    assert _story(body, True)[:3] == _story(body, False)[:3]


@settings(deadline=None, max_examples=60)
@given(_bodies())
def test_manual_steps_come_to_the_same_end(tree):
    body = _xml(tree, iter(range(1000)))
    expected = _story(body, False)[0]
    rig, stepped, control = controlled(body)
    control.stop()
    for _ in range(300):
        status = run(rig, stepped)
        if status is not RUNNING:
            break
        if control.failed:
            control.give_up(control.failed[0])
        elif not control.step():
            raise AssertionError("nothing is left to let go")
    assert status is expected


@settings(deadline=None, max_examples=30)
@given(_bodies())
def test_a_control_that_is_closed_leaves_nothing_behind(tree):
    body = _xml(tree, iter(range(1000)))
    rig = Rig()
    built = rig.tree(body)
    before = [node._run for node in built.nodes()]
    control = RunControl(built)
    control.stop()
    built.tick_once()
    built.halt_tree()
    control.close()
    assert [node._run for node in built.nodes()] == before
    assert run(rig, built) is _story(body, False)[0]


OPERATIONS = ["step", "one", "go", "stop", "retry", "skip", "give up", "reset", "halt", "tick"]


@settings(deadline=None, max_examples=100)
@given(_bodies(), st.lists(st.sampled_from(OPERATIONS), max_size=25), st.booleans())
def test_whatever_an_operator_does_the_tree_comes_to_an_end(tree, operations, concurrently):
    rig, built, control = controlled(_xml(tree, iter(range(1000))))
    control.set_concurrent(concurrently)
    for operation in operations:
        if operation in {"retry", "skip", "give up"} and control.failed:
            getattr(control, operation.replace(" ", "_"))(control.failed[-1])
        elif operation == "one" and control.held:
            control.step(control.held[-1])
        elif operation == "tick":
            built.tick_exactly_once()
            rig.clock.now += 1
        elif operation == "halt":
            built.halt_tree()
            assert control.failed == []
            if built.root_node().children:  # a single leaf that is held is IDLE, halted or not
                assert control.held == []
        elif operation in {"step", "go", "stop"}:
            getattr(control, operation)()
        elif operation == "reset":
            control.reset_failures()
            assert control.failed == []
    control.go()
    for _ in range(100):
        if run(rig, built) is not RUNNING:
            break
        control.give_up(control.failed[0])  # in automatic mode it waits for nothing else
    else:
        raise AssertionError("it does not end")
    control.close()
    assert run(rig, built) is not RUNNING
