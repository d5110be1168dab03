# SPDX-License-Identifier: Apache-2.0
"""What pages say is read with care; limits of one page; who has control."""

import contextlib

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_console.channels import CHANNELS, News, pack
from behavior_console.control import ANSWER_WITHIN, Control
from behavior_console.flow import CLOSEST, MOST_UNSEEN, Flow, Quota
from behavior_console.protocol import (
    LONGEST_MESSAGE,
    At,
    Command,
    Hello,
    ProtocolError,
    Role,
    Seen,
    Subscribe,
    frame,
    read,
)


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        (
            {"hello": {"name": "ann", "role": "edit", "view": "live"}},
            Hello("ann", Role.EDIT, ""),
        ),
        (
            {"hello": {"view": "record", "record": "run.mcap"}},
            Hello("", Role.VIEW, "run.mcap"),
        ),
        ({"subscribe": ["tree", "status"]}, Subscribe(("tree", "status"))),
        ({"at": None}, At(None)),
        ({"at": 12.5}, At(12.5)),
        ({"command": {"id": 7, "name": "stop"}}, Command(7, "stop", {})),
        ({"seen": 3}, Seen(3)),
    ],
)
def test_what_pages_say(said, understood):
    assert read(pack(said)) == understood


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (b"\xc1", "no msgpack"),
        (b"", "no msgpack"),
        (b"\x00" * (LONGEST_MESSAGE + 1), "at most"),
        (pack([1]), "map with one key"),
        (pack({"seen": 1, "at": 2}), "map with one key"),
        (pack({"shout": 1}), "one of hello"),
        (pack({"seen": -1}), "number of a frame"),
        (pack({"seen": "1"}), "number of a frame"),
        (pack({"at": float("nan")}), "time in seconds"),
        (pack({"at": True}), "time in seconds"),
        (pack({"hello": {"role": "root"}}), "no role 'root'"),
        (pack({"hello": {"name": "x" * 1000}}), "'name' is a text"),
        (pack({"hello": []}), "'role' is a text"),
        (pack({"subscribe": "tree"}), "list of channels"),
        (pack({"subscribe": ["nope"]}), "no channel 'nope'"),
        (pack({"subscribe": ["tree"] * 1000}), "list of channels"),
        (pack({"command": {"id": None, "name": "stop"}}), "'id'"),
        (pack({"command": {"id": 1, "name": "stop", "args": 3}}), "'args'"),
        (pack({"command": {"id": 1, "name": 3}}), "'name'"),
        (b"\x81\xa4seen" + b"\x91" * 100_000, "no msgpack"),
    ],
)
def test_what_is_not_understood_gets_a_sentence(said, problem):
    with pytest.raises(ProtocolError, match=problem):
        read(said)


@given(st.binary(max_size=200))
def test_any_bytes_are_understood_or_refused(data):
    with contextlib.suppress(ProtocolError):
        read(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(),
        lambda below: st.lists(below) | st.dictionaries(st.text(), below),
        max_leaves=20,
    ),
    st.sampled_from(["hello", "subscribe", "at", "command", "seen"]),
)
def test_any_content_is_understood_or_refused(content, kind):
    with contextlib.suppress(ProtocolError):
        read(pack({kind: content}))


def test_frames_are_maps_of_what_is_new():
    news = News(set={"mission": pack({"name": "stack"})}, patch={"status": pack({1: [1]})})
    told = msgpack.unpackb(frame(3, 1.5, None, news), strict_map_key=False)
    assert told == {
        "frame": 3,
        "now": 1.5,
        "at": None,
        "set": {"mission": {"name": "stack"}},
        "patch": {"status": {1: [1]}},
    }
    assert "spans" in CHANNELS


def test_a_page_that_has_not_drawn_is_sent_no_more():
    flow = Flow()
    for number in range(MOST_UNSEEN):
        assert flow.open
        assert flow.next(float(number)) == number + 1
    assert not flow.open
    flow.acknowledge(1_000)  # only what was sent can be seen
    assert flow.open
    assert flow.seen == flow.sent


def test_frames_keep_their_distance():
    flow = Flow()
    assert flow.wait(5.0) == 0.0
    flow.next(5.0)
    assert flow.wait(5.01) == pytest.approx(CLOSEST - 0.01)
    assert flow.wait(6.0) == 0.0


def test_a_frame_for_each_tick_waits_for_no_other_although_timers_are_late():
    flow = Flow()
    for tick in range(100):
        now = 0.05 * tick + 0.002 * (tick % 3)
        assert flow.wait(now) == 0.0
        flow.next(now)


def test_a_quota_allows_bursts_and_then_its_rate():
    quota = Quota(rate=2.0, burst=3.0)
    assert [quota.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert quota.take(0.5)
    assert not quota.take(0.5)
    assert [quota.take(100.0) for _ in range(4)] == [True, True, True, False]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def control_and_clock():
    clock, changes = Clock(), []
    return Control(clock, lambda: changes.append(1)), clock, changes


def test_who_commands_first_has_control_and_others_ask():
    control, _, _ = control_and_clock()
    assert control.take(1, "ann") == ""
    assert control.take(2, "bob") == "ann"
    assert "ann was asked" in control.ask(2, "bob")
    assert control.state()["asks"] == {"number": 2, "name": "bob"}
    assert not control.give(2)
    assert control.give(1)
    assert control.state()["holder"] == {"number": 2, "name": "bob"}


def test_control_passes_on_when_the_holder_does_not_answer():
    control, clock, changes = control_and_clock()
    control.take(1, "ann")
    control.ask(2, "bob")
    clock.now = ANSWER_WITHIN - 0.1
    control.pass_on()
    assert control.take(2, "bob") == "ann"
    clock.now = ANSWER_WITHIN
    before = len(changes)
    control.pass_on()
    control.pass_on()
    assert control.take(1, "ann") == "bob"
    assert len(changes) == before + 1


def test_the_holder_may_refuse_and_a_third_waits():
    control, clock, _ = control_and_clock()
    control.take(1, "ann")
    control.ask(2, "bob")
    assert "bob has asked before" in control.ask(3, "eve")
    assert control.refuse(1)
    clock.now = 100.0
    control.pass_on()
    assert control.take(2, "bob") == "ann"


def test_control_is_free_when_its_page_is_gone():
    control, _, _ = control_and_clock()
    control.take(1, "ann")
    control.ask(2, "bob")
    control.leave(2)
    control.leave(1)
    assert control.state()["holder"] is None
    assert control.take(3, "eve") == ""
