# SPDX-License-Identifier: Apache-2.0
"""A recorded motion is told right: path, contacts, distances."""

import numpy as np
import pytest

from behavior_sim.recordings.motion_summary import GROUND, summarize
from behavior_sim.recordings.recording import MotionRecorder, Recording
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.layouts import pose_of

EDGE = 0.0515


def recorded(simulation: Simulation, hand, work) -> Recording:
    simulation.recorder = MotionRecorder(simulation.config, rate=50.0)
    work(hand)
    return simulation.recorder.recording()


@pytest.mark.slow
def test_a_pick_touches_its_block_with_both_fingers(simulation: Simulation, hand) -> None:
    recording = recorded(simulation, hand, lambda hand: hand.pick("yellow_block"))
    summary = summarize(recording)
    (touch,) = summary.touched
    assert touch.name == "yellow_block"
    assert set(touch.links) == {"panda_leftfinger", "panda_rightfinger"}
    # Open fingers come down, then close.
    assert recording.times[0] + 2.0 < touch.time < recording.times[-1]
    assert summary.clearance is not None
    assert summary.clearance.name in {"red_block", "blue_block", "green_block", GROUND}
    assert 0.0 < summary.clearance.distance < 0.08
    # The tool ends above where it began to lift.
    lift = summary.tool[-1] - summary.tool[:, :].min(axis=0)
    assert lift[2] == pytest.approx(0.115, abs=0.01)
    assert summary.length > 0.2


@pytest.mark.slow
def test_the_distance_from_the_ground_is_that_of_the_fingers(simulation: Simulation, hand) -> None:
    for name in simulation.config.objects:
        simulation.world.take_away(name)
    recording = recorded(simulation, hand, lambda hand: hand.move(hand.down(0.4, 0.2, 0.1)))
    clearance = summarize(recording).clearance
    assert clearance is not None
    assert clearance.name == GROUND
    world = simulation.world
    tips = [world.body_pose(f"panda_{side}finger")[2, 3] for side in ("left", "right")]
    # The finger's frame lies 45 mm above its tip, which the tool's frame is near to.
    assert 0.05 < clearance.distance < min(tips) < 0.2
    assert clearance.time == pytest.approx(recording.times[-1], abs=0.1)


@pytest.mark.slow
def test_what_was_before_does_not_count(simulation: Simulation, hand) -> None:
    def work(hand) -> None:
        hand.pick("yellow_block")
        hand.place(0.4, 0.3, EDGE / 2 + 0.001)

    recording = recorded(simulation, hand, work)
    begin = simulation.time
    simulation.advance(50)
    assert simulation.recorder is not None
    rest = summarize(simulation.recorder.recording(), begin=begin)
    assert rest.touched == ()
    assert rest.length < 0.001
    assert len(rest.times) < len(recording.times)
    assert np.linalg.norm(rest.tool[0] - (pose_of([0.4, 0.3, 0.13]))[:3, 3]) < 0.02
