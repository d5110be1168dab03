# SPDX-License-Identifier: Apache-2.0
"""Whether all that was asked for really happened, judged by what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from behavior_jobs.tour.evidence import Cause, Evidence
from behavior_sim.navigation.recording import Goal, Moment

WITHIN = 0.35
"""[m] from a goal at which it is reached."""
STANDING = 0.03
"""[m/s] below which the robot stands."""
STOP_TIME = 2.0
"""[s] of simulated time that the robot gets to come to rest: it decelerates at 1 m/s^2."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was asked for."""

    what: str
    happened: bool
    how: str
    """What was seen, with times and figures."""


def reached(evidence: Evidence, goals: Sequence[Goal]) -> list[float | None]:
    """When each goal was reached, one after the other [s]: the robot stood at it."""
    times: list[float | None] = []
    moments = iter(evidence.recording.moments)
    for goal in goals:
        times.append(
            next(
                (
                    moment.time
                    for moment in moments
                    if moment.robot.distance_to(goal.pose.x, goal.pose.y) < WITHIN
                    and abs(moment.speed) < STANDING
                ),
                None,
            )
        )
    return times


def _reached_at(evidence: Evidence, goals: Sequence[Goal], number: int) -> float | None:
    """When the goal of that number, from 1, was reached [s]; None: never, or there is none."""
    times = reached(evidence, goals)
    return times[number - 1] if number <= len(times) else None


def judge(evidence: Evidence, goals: Sequence[Goal]) -> list[Finding]:
    """All findings, in the order of the tour."""
    checks: tuple[Callable[[Evidence, Sequence[Goal]], Finding], ...] = (
        _mission,
        _goals,
        _pause,
        _reroute,
        _localization,
        _tiles,
        _moved_goal,
        _collisions,
    )
    return [check(evidence, goals) for check in checks]


def _mission(evidence: Evidence, _: Sequence[Goal]) -> Finding:
    last = evidence.states[-1].state if evidence.states else "never heard of"
    return Finding("the mission ends well", last == "finished", f"it is {last}")


def _goals(evidence: Evidence, goals: Sequence[Goal]) -> Finding:
    times = reached(evidence, goals)
    start = evidence.recording.start
    words = [
        f"{goal.name}: {time - start:.0f} s" if time is not None else f"{goal.name}: never"
        for goal, time in zip(goals, times, strict=True)
    ]
    complete = len(goals) == 5 and None not in times
    return Finding("five goals are reached in their order", complete, ", ".join(words))


def _pause(evidence: Evidence, _: Sequence[Goal]) -> Finding:
    what = "one pause: the robot stands, then goes on"
    states = [(change.time, change.state) for change in evidence.states]
    begin = next((time for time, state in states if state == "paused"), None)
    if begin is None:
        return Finding(what, False, "the mission was never paused")
    end = next((time for time, state in states if state == "running" and time > begin), None)
    if end is None:
        return Finding(what, False, "the mission never went on")
    during = [m for m in evidence.recording.moments if begin + STOP_TIME <= m.time <= end]
    stood = bool(during) and all(abs(moment.speed) < STANDING for moment in during)
    words = f"paused for {end - begin:.1f} s, {'at rest' if stood else 'moving'} meanwhile"
    return Finding(what, stood, words)


def _reroute(evidence: Evidence, goals: Sequence[Goal]) -> Finding:
    what = "one blocked way is gone round"
    blocked = evidence.done_at("block")
    if blocked is None:
        return Finding(what, False, "nothing was put in the way")
    failed = [text for time, text in evidence.failures if time > blocked]
    asked = [a for a in evidence.asked if a.cause is Cause.REROUTE and a.time > blocked]
    numbers = {request.number: set(request.avoid) for request in asked}
    around = [
        answer for answer in evidence.answered if answer.edges and numbers.get(answer.number, set())
    ]
    arrived = _reached_at(evidence, goals, 2)
    fine = bool(failed) and bool(around) and arrived is not None and arrived > blocked
    avoided = ", ".join(sorted({edge for request in asked for edge in request.avoid})) or "nothing"
    words = (
        f"{len(failed)} planning cycles failed ({failed[0] if failed else 'none'}), "
        f"{len(asked)} detours asked for, avoiding {avoided}"
    )
    return Finding(what, fine, words)


def _localization(evidence: Evidence, _: Sequence[Goal]) -> Finding:
    what = "one localization loss: the robot stops until it is found"
    lost = evidence.done_at("lose")
    if lost is None:
        return Finding(what, False, "the localizer never lost the robot")
    bad = next((v.time for v in evidence.located if not v.good and v.time >= lost - 0.5), None)
    if bad is None:
        return Finding(what, False, "the localizer never said so")
    good = next((v.time for v in evidence.located if v.good and v.time > bad), None)
    if good is None:
        return Finding(what, False, "it was never found again")
    blind = [m for m in evidence.recording.moments if bad + STOP_TIME <= m.time <= good]
    stood = bool(blind) and all(abs(moment.speed) < STANDING for moment in blind)
    rolled = _way([m for m in evidence.recording.moments if bad <= m.time <= good])
    words = f"lost for {good - bad:.1f} s, {rolled:.2f} m rolled, "
    return Finding(what, stood, words + ("then at rest" if stood else "and it did not stop"))


def _way(moments: Sequence[Moment]) -> float:
    """Length of the way through moments [m]."""
    return sum(
        one.robot.distance_to(other.robot.x, other.robot.y) for one, other in pairwise(moments)
    )


def _tiles(evidence: Evidence, _: Sequence[Goal]) -> Finding:
    tiles = [tile for _, tile in evidence.recording.tiles]
    found = list(dict.fromkeys(v.tile for v in evidence.located if v.good))
    words = f"in force: {' then '.join(tiles) or 'none'}; located in {' then '.join(found)}"
    return Finding("two map tiles are driven on", len(found) >= 2, words)


def _moved_goal(evidence: Evidence, goals: Sequence[Goal]) -> Finding:
    what = "one goal frame moves and is followed"
    moved = evidence.done_at("cart")
    if moved is None:
        return Finding(what, False, "no frame was moved")
    asked = [a for a in evidence.asked if a.cause is Cause.GOAL_MOVED and a.time >= moved - 0.5]
    arrived = _reached_at(evidence, goals, 4)
    if not asked:
        return Finding(what, False, "no route to the moved goal was asked for")
    words = f"new route asked for after {asked[0].time - moved:.1f} s, goal 4 "
    if arrived is None:
        return Finding(what, False, words + "never reached where it is now")
    return Finding(what, arrived > moved, words + "reached where it is now")


def _collisions(evidence: Evidence, _: Sequence[Goal]) -> Finding:
    figures = evidence.figures
    if "collisions" not in figures:
        return Finding("nothing is run into", False, "the world told no figures")
    words = f"{figures['collisions']:.0f} collisions on {figures['distance_driven']:.0f} m"
    return Finding("nothing is run into", figures["collisions"] == 0, words)
