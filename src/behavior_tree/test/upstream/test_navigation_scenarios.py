# SPDX-License-Identifier: Apache-2.0
"""Navigation with recovery: the scenario of navigation_test.cpp."""

import pytest

BODY = (
    '<Fallback><ReactiveSequence><Inverter><Check name="stuck"/></Inverter>'
    '<SequenceWithMemory><Do name="plan_path"/><Work name="follow"/></SequenceWithMemory>'
    '</ReactiveSequence><SequenceWithMemory><Check name="stuck_too"/><Do name="back_up"/>'
    "</SequenceWithMemory></Fallback>"
)


@pytest.mark.upstream("navigation_test.cpp", "Navigationtest.MoveBaseRecovery")
def test_recovery_only_when_stuck(stage):
    free = "stuck plan_path stuck follow stuck follow stuck follow"
    stage.plan(stuck="F", stuck_too="F", follow="RRS").load(BODY)
    assert stage.run() == "S"
    assert stage.take_log() == free
    assert stage.shows(plan_path="I", follow="I")

    stage.plan(stuck="FFS", stuck_too="S", follow="R")
    assert stage.run() == "S"
    assert stage.take_log() == "stuck plan_path stuck follow stuck !follow stuck_too back_up"
    assert stage.shows(plan_path="I", follow="I", back_up="I")

    stage.plan(stuck="F", stuck_too="F", follow="RRS")
    assert stage.run() == "S"
    # The halted sequence remembers that the path is planned.
    assert stage.take_log() == "stuck follow stuck follow stuck follow"
    assert stage.shows(plan_path="I", follow="I", back_up="I")
