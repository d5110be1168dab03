# SPDX-License-Identifier: Apache-2.0
"""Channels: what a page has after all frames is what the channels hold, whatever it missed."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_console.channels import (
    CHANNELS,
    MOST_GONE,
    MOST_ITEMS,
    ChannelError,
    Channels,
    Reader,
)


class Page:
    """What a page makes of news."""

    def __init__(self, names):
        self.reader = Reader()
        self.reader.subscribe(names)
        self.state = {}
        self.bytes = 0

    def hear(self, channels):
        news = channels.news(self.reader)
        for name, packed in news.set.items():
            self.state[name] = unpacked(packed)
        for name, packed in news.patch.items():
            for key, value in unpacked(packed).items():
                if value is None:
                    self.state[name].pop(key, None)
                else:
                    self.state[name][key] = value
        for name, packed in news.add.items():
            self.state[name].extend(unpacked(packed))
        sent = [*news.set.values(), *news.patch.values(), *news.add.values()]
        self.bytes += sum(map(len, sent))
        return news


def unpacked(packed):
    return msgpack.unpackb(packed, strict_map_key=False)


KEYS = st.integers(0, 5)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("patch"), st.dictionaries(KEYS, st.none() | st.integers(0, 3))),
        st.tuples(st.just("replace"), st.dictionaries(KEYS, st.integers(0, 3))),
        st.tuples(st.just("restart"), st.dictionaries(KEYS, st.integers(0, 3))),
        st.tuples(st.just("set"), st.integers(-(2**63), 2**64 - 1)),
        st.tuples(st.just("add"), st.lists(st.integers(0, 9), max_size=4)),
        st.tuples(st.just("clear"), st.none()),
        st.tuples(st.just("hear"), st.integers(0, 1)),
    ),
    max_size=40,
)


@given(ACTIONS)
def test_pages_end_with_what_the_channels_hold_however_seldom_they_hear(actions):
    channels = Channels()
    names = ["status", "mission", "events"]
    pages = [Page(names), Page(names)]
    for action, value in actions:
        match action:
            case "patch" | "replace" | "restart":
                getattr(channels, action)("status", value)
            case "set":
                channels.set("mission", value)
            case "add":
                channels.add("events", value)
            case "clear":
                channels.clear_log("events")
            case "hear":
                pages[value].hear(channels)
    for page in pages:
        page.hear(channels)
        for name in names:
            empty = [] if name == "events" else None if name == "mission" else {}
            assert page.state.get(name, empty) == channels.value(name)
        assert not page.hear(channels)


def test_a_page_that_is_away_is_sent_the_newest_state_once():
    channels, page = Channels(), Page(["status", "joints"])
    channels.patch("status", {uid: [0, 0.0, 0, 0] for uid in range(100)})
    page.hear(channels)
    before = page.bytes
    for tick in range(10_000):
        channels.patch("status", {1: [1, float(tick), tick, 0]})
        channels.set("joints", {"elbow": tick})
    page.hear(channels)
    assert page.state["status"][1] == [1, 9999.0, 9999, 0]
    assert page.state["joints"] == {"elbow": 9999}
    assert page.bytes - before < 100


def test_what_is_as_it_was_is_no_news():
    channels, page = Channels(), Page(["status"])
    channels.patch("status", {1: [0]})
    page.hear(channels)
    channels.patch("status", {1: [0]})
    channels.replace("status", {1: [0]})
    assert not page.hear(channels)


def test_keys_that_are_gone_are_not_remembered_for_ever():
    channels, page = Channels(), Page(["blackboard"])
    for number in range(3 * MOST_GONE):
        channels.patch("blackboard", {f"key {number}": ["int", "1", True]})
        channels.patch("blackboard", {f"key {number}": None})
    assert len(channels._channels["blackboard"].changed) <= MOST_GONE + 1
    page.hear(channels)
    assert page.state["blackboard"] == {}


def test_a_long_log_comes_in_parts_and_forgets_its_beginning():
    channels, page = Channels({"events": 2 * MOST_ITEMS}), Page(["events"])
    channels.add("events", list(range(5 * MOST_ITEMS)))
    page.hear(channels)
    assert len(page.state["events"]) == MOST_ITEMS
    while page.hear(channels):
        pass
    assert page.state["events"] == list(range(3 * MOST_ITEMS, 5 * MOST_ITEMS))


def test_who_subscribes_anew_is_sent_the_whole():
    channels, page = Channels(), Page(["status"])
    channels.patch("status", {1: [0], 2: [0]})
    page.hear(channels)
    page.reader.subscribe(["mission"])
    channels.patch("status", {2: None})
    page.hear(channels)
    page.reader.subscribe(["status"])
    page.hear(channels)
    assert page.state["status"] == {1: [0]}


def test_pages_that_heard_the_same_share_what_is_packed():
    channels, pages = Channels(), [Page(["status"]), Page(["status"])]
    channels.patch("status", {1: [0]})
    for page in pages:
        page.hear(channels)
    channels.patch("status", {1: [1]})
    first, second = (page.hear(channels).patch["status"] for page in pages)
    assert first is second


def test_integers_that_msgpack_has_not_come_as_texts():
    channels, page = Channels(), Page(["joints"])
    channels.set("joints", {"small": 2**64 - 1, "large": 2**64, "largest": -(10**5000)})
    page.hear(channels)
    assert page.state["joints"] == {
        "small": 2**64 - 1,
        "large": "18446744073709551616",
        "largest": "a very large integer",
    }


@pytest.mark.parametrize(("name", "change"), [("nothing", "set"), ("status", "set")])
def test_wrong_channels_are_refused_by_name(name, change):
    with pytest.raises(ChannelError, match=name):
        getattr(Channels(), change)(name, {})


def test_unknown_names_cannot_be_subscribed_to():
    with pytest.raises(ChannelError, match="no channel 'nothing'"):
        Reader().subscribe([*CHANNELS, "nothing"])
