# SPDX-License-Identifier: Apache-2.0
"""The job: five goals in the warehouse, shown with all that can happen, or measured by seeds.

Whatever the disturbances, it is judged by the truth: the mission ended well, all goals were reached
in their order, nothing was run into.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from behavior_msgs.msg import MissionAction

from behavior_jobs.tour.cues import CUES, Action, Cue, Director, Situation, beyond
from behavior_jobs.tour.evidence import Evidence
from behavior_jobs.tour.findings import judge, reached
from behavior_jobs.tour.pictures import draw, event_table, finding_table, mark_goals
from behavior_jobs.tour.recorder import TourRecorder
from behavior_motion.planar_pose import Pose2D
from behavior_sim.judging import Part, Verdict
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.messages import pose_from
from behavior_sim.navigation.recording import FrameMoved, Goal
from behavior_sim.recordings.rendering import Caption
from behavior_sim.trials import RunningStack, Table, TrialError
from behavior_sim.worlds.resources import find_navigation_world

WORLD = "warehouse"
"""The navigation world whose tour it is."""
BLOCKS = ((15.0, 6.7, 4.0, 0.6), (5.5, 10.5, 0.6, 3.0), (20.0, 8.0, 0.6, 4.0))
"""[m] obstacles, each of which leaves another way: x, y, edges."""
_DOOR, _ROUND = 17.0, 21.0
"""[m] x of the doorway between the halls, and beyond which the robot has come by a crate there."""


def drawn_cues(seed: int) -> list[Cue]:
    """What happens on a tour: a lost localization, an obstacle for a while, people, a moved goal.

    When the robot is lost and where people appear are drawn from the seed, as is which way is
    blocked and for how long: beyond the doorway, where the robot comes late, until it is round.
    """
    random = np.random.default_rng([seed, 3])
    cart = next(cue for cue in CUES if cue.name == "cart")
    x, y, width, depth = BLOCKS[int(random.integers(len(BLOCKS)))]
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
    lose, visit, put, stays = (
        after(float(random.uniform(*times)))
        for times in ((3.0, 12.0), (1.0, 5.0), (2.0, 8.0), (20.0, 60.0))
    )
    return [
        Cue("lose", lose, (lost,)),
        Cue("visitor", visit, (person,)),
        Cue("block", put, (block,)),
        Cue("unblock", beyond(x=_ROUND) if x > _DOOR else stays, (clear,)),
        cart,
    ]


def after(seconds: float) -> Callable[[Situation], bool]:
    """Whether so much time has passed since the cue before, or since the start."""
    return lambda seen: seen.state == "running" and seen.since > seconds


def goals_of(
    mission: MissionAction, frames: dict[str, Pose2D], moved: Sequence[FrameMoved] = ()
) -> list[Goal]:
    """The places that a mission's steps lead to, frames where they were moved to at last."""
    known = {**frames, **{item.name: item.after for item in moved}}
    places = [step.goal for step in mission.steps if step.type == MissionAction.NAVIGATE_TO_POSE]
    return [
        Goal(str(number), known.get(place.header.frame_id, Pose2D()) @ pose_from(place.pose))
        for number, place in enumerate(places, 1)
    ]


def all_of_it(evidence: Evidence, goals: Sequence[Goal]) -> Verdict:
    """Whether everything that the demonstration asks for happened.

    Raises:
        TrialError: the simulation refused to let it happen.
    """
    if evidence.refused:
        raise TrialError(f"The simulation refused: {'; '.join(evidence.refused)}")
    missing = [finding.what for finding in judge(evidence, goals) if not finding.happened]
    return Verdict(not missing, "; ".join(missing) or "all of it happened")


def arrived(evidence: Evidence, goals: Sequence[Goal]) -> Verdict:
    """Whether the tour was made, and why not."""
    times = zip(goals, reached(evidence, goals), strict=True)
    missed = [goal.name for goal, when in times if when is None]
    if missed:
        return Verdict(False, f"goals never reached: {', '.join(missed)}")
    collisions = evidence.figures.get("collisions")
    if collisions is None:
        return Verdict(False, "the world told no figures")
    way = evidence.figures["distance_driven"]
    return Verdict(collisions == 0, f"{way:.0f} m driven, {collisions:.0f} collisions")


class TourTrial:
    """One tour; see :class:`behavior_sim.trials.Trial`."""

    def __init__(
        self,
        stack: RunningStack,
        cues: Sequence[Cue],
        judged: Callable[[Evidence, Sequence[Goal]], Verdict],
    ) -> None:
        """Listen from now on.

        Args:
            stack: that runs the warehouse.
            cues: what happens on the way.
            judged: the verdict.
        """
        config = load_navigation_world(find_navigation_world(WORLD))
        self._stack = stack
        self._judged = judged
        self._frames = {name: Pose2D(*pose) for name, pose in config.frames.items()}
        self._mission = MissionAction()
        self._recorder = TourRecorder(stack, config, Director(cues))

    @property
    def _evidence(self) -> Evidence:
        return self._recorder.evidence

    @property
    def _goals(self) -> list[Goal]:
        """Where the goals were at last."""
        return goals_of(self._mission, self._frames, self._evidence.recording.frames)

    def prepare(self, seed: int) -> None:
        """See `Trial`."""
        self._stack.reset(seed=seed, layout="")

    def begin(self, mission: MissionAction) -> None:
        """See `Trial`."""
        self._mission = mission
        self._recorder.action_id = mission.action_id

    def now(self) -> float:
        """See `Trial`."""
        return self._recorder.now

    def summary(self) -> str:
        """What happened last."""
        events = self._evidence.recording.events
        return events[-1].text if events else ""

    def settle(self) -> None:
        """See `Trial`."""
        self._recorder.settle()
        self._recorder.finish()
        mark_goals(self._evidence, self._goals)

    def verdict(self) -> Verdict:
        """See `Trial`."""
        return self._judged(self._evidence, self._goals)

    def disturbances(self) -> list[str]:
        """See `Trial`."""
        start = self._evidence.recording.start
        return [f"{when - start:.1f} s: {name}" for when, name in self._evidence.done]

    def not_disturbed(self) -> list[str]:
        """See `Trial`."""
        return [*self._evidence.refused, *self._recorder.waiting]

    def tables(self) -> Sequence[Table]:
        """What happened, and what of it was asked for."""
        return event_table(self._evidence), finding_table(judge(self._evidence, self._goals))

    def parts(self) -> Sequence[Part]:
        """None: it is one whole."""
        return ()

    def save(self, base: Path) -> None:
        """Nothing: the pictures are made of what was heard."""

    def draw(self, base: Path, captions: Sequence[Caption], outcome: str) -> str:
        """See `Trial`."""
        return draw(self._evidence, base, outcome)

    def close(self) -> None:
        """See `Trial`."""
        self._recorder.stop()


class TourJob:
    """See :class:`behavior_sim.trials.Job`."""

    name = f"{WORLD}_tour"
    world = "navigation"
    time_limit = 900.0
    parameters: Mapping[str, str] = MappingProxyType({})
    parts_wanted = 0

    def demonstration(self, stack: RunningStack) -> TourTrial:
        """A tour on which everything happens that the navigation must cope with."""
        return TourTrial(stack, CUES, all_of_it)

    def episode(self, stack: RunningStack, *, seed: int, disturb: bool) -> TourTrial:
        """A tour on which what happens is drawn from the seed."""
        return TourTrial(stack, drawn_cues(seed) if disturb else (), arrived)


JOB = TourJob()
