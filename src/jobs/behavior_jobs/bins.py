# SPDX-License-Identifier: Apache-2.0
"""Bins that come on a conveyor and are stacked upside down on a pallet: what follows from where
they are. No ROS.

Lengths in metres, in the frame of the snapshots, whose origin is the robot's base. A bin's pose is
that of its centre, with z out of its opening. The tool's z axis is the direction in which it sucks.

A bin is gripped at its floor: from inside when its opening is up, and then it must be flipped; from
outside when the opening is down, and then it can be placed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from behavior_executor.scene_view import Matrix, SceneBody
from behavior_jobs.poses import is_near

UP = np.array([0.0, 0.0, 1.0])
PITCH = 0.135
"""[m] from one layer of the pallet to the next."""
HYSTERESIS = 0.2
"""Cosine of the angle between a bin's opening and the vertical, below which it lies on its side."""
LEVEL = math.cos(0.06)
"""Cosine of the tilt up to which a bin that nobody holds counts as level. One that leans, at the
end of the belt, is gripped as it leans: else it hangs crooked on the tool and stands on its rim."""
BESIDE = 0.008
"""[m] by which a bin hangs beside the tool that is more than noise."""
NEAR_POSITION, NEAR_ROTATION = 0.01, 0.01
"""[m], and as `rotation_gap`: nearer to its grasp, the tool has reached a bin."""
HELD_WITHIN = 0.1
"""[m] of the tool from the grasp, up to which a bin that sticks to it counts as attached."""
DOUBT = 0.5
"""[s] for which the vacuum is believed rather than the sight of a bin elsewhere: what is carried
fast is seen late."""
REGRIPS = 1.0
"""[s] within which a cup that comes off and sucks on again loses one bin, not several."""
SAME_COLUMN = 0.05
"""[m] horizontally: what stands nearer to a place than this carries the bin that comes there."""
HALF_TURN = np.diag([-1.0, -1.0, 1.0, 1.0])
"""About the sucking axis."""
SIDES = np.array([0.6, 0.37])
"""x, y: the vertical plane through the base and this point has the conveyor on one side and the
pallet on the other."""


@dataclass(frozen=True)
class Numbers:
    """What the behaviour of NVIDIA's Isaac Sim 6 does in numbers; `PRESETS` has other versions."""

    pick_wait: float = 1.0
    """[s] at rest on a bin before it is sucked."""
    lift_time: float = 0.1
    """[s] of going up with a gripped bin before anything else is decided."""
    place_approach: float = 0.35
    """[m] stand-off above a place."""
    place_capped: bool = True
    """The stand-off is never longer than the way that is left."""
    release_time: float = 0.0
    """[s] of drawing back from a bin on the flip station; 0: until `release_within`."""
    release_within: float = 0.15
    """[m] from where it draws back to."""


PRESETS: Mapping[str, Numbers] = {
    "isaac_6": Numbers(),
    "legacy_2022": Numbers(
        pick_wait=0.5,
        lift_time=0.4,
        place_approach=0.15,
        place_capped=False,
        release_time=0.65,
    ),
}


# ------------------------------------------------------------------------------- geometry


def pallet_places(
    columns: Sequence[float] = (1.05, 0.84, 0.63),
    rows: Sequence[float] = (-0.62, -0.31, 0.0),
    layers: int = 4,
    *,
    pitch: float = PITCH,
    first: float = -0.51874,
) -> list[Matrix]:
    """Where the tool is when it has placed a bin: x, y, z [m], layer by layer, row by row.

    Args:
        columns: x [m].
        rows: y [m].
        layers: how many.
        pitch: [m] from one layer to the next.
        first: z [m] of the lowest layer.
    """
    heights = [first + level * pitch for level in range(layers)]
    return [np.array([x, y, z]) for z in heights for y in rows for x in columns]


