# SPDX-License-Identifier: Apache-2.0
"""A slow machine is no robot, scene or executor that is gone."""

from types import SimpleNamespace

import pytest

from behavior_ros.node import silence as module
from behavior_ros.node.silence import Silence


@pytest.fixture
def clocks(monkeypatch):
    """The wall's clock and the node's, set by the test."""
    made = SimpleNamespace(wall=100.0, node=7.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: made.wall))
    return made


def test_a_simulation_that_is_kept_waiting_is_not_lost(clocks):
    heard = Silence(lambda: clocks.node, 2.5, standstill=4)
    clocks.wall += 3.0  # in which the simulated clock stood still
    assert not heard.too_long
    clocks.node += 3.0
    assert heard.too_long
    heard.end()
    clocks.node += 3.0  # in a fast simulation that is a moment
    assert not heard.too_long
    clocks.wall += 11.0
    assert heard.too_long


def test_a_clock_that_stands_still_is_dead_at_last(clocks):
    heard = Silence(lambda: clocks.node, 2.5, standstill=4)
    clocks.wall += 9.0
    assert not heard.too_long
    clocks.wall += 2.0
    assert heard.too_long


def test_the_wall_may_have_a_limit_of_its_own(clocks):
    heard = Silence(lambda: clocks.node, 3.0, wall_limit=1.0)
    clocks.node += 4.0
    clocks.wall += 0.5
    assert not heard.too_long
    clocks.wall += 1.0
    assert heard.too_long
    heard.end()
    clocks.wall += 1e6
    assert not heard.too_long


def test_what_was_heard_before_the_first_clock_is_not_as_old_as_the_simulation(clocks):
    clocks.node = 0.0
    heard = Silence(lambda: clocks.node, 3.0, wall_limit=1.0)
    clocks.node, clocks.wall = 40.0, 102.0
    assert not heard.too_long
    clocks.node = 44.0
    assert heard.too_long


@pytest.mark.parametrize("set_back", [0.0, 2.0])
def test_a_clock_that_is_set_back_makes_no_long_silence_of_a_short_one_nor_hides_one(
    clocks, set_back
):
    clocks.node = 1000.0
    heard = Silence(lambda: clocks.node, 3.0)
    clocks.wall, clocks.node = 102.0, set_back
    assert not heard.too_long
    clocks.wall, clocks.node = 104.0, set_back + 2.0
    assert not heard.too_long
    clocks.wall, clocks.node = 108.0, set_back + 6.0
    assert heard.too_long
