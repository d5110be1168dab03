# SPDX-License-Identifier: Apache-2.0
"""Goals that ensure their preconditions: the scenarios of gtest_reactive_backchaining.cpp."""

from functools import partial

import pytest
from scenario_kit import subtree

from behavior_tree import TreeObserver

covers = partial(pytest.mark.upstream, "gtest_reactive_backchaining.cpp")


@covers("ReactiveBackchaining.EnsureWarm")
def test_action_runs_until_its_goal_holds(ours):
    ours.plan(dry="FFFS", wipe="RRS").load(
        '<ReactiveFallback><Check name="dry"/><ReactiveSequence><Check name="cloth"/>'
        '<Work name="wipe"/></ReactiveSequence></ReactiveFallback>'
    )
    observer = TreeObserver(ours.tree)
    assert ours.ticks(4) == "RRSS"
    dry, cloth, wipe = (observer.get_statistics(name) for name in ("dry", "cloth", "wipe"))
    assert (dry.failure_count, dry.success_count) == (3, 1)
    assert (cloth.transitions_count, cloth.success_count) == (3, 3)
    assert wipe.success_count == 1


@covers("ReactiveBackchaining.EnsureWarmWithEnsureHoldingHacket")
def test_precondition_is_ensured_by_its_own_tree(stage):
    goal = (
        "<ReactiveFallback><ScriptCondition code='{0}'/><ReactiveSequence>{1}"
        '<Work name="{2}" _onSuccess="{0} = true"/></ReactiveSequence></ReactiveFallback>'
    )
    stage.plan(wipe="RRS", fetch="RRS").load(
        goal.format("dry", '<SubTree ID="Cloth" cloth="{cloth}"/>', "wipe"),
        subtree("Cloth", goal.format("cloth", '<Check name="shelf"/>', "fetch")),
    )
    stage.set(dry=False, cloth=False)
    assert stage.ticks(2) == "RR"
    assert (stage.truth("dry"), stage.truth("cloth")) == (False, False)
    assert stage.tick() == "R"
    assert (stage.truth("dry"), stage.truth("cloth")) == (False, True)
    assert stage.ticks(3) == "RSS"
    assert stage.truth("dry")
    assert stage.take_log() == "shelf fetch shelf fetch shelf fetch wipe wipe wipe"