def tool_pose(position: Matrix, sucks: Matrix, side: Matrix) -> Matrix:
    """Pose of a tool (4x4) that sucks in a direction; `side`, across it, is where its -x points."""
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([-side, np.cross(side, sucks), sucks])
    pose[:3, 3] = position
    return pose


@dataclass(frozen=True)
class BinFloor:
    """Where a bin is gripped."""

    base: float = -0.066
    """[m] height of the middle of its floor over its centre, along its own z."""
    gap: float = 0.0075
    """[m] of the tool from there."""

    def grasp(self, bin_pose: Matrix, *, opening_up: bool) -> Matrix:
        """Pose of the tool that grips a bin (4x4)."""
        across, opening, centre = bin_pose[:3, 0], bin_pose[:3, 2], bin_pose[:3, 3]
        sucks = -opening if opening_up else opening
        side = across if across[1] >= 0.0 else -across
        return tool_pose(centre + self.base * opening - self.gap * sucks, sucks, side)


def levelled(pose: Matrix) -> Matrix:
    """A pose (4x4) that is nearly upright, made so: what stands on something flat is level, and
    what its tilt seems to be is noise.
    """
    cosine = float(pose[2, 2])
    if abs(cosine) < LEVEL:
        return pose
    across = np.array([pose[0, 0], pose[1, 0], 0.0])
    across /= np.linalg.norm(across)
    axis = math.copysign(1.0, cosine) * UP
    level = pose.copy()
    level[:3, :3] = np.column_stack([across, np.cross(axis, across), axis])
    return level


TURNS_BACK = 0.4
"""[rad] by which the tool turns against the base's sense on its way to the pallet, at most."""


WAVERS = 0.25
"""[rad] by which a bin turns, as it comes to rest, and the tool with it."""


def with_the_base(grasp: Matrix, beyond: float = 0.0) -> Matrix:
    """A grasp from above, or the same turned by half a turn about its sucking axis: that from which
    the tool, on its way to the pallet, turns in the sense in which the base does.

    Turned the other way the tool drags the arm along: it folds over itself, or the wrist winds up
    and swings a bin against the forearm when it turns it over.

    Args:
        grasp: 4x4.
        beyond: [rad] by which it may be turned too far before it is turned by half a turn.
    """
    angle = math.atan2(grasp[1, 0], grasp[0, 0])
    if -TURNS_BACK - beyond <= angle < math.pi - TURNS_BACK + beyond:
        return grasp
    return np.asarray(grasp @ HALF_TURN)


def turned(target: Matrix, tool: Matrix) -> Matrix:
    """The target, or the same turned by half a turn about its sucking axis where that is nearer."""
    if float(target[:3, 0] @ tool[:3, 0]) >= 0.0:
        return target
    return np.asarray(target @ HALF_TURN)


# ------------------------------------------------------------------------------- the funnel


NEAR_PLACE = 0.06
"""[m] from its place, what holds a bin up is what it shall stand on."""
PUSHED = 1.5
"""Widths of the funnel by which a bin that is aside was pushed."""
HANGS = 0.04
"""[m] beside the tool, a bin hangs too far off its middle to be set down."""
OVER = 0.005
"""[m] horizontally from the axis of its place, a bin is over it."""


def is_over(tool: Matrix, place: Matrix) -> bool:
    """Whether the tool is right over a place and near it; x, y, z [m]."""
    return math.dist(tool, place) < NEAR_PLACE and _beside(tool, place) <= OVER


def hangs_well(tool: Matrix, held: Matrix) -> bool:
    """Whether a bin hangs from the tool so that it can be set down; x, y, ... [m]."""
    return _beside(tool, held) < HANGS


