# SPDX-License-Identifier: Apache-2.0
"""Planning ends after so much processor time, whatever the wall's clock says."""

import time

import pytest

from behavior_motion.interruption import check_interrupted
from behavior_skills.goal_checks import planning_budget
from behavior_skills.interfaces import FailureCode, SkillFailure


def plan(budget: float, needed: float) -> None:
    begin = time.thread_time()
    with planning_budget(budget):
        while time.thread_time() - begin < needed:
            check_interrupted()


def test_planning_that_takes_longer_is_ended() -> None:
    begin = time.thread_time()
    with pytest.raises(SkillFailure) as failed:
        plan(0.05, needed=5.0)
    assert failed.value.failure is FailureCode.PLANNING_TIMED_OUT
    assert 0.05 <= time.thread_time() - begin < 1.0


def test_what_others_compute_meanwhile_does_not_count() -> None:
    with planning_budget(0.05):
        for _ in range(10):
            time.sleep(0.02)
            check_interrupted()
