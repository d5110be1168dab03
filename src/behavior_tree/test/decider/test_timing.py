# SPDX-License-Identifier: Apache-2.0
"""Times are those of the tree's clock, in both modes."""

import time

import pytest
from decider_kit import FAILURE, RUNNING, SUCCESS, Rig

RUN = '<RunFor name="r" msec="{}"><Do name="x"/></RunFor>'


def test_a_part_of_no_time_runs_for_one_tick():
    rig = Rig()
    tree = rig.tree(RUN.format(0))
    assert tree.tick_exactly_once() is SUCCESS
    assert rig.take() == "+x x -x"


def test_a_part_runs_for_its_time():
    rig = Rig()
    tree = rig.tree(RUN.format(250))
    assert tree.tick_exactly_once() is RUNNING
    rig.clock.now += 0.2
    assert tree.tick_exactly_once() is RUNNING
    rig.clock.now += 0.1
    assert tree.tick_exactly_once() is SUCCESS
    assert rig.take() == "+x x x x -x"


def test_a_child_that_succeeds_earlier_rests_and_one_that_fails_ends_it():
    rig = Rig()
    tree = rig.tree(RUN.format(250))
    rig.results["x"] = SUCCESS
    assert tree.tick_exactly_once() is RUNNING
    assert tree.tick_exactly_once() is RUNNING
    assert rig.take() == "+x x"
    rig.clock.now += 0.3
    assert tree.tick_exactly_once() is SUCCESS
    rig.results["x"] = FAILURE
    assert tree.tick_exactly_once() is FAILURE


@pytest.mark.parametrize(("scope", "status"), [("tree", RUNNING), ("local", SUCCESS)])
def test_a_lock_below_is_waited_for_unless_it_is_local(scope, status):
    rig = Rig()
    body = f'<RunFor msec="100"><Atomic scope="{scope}"><Do name="x"/></Atomic></RunFor>'
    tree = rig.tree(body)
    tree.tick_exactly_once()
    rig.clock.now += 1
    assert tree.tick_exactly_once() is status


@pytest.mark.parametrize("compat", ["mended", "cortex"])
def test_no_node_looks_at_the_wall_clock(compat, monkeypatch):  # D8
    rig = Rig()
    tree = rig.tree(
        f'<Decider name="d" compat="{compat}"><Case name="c">'
        f'<StateMachine name="m" compat="{compat}"><State name="s" timeout_msec="100" next="t">'
        '<RunFor msec="50"><Atomic timeout_msec="1000"><Do name="x"/></Atomic></RunFor></State>'
        '<State name="t"><Do name="y"/></State></StateMachine></Case></Decider>'
    )
    tree.tick_exactly_once()
    wall = time.time()
    for name in ("time", "monotonic"):
        monkeypatch.setattr(time, name, lambda: wall + 1e6)
    assert tree.tick_exactly_once() is RUNNING
    assert rig.take() == "+x x x"
    monkeypatch.undo()
    rig.results["x"] = SUCCESS
    rig.clock.now += 0.06
    tree.tick_exactly_once()
    assert rig.take() == "x +y y"