@dataclass
class RetryFunnel:
    """The stand-off of a bin that comes down onto its place.

    It is ``length``; where `capped`, no longer than the way that is left at first. Once the bin was
    pushed aside by what it came down on, it is ``least``: so it goes up again and comes in anew.
    """

    length: float
    least: float = 0.15
    std_dev: float = 0.005
    """[m] width of the funnel."""
    capped: bool = True
    pushes: int = 0
    """How often it was pushed aside."""
    feels: bool = False
    """It was, and has not come up again: where the tool is measured counts."""
    _way: float = math.inf
    _entered: bool = False

    def stand_off(self, tool: Matrix, target: Matrix) -> float:
        """Length [m] for a tool (4x4) on its way to a target (4x4), seen at every step."""
        offset = tool[:3, 3] - target[:3, 3]
        beside = float(np.linalg.norm(offset[:2]))
        distance = float(np.linalg.norm(offset))
        if math.isinf(self._way):
            self._way = distance
        if distance < NEAR_PLACE and beside > PUSHED * self.std_dev and self._entered:
            self.pushes += 1
            self._entered, self.feels = False, True
        elif beside <= 0.5 * self.std_dev:
            self._entered = True
        if float(offset[2]) > 0.5 * self.least:
            self.feels = False
        if not self.capped:
            return self.length
        return self.least if self.pushes else min(self.length, self._way)


@dataclass(eq=False)
class PlaceAim:
    """Where the tool sets a bin down: a place, moved until the bin is right over the one below."""

    place: Matrix
    """x, y, z [m]; it stays as it is."""
    gain: float = 0.1
    """Of what is left, by which the aim moves with every new look; 0: never."""
    gate: float = 0.02
    """[m] of misalignment from which on the bin below counts as out of place."""
    shift: Matrix = field(default_factory=lambda: np.zeros(2))
    """x, y [m] by which the aim was moved."""
    crossed: bool = False
    """The tool has come past the middle: obstacles that lead it over there count no more."""
    too_far: int = 0
    """Looks in a row, from over the aim, at which one of both bins was not where it should be."""

    @property
    def position(self) -> Matrix:
        """x, y, z [m]."""
        return np.asarray(self.place + np.append(self.shift, 0.0))

    def adjust(self, tool: Matrix, held: Matrix, under: Matrix) -> None:
        """Take in where the tool is, and where held bin and bin below are seen; x, y, z [m]."""
        if self.is_in_place(under) and hangs_well(tool, held):
            if _beside(tool, self.position) < self.gate:
                self.shift = self.shift + self.gain * (np.asarray(under[:2]) - held[:2])
            self.too_far = 0
        elif is_over(tool, self.position):
            self.too_far += 1

    def centre(self, tool: Matrix, held: Matrix) -> None:
        """Have a bin that hangs beside the tool, beyond noise, come right over the place itself."""
        beside = np.asarray(tool[:2]) - held[:2]
        over = _beside(tool, self.position) < self.gate and hangs_well(tool, held)
        if over and self.gain and _beside(beside, self.shift) > BESIDE:
            self.shift = beside

    def is_in_place(self, under: Matrix) -> bool:
        """Whether the bin below, x, y, ... [m], is near enough to its place to be built upon."""
        return _beside(under, self.place) < self.gate

    def crossing(self, tool: Matrix) -> bool:
        """Whether the tool, x, y, ... [m], has still to come past the middle."""
        self.crossed = self.crossed or not on_opposite_sides(tool, self.place)
        return not self.crossed

    def pose(self) -> Matrix:
        """Pose of the tool (4x4), sucking down; see `with_the_base`."""
        return tool_pose(self.position, -UP, np.array([-1.0, 0.0, 0.0]))


# ------------------------------------------------------------------------------- obstacles


def on_opposite_sides(tool: Matrix, target: Matrix) -> bool:
    """Whether the way from one to the other, x, y, ... [m], leads past the middle."""

    def side(point: Matrix) -> float:
        return float(point[0] * SIDES[1] - point[1] * SIDES[0])

    return side(tool) * side(target) < 0.0


def clears_station(tool: Matrix, target: Matrix) -> bool:
    """Whether a tool (4x4) that goes for a target (4x4) may pass the flip station: it is on the
    target's axis, looks along it and has come by.
    """
    axis, offset = target[:3, 2], tool[:3, 3] - target[:3, 3]
    along = float(offset @ axis)
    beside = float(np.linalg.norm(offset - along * axis))
    return along < 0.02 and beside < 0.03 and float(axis @ tool[:3, 2]) > 0.75


