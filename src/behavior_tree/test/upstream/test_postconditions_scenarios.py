# SPDX-License-Identifier: Apache-2.0
"""Scripts after a node: the scenarios of gtest_postconditions.cpp."""

from functools import partial

import pytest

covers = partial(pytest.mark.upstream, "gtest_postconditions.cpp")


@covers("PostConditions.BasicTest")
def test_scripts_follow_real_and_imposed_results(stage):
    stage.load(
        '<Sequence><Script code="a:=1; b:=1; c:=1; d:=1"/><AlwaysSuccess _onSuccess="b=24"/>'
        '<ForceSuccess><AlwaysSuccess _failureIf="a==1" _onFailure="c=24" _onSuccess="d=0"/>'
        '</ForceSuccess><ForceSuccess><AlwaysFailure _onFailure="d+=23"/></ForceSuccess></Sequence>'
    )
    assert stage.run() == "S"
    assert [stage.number(key) for key in "bcd"] == [24, 24, 24]


@covers("PostConditions.Issue539")
def test_scripts_run_in_every_attempt(stage):
    stage.load(
        '<Sequence><Script code="x:=0; y:=0"/><RetryUntilSuccessful num_attempts="5">'
        '<AlwaysFailure _onFailure="x += 2" _post="y += 1"/></RetryUntilSuccessful></Sequence>'
    )
    assert stage.run() == "F"
    assert [stage.number(key) for key in "xy"] == [10, 5]


@covers("PostConditions.Issue601")
def test_post_script_does_not_follow_a_halt(stage):
    stage.load(
        """<Sequence><Script code="how := 'new'"/><Parallel>"""
        """<Sleep msec="1000" _onHalted="how = 'halted'" _post="how = 'ended'"/>"""
        """<AlwaysFailure/></Parallel></Sequence>"""
    )
    assert stage.run() == "F"
    assert stage.text("how") == "halted"
