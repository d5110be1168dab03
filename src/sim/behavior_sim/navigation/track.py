# SPDX-License-Identifier: Apache-2.0
"""The robot's way through a navigation world, kept in a file, and what it tells.

Contacts are looked at as often as the truth is told, and last until the robot has backed off.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from behavior_sim.navigation.people import RADIUS
from behavior_sim.navigation.world import NavigationWorld
from behavior_sim.recordings.motion_summary import LOOK, Clearance, MotionSummary, Touch
from behavior_sim.recordings.recording import RecordingError

_CAPACITY = 60 * 60 * 10
_LINK = "base"


@dataclass(frozen=True)
class Track:
    """Where the robot was, and how near everything else."""

    times: NDArray[np.float64]
    """(k,) [s] simulated."""
    places: NDArray[np.float64]
    """(k, 2) [m] of the robot's middle."""
    gaps: NDArray[np.float64]
    """(k,) [m] between its edge and what is nearest."""
    nearest: NDArray[np.str_]
    """(k,) name of that."""
    contacts: NDArray[np.bool_]
    """(k,) whether it touches that."""

    @classmethod
    def load(cls, path: str | Path) -> Track:
        """Read a file.

        Raises:
            RecordingError: it is missing, or no track.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                names = ("times", "places", "gaps", "nearest", "contacts")
                return cls(*(file[name] for name in names))
        except (OSError, KeyError, ValueError) as error:
            raise RecordingError(f"{path} is no track: {error}") from error

    def summary(self, *, begin: float = -np.inf) -> MotionSummary:
        """What the robot did from a time on [s]."""
        chosen = np.flatnonzero(self.times >= begin)
        touched: dict[str, Touch] = {}
        closest: Clearance | None = None
        for index in chosen:
            time, name = float(self.times[index]), str(self.nearest[index])
            if self.contacts[index]:
                touched.setdefault(name, Touch(name=name, time=time, links=(_LINK,)))
        for index in chosen:
            gap, name = max(0.0, float(self.gaps[index])), str(self.nearest[index])
            if name not in touched and gap < (closest.distance if closest else LOOK):
                time = float(self.times[index])
                closest = Clearance(distance=gap, time=time, link=_LINK, name=name)
        return MotionSummary(
            times=self.times[chosen],
            tool=np.column_stack([self.places[chosen], np.zeros(len(chosen))]),
            touched=tuple(touched.values()),
            clearance=closest,
            mover="robot",
        )


class TrackRecorder:
    """Keeps the robot's way through the newest hour."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._rows: deque[tuple[float, float, float, float, str, bool]] = deque(maxlen=_CAPACITY)

    def record(self, now: float, world: NavigationWorld) -> None:
        """Take how it stands at a time [s]."""
        gap, name = nearest(world)
        self._rows.append((now, world.base.x, world.base.y, gap, name, world.in_contact))

    def save(self, path: str | Path) -> int:
        """Write a file that `Track.load` reads; returns how many places it has.

        Raises:
            RecordingError: there are none yet.
            OSError: it cannot be written.
        """
        if not self._rows:
            raise RecordingError("nothing was recorded yet; let the simulation run first")
        times, x, y, gaps, names, contacts = zip(*list(self._rows), strict=True)
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as stream:
            np.savez_compressed(
                stream,
                times=np.array(times),
                places=np.column_stack([x, y]),
                gaps=np.array(gaps),
                nearest=np.array(names),
                contacts=np.array(contacts),
            )
        return len(times)


def nearest(world: NavigationWorld) -> tuple[float, str]:
    """Distance of the robot's edge from what is nearest [m], and its name."""
    boxes = {**world.config.walls, **world.obstacles}
    x, y = world.base.x, world.base.y
    found = (np.inf, "")
    if boxes:
        left, low, right, high = np.array(list(boxes.values())).T
        apart = np.hypot(
            np.maximum(np.maximum(left - x, x - right), 0.0),
            np.maximum(np.maximum(low - y, y - high), 0.0),
        )
        index = int(np.argmin(apart))
        # What was seen is made of parts, whose names go on after a stroke.
        found = (float(apart[index]), list(boxes)[index].partition("/")[0])
    for person in world.people.values():
        found = min(found, (person.pose.distance_to(x, y) - RADIUS, person.name))
    return found[0] - world.config.robot.radius, found[1]
