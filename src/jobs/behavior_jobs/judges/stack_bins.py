# SPDX-License-Identifier: Apache-2.0
"""The mission `stack_bins`: bins that come on a conveyor are stacked upside down on a pallet.

Each bin that is placed is a part of it: it succeeded if the bin stands at its height, right over
the one below. In the misaligned evaluation a layer of bins stands on the pallet from the start,
each a little off its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from behavior_jobs.bins import PITCH, BinFloor, pallet_places
from behavior_jobs.judges.bin_accidents import BinAccidents
from behavior_sim.judging import (
    Disturbance,
    JobOption,
    Mission,
    Objects,
    Part,
    Setting,
    Situation,
    Vector,
    Verdict,
    WorldObject,
)

PLACES = pallet_places()
COLUMNS, ROWS = (1.05, 0.63), (-0.62, 0.0)
"""x and y [m] of a pallet with room between its places: displaced bins do not touch."""
APART = pallet_places(COLUMNS, ROWS)
LAYER, LAYER_APART = 9, 4
"""Places of a layer of each pallet."""
LAST = 41
"""Number of the bin that would come last."""
SPREAD = 0.0045
"""[m] standard deviation, in x and in y, by which bins of the misaligned layer are off. Nested bins
have a play of 8 mm in each direction, so 85 % of such bins are near enough to their places."""
FARTHEST = 0.018
"""[m] by which they are off at most."""
# What is still a good stack [m, m, m, m/s].
OFF_PLACE, OFF_BELOW, OFF_HEIGHT, AT_REST = 0.03, 0.0105, 0.006, 0.02
_SETTLING = 1.0
"""[s] from a release until it is judged."""
_FLOOR = BinFloor()
_CENTRE = _FLOOR.base - _FLOOR.gap
"""[m] height of a placed bin's centre over the tool's place, its opening being down."""
_SECONDS_PER_BIN, _SECONDS = 75.0, 60.0


def bins(objects: Objects) -> list[WorldObject]:
    """All that have come."""
    return [item for item in objects.values() if item.class_id == "bin" and is_around(item)]


def is_around(item: WorldObject) -> bool:
    """Whether an object is where the robot works; bins that have not come are elsewhere."""
    return bool(np.linalg.norm(item.position[:2]) < 3.0)


def on_pallet(item: WorldObject) -> bool:
    """Whether a bin is over the pallet, at whatever height."""
    x, y = float(item.position[0]), float(item.position[1])
    return 0.5 < x < 1.2 and -0.8 < y < 0.18


def fault(item: WorldObject, objects: Objects) -> str:
    """What is wrong with a bin that was placed; empty: nothing."""
    if float(item.rotation[2, 2]) > -0.98:
        return "does not stand upside down"
    below = _below(item, objects)
    if below is not None:
        height = float(below.position[2]) + PITCH
        off, most = float(np.abs(item.position[:2] - below.position[:2]).max()), OFF_BELOW
    else:
        height = float(PLACES[0][2]) + _CENTRE
        ways = (float(np.linalg.norm(place[:2] - item.position[:2])) for place in PLACES)
        off, most = min(ways), OFF_PLACE
    too_high = float(item.position[2]) - height
    if abs(too_high) > OFF_HEIGHT:
        return f"stands {1e3 * abs(too_high):.0f} mm too {'high' if too_high > 0.0 else 'low'}"
    return f"is {1e3 * off:.0f} mm off" if off > most else ""


def _below(item: WorldObject, objects: Objects) -> WorldObject | None:
    lower = [
        other
        for other in bins(objects)
        if other.name != item.name
        and not other.held
        and float(np.linalg.norm(other.position[:2] - item.position[:2])) < 0.1
        and float(other.position[2]) < float(item.position[2]) - 0.05
    ]
    return max(lower, key=lambda other: float(other.position[2]), default=None)


def stacked(objects: Objects) -> list[WorldObject]:
    """Bins that stand well on the pallet."""
    return [
        item
        for item in bins(objects)
        if on_pallet(item) and not item.held and not fault(item, objects)
    ]


def summary(objects: Objects) -> str:
    """How far it is, e.g. `4 bins stacked | bin_4 on the tool`."""
    held = [f"{item.name} on the tool" for item in bins(objects) if item.held]
    return " | ".join([f"{len(stacked(objects))} bins stacked", *held])


@dataclass(frozen=True)
class Judge:
    """Tells whether so many bins are stacked."""

    wanted: int

    def __call__(self, objects: Objects) -> Verdict:
        """Whether they stand, at rest, with nothing on the tool."""
        for item in bins(objects):
            if item.held:
                return Verdict(False, f"{item.name} is still on the tool")
            wrong = fault(item, objects) if on_pallet(item) else ""
            if wrong:
                return Verdict(False, f"{item.name} {wrong}")
        there = stacked(objects)
        if len(there) < self.wanted:
            return Verdict(False, f"{len(there)} of {self.wanted} bins are stacked")
        moving = [item.name for item in there if item.speed > AT_REST]
        if moving:
            return Verdict(False, f"{moving[0]} still moves")
        return Verdict(True, f"all {self.wanted} bins are stacked")


class BinRecorder:
    """Finds the bins that were placed: kind by how they came, time since the one before."""

    def __init__(self) -> None:
        """Start without memory."""
        self._free_since = math.nan
        """[s] when the tool last let go of a bin over the pallet."""
        self._came: dict[str, float] = {}
        self._kinds: dict[str, str] = {}
        self._held = ""
        self._judge_at: tuple[float, str, float] | None = None
        self._parts: list[Part] = []
        self._objects: Objects = {}

    def see(self, situation: Situation) -> None:
        """See `Recorder`."""
        now, objects = situation.time, situation.objects
        self._objects = objects
        if math.isnan(self._free_since):
            self._free_since = now
        for item in bins(objects):
            if item.name not in self._came and float(item.position[1]) < 0.7:
                self._came[item.name] = now
        held = next((item.name for item in bins(objects) if item.held), "")
        if held and held not in self._kinds:
            up = float(objects[held].rotation[2, 2]) > 0.0
            self._kinds[held] = "right side up" if up else "upside down"
        if self._held and not held and on_pallet(objects[self._held]):
            began = max(self._free_since, self._came.get(self._held, -math.inf))
            self._judge_at = now + _SETTLING, self._held, now - began
            self._free_since = now
        self._held = held
        if self._judge_at is not None and now >= self._judge_at[0]:
            self._note()

    def parts(self) -> Sequence[Part]:
        """See `Recorder`; a bin that is still held over the pallet could not be placed."""
        if self._judge_at is not None:
            self._note()
        if not self._held or not on_pallet(self._objects[self._held]):
            return tuple(self._parts)
        kind = self._kinds[self._held]
        stuck = Part(kind=kind, success=False, reason=f"{self._held} was not placed", seconds=0.0)
        return (*self._parts, stuck)

    def _note(self) -> None:
        assert self._judge_at is not None
        _, name, seconds = self._judge_at
        self._judge_at = None
        wrong = fault(self._objects[name], self._objects)
        self._parts.append(
            Part(
                kind=self._kinds[name],
                success=not wrong,
                reason=f"{name} {wrong or 'is placed'}",
                seconds=round(seconds, 2),
            )
        )


def misaligned_layer(seed: int) -> list[Disturbance]:
    """A layer of bins on the pallet, each a little off its place."""
    random = np.random.default_rng([seed, 4])
    return [
        Disturbance(
            kind="move",
            object=f"bin_{number}",
            position=place + np.append(_offset(random), _CENTRE),
            tilt=math.pi,
            cause=f"bin_{number} stands on the pallet",
        )
        for number, place in zip(range(LAST, LAST - LAYER_APART, -1), APART, strict=False)
    ]


def _offset(random: np.random.Generator) -> Vector:
    """x, y [m]."""
    while True:
        offset = random.normal(0.0, SPREAD, 2)
        if float(np.linalg.norm(offset)) <= FARTHEST:
            return np.asarray(offset)


def configured(values: Mapping[str, Setting], evaluation: bool) -> Mission:
    """The mission for values of its options."""
    wanted, misaligned = int(values["bins"]), bool(values["misaligned"])
    there = LAYER_APART if misaligned else 0
    most = len(APART if misaligned else PLACES) - there
    if wanted < 1 or (wanted > most and not evaluation):
        raise ValueError(f"--bins is {wanted}: give 1 to {most}, the places of the pallet")
    each = min(wanted, LAYER_APART if misaligned else LAYER) if evaluation else wanted
    parameters = {
        "bins": str(there + each),
        "adjust": "false" if values["no-adjust"] else "true",
    }
    if misaligned:
        parameters |= {"columns": _joined(COLUMNS), "rows": _joined(ROWS)}
    return replace(
        MISSION,
        time_limit=_SECONDS + _SECONDS_PER_BIN * each,
        judge=Judge(there + each),
        parameters=parameters,
        arrangement=misaligned_layer if misaligned else MISSION.arrangement,
        parts_wanted=wanted if evaluation else 0,
    )


def _joined(numbers: Sequence[float]) -> str:
    return ";".join(f"{number:g}" for number in numbers)


OPTIONS = (
    JobOption(name="bins", default=6, about="how many are placed, in all episodes together"),
    JobOption(name="misaligned", default=False, about="onto a layer of bins that are off"),
    JobOption(name="no-adjust", default=False, about="without following the bin below"),
)

MISSION = Mission(
    name="stack_bins",
    world="bin_stacking",
    layout="default",
    time_limit=_SECONDS + 6 * _SECONDS_PER_BIN,
    judge=Judge(6),
    summary=summary,
    disturbances=BinAccidents,
    parameters={"bins": "6"},
    is_around=is_around,
    recorder=BinRecorder,
    options=OPTIONS,
    configure=configured,
)
