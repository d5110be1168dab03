# SPDX-License-Identifier: Apache-2.0
"""Messages that lie until somebody looks."""

import threading

import pytest

from behavior_ros.topics.unread import MOST_UNREAD, Unread


def test_they_are_read_in_their_order_when_somebody_looks():
    taken = []
    unread = Unread(taken.append)
    for data in (b"1", b"2"):
        unread.hear(data)
    assert not taken
    unread.read()
    assert taken == [b"1", b"2"]
    unread.read()
    assert taken == [b"1", b"2"]


def test_only_so_many_lie():
    taken = []
    unread = Unread(taken.append)
    for _ in range(2 * MOST_UNREAD + 1):
        unread.hear(b"")
    assert len(taken) == 2 * MOST_UNREAD


def test_what_was_not_read_can_be_forgotten():
    taken = []
    unread = Unread(taken.append)
    unread.hear(b"1")
    unread.clear()
    unread.hear(b"2")
    unread.read()
    assert taken == [b"2"]


def test_one_that_cannot_be_read_does_not_stand_in_the_way():
    taken = []

    def take(data):
        if data == b"bad":
            raise ValueError("bad")
        taken.append(data)

    unread = Unread(take)
    for data in (b"bad", b"good"):
        unread.hear(data)
    with pytest.raises(ValueError, match="bad"):
        unread.read()
    unread.read()
    assert taken == [b"good"]


def test_who_looks_waits_for_what_another_thread_reads():
    begun, go_on, taken = threading.Event(), threading.Event(), []

    def take(data):
        begun.set()
        go_on.wait(60.0)
        taken.append(data)

    unread = Unread(take)
    unread.hear(b"1")
    first = threading.Thread(target=unread.read)
    first.start()
    assert begun.wait(60.0)
    seen = []
    second = threading.Thread(target=lambda: (unread.read(), seen.extend(taken)))
    second.start()
    go_on.set()
    for thread in (first, second):
        thread.join(60.0)
    assert taken == seen == [b"1"]