# ------------------------------------------------------------------------------- which bin


@dataclass(frozen=True)
class PickRegion:
    """Where bins are taken from: open intervals of x and y [m], and around the flip station."""

    x: tuple[float, float] = (-0.4, 0.4)
    y: tuple[float, float] = (0.0, 0.7)
    station: tuple[float, float] = (0.79, 0.74)
    """x, y [m] of the flip station; a bin that stands there is taken before all others."""
    station_radius: float = 0.25
    """[m]"""
    reach: float = 1.3
    """[m] from the base; a bin further away is nobody's."""
    fallen: float = -1.0
    """[m] height below which a bin has fallen."""

    def on_station(self, centre: Matrix) -> bool:
        """Whether a bin with this centre stands on the flip station."""
        return math.dist(self.station, centre[:2]) < self.station_radius

    def contains(self, centre: Matrix) -> bool:
        """Whether a bin with this centre can be taken."""
        if self.is_gone(centre):
            return False
        x, y = float(centre[0]), float(centre[1])
        on_conveyor = self.x[0] < x < self.x[1] and self.y[0] < y < self.y[1]
        return on_conveyor or self.on_station(centre)

    def is_gone(self, centre: Matrix) -> bool:
        """Whether a bin with this centre is given up."""
        return float(centre[2]) < self.fallen or math.hypot(centre[0], centre[1]) > self.reach


def opening_up(bin_pose: Matrix, *, up: Matrix = UP, before: bool | None = None) -> bool | None:
    """Whether a bin's opening is up; None: it lies on its side.

    Args:
        bin_pose: 4x4.
        up: what counts as up: of a bin on the tool, against its sucking direction.
        before: what was so; it stays so until the opposite is.
    """
    cosine = float(up @ bin_pose[:3, 2])
    if abs(cosine) <= HYSTERESIS:
        return before
    return cosine > 0.0


@dataclass(frozen=True, eq=False)
class ActiveBin:
    """The bin that is dealt with."""

    name: str
    grasp: Matrix
    """Pose of the tool that grips it, 4x4 [m]."""
    needs_flip: bool
    """Its opening is up."""
    is_grasp_reached: bool = False
    is_attached: bool = False


@dataclass(frozen=True, eq=False)
class BinSight:
    """What the monitors tell in one tick."""

    active: ActiveBin | None = None
    stacked: tuple[str, ...] = ()
    """In the order in which they were placed."""
    sideways: tuple[str, ...] = ()
    """Could be taken if they did not lie on their sides."""
    unseen: tuple[str, ...] = ()
    """Could be taken if they were still seen."""
    bins: Mapping[str, SceneBody] = field(default_factory=dict)
    """All there are."""
    tool: Matrix = field(default_factory=lambda: np.eye(4))
    """Its pose, 4x4 [m]."""
    stamp: float = -math.inf
    """[s] of the snapshot that all this was seen in."""

    def trouble(self) -> str:
        """Why there is no bin to take, in words with a remedy; empty: none has come yet."""
        if self.sideways:
            names = " and ".join(self.sideways)
            return f"{names} on its side: set it upright, or take it off the conveyor"
        if self.unseen:
            names = " and ".join(self.unseen)
            return f"{names} not seen any more: see whether the camera and its detector run"
        return ""


