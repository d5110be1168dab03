# SPDX-License-Identifier: Apache-2.0
"""When something is ticked: by a clock that the test sets, in a node that is none."""

import itertools
import threading
from types import SimpleNamespace

import pytest

from behavior_ros.node.tick_timer import TickTimer

PERIOD, DISTANCE = 0.05, 0.002


class Timer:
    def __init__(self, clock, period, callback):
        self.clock, self.callback = clock, callback
        self.timer_period_ns = round(1e9 * period)
        self.reset()

    def reset(self):
        self.due = self.clock() + self.timer_period_ns * 1e-9

    def cancel(self):
        self.due = float("inf")

    def call(self):
        self.due += self.timer_period_ns * 1e-9
        self.callback()


class World:
    """A node with two clocks, a guard condition, and what becomes due when time passes."""

    def __init__(self):
        self.node_time = self.wall = 0.0
        self.timers, self.triggers = [], 0
        self.ticks, self.again, self.due = [], [], None
        self.period = PERIOD
        self.in_tick = lambda: None
        self.timer = TickTimer(
            self,
            self.tick,
            period=lambda: self.period,
            distance=DISTANCE,
            due=lambda: self.due,
            wall=lambda: self.wall,
        )

    def tick(self):
        self.ticks.append((round(self.node_time, 4), round(self.wall, 4)))
        self.in_tick()
        return bool(self.again and self.again.pop())

    def create_timer(self, period, callback, clock=None):
        of_node = clock is None
        timer = Timer(lambda: self.node_time if of_node else self.wall, period, callback)
        self.timers.append(timer)
        return timer

    def create_guard_condition(self, callback):
        def trigger():
            self.triggers += 1

        self.woken = callback
        return SimpleNamespace(trigger=trigger)

    def destroy_timer(self, timer):
        timer.cancel()

    def destroy_guard_condition(self, guard):
        self.triggers = 0

    def get_clock(self):
        now = SimpleNamespace(nanoseconds=round(1e9 * self.node_time))
        return SimpleNamespace(now=lambda: now)

    def spin(self):
        """Call what is due, as an executor does."""
        while True:
            if self.triggers:
                self.triggers = 0
                self.woken()
            elif due := [each for each in self.timers if each.due <= each.clock() + 1e-9]:
                due[0].call()
            else:
                return

    def go(self, seconds, *, simulated=True, step=0.001):
        """Let time pass; node time stands still unless simulated."""
        for _ in range(round(seconds / step)):
            self.wall += step
            self.node_time += step if simulated else 0.0
            self.spin()


@pytest.fixture
def world():
    return World()


def test_without_events_the_period_is_kept_to_the_nanosecond(world):
    world.go(0.5)
    assert [now for now, _ in world.ticks] == pytest.approx([0.05 * n for n in range(1, 11)])


def test_the_period_is_asked_for_after_each_tick(world):
    world.period = 0.2
    world.go(0.5)
    world.period = 0.05
    world.timer.wake()
    world.go(0.1)
    assert [now for now, _ in world.ticks] == pytest.approx([0.05, 0.25, 0.45, 0.501, 0.551])


def test_an_event_is_answered_at_once_and_the_period_is_the_longest_wait(world):
    world.go(0.07)
    world.timer.wake()
    world.spin()
    assert world.ticks == [(0.05, 0.05), (0.07, 0.07)]
    world.go(0.1)
    assert [now for now, _ in world.ticks[2:]] == [0.12, 0.17]


def test_an_event_does_not_wait_for_a_clock_that_stands_still(world):
    world.go(1.0, simulated=False)
    assert world.ticks == []
    world.timer.wake()
    world.spin()
    assert world.ticks == [(0.0, 1.0)]


def test_swarms_of_events_are_held_apart_by_wall_time(world):
    for _ in range(100):
        world.timer.wake()
        world.go(0.0002, simulated=False, step=0.0001)
    walls = [wall for _, wall in world.ticks]
    gaps = [b - a for a, b in itertools.pairwise(walls)]
    assert len(walls) == 10
    assert min(gaps) >= DISTANCE - 1e-9


def test_many_events_are_one_tick(world):
    world.go(0.01)
    for _ in range(5):
        world.timer.wake()
    world.go(0.03)
    assert len(world.ticks) == 1


def test_the_distance_counts_from_the_end_of_a_tick_and_holds_up_no_tick_of_the_period(world):
    def long():
        world.wall += 0.2

    world.in_tick = long
    world.go(0.05)
    world.timer.wake()
    world.spin()
    assert len(world.ticks) == 1
    world.go(0.002, simulated=False)
    assert len(world.ticks) == 2
    world.node_time += 0.05
    world.spin()
    assert len(world.ticks) == 3


def test_a_tick_that_asks_for_itself_waits_for_the_period_and_others_do_not(world):
    world.in_tick = world.timer.wake
    world.go(0.1)
    assert len(world.ticks) == 2

    def from_a_thread():
        world.in_tick = lambda: None
        thread = threading.Thread(target=world.timer.wake)
        thread.start()
        thread.join()

    world.in_tick = from_a_thread
    world.go(0.05)
    world.go(0.003)
    assert len(world.ticks) == 4


def test_a_true_result_asks_for_another_tick(world):
    world.again = [True, True]
    world.go(0.055)
    assert [wall for _, wall in world.ticks] == pytest.approx([0.05, 0.052, 0.054])


@pytest.mark.parametrize("late", [0.0, -0.01])
def test_a_due_timer_ticks_by_node_time_then_the_period_goes_on(world, late):
    world.go(0.05)
    world.due = 0.063 if not late else world.node_time + late
    world.timer.wake()  # the tick that sets the timer
    world.spin()
    world.go(0.003)
    world.in_tick = lambda: setattr(world, "due", None)
    world.go(0.2)
    times = [now for now, _ in world.ticks]
    assert times[-3:] == pytest.approx([times[-4] + PERIOD * n for n in (1, 2, 3)])
    if not late:
        assert 0.063 in times


def test_after_destroy_nothing_is_called(world):
    world.timer.wake()
    world.timer.destroy()
    world.timer.wake()
    world.go(0.2)
    assert world.ticks == []
