# SPDX-License-Identifier: Apache-2.0
"""What the network decides about: which block to take how, and where to put the one in the hand.

All of it follows from the tower as it stands and from where the blocks are believed to be. What
was chosen before counts only where two choices are about as good.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from behavior_executor.scene_view import Matrix, SceneSnapshot, SeenObject
from behavior_jobs.block_network.grasps import (
    CUBE_ROTATIONS,
    MARGIN,
    MAX_TILT,
    BestGrasp,
    Hand,
    best_grasp,
    cube_grasps,
    reach_score,
)
from behavior_jobs.free_spot import Disc, TableArea, sample_free_spot, table_discs
from behavior_jobs.tower import CLEAR, Choice, TowerObservation, TowerPlan, tower_place

REFUSE = "refuse"
"""Purpose of a move that cannot be done."""
DROP = 0.025
"""In block heights: what a block is let go above where it is to stand."""
LEANS_ON = 0.09
"""[m] A block that leans leans on one that is no further than this."""
STAY_INSIDE = 0.02
"""[m] by which a spot that was drawn may be nearer to things than one that is drawn."""
DOWNWARD = CUBE_ROTATIONS[CUBE_ROTATIONS[:, 2, 2] < -0.5]
"""Rotations of a tool that points down, its fingers along x or y, (4, 3, 3)."""


def snapshot_of(
    poses: Mapping[str, Matrix], held: str, *, frame: str, edge: float, now: float
) -> SceneSnapshot:
    """What is believed, as a scene of cubes with this edge [m]."""
    return SceneSnapshot(
        now, frame, {name: _seen(name, pose, name == held, edge) for name, pose in poses.items()}
    )


def _seen(name: str, pose: Matrix, held: bool, edge: float) -> SeenObject:
    x, y, z = map(float, pose[:3, 3])
    upwards = max(abs(float(component)) for component in pose[2, :3])
    return SeenObject(
        name,
        x,
        y,
        z,
        size=(edge, edge, edge),
        tilt=math.acos(min(1.0, upwards)),
        held=held,
        yaw=math.atan2(pose[1, 0], pose[0, 0]),
    )


def alignment(
    before: Mapping[str, bool], old: Sequence[str], new: Sequence[str]
) -> dict[str, bool]:
    """Which blocks of the stack are known to be aligned, as the gripper has put them there.

    From the first difference on, what stands there is not known to be; what left is forgotten.

    Args:
        before: of the old stack.
        old: blocks, bottom first.
        new: blocks, bottom first.
    """
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return {name: before.get(name, False) if k < same else False for k, name in enumerate(new)}


@dataclass(frozen=True, slots=True)
class Reachable:
    """Where blocks can be taken, as distances from the robot's base [m]."""

    near: float = 0.25
    far: float = 0.81


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """What to take next."""

    block: str = ""
    """Empty: nothing."""
    purpose: str = ""
    """build, clear or refuse."""
    grasp: BestGrasp | None = None
    """None where it is refused."""
    why: str = ""
    """Why it is refused, in words."""


