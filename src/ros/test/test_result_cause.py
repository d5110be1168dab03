# SPDX-License-Identifier: Apache-2.0
"""What servers report of their failures becomes a cause of its kind."""

import pytest
from behavior_msgs.action import Pick
from std_srvs.srv import SetBool

from behavior_ros.result_cause import reported
from behavior_tree import CauseKind

Result = Pick.Result


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (Result.SERVER_LOST, CauseKind.SERVER_LOST),
        (Result.TIMED_OUT, CauseKind.TIMED_OUT),
        (Result.CANCELED, CauseKind.CANCELED),
        (Result.EXECUTION_FAILED, CauseKind.REPORTED),
        (60_000, CauseKind.REPORTED),
    ],
)
def test_the_name_of_the_code_tells_the_kind_and_is_the_evidence(code, kind):
    cause = reported(Result(message="The gripper holds nothing."), code, otherwise="pick aborted")
    assert (cause, cause.kind) == ("The gripper holds nothing.", kind)
    assert cause.evidence
    assert reported(Result(), code, otherwise="pick aborted") == (
        f"pick aborted with {cause.evidence}"
    )


def test_without_code_and_message_the_sentence_is_ours():
    cause = reported(SetBool.Response(), 0, otherwise="service /switch refused")
    assert (cause, cause.kind, cause.evidence) == (
        "service /switch refused",
        CauseKind.REPORTED,
        "",
    )
