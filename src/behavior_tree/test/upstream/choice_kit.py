# SPDX-License-Identifier: Apache-2.0
"""Scenarios that IfThenElse and WhileDoElse share."""

CHOICES = (
    ("ConditionTrue", {}, 3, "S", "ask then"),
    ("ConditionFalse_ElseBranch", {"ask": "F"}, 3, "S", "ask else"),
    ("ConditionFalse_TwoChildren_ReturnsFailure", {"ask": "F"}, 2, "F", "ask"),
    ("BranchFails", {"then": "F"}, 3, "F", "ask then"),
    ("ElseBranchFails", {"ask": "F", "else": "F"}, 3, "F", "ask else"),
)
"""Case, plan, number of children, result, what is called."""


def choice(kind, children):
    leaves = ("<Check name='ask'/>", "<Do name='then'/>", "<Do name='else'/>", "<Do name='more'/>")
    return f"<{kind}>{''.join(leaves[:children])}</{kind}>"


def check_choice(stage, kind, plan, children, result, log):
    stage.plan(**plan).load(choice(kind, children))
    assert stage.run() == result
    assert stage.take_log() == log
    assert stage.shows(then="I")


def check_condition_that_takes_time(stage, kind):
    stage.plan(ask="RS").load(choice(kind, 3))
    assert stage.tick_once() == "R"
    assert stage.take_log() == "ask"
    assert stage.run() == "S"
    assert stage.take_log() == "ask then"


def check_halt_and_again(stage, kind):
    stage.load(choice(kind, 3))
    assert stage.run() == "S"
    stage.halt()
    assert stage.run() == "S"
    assert stage.take_log() == "ask then ask then"


def check_number_of_children(stage, kind, children):
    """Refused when built by default; by upstream at the first tick."""
    if stage.mended:
        message = stage.refuses(choice(kind, children))
        assert kind in message
        assert "<text>:1:" in message
    else:
        stage.load(choice(kind, children))
        assert "children" in stage.raises()
