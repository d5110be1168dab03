# SPDX-License-Identifier: Apache-2.0
"""What servers report of their failures becomes a cause of its kind."""

import pytest
from behavior_msgs.action import Pick
from control_msgs.action import FollowJointTrajectory
from std_srvs.srv import SetBool

from behavior_ros.actions.result_cause import reported, result_code
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
    told = Result(code=code, message="The gripper holds nothing.")
    cause = reported(told, otherwise="pick aborted")
    assert (cause, cause.kind) == ("The gripper holds nothing.", kind)
    assert cause.evidence
    assert reported(Result(code=code), otherwise="pick aborted") == (
        f"pick aborted with {cause.evidence}"
    )


def test_without_code_and_message_the_sentence_is_ours():
    cause = reported(SetBool.Response(), otherwise="service /switch refused")
    assert (cause, cause.kind, cause.evidence) == (
        "service /switch refused",
        CauseKind.REPORTED,
        "",
    )


class Nav2Result:
    """Has what a result of Nav2's actions has."""

    UNKNOWN, TIMEOUT, SEND_GOAL_FAILURE, GOAL_REJECTED = 200, 207, 2, 1

    def __init__(self, error_code: int, error_msg: str = "") -> None:
        self.error_code, self.error_msg = error_code, error_msg


@pytest.mark.parametrize(
    ("code", "kind", "evidence"),
    [
        (200, CauseKind.REPORTED, "UNKNOWN"),
        (207, CauseKind.TIMED_OUT, "TIMEOUT"),
        (2, CauseKind.SERVER_LOST, "SEND_GOAL_FAILURE"),
        (1, CauseKind.REJECTED, "GOAL_REJECTED"),
        (299, CauseKind.REPORTED, "code 299"),
    ],
)
def test_codes_and_messages_of_nav2_are_told(code, kind, evidence):
    cause = reported(Nav2Result(code, "no way round"), otherwise="action /plan aborted")
    assert (cause, cause.kind, cause.evidence) == ("no way round", kind, evidence)
    silent = reported(Nav2Result(code), otherwise="action /plan aborted")
    assert silent == f"action /plan aborted with {evidence}"


def test_those_of_controllers_too():
    result = FollowJointTrajectory.Result(error_code=-4, error_string="joint 3 is late")
    cause = reported(result, otherwise="aborted")
    assert (cause, cause.evidence) == ("joint 3 is late", "PATH_TOLERANCE_VIOLATED")


def test_a_code_that_is_a_message_is_no_number():
    assert result_code(type("MoveIt", (), {"error_code": object()})()) == 0
