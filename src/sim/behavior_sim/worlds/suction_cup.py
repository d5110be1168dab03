# SPDX-License-Identifier: Apache-2.0
"""A suction cup: holds what its lip lies on tightly, as long as the vacuum is stronger.

The pump runs and the lip is tight all around (looked for by rays from the lip, along the cup): then
there is a vacuum after a while, and the cup and the object are welded to each other; bellows close
what little gap there was. The weld's own forces tell when the cup comes off. The vacuum presses it
on with the force F: it peels off at its edge when the pull and the bending together exceed F, and
slips when the shear exceeds the friction of what presses it on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from behavior_sim.goals import elapsed
from behavior_sim.worlds.model import SUCTION
from behavior_sim.worlds.robot import SimulatedSuction

_RAYS = 8
"""Around the lip."""
_BEHIND = 0.005
"""[m] before the lip at which the rays start: the lip may be pressed in a little."""
_LEAK = 0.02
"""[s] for which more may be asked of a vacuum than it bears: a jolt does not let the air in."""
_GROUPS = np.array([1, 1, 0, 0, 0, 0], dtype=np.uint8)
"""Ground, objects and fixtures are hit, the robot is not."""


@dataclass(frozen=True)
class Load:
    """What an object asks of the vacuum that holds it."""

    pull: float
    """[N] off the cup."""
    shear: float
    """[N] along the lip."""
    twist: float
    """[N m] about the cup's axis."""
    bending: float
    """[N m] across it."""

    def share(self, config: SimulatedSuction) -> float:
        """How much of what the vacuum can bear that is; above 1 the cup comes off."""
        pressed = max(config.force - self.pull, 1e-6)
        peeling = (self.pull + self.bending / config.radius) / config.force
        slipping = (self.shear + self.twist / config.radius) / (config.friction * pressed)
        return max(peeling, slipping)

    def __str__(self) -> str:
        return (
            f"a pull of {self.pull:.0f} N, a shear of {self.shear:.0f} N, a twist of"
            f" {self.twist:.1f} N m and a bending of {self.bending:.1f} N m"
        )


