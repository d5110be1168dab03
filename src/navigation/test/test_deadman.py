# SPDX-License-Identifier: Apache-2.0
"""The deadman switch at its limits, its latch, and the level that follows."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_navigation.rules.autonomy import AutonomyMachine
from behavior_navigation.rules.deadman import Deadman
from behavior_navigation.rules.state import Level


@pytest.mark.parametrize("timeout", [0.0, -0.5, -math.inf])
def test_without_a_timeout_there_is_no_switch(timeout: float) -> None:
    deadman = Deadman(timeout)
    assert not deadman.enabled
    assert deadman.alive(0.0)
    assert deadman.alive(1e9)
    assert deadman.deadline() == math.inf
    deadman.release(5.0)
    assert deadman.alive(5.0)


def test_alive_up_to_the_timeout_and_not_beyond() -> None:
    deadman = Deadman(0.5)
    assert not deadman.alive(0.0), "never pressed"
    assert "never pressed" in deadman.why_not(0.0)
    deadman.beat(10.0)
    assert deadman.alive(10.0)
    assert deadman.alive(10.5)
    assert deadman.deadline() == 10.5
    assert not deadman.alive(math.nextafter(10.5, math.inf))
    assert "not held for 0.60 s" in deadman.why_not(10.6)


def test_the_latch_wants_release_and_press() -> None:
    deadman = Deadman(0.5, latch=True, release_time=1.0)
    deadman.beat(0.0)
    assert not deadman.alive(0.7)
    deadman.beat(0.8)
    assert not deadman.alive(0.8), "a gap in the link is no release"
    assert "release it" in deadman.why_not(0.8)
    for beat in (1.0, 1.4, 2.3):
        deadman.beat(beat)
        assert not deadman.alive(beat)
    deadman.beat(3.3)
    assert deadman.alive(3.3), "one second of silence is a release"


@pytest.mark.parametrize(
    ("timeout", "release_time", "latch", "void"),
    [
        (0.5, 1.0, True, False),
        (1.0, 1.0, True, True),
        (2.0, 1.0, True, True),
        (2.0, 1.0, False, False),
        (2.0, math.inf, True, False),
        (0.0, 0.0, True, False),
    ],
)
def test_a_latch_that_means_nothing_is_known(
    timeout: float, release_time: float, latch: bool, void: bool
) -> None:
    deadman = Deadman(timeout, latch=latch, release_time=release_time)
    assert deadman.latch_is_void is void
    deadman.beat(0.0)
    assert not deadman.enabled or not deadman.alive(timeout + 0.01)
    deadman.beat(timeout + 0.02)
    follows = void or not latch or not deadman.enabled
    assert deadman.alive(timeout + 0.02) is follows


def test_the_latch_holds_although_nobody_looked_when_the_switch_was_lost() -> None:
    deadman = Deadman(0.5, latch=True, release_time=1.0)
    deadman.beat(0.0)
    deadman.beat(0.6)
    assert not deadman.alive(0.6)


def test_what_was_missed_for_lack_of_attention_does_not_latch() -> None:
    deadman = Deadman(0.5, latch=True, attention=0.5)
    for tick in range(5):
        deadman.beat(0.1 * tick)
    assert not deadman.alive(1.4), "blocked for a second: it may be held or not"
    deadman.beat(1.41)
    assert deadman.alive(1.41), "it was held"
    for tick in range(1, 8):
        deadman.alive(1.41 + 0.1 * tick)
    deadman.beat(2.2)
    assert not deadman.alive(2.2), "all the time looked at, and silent"


def test_without_latch_the_next_heartbeat_is_enough() -> None:
    deadman = Deadman(0.5, latch=False)
    deadman.beat(0.0)
    assert not deadman.alive(0.6)
    deadman.beat(0.7)
    assert deadman.alive(0.7)


def test_a_switch_that_tells_its_release_needs_no_silence() -> None:
    deadman = Deadman(0.5, latch=True, release_time=math.inf)
    deadman.beat(0.0)
    deadman.release(0.1)
    assert not deadman.alive(0.1), "at once"
    deadman.beat(0.2)
    assert deadman.alive(0.2)
    assert not deadman.alive(5.0), "the link broke"
    deadman.beat(9.0)
    assert not deadman.alive(9.0), "however long the silence: it was never released"
    deadman.release(9.1)
    deadman.beat(9.2)
    assert deadman.alive(9.2)


def test_the_timeout_may_change_while_it_works() -> None:
    deadman = Deadman(0.0)
    deadman.beat(0.0)
    deadman.timeout = 0.5
    assert deadman.alive(0.4)
    assert not deadman.alive(0.6)
    deadman.timeout = -1.0
    assert deadman.alive(0.7)
    deadman.timeout = 0.5
    deadman.beat(0.8)
    assert deadman.alive(0.8), "what was latched before is over"


BEATS = st.lists(st.floats(0.001, 3.0), max_size=30)


@given(BEATS, st.booleans(), st.floats(0.0, 3.0))
def test_it_never_lives_longer_than_the_timeout(
    gaps: list[float], latch: bool, after: float
) -> None:
    deadman, now = Deadman(0.5, latch=latch), 0.0
    for gap in gaps:
        lost = bool(now) and gap > 0.5
        now += gap
        deadman.beat(now)
        if lost and latch and gap < 1.0:
            assert not deadman.alive(now)
        if not latch:
            assert deadman.alive(now)
    assert deadman.alive(now + after) <= (bool(gaps) and now + after - now <= 0.5 + 1e-9)


def machine(timeout: float = 0.5, **options: object) -> AutonomyMachine:
    return AutonomyMachine(Deadman(timeout, **options), override_timeout=0.4)


def test_boots_in_manual() -> None:
    assert machine(0.0).effective(0.0) is Level.MANUAL
    assert machine(0.5).effective(0.0) is Level.HALTED
    assert machine(0.5).selected is Level.MANUAL


@pytest.mark.parametrize("selected", [Level.MANUAL, Level.AUTONOMOUS])
def test_losing_the_switch_never_changes_what_is_selected(selected: Level) -> None:
    autonomy = machine()
    autonomy.select(selected)
    autonomy.deadman.beat(0.0)
    assert autonomy.effective(0.5) is selected
    assert autonomy.effective(0.51) is Level.HALTED
    assert autonomy.selected is selected
    autonomy.deadman.beat(2.0)
    assert autonomy.effective(2.0) is selected


def test_a_toggle_while_halted_is_accepted_and_moves_nothing() -> None:
    autonomy = machine()
    autonomy.deadman.beat(0.0)
    assert autonomy.effective(1.0) is Level.HALTED
    assert autonomy.toggle() is Level.AUTONOMOUS
    assert autonomy.effective(1.0) is Level.HALTED
    autonomy.deadman.beat(1.1)
    assert autonomy.effective(1.1) is Level.AUTONOMOUS


def test_touched_sticks_override_the_autonomy_only() -> None:
    autonomy = machine(0.0)
    autonomy.touch(0.0)
    assert autonomy.effective(0.0) is Level.MANUAL
    autonomy.select(Level.AUTONOMOUS)
    assert autonomy.effective(0.4) is Level.TELEOPERATION
    assert autonomy.selected is Level.AUTONOMOUS
    assert autonomy.effective(0.41) is Level.AUTONOMOUS


def test_touched_sticks_move_nothing_while_the_switch_is_lost() -> None:
    autonomy = machine()
    autonomy.select(Level.AUTONOMOUS)
    autonomy.touch(0.0)
    assert autonomy.effective(0.0) is Level.HALTED


@pytest.mark.parametrize("level", [Level.HALTED, Level.TELEOPERATION])
def test_levels_that_follow_from_circumstances_cannot_be_selected(level: Level) -> None:
    with pytest.raises(ValueError, match=f"{level.name} cannot be selected: choose one of MANUAL"):
        machine().select(level)


EVENTS = st.lists(
    st.tuples(st.sampled_from(("beat", "release", "toggle", "touch", "wait")), st.floats(0.0, 1.0)),
    max_size=40,
)


@given(EVENTS, st.booleans())
def test_nothing_moves_without_the_switch_whatever_happens(
    events: list[tuple[str, float]], latch: bool
) -> None:
    autonomy, now, last_beat, selected = machine(latch=latch), 0.0, -math.inf, Level.MANUAL
    for kind, wait in events:
        now += wait
        if kind == "beat":
            autonomy.deadman.beat(now)
            last_beat = now
        elif kind == "release":
            autonomy.deadman.release(now)
            last_beat = -math.inf
        elif kind == "toggle":
            selected = autonomy.toggle()
        elif kind == "touch":
            autonomy.touch(now)
        level = autonomy.effective(now)
        assert autonomy.selected is selected
        if now - last_beat > 0.5:
            assert level is Level.HALTED
        if level is Level.TELEOPERATION:
            assert selected is Level.AUTONOMOUS
