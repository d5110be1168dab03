# SPDX-License-Identifier: Apache-2.0
"""Freshness at its boundaries, and messages that come late, twice or in disorder."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_ros import NewestEntry


@pytest.mark.parametrize("wrong", [0, 0.0, -0.0, -1e-9, -math.inf, math.nan])
def test_an_age_that_nothing_can_have_is_refused(wrong):
    with pytest.raises(ValueError, match="give a positive number, or inf"):
        NewestEntry(wrong)
    entry = NewestEntry(1.0)
    with pytest.raises(ValueError, match="max_age"):
        entry.max_age = wrong
    assert entry.max_age == 1.0


def test_fresh_up_to_the_limit_and_not_beyond():
    entry = NewestEntry(0.5)
    assert not entry.fresh(0.0)
    assert entry.age(0.0) == math.inf
    entry.offer("a", 10.0)
    assert entry.fresh(10.0)
    assert entry.fresh(10.5)
    assert not entry.fresh(math.nextafter(10.5, math.inf))
    entry.max_age = 0.6
    assert entry.fresh(10.6)


def test_without_a_limit_a_message_is_fresh_for_ever_but_must_exist():
    entry = NewestEntry()
    assert not entry.fresh(0.0)
    entry.offer("a", 0.0)
    assert entry.fresh(1e12)


def test_age_counts_from_the_stamp():
    entry = NewestEntry(1.0)
    entry.offer("old", now=10.0, stamp=8.5)
    assert not entry.fresh(10.0)
    assert entry.age(10.0) == 1.5


def test_late_and_duplicated_messages_are_left_out_and_counted():
    entry = NewestEntry(1.0)
    assert entry.offer("b", now=10.0, stamp=9.9)
    assert not entry.offer("a", now=10.1, stamp=9.8)
    assert not entry.offer("b again", now=10.2, stamp=9.9)
    assert entry.newest() == "b"
    assert (entry.late, entry.duplicates) == (1, 1)
    assert entry.age(10.2) == pytest.approx(0.3)


def test_a_stamp_from_the_future_neither_lives_longer_nor_shuts_others_out():
    entry = NewestEntry(1.0)
    assert entry.offer("future", now=10.0, stamp=99.0)
    assert not entry.offer("future again", now=10.5, stamp=99.0)
    assert not entry.fresh(11.1)
    assert entry.offer("next", now=11.2, stamp=11.15)
    assert entry.newest() == "next"


def test_without_stamps_every_message_is_the_newest():
    entry = NewestEntry(1.0)
    assert entry.offer("a", 10.0)
    assert entry.offer("b", 10.0)
    assert entry.newest() == "b"


def test_a_clock_that_is_set_back_empties_it():
    entry = NewestEntry(1.0)
    entry.offer("before", now=100.0, stamp=100.0)
    entry.notice(99.9995)
    assert entry.newest() == "before"
    assert entry.offer("after", now=3.0, stamp=2.9)
    assert entry.newest() == "after"
    assert entry.late == 0
    entry.notice(1.0)
    assert entry.newest() is None
    assert not entry.fresh(1.0)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=30))
def test_in_any_order_the_newest_stamp_wins(arrivals):
    """Stamps from the past only: what is kept is the maximum, the rest is counted."""
    entry = NewestEntry()
    now, taken = 20.0, []
    for stamp, wait in arrivals:
        now += wait
        if entry.offer(stamp, now, float(stamp)):
            taken.append(stamp)
    assert taken == sorted(set(taken))
    assert entry.newest() == max((stamp for stamp, _ in arrivals), default=None)
    assert len(taken) + entry.late + entry.duplicates == len(arrivals)
