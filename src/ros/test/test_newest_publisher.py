# SPDX-License-Identifier: Apache-2.0
"""Whoever comes late hears the newest message, and nobody hears old ones for nothing."""

from types import SimpleNamespace

import pytest
from std_msgs.msg import Int32

from behavior_ros import QOS_REQUESTS
from behavior_ros.testing import until
from behavior_ros.topics.newest_publisher import NewestPublisher


class Bench:
    """A publisher whose subscriptions come and go as the test says."""

    def __init__(self, **options):
        self.sent, self.count, self.due = [], 0, False
        node = SimpleNamespace(
            create_publisher=self._create_publisher,
            create_timer=lambda period, callback, clock: SimpleNamespace(
                cancel=lambda: setattr(self, "due", False),
                reset=lambda: setattr(self, "due", True),
            ),
        )
        self.publisher = NewestPublisher(node, Int32, "/numbers", QOS_REQUESTS, **options)

    def _create_publisher(self, message_type, topic, qos, event_callbacks):
        self._matched = event_callbacks.matched
        return SimpleNamespace(publish=self.sent.append, get_subscription_count=lambda: self.count)

    def change(self, come=0, gone=0):
        """Subscriptions came and went, and are heard of some time later."""
        self.count += come - gone
        return SimpleNamespace(
            total_count_change=come, current_count=self.count, current_count_change=come - gone
        )

    def hear_of(self, change):
        self._matched(change)
        if self.due:
            self.publisher._publish_newest()


@pytest.fixture
def bench():
    return Bench()


def test_who_comes_late_is_told_the_newest(bench):
    bench.hear_of(bench.change(come=1))
    assert bench.sent == [], "there is nothing to tell"
    for number in (1, 2):
        bench.publisher.publish(number)
    bench.hear_of(bench.change(come=1))
    assert bench.sent == [1, 2, 2]


def test_who_was_there_in_time_is_not_told_twice(bench):
    late = bench.change(come=1)
    bench.publisher.publish(1)
    bench.hear_of(late)
    assert bench.sent == [1]


def test_one_that_comes_as_another_goes_is_told(bench):
    bench.hear_of(bench.change(come=1))
    bench.publisher.publish(1)
    bench.hear_of(bench.change(come=1, gone=1))
    assert bench.sent == [1, 1]
    bench.hear_of(bench.change(gone=1))
    bench.hear_of(bench.change(come=1))
    assert bench.sent == [1, 1, 1]


def test_what_is_newest_may_be_made_when_it_is_asked_for():
    bench = Bench(newest=lambda: 7)
    bench.hear_of(bench.change(come=1))
    assert bench.sent == [7]


def test_late_subscriptions_of_the_default_quality(spinner, spinner2):
    node, other = spinner.node("teller"), spinner2.node("late")
    publisher = spinner.do(lambda: NewestPublisher(node, Int32, "/numbers", QOS_REQUESTS))
    spinner.do(publisher.publish, Int32(data=3))
    for _ in range(2):
        heard = []
        subscription = spinner2.do(
            lambda heard=heard: other.create_subscription(Int32, "/numbers", heard.append, 10)
        )
        until(lambda heard=heard: heard == [Int32(data=3)])
        spinner2.do(other.destroy_subscription, subscription)
    spinner.do(publisher.destroy)
