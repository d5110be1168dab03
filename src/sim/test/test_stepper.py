# SPDX-License-Identifier: Apache-2.0
"""The simulation's thread: pace, pause, requests, failures."""

import threading
import time
from collections.abc import Iterator

import pytest

from behavior_sim.node.stepper import Stepper


class Counter:
    """A simulation of nothing: chunks of 20 ms."""

    def __init__(self) -> None:
        self.count = 0
        self.fail = False
        self.reached = threading.Event()

    def advance(self) -> float:
        if self.fail:
            raise RuntimeError("boom")
        self.count += 1
        if self.count >= 20:
            self.reached.set()
        return self.count * 0.02


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def started(counter: Counter) -> Iterator[Stepper]:
    stepper = Stepper(counter.advance, speed=0.0)
    stepper.start()
    yield stepper
    stepper.stop()


def test_pace_is_kept(counter: Counter) -> None:
    stepper = Stepper(counter.advance, speed=4.0)
    start = time.monotonic()
    stepper.start()
    assert counter.reached.wait(20.0)
    passed = time.monotonic() - start
    stepper.stop()
    # 20 chunks are 0.4 s simulated; 19 of them have been waited for.
    assert passed >= 0.095 - 0.005


def test_as_fast_as_possible(started: Stepper, counter: Counter) -> None:
    assert counter.reached.wait(20.0)


def test_speed_may_change_at_any_time(counter: Counter) -> None:
    stepper = Stepper(counter.advance, speed=0.001)
    stepper.start()
    assert not counter.reached.wait(0.1)
    stepper.speed = 0.0
    assert counter.reached.wait(20.0)
    stepper.stop()


def test_pause_stops_time_but_not_requests(started: Stepper, counter: Counter) -> None:
    started.call(lambda: setattr(started, "paused", True))
    before = started.call(lambda: counter.count)
    assert started.call(lambda: counter.count) == before
    counter.reached.clear()
    started.paused = False
    assert counter.reached.wait(20.0)


def test_requests_run_in_the_thread_while_it_waits(counter: Counter) -> None:
    stepper = Stepper(counter.advance, speed=0.001)
    stepper.start()
    assert stepper.call(threading.get_ident, timeout=15.0) != threading.get_ident()
    stepper.stop()


def test_requests_bring_no_chunk_about(counter: Counter) -> None:
    stepper = Stepper(counter.advance, speed=0.001)
    stepper.start()
    counts = [stepper.call(lambda: counter.count, timeout=15.0) for _ in range(10)]
    stepper.stop()
    assert counts[-1] <= 1, "the second one is due after 20 s"


def test_what_is_held_stays_so_when_a_request_comes(counter: Counter) -> None:
    held = True
    stepper = Stepper(counter.advance, speed=0.0, hold=lambda _: 60.0 if held else 0.0)
    stepper.start()
    assert [stepper.call(lambda: counter.count, timeout=15.0) for _ in range(10)] == [0] * 10
    held = False
    stepper.nudge()
    assert counter.reached.wait(20.0)
    stepper.stop()


def test_who_holds_it_is_asked_once_for_each_chunk(counter: Counter) -> None:
    asked: list[float] = []
    stepper = Stepper(counter.advance, speed=0.0, hold=lambda now: asked.append(now) or 0.0)
    stepper.start()
    assert counter.reached.wait(20.0)
    stepper.stop()
    assert len(set(asked)) == len(asked) >= 20


def test_requests_that_never_cease_do_not_stop_time(counter: Counter) -> None:
    stepper = Stepper(counter.advance, speed=0.0)

    def again() -> None:
        stepper.post(again)

    stepper.post(again)
    stepper.start()
    assert counter.reached.wait(20.0)
    stepper.stop()


def test_requests_pass_their_errors_on(started: Stepper) -> None:
    with pytest.raises(KeyError):
        started.call(lambda: {}["nothing"])
    assert started.call(lambda: 7) == 7


def test_call_that_comes_too_late_is_not_done(counter: Counter) -> None:
    done = []
    stepper = Stepper(counter.advance)
    with pytest.raises(TimeoutError):
        stepper.call(lambda: done.append(1), timeout=0.05)
    stepper.start()
    stepper.call(lambda: None)
    stepper.stop()
    assert not done


def test_failure_pauses_and_is_told(counter: Counter) -> None:
    told: list[Exception] = []
    stepper = Stepper(counter.advance, speed=0.0, on_error=told.append)
    counter.fail = True
    stepper.start()
    assert stepper.call(lambda: "alive") == "alive"
    assert stepper.paused
    assert [str(error) for error in told] == ["boom"]
    stepper.stop()


def test_stop_is_prompt(counter: Counter) -> None:
    stepper = Stepper(counter.advance, speed=0.0001)
    stepper.start()
    stepper.stop(timeout=60.0)
    assert not stepper._thread.is_alive()