@dataclass(eq=False)
class BinWatch:
    """The monitors B1 to B4: which bin is dealt with, how it is gripped and whether it is.

    Bins are what a snapshot has of their class, lost ones left out.
    """

    floor: BinFloor
    places: Sequence[Matrix]
    """Of the tool for each bin on the pallet, x, y, z [m]."""
    region: PickRegion = PickRegion()
    patience: float = 3.0
    """[s] after which a bin that is not on the tool and not seen any more is given up."""
    stacked: dict[str, int] = field(default_factory=dict)
    """Bins that were set down on the pallet, in this order, with the numbers of their places."""
    losses: int = 0
    """Bins in a row that left the tool unasked; what was let go where it should be ends the row."""
    _active: str = ""
    _flip: bool | None = None
    _attached: bool = False
    _off_since: float = math.inf
    """[s] since when the bin that sticks to the tool is seen elsewhere."""
    _letting_go: bool = False
    _lost_at: float = -math.inf
    _seen: float = -math.inf

    def look(
        self,
        bins: Mapping[str, SceneBody],
        tool: Matrix,
        *,
        suction: bool,
        now: float,
        stamp: float = -math.inf,
        stale: Collection[str] = (),
        tool_then: Matrix | None = None,
    ) -> BinSight:
        """One tick.

        Args:
            bins: by name.
            tool: its pose, 4x4 [m].
            suction: the tool sucks, and something sticks to it.
            now: time [s].
            stamp: of the snapshot [s].
            stale: bins that have not been seen of late.
            tool_then: where the tool was at that stamp; None: where it is now. A bin that is
                carried was near it then or is near it now: nobody knows how old the pose is that
                it is said to have.
        """
        self._adopt({name: body for name, body in bins.items() if name not in stale})
        for name in [name for name in self.stacked if name in bins and name not in stale]:
            if self._left_its_place(name, bins[name].pose):
                del self.stacked[name]
        free = [
            name
            for name, body in bins.items()
            if name not in self.stacked and self.region.contains(body.pose[:3, 3])
        ]
        sideways = [name for name in free if opening_up(bins[name].pose) is None]
        self._drop(bins, now, stale)
        if not self._active:
            candidates = [name for name in free if name not in sideways and name not in stale]
            self._take_up(bins, candidates, now)
        then = tool if tool_then is None else tool_then
        active = None
        if self._active:
            active = self._grip(bins[self._active], tool, then, suction=suction, now=now)
        if active is None:
            self._forget(now)
        return BinSight(
            active=active,
            stacked=tuple(self.stacked),
            sideways=tuple(sorted(name for name in sideways if name != self._active)),
            unseen=tuple(sorted(name for name in free if name in stale and name != self._active)),
            bins=bins,
            tool=tool,
            stamp=stamp,
        )

    def next_place(self) -> int | None:
        """Number of the first place that is free; None: the pallet is full."""
        taken = set(self.stacked.values())
        return next((number for number in range(len(self.places)) if number not in taken), None)

    def letting_go(self) -> None:
        """The bin on the tool is about to be released."""
        self._letting_go = True

    def placed(self) -> None:
        """The active bin stands on the pallet."""
        number = self.next_place()
        if self._active and number is not None:
            self._count(self._active, number)
            self.losses = 0
        self._release()
        self._active, self._flip = "", None

    def _adopt(self, bins: Mapping[str, SceneBody]) -> None:
        """What stands on the pallet counts as stacked, whoever put it there and whatever it is
        called by now.
        """
        for name, body in bins.items():
            if name in self.stacked or name == self._active or body.attached_link:
                continue
            number = self._stands_at(body.pose)
            if number is not None:
                self._count(name, number)

    def _stands_at(self, pose: Matrix) -> int | None:
        """Number of the place where a bin with this pose stands as it shall; None: nowhere."""
        if opening_up(pose) is not False:
            return None
        tool = self.floor.grasp(pose, opening_up=False)[:3, 3]
        for number, place in enumerate(self.places):
            if abs(tool[2] - place[2]) < 0.03 and _beside(tool, place) < SAME_COLUMN:
                return number
        return None

    def _count(self, name: str, number: int) -> None:
        """A bin is stacked at a place, where there can be no other."""
        self.stacked = {other: n for other, n in self.stacked.items() if n != number}
        self.stacked[name] = number

    def _left_its_place(self, name: str, pose: Matrix) -> bool:
        place = self.places[self.stacked[name]]
        beside = _beside(pose[:3, 3], place)
        return beside > 2.0 * SAME_COLUMN or float(pose[2, 3]) < float(place[2]) - 0.2

    def _drop(self, bins: Mapping[str, SceneBody], now: float, stale: Collection[str]) -> None:
        """B2: a bin that has fallen, is out of reach or is not seen any more is given up."""
        body = bins.get(self._active)
        if body is None or self.region.is_gone(body.pose[:3, 3]):
            self._forget(now)
        elif self._attached or self._active not in stale:
            self._seen = now
        else:
            self._seen = min(self._seen, now)  # the clock may be set back
            if now - self._seen > self.patience:
                self._forget(now)

    def _take_up(self, bins: Mapping[str, SceneBody], free: Iterable[str], now: float) -> None:
        """B1: what is on the tool already, on the flip station, or has come furthest."""

        def order(name: str) -> tuple[bool, float, str]:
            centre = bins[name].pose[:3, 3]
            return not self.region.on_station(centre), float(centre[1]), name

        on_tool = [n for n, body in bins.items() if body.attached_link and n not in self.stacked]
        names = on_tool or sorted(free, key=order)
        if names:
            self._active, self._seen = names[0], now

    def _grip(
        self, body: SceneBody, tool: Matrix, then: Matrix, *, suction: bool, now: float
    ) -> ActiveBin | None:
        """B3 and B4; None where it cannot be gripped: it lies on its side."""
        if not suction:
            self._detach(now)
        up = -then[:3, 2] if self._attached else UP
        # While it is turned over it is as it was; elsewhere one on its side is nothing to take.
        is_up = opening_up(body.pose, up=up, before=self._flip if self._attached else None)
        if is_up is None:
            return None
        self._flip = is_up
        pose = body.pose if self._attached else levelled(body.pose)
        grasp = self.floor.grasp(pose, opening_up=is_up)
        if suction and _from_way(grasp, then, tool) < HELD_WITHIN:
            self._attached, self._off_since = True, math.inf
        elif self._attached:
            self._off_since = min(self._off_since, now)
            if now - self._off_since >= DOUBT:
                self._detach(now)
        return ActiveBin(
            name=body.name,
            grasp=grasp,
            needs_flip=is_up,
            is_grasp_reached=is_near(grasp, tool, NEAR_POSITION, NEAR_ROTATION),
            is_attached=self._attached,
        )

    def _detach(self, now: float) -> None:
        if self._attached:
            if self._letting_go:
                self.losses = 0
            elif not 0.0 <= now - self._lost_at <= REGRIPS:
                self.losses, self._lost_at = self.losses + 1, now
            self._flip = None
        self._release()

    def _release(self) -> None:
        self._attached = self._letting_go = False
        self._off_since = math.inf

    def _forget(self, now: float) -> None:
        self._detach(now)
        self._active, self._flip = "", None


def bin_below(
    place: Matrix, stacked: Iterable[str], bins: Mapping[str, SceneBody]
) -> SceneBody | None:
    """The highest stacked bin where one is to stand, by where it really is; None: none."""
    there = [
        bins[name]
        for name in stacked
        if name in bins and _beside(bins[name].pose[:3, 3], place) <= SAME_COLUMN
    ]
    return max(there, key=lambda body: float(body.pose[2, 3]), default=None)


def _from_way(pose: Matrix, start: Matrix, end: Matrix) -> float:
    """Distance [m] of a pose (4x4) from the straight way between two others."""
    offset, way = pose[:3, 3] - start[:3, 3], end[:3, 3] - start[:3, 3]
    along = float(offset @ way) / max(float(way @ way), 1e-12)
    return float(np.linalg.norm(offset - min(max(along, 0.0), 1.0) * way))


def _beside(first: Matrix, second: Matrix) -> float:
    """Horizontal distance [m] of two points."""
    return math.dist(first[:2], second[:2])