@dataclass
class Picker:
    """Chooses what to take, and how."""

    reachable: Reachable = field(default_factory=Reachable)
    site_radius: float = 0.15
    """[m] A block nearer to the tower than this can be in the way of the hand."""
    max_tilt: float = MAX_TILT
    hand: Hand = field(default_factory=Hand)
    offset: float = 0.0
    """[m] of the tool from the block's centre towards the grasped face."""
    _before: dict[str, int] = field(default_factory=dict)
    """Grasp chosen last, by block."""
    _beside: list[str] = field(default_factory=list)
    """Blocks that the hand could not reach beside a tall tower."""

    def __post_init__(self) -> None:
        self._local = cube_grasps(self.offset)

    def crowded(self, tower: TowerObservation, poses: Mapping[str, Matrix]) -> TowerObservation:
        """The tower, where blocks count as obstructions that the hand cannot reach beside it.

        Such a block must go while the tower is low, or it stands there for ever.
        """
        plan = tower.plan
        tall = np.eye(4)
        tall[:3, 3] = plan.x, plan.y, plan.level_height(2)
        known = {tower.held, *tower.stack, *tower.obstructions}
        beside = []
        for name, pose in poses.items():
            off = math.hypot(pose[0, 3] - plan.x, pose[1, 3] - plan.y)
            if name in known or off >= self.site_radius:
                continue
            margin = 2.0 * MARGIN if name in self._beside else MARGIN
            grasp = self._grasp(name, poses, {"tower": tall}, plan, margin=margin)
            if grasp is None or grasp.hindered_by:
                beside.append(name)
        self._beside = beside
        if not beside:
            return tower
        beside.sort(key=lambda name: -poses[name][2, 3])
        return replace(tower, obstructions=(*tower.obstructions, *beside))

    def choose(self, tower: TowerObservation, poses: Mapping[str, Matrix]) -> Move:
        """What to take now, the hand being free."""
        wanted = tower.choose()
        if wanted is None:
            return Move()
        tried: list[str] = []
        first: Move | None = None
        queue = [wanted]
        while queue:
            choice = queue.pop(0)
            tried.append(choice.block)
            move, hinders = self._judge(choice, tower, poses)
            if move.purpose != REFUSE:
                assert move.grasp is not None
                self._before[move.block] = move.grasp.index
                return move
            first = first or move
            top = tower.stack[-1:]
            reachable = {name if name not in tower.stack else top[0] for name in hinders}
            queue += [Choice(name, CLEAR) for name in sorted(reachable) if name not in tried]
        assert first is not None
        return first

    def _judge(
        self, choice: Choice, tower: TowerObservation, poses: Mapping[str, Matrix]
    ) -> tuple[Move, Iterable[str]]:
        """The move of a choice, and where that is refused, what hinders it."""
        name, plan = choice.block, tower.plan
        pose = poses.get(name)
        if pose is None:
            return Move(name, REFUSE, why=f"{name} has not been seen"), ()
        distance = float(np.linalg.norm(pose[:3, 3]))
        if not self.reachable.near <= distance <= self.reachable.far:
            limits = f"{self.reachable.near:g}..{self.reachable.far:g} m"
            why = f"{name} is out of reach: {distance:.2f} m from the base, not {limits}"
            return Move(name, REFUSE, why=why), ()
        others = {other: at for other, at in poses.items() if other != name}
        grasp = self._grasp(name, poses, others, plan, before=self._before.get(name))
        if grasp is None:
            near = (o for o, at in others.items() if _apart(at, pose) < LEANS_ON)
            return Move(name, REFUSE, why=f"{name} leans too much to be grasped"), near
        if grasp.hindered_by:
            why = f"{' and '.join(grasp.hindered_by)} hinder the grasp of {name}"
            return Move(name, REFUSE, why=why), grasp.hindered_by
        return Move(name, choice.purpose, grasp), ()

    def _grasp(
        self,
        name: str,
        poses: Mapping[str, Matrix],
        others: Mapping[str, Matrix],
        plan: TowerPlan,
        *,
        margin: float = MARGIN,
        before: int | None = None,
    ) -> BestGrasp | None:
        pose = poses[name]
        return best_grasp(
            pose,
            self._local,
            (pose[0, 3], pose[1, 3], 0.0),
            others,
            hand=self.hand,
            edge=plan.block_height,
            max_tilt=self.max_tilt,
            margin=margin,
            before=before,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where the hand is to let go."""

    destination: str
    """tower or table."""
    pose: Matrix
    """Of the tool, 4x4 [m]."""


@dataclass
class Placer:
    """Chooses where to put what is held; draws a spot on the table once, and keeps it."""

    area: TableArea
    clearance: float = 0.15
    base_clearance: float = 0.35
    max_correction: float = 0.004
    """[m], see `tower_place`."""
    tries: int = 500
    _spot: tuple[float, float] | None = None

    def release(self) -> None:
        """Nothing is held any more."""
        self._spot = None

    def choose(
        self,
        tower: TowerObservation,
        beliefs: SceneSnapshot,
        tool_T_block: Matrix,
        rng: random.Random,
    ) -> Placement | None:
        """Where to put the held block; None: there is no room on the table.

        Args:
            tower: as it stands, with the held block.
            beliefs: where the blocks are.
            tool_T_block: how it sits in the hand, 4x4 [m].
            rng: of the spots.
        """
        plan, held = tower.plan, tower.held
        drop = DROP * plan.block_height
        if tower.belongs_on_top(held):
            self._spot = None
            rest = tower.without(held)
            x, y, z = tower_place(rest, beliefs, max_correction=self.max_correction)
            turn = DOWNWARD[np.argmax(reach_score(DOWNWARD, (plan.x, plan.y, 0.0)))]
            return Placement("tower", _tool_for((x, y, z + drop), turn, tool_T_block))
        self._spot = self._table_spot(tower, beliefs, rng)
        if self._spot is None:
            return None
        x, y = self._spot
        z = plan.level_height(0) + drop
        return Placement("table", _tool_for((x, y, z), _outward(x, y), tool_T_block))

    def _table_spot(
        self, tower: TowerObservation, beliefs: SceneSnapshot, rng: random.Random
    ) -> tuple[float, float] | None:
        centres = [(o.x, o.y) for o in beliefs.objects.values() if o.name != tower.held]
        discs = table_discs(
            [*centres, (tower.plan.x, tower.plan.y)],
            clearance=self.clearance,
            base_clearance=self.base_clearance,
        )
        if self._spot is not None and not _inside(self._spot, discs):
            return self._spot
        return sample_free_spot(self.area, discs, rng, tries=self.tries)


def _inside(spot: tuple[float, float], discs: Sequence[Disc]) -> bool:
    return any(
        math.hypot(spot[0] - disc.x, spot[1] - disc.y) < disc.radius - STAY_INSIDE for disc in discs
    )


def _apart(first: Matrix, second: Matrix) -> float:
    return math.dist(first[:3, 3], second[:3, 3])


def _outward(x: float, y: float) -> Matrix:
    """Of a tool that points down, its x axis away from the base."""
    length = math.hypot(x, y)
    c, s = x / length, y / length
    return np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])


def _tool_for(block: tuple[float, float, float], turn: Matrix, tool_T_block: Matrix) -> Matrix:
    """Pose of a tool turned so that brings the block's centre there, 4x4 [m]."""
    pose = np.eye(4)
    pose[:3, :3] = turn
    pose[:3, 3] = np.array(block) - turn @ tool_T_block[:3, 3]
    return pose
