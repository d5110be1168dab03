# SPDX-License-Identifier: Apache-2.0
"""What a recording tells of the robot: path of the tool, what it touched, how near it came.

Positions are looked at as often as they were recorded: a shorter contact may be missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from behavior_sim.recordings.recording import Recording
from behavior_sim.worlds.config import WorldConfig
from behavior_sim.worlds.model import GROUP_COLLISION, build_model

GROUND = "ground"
"""Name of what everything stands on."""
LOOK = 0.3
"""[m] What is further off than this is of no interest."""


@dataclass(frozen=True, kw_only=True)
class Touch:
    """Something that the robot touched."""

    name: str
    """Of an object, a fixture, a part of a door, or `GROUND`."""
    time: float
    """When first [s] of the recording."""
    links: tuple[str, ...]
    """Of the robot, in the order in which they touched it."""


@dataclass(frozen=True, kw_only=True)
class Clearance:
    """The place where the robot came nearest to something that it never touched."""

    distance: float
    """[m]"""
    time: float
    """[s] of the recording."""
    link: str
    """Of the robot."""
    name: str
    """Of the other thing."""


@dataclass(frozen=True, kw_only=True)
class MotionSummary:
    """A robot's motion."""

    times: NDArray[np.float64]
    """(k,) [s] of the recording."""
    tool: NDArray[np.float64]
    """(k, 3) places of the tool in the world [m]."""
    touched: tuple[Touch, ...]
    """In the order of their first contacts."""
    clearance: Clearance | None
    """None: nothing else was ever nearer than `LOOK`."""
    mover: str = "tool"
    """Whose places these are: the tool's, or those of a robot that drives."""

    @property
    def length(self) -> float:
        """Of the tool's path [m]."""
        return float(np.linalg.norm(np.diff(self.tool, axis=0), axis=1).sum())


def summarize(recording: Recording, *, begin: float = -np.inf) -> MotionSummary:
    """What the robot did in a recording from a time on [s]."""
    config = recording.config()
    scene = _Scene(config)
    chosen = np.flatnonzero(recording.times >= begin)
    tool = np.zeros((len(chosen), 3))
    touches: dict[str, tuple[float, list[str]]] = {}
    nearest: dict[str, Clearance] = {}
    for row, index in enumerate(chosen):
        time = float(recording.times[index])
        scene.show(recording.qpos[index])
        tool[row] = scene.tool
        for name, link in scene.contacts():
            links = touches.setdefault(name, (time, []))[1]
            if link not in links:
                links.append(link)
        for name in scene.others.keys() - touches.keys():
            best = nearest[name].distance if name in nearest else LOOK
            if (closer := scene.nearer(name, best)) is not None:
                distance, link = closer
                nearest[name] = Clearance(distance=distance, time=time, link=link, name=name)
    apart = [item for name, item in nearest.items() if name not in touches]
    return MotionSummary(
        times=recording.times[chosen],
        tool=tool,
        touched=tuple(
            Touch(name=name, time=time, links=tuple(links))
            for name, (time, links) in touches.items()
        ),
        clearance=min(apart, key=lambda item: item.distance, default=None),
    )


class _Scene:
    """A world's shapes at recorded positions."""

    def __init__(self, config: WorldConfig) -> None:
        self._model: Any = build_model(config)
        self._data: Any = mujoco.MjData(self._model)
        model = self._model
        robot = model.geom_group == GROUP_COLLISION
        # What never moves, such as the foot, is no news.
        moves = model.body_weldid[model.geom_bodyid] != 0
        self._robot = np.flatnonzero(robot & moves)
        self._is_robot = robot & moves
        self._tool = int(model.body(config.robot.description.tool_frame).id)
        solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        self._others = np.flatnonzero(~robot & solid)
        self._planes = np.flatnonzero(
            model.geom_type[self._others] == mujoco.mjtGeom.mjGEOM_PLANE
        ).tolist()
        self.others: dict[str, list[int]] = {}
        """Shapes of what is no robot, as places in `_others`, by the name of the thing."""
        for place, geom in enumerate(self._others.tolist()):
            self.others.setdefault(self._name(geom), []).append(place)
        self._gaps = np.zeros((len(self._others), len(self._robot)))
        """Between the balls around those shapes, or a plane, and around the robot's [m]."""
        self._least = np.zeros(len(self._others))
        """Of the gaps of each."""

    def _name(self, geom: int) -> str:
        body = int(self._model.geom_bodyid[geom])
        return str(self._model.body(body).name) if body else GROUND

    def _link(self, geom: int) -> str:
        return str(self._model.body(int(self._model.geom_bodyid[geom])).name)

    def show(self, qpos: NDArray[np.float32]) -> None:
        """Go to recorded positions."""
        self._data.qpos[:] = qpos
        mujoco.mj_fwdPosition(self._model, self._data)
        self._measure_gaps()

    @property
    def tool(self) -> NDArray[np.float64]:
        """Where the tool is [m]."""
        return np.array(self._data.xpos[self._tool])

    def contacts(self) -> Iterator[tuple[str, str]]:
        """Names of things that touch the robot, with the link that they touch."""
        contact = self._data.contact
        for (first, second), distance in zip(contact.geom, contact.dist, strict=True):
            for own, other in ((first, second), (second, first)):
                foreign = self._model.geom_group[other] != GROUP_COLLISION
                if distance <= 0.0 and self._is_robot[own] and foreign:
                    yield self._name(int(other)), self._link(int(own))

    def nearer(self, name: str, limit: float) -> tuple[float, str] | None:
        """Distance of the robot from a thing [m], and the link; None: not below a limit [m]."""
        found = None
        for place in self.others[name]:
            if self._least[place] >= limit:
                continue
            other = int(self._others[place])
            for own in self._robot[self._gaps[place] < limit]:
                distance = mujoco.mj_geomDistance(
                    self._model, self._data, int(own), other, limit, None
                )
                if distance < limit:
                    limit, found = max(0.0, float(distance)), (max(0.0, float(distance)), int(own))
        return None if found is None else (found[0], self._link(found[1]))

    def _measure_gaps(self) -> None:
        """Of all pairs at once: there are thousands in a world of many things."""
        model, data = self._model, self._data
        own, radius = data.geom_xpos[self._robot], model.geom_rbound[self._robot]
        others = data.geom_xpos[self._others]
        self._gaps = cdist(others, own) - radius - model.geom_rbound[self._others][:, None]
        for place in self._planes:
            up = data.geom_xmat[self._others[place]].reshape(3, 3)[:, 2]
            self._gaps[place] = (own - others[place]) @ up - radius
        self._least = self._gaps.min(axis=1, initial=np.inf)
