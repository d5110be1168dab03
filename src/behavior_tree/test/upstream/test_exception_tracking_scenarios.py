# SPDX-License-Identifier: Apache-2.0
"""Exceptions that leave a node: the scenarios of gtest_exception_tracking.cpp."""

from functools import partial

import pytest
from scenario_kit import subtree

from behavior_tree import NodeExecutionError, NodeStatus, SyncActionNode

covers = partial(pytest.mark.upstream, "gtest_exception_tracking.cpp")


class Throws(SyncActionNode):
    def tick(self):
        raise ValueError("the gripper is jammed")


class Works(SyncActionNode):
    def tick(self):
        return NodeStatus.SUCCESS


@pytest.fixture
def throwing(ours):
    ours.factory.register_node_type(Throws, "Throws")
    ours.factory.register_node_type(Works, "Works")
    return ours


@pytest.mark.parametrize(
    ("body", "path"),
    [
        pytest.param(
            *('<Throws name="t"/>', "t"),
            marks=covers(
                "ExceptionTracking.BasicExceptionCapture",
                "ExceptionTracking.BacktraceEntryContents",
            ),
        ),
        pytest.param(
            '<Sequence><Works/><RetryUntilSuccessful num_attempts="1"><Throws name="t"/>'
            "</RetryUntilSuccessful></Sequence>",
            *("t",),
            marks=covers("ExceptionTracking.NestedExceptionBacktrace"),
        ),
        pytest.param(
            *('<Sequence><SubTree ID="T" name="inner"/></Sequence>', "inner/t"),
            marks=covers("ExceptionTracking.SubtreeExceptionBacktrace"),
        ),
    ],
)
def test_error_names_the_node(throwing, body, path):
    throwing.load(body, subtree("T", '<Sequence><Throws name="t"/></Sequence>'))
    with pytest.raises(NodeExecutionError) as caught:
        throwing.tree.tick_once()
    error = caught.value
    assert (error.path, error.registration_id) == (path, "Throws")
    assert error.message.endswith("the gripper is jammed")
    assert path in str(error)
    assert isinstance(error.__cause__, ValueError)


@covers("ExceptionTracking.NoExceptionNoWrapping")
def test_nothing_is_raised_where_nothing_fails(throwing):
    assert throwing.load('<Sequence><Works name="a"/><Works name="b"/></Sequence>').run() == "S"
