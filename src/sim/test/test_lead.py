# SPDX-License-Identifier: Apache-2.0
"""The simulation waits for its follower, but not for one that is gone."""

import threading

import pytest

from behavior_sim.node.lead import CREEP, PATIENCE, Lead
from behavior_sim.node.stepper import Stepper
from behavior_tree.testing import SimulatedClock


def test_nobody_followed_yet():
    assert Lead(0.3, SimulatedClock()).wait(50.0) == 0.0


def test_within_the_limit_it_goes_on():
    lead = Lead(0.3, SimulatedClock())
    lead.follow(1.0)
    assert lead.wait(1.25) == 0.0


def test_beyond_the_limit_it_waits_until_news():
    wall = SimulatedClock()
    lead = Lead(0.3, wall)
    lead.follow(1.0)
    assert lead.wait(5.0) == pytest.approx(PATIENCE)
    wall.now += 0.2
    assert lead.wait(5.0) == pytest.approx(PATIENCE - 0.2)
    lead.follow(4.8)
    assert lead.wait(5.0) == 0.0
    assert lead.wait(5.2) > 0.0


def test_who_tells_nothing_any_more_is_gone():
    wall = SimulatedClock()
    lead = Lead(0.3, wall)
    lead.follow(1.0)
    wall.now += PATIENCE
    assert lead.wait(1000.0) == 0.0


def test_while_nothing_is_heard_the_world_creeps_on():
    """The news of 1.0 s got lost, and there is no more before the world shows something new."""
    wall = SimulatedClock()
    lead = Lead(0.3, wall)
    lead.follow(0.9)
    now, began = 1.2, wall.now
    while now < 1.3:  # the next picture
        pause = lead.wait(now)
        wall.now += pause
        now += 0.0 if pause else 0.01
    assert wall.now - began == pytest.approx(0.1 / CREEP, abs=0.1)


def test_a_follower_that_the_machine_keeps_waiting_for_seconds_is_not_left_behind():
    wall = SimulatedClock()
    lead = Lead(0.3, wall)
    lead.follow(1.0)
    wall.now += 3.0
    assert lead.wait(1.3 + 3.1 * CREEP) > 0.0


def test_stepper_stays_within_the_lead_of_its_follower():
    lead = Lead(1.0, SimulatedClock())
    times = []
    waiting = threading.Event()

    def advance():
        times.append(0.25 * (len(times) + 1))
        if times[-1] > 1.0:
            waiting.set()
        return times[-1]

    lead.follow(0.0)
    stepper = Stepper(advance, speed=0.0, hold=lead.wait)
    stepper.start()
    try:
        assert waiting.wait(20.0)
        # One chunk beyond the limit is what makes it wait; requests are still served.
        assert stepper.call(lambda: times[-1]) == 1.25
        lead.follow(10.0)
        stepper.nudge()
        reached = threading.Event()
        for _ in range(1000):
            if stepper.call(lambda: times[-1]) >= 11.0:
                reached.set()
                break
        assert reached.is_set()
    finally:
        stepper.stop()
