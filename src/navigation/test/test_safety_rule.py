# SPDX-License-Identifier: Apache-2.0
"""What the safety gate lets through: every reason to stop, alone and together."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_navigation.rules.autonomy import AutonomyMachine
from behavior_navigation.rules.deadman import Deadman
from behavior_navigation.rules.safety import SafetyRule
from behavior_navigation.rules.state import Level, PlannerMode

NOW = 100.0


def rule(selected: Level = Level.AUTONOMOUS) -> SafetyRule:
    """A rule that lets the selected one drive."""
    made = SafetyRule(AutonomyMachine(Deadman(0.5), 0.4), executor_timeout=0.25)
    made.autonomy.deadman.beat(NOW)
    made.set_mode(PlannerMode.NOMINAL, "", NOW)
    made.select(selected, NOW)
    made.localization_good, made.localization_reason = True, ""
    return made


@pytest.mark.parametrize("selected", [Level.MANUAL, Level.AUTONOMOUS])
def test_who_is_selected_drives(selected: Level) -> None:
    assert rule(selected).verdict(NOW).source is selected


def test_knowing_nothing_it_stops_for_every_reason() -> None:
    made = SafetyRule(AutonomyMachine(Deadman(0.5)), executor_timeout=0.25)
    verdict = made.verdict(NOW)
    assert verdict.stopped
    text = "; ".join(verdict.reasons)
    for words in ("deadman switch was never pressed", "no sign of life", "who moves the robot"):
        assert words in text


def lose_switch(made: SafetyRule) -> None:
    made.autonomy.deadman.release(NOW)


def lose_executor(made: SafetyRule) -> None:
    made.mode_at = NOW - 0.2501


def forget_level(made: SafetyRule) -> None:
    made.level_known = False


def toggle(made: SafetyRule) -> None:
    made.toggle(NOW + 1.0)


def halt(made: SafetyRule) -> None:
    made.select(made.autonomy.selected, NOW, halted=True)


def doubt_pose(made: SafetyRule) -> None:
    made.localization_good, made.localization_reason = False, "localizer doubts its pose"


def idle(made: SafetyRule) -> None:
    made.mode, made.mode_reason = PlannerMode.IDLE, "paused"


EVERYBODY = (lose_switch, lose_executor, forget_level, toggle, halt)
AUTONOMY = (doubt_pose, idle)


@pytest.mark.parametrize("selected", [Level.MANUAL, Level.AUTONOMOUS])
def test_every_set_of_reasons(selected: Level) -> None:
    causes = (*EVERYBODY, *AUTONOMY)
    for chosen in product((False, True), repeat=len(causes)):
        made = rule(selected)
        active = [cause for cause, is_on in zip(causes, chosen, strict=True) if is_on]
        for cause in active:
            cause(made)
        stops = [c for c in active if c in EVERYBODY or selected is Level.AUTONOMOUS]
        verdict = made.verdict(NOW)
        assert verdict.source is (Level.HALTED if stops else selected)
        assert bool(verdict.reasons) == bool(stops)


def test_limits_of_the_executors_sign_of_life() -> None:
    made = rule()
    assert made.verdict(NOW + 0.25).source is Level.AUTONOMOUS
    assert made.verdict(math.nextafter(NOW + 0.25, math.inf)).stopped
    made.set_mode(PlannerMode.NOMINAL, "", NOW + 0.3)
    assert not made.verdict(NOW + 0.3).stopped


def test_sticks_may_take_over_although_the_localization_is_lost() -> None:
    made = rule()
    doubt_pose(made)
    assert made.verdict(NOW).stopped
    made.autonomy.touch(NOW)
    assert made.verdict(NOW).source is Level.TELEOPERATION


def test_where_no_localization_is_needed_none_is_judged() -> None:
    made = rule()
    doubt_pose(made)
    made.localization_needed = False
    assert not made.verdict(NOW).stopped


@pytest.mark.parametrize("level", [Level.HALTED, Level.TELEOPERATION])
def test_a_level_that_nobody_can_select_is_no_answer(level: Level) -> None:
    made = rule()
    made.toggle(NOW + 1.0)
    with pytest.raises(ValueError, match="cannot be selected"):
        made.select(level, NOW + 1.1)
    (reason,) = made.verdict(NOW).reasons
    assert reason == "toggled: the executor has not told yet who moves the robot"
    made = SafetyRule(AutonomyMachine(Deadman()), executor_timeout=0.25)
    with pytest.raises(ValueError, match="cannot be selected"):
        made.select(level, NOW)
    assert not made.level_known


class TestToggle:
    """Nothing moves from the operator's toggle until the executor has followed it."""

    def test_until_the_executor_follows(self) -> None:
        made = rule()
        made.toggle(NOW + 1.0)
        made.select(Level.AUTONOMOUS, NOW + 1.01)
        assert made.verdict(NOW).stopped, "sent before it heard of the toggle"
        made.select(Level.MANUAL, NOW + 1.02)
        assert made.verdict(NOW).source is Level.MANUAL

    def test_the_answer_may_overtake_the_toggle(self) -> None:
        made = rule()
        made.select(Level.MANUAL, NOW + 1.0)
        made.toggle(NOW + 1.001)
        assert made.verdict(NOW).source is Level.MANUAL
        made.toggle(NOW + 1.1)
        assert made.verdict(NOW).stopped, "one answer is for one toggle"

    def test_a_change_by_service_long_before_is_no_answer(self) -> None:
        made = rule(Level.MANUAL)
        made.select(Level.AUTONOMOUS, NOW)
        made.toggle(NOW + 0.6)
        assert made.verdict(NOW).stopped

    def test_an_executor_that_works_and_never_got_it_is_believed_in_the_end(self) -> None:
        made = rule()
        made.toggle(NOW + 1.0)
        for after in (1.1, 1.5, 2.0, 2.09):
            made.select(Level.AUTONOMOUS, NOW + after)
            assert made.verdict(NOW).stopped
        made.select(Level.AUTONOMOUS, NOW + 2.1)
        assert made.verdict(NOW).source is Level.AUTONOMOUS


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ("beat", "toggle", "manual", "autonomous", "mode", "idle", "good", "bad", "touch")
            ),
            st.floats(0.0, 0.4),
        ),
        max_size=40,
    )
)
def test_the_autonomy_drives_only_with_everything_in_order(events: list) -> None:
    made = SafetyRule(AutonomyMachine(Deadman(0.5), 0.4), executor_timeout=0.25)
    now, beat, mode, told, good = NOW, -math.inf, (None, -math.inf), None, False
    for kind, wait in events:
        now += wait
        if kind == "beat":
            made.autonomy.deadman.beat(now)
            beat = now
        elif kind == "toggle":
            made.toggle(now)
        elif kind in ("manual", "autonomous"):
            told = Level[kind.upper()]
            made.select(told, now)
        elif kind in ("mode", "idle"):
            mode = (PlannerMode.NOMINAL if kind == "mode" else PlannerMode.IDLE, now)
            made.set_mode(mode[0], "", now)
        elif kind in ("good", "bad"):
            made.localization_good = good = kind == "good"
        else:
            made.autonomy.touch(now)
        verdict = made.verdict(now)
        if not verdict.stopped:
            assert now - beat <= 0.5
            assert now - mode[1] <= 0.25
        if verdict.source is Level.AUTONOMOUS:
            assert told is Level.AUTONOMOUS
            assert good
            assert mode[0] is PlannerMode.NOMINAL
        assert bool(verdict.reasons) == verdict.stopped
