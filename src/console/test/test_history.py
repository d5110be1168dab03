# SPDX-License-Identifier: Apache-2.0
"""The past of a running stack: what it held is what is shown, and memory has an end."""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_console.channels import Channels
from behavior_console.history import SEGMENT, History

KEYS = st.one_of(st.integers(0, 3), st.sampled_from("ab"))
CHANGES = st.lists(
    st.tuples(
        st.floats(0.01, 0.7 * SEGMENT),
        st.dictionaries(KEYS, st.one_of(st.none(), st.integers(0, 5)), max_size=3),
        st.one_of(st.none(), st.integers(0, 5), st.just("x" * 20_000)),
    ),
    min_size=1,
    max_size=12,
)


@given(CHANGES)
@settings(deadline=None, max_examples=60)
def test_a_moment_holds_what_the_channels_held(changes):
    channels, time = Channels(), 100.0
    history, held = History(channels), []
    for passed, patch, value in changes:
        time += passed
        channels.patch("status", patch)
        channels.set("mission", value)
        history.note(time)
        held.append((time, channels.value("status"), value))
    following = [*(time for time, *_ in held[1:]), time + 1.0]
    for (at, status, value), until in zip(held, following, strict=True):
        for moment in (at, (at + until) / 2):
            state = history.state(moment)
            assert (state["status"], state["mission"]) == (status, value)


def test_before_its_beginning_nothing_is_known():
    history = History(Channels())
    assert history.span() is None
    assert history.state(5.0) is None
    history.note(10.0)
    assert history.span() == (10.0, 10.0)
    assert history.state(9.9) is None
    assert history.state(10.0)["mission"] is None


def filled(history, channels, seconds, size=1_000):
    """A value that cannot be compressed every second."""
    for second in range(seconds):
        channels.set("mission", os.urandom(size))
        history.note(float(second))


def test_memory_has_an_end_and_the_oldest_goes_first():
    channels = Channels()
    history = History(channels, most_bytes=100_000)
    filled(history, channels, 1_000)
    assert history.size <= 100_000 + 2_000
    begin, end = history.span()
    assert end == 999.0
    assert 50.0 < end - begin < 100.0
    assert history.state(end)["mission"] == channels.value("mission")


def test_a_large_value_that_stays_is_kept_once():
    channels = Channels()
    history = History(channels)
    channels.set("map", os.urandom(50_000))
    filled(history, channels, 200, size=10)
    assert history.size < 50_000 + 60_000
    assert history.state(150.0)["map"] == channels.value("map")


def test_a_clock_that_is_set_back_forgets_another_run():
    channels = Channels()
    history = History(channels)
    filled(history, channels, 50)
    history.note(3.0)
    assert history.span() == (3.0, 3.0)
    assert history.state(40.0)["mission"] == channels.value("mission")


def test_what_comes_a_little_late_is_seen_at_its_own_time():
    channels = Channels()
    history = History(channels)
    history.note(10.0)
    channels.set("joints", {"elbow": 1.0})
    history.note(10.2)  # nothing was heard of the tree for a while
    channels.set("mission", "begun")
    history.note(10.16)  # its stamp is older than its message
    assert history.state(10.16)["mission"] == "begun"
    assert history.state(10.15)["mission"] is None