class SuctionCup:
    """The cup of a robot in a world.

    Args:
        model: of the world.
        data: its state.
        config: the cup.
        holdable: ids of the bodies that it can hold, by their names.
    """

    def __init__(
        self, model: Any, data: Any, config: SimulatedSuction, holdable: Mapping[str, int]
    ) -> None:
        self._model, self._data, self._config = model, data, config
        self._link = int(model.body(config.link).id)
        self._names = {body: name for name, body in holdable.items()}
        self._weld = int(model.equality(SUCTION).id) if holdable else -1
        # The cup's hull: of the link, and of the one that it is a frame of.
        bodies = [self._link, int(model.body_parentid[self._link])]
        self._hull = np.flatnonzero(np.isin(model.geom_bodyid, bodies))
        angles = np.arange(_RAYS) * 2.0 * np.pi / _RAYS
        self._lip = config.radius * np.array(
            [np.cos(angles), np.sin(angles), np.zeros(_RAYS)], dtype=np.float64
        )
        self._lip[2] = -_BEHIND
        self.pump = False
        """Whether the pump is switched on."""
        self.broken = False
        """Whether the pump does nothing, though switched on."""
        self.silent = False
        """Whether the sensor of the vacuum tells nothing."""
        self.held = ""
        """Name of the object held; empty: none."""
        self.lost = ""
        """What the newest loss was of and by, in words, until somebody has read it."""
        self._tight_since: float | None = None
        self._leaks_since: float | None = None
        self._policy = 0
        """Of what is held, when it may sleep."""

    def reset(self) -> None:
        """Pump off, nothing held; the world was reset."""
        self.pump = False
        self.release()

    def release(self) -> None:
        """The vacuum is gone; with a running pump it comes again where the lip is tight."""
        self._tight_since = self._leaks_since = None
        if self.held:
            self._attach(False)
            self.held = ""

    def _attach(self, on: bool) -> None:
        """Switch the weld; what is welded on does not push the cup besides, and does not sleep."""
        self._data.eq_active[self._weld] = on
        tree = self._model.body_treeid[self._model.eq_obj2id[self._weld]]
        if on:
            self._policy = int(self._model.tree_sleep_policy[tree])
        awake = int(mujoco.mjtSleepPolicy.mjSLEEP_NEVER)
        self._model.tree_sleep_policy[tree] = awake if on else self._policy
        self._model.geom_contype[self._hull] = not on
        self._model.geom_conaffinity[self._hull] = not on

    def take(self, name: str) -> None:
        """Hold an object at once, pump on, as it is to the cup; the world was put into a state."""
        self.pump = True
        self._hold(next(body for body, known in self._names.items() if known == name), 0.0)

    def step(self, t: float) -> None:
        """Build the vacuum up, or lose it, by the state of the world at `t` [s]."""
        if not self.pump or self.broken:
            self.release()
        elif self.held:
            self._bear(t)
        else:
            self._seek(t)

    def _bear(self, t: float) -> None:
        """Let go of what has been too much for longer than air needs to get in."""
        load = self._load()
        share = load.share(self._config)
        if share <= 1.0:
            self._leaks_since = None
        elif self._leaks_since is None:
            self._leaks_since = t
        elif elapsed(t, self._leaks_since) >= _LEAK:
            self.lost = f"{self.held} came off the cup: {load} are {share:.1f} times what it bears"
            self.release()

    def _seek(self, t: float) -> None:
        found = self._touched()
        if found is None:
            self._tight_since = None
        elif self._tight_since is None:
            self._tight_since = t
        elif elapsed(t, self._tight_since) >= self._config.delay:
            self._hold(*found)

    def _touched(self) -> tuple[int, float] | None:
        """The body that the lip lies on all around, and the mean gap [m]."""
        turn = self._data.xmat[self._link].reshape(3, 3)
        starts = self._data.xpos[self._link] + (turn @ self._lip).T
        axis, geom = turn[:, 2].copy(), np.zeros(1, dtype=np.int32)
        bodies, gaps = set(), []
        for start in starts:
            distance = mujoco.mj_ray(
                self._model, self._data, start, axis, _GROUPS, 1, self._link, geom
            )
            if geom[0] < 0 or distance > self._config.stroke + _BEHIND:
                return None
            bodies.add(int(self._model.geom_bodyid[geom[0]]))
            gaps.append(distance - _BEHIND)
        body = bodies.pop()
        return None if bodies or body not in self._names else (body, float(np.mean(gaps)))

    def _hold(self, body: int, gap: float) -> None:
        """Weld the body on where it is, but for the gap, which the bellows close."""
        data = self._data
        axis = data.xmat[self._link].reshape(3, 3)[:, 2]
        # Where the lip will be on the body: so the weld's forces are those at the lip.
        lip = data.xmat[body].reshape(3, 3).T @ (
            data.xpos[self._link] + gap * axis - data.xpos[body]
        )
        turn, back = np.zeros(4), np.zeros(4)
        mujoco.mju_negQuat(back, data.xquat[self._link])
        mujoco.mju_mulQuat(turn, back, data.xquat[body])
        self._model.eq_obj2id[self._weld] = body
        # Point of the body, where that is in the cup's link, the body's turn there, its weight.
        self._model.eq_data[self._weld, :11] = [*lip, 0.0, 0.0, 0.0, *turn, 1.0]
        self._attach(True)
        self.held = self._names[body]

    def _load(self) -> Load:
        """What the object does to the cup, by the forces of the weld."""
        data = self._data
        rows = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (
            data.efc_id == self._weld
        )
        wrench = data.efc_force[rows]
        if wrench.size != 6:
            return Load(0.0, 0.0, 0.0, 0.0)
        # MuJoCo measures rotations by half their angle.
        axis = data.xmat[self._link].reshape(3, 3)[:, 2]
        pull, shear = _split(wrench[:3], axis)
        twist, bending = _split(0.5 * wrench[3:], axis)
        return Load(pull, shear, abs(twist), bending)


def _split(vector: NDArray[np.float64], axis: NDArray[np.float64]) -> tuple[float, float]:
    """Part of a vector along an axis, and length of what is left of it."""
    along = float(vector @ axis)
    return along, float(np.linalg.norm(vector - along * axis))
