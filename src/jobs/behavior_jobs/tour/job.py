# SPDX-License-Identifier: Apache-2.0
"""`behavior evaluate navigation`: tours from seeded worlds, with disturbances drawn from the seed.

Every episode resets the world, gives the tour, and judges by the truth: the mission ended well,
all goals were reached in their order, nothing was run into.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from behavior_bringup.client import StackClient
from behavior_bringup.conversion import sequence_action
from behavior_bringup.description import Readiness
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation import Record, abandon
from behavior_bringup.following import follow
from behavior_bringup.navigation.evidence import Evidence
from behavior_bringup.navigation.judge import reached
from behavior_bringup.navigation.recorder import Recorder
from behavior_bringup.navigation.tour import (
    CUES,
    Action,
    Cue,
    Director,
    Situation,
    goals_of,
    tour_steps,
)
from behavior_bringup.readiness import wait_ready
from behavior_bringup.stack import Stack
from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import NavigationConfig

NAME = "navigation"
TIME_LIMIT = 900.0
"""[s] of simulated time for one tour."""
_BLOCKS = ((15.0, 6.7, 4.0, 0.6), (5.5, 10.5, 0.6, 3.0), (20.0, 8.0, 0.6, 4.0))
"""[m] obstacles, each of which leaves another way: x, y, edges."""


def drawn_cues(seed: int) -> list[Cue]:
    """What happens on a tour: a lost localization, an obstacle for a while, people, a moved goal.

    When the robot is lost and where people appear are drawn from the seed, as is which way is
    blocked and for how long.
    """
    random = np.random.default_rng([seed, 3])
    cart = next(cue for cue in CUES if cue.name == "cart")
    x, y, width, depth = _BLOCKS[int(random.integers(0, 2))]
    person = Action(
        kind="add_person",
        name="visitor",
        pose=Pose2D(2.0, float(random.uniform(11.5, 14.0)), -math.pi / 2),
        speed=float(random.uniform(0.4, 1.0)),
        text="a visitor comes along",
    )
    block = Action(
        kind="block",
        name="crate",
        pose=Pose2D(x, y),
        size=(width, depth),
        text="a crate is put down",
    )
    clear = Action(kind="unblock", name="crate", text="the crate is taken away")
    lost = Action(
        kind="lose_localization",
        duration=float(random.uniform(0.0, 4.0)),
        text="the localizer loses the robot",
    )
    return [
        Cue("lose", after(float(random.uniform(3.0, 12.0))), (lost,)),
        Cue("visitor", after(float(random.uniform(1.0, 5.0))), (person,)),
        Cue("block", after(float(random.uniform(2.0, 8.0))), (block,)),
        Cue("unblock", after(float(random.uniform(20.0, 60.0))), (clear,)),
        cart,
    ]


def after(seconds: float) -> Callable[[Situation], bool]:
    """Whether so much time has passed since the cue before, or since the start."""
    return lambda seen: seen.state == "running" and seen.since > seconds


def verdict(evidence: Evidence, config: NavigationConfig) -> tuple[bool, str]:
    """Whether the tour was made, and why not."""
    frames = {name: Pose2D(*pose) for name, pose in config.frames.items()}
    goals = goals_of(tour_steps(config), frames, evidence.recording.frames)
    missed = [
        goal.name
        for goal, when in zip(goals, reached(evidence, goals), strict=True)
        if when is None
    ]
    if missed:
        return False, f"goals never reached: {', '.join(missed)}"
    collisions = evidence.figures.get("collisions")
    if collisions is None:
        return False, "the world told no figures"
    way = evidence.figures["distance_driven"]
    return collisions == 0, f"{way:.0f} m driven, {collisions:.0f} collisions"


def run_tour(
    client: StackClient,
    stack: Stack,
    ready: Readiness,
    config: NavigationConfig,
    *,
    seed: int,
    disturb: bool,
) -> Record:
    """Make one tour on a stack that is up and restarts its processes.

    Args:
        client: in the domain of the stack.
        stack: the stack, watched for processes that end.
        ready: what the stack must offer before the episode.
        config: the world.
        seed: of the episode.
        disturb: whether things happen on the way.
    """
    recorder = Recorder(client, config, Director(drawn_cues(seed) if disturb else []))
    try:
        return _episode(client, stack, ready, recorder, seed)
    finally:
        recorder.stop()


def _episode(
    client: StackClient, stack: Stack, ready: Readiness, recorder: Recorder, seed: int
) -> Record:
    """One tour. Whatever goes wrong is the record's reason."""
    begin = time.monotonic()
    config, ending = recorder.evidence.config, None
    try:
        wait_ready(client, ready, lambda: None)
        client.reset(seed=seed, layout="")
        watch = stack.watch()
        begin = time.monotonic()
        recorder.action_id = client.give(sequence_action(tour_steps(config)))
        ending = follow(
            client,
            recorder.action_id,
            check=watch.check,
            simulated_limit=TIME_LIMIT,
            now=lambda: recorder.now,
        )
        recorder.settle()
        success, reason = verdict(recorder.finish(), config)
        if not ending.succeeded:
            success, reason = False, f"{ending.text or 'the mission failed'}; {reason}"
    except BringupError as error:
        success, reason = False, str(error)
        abandon(client)
    evidence = recorder.evidence
    return Record(
        seed=seed,
        outcome="success" if success else "failure",
        reason=reason,
        sim_time_s=round(ending.simulated, 3) if ending else None,
        wall_time_s=round(ending.wall if ending else time.monotonic() - begin, 3),
        mission_result=ending.text if ending else "",
        disturbances=[
            f"{when - evidence.recording.start:.1f} s: {name}" for when, name in evidence.done
        ],
        not_disturbed=recorder.waiting,
    )
