# SPDX-License-Identifier: Apache-2.0
"""What stands at the tower's place, and which block to move next. No ROS.

The column is the space above the tower's place. Blocks in it are sorted by height; the stack is
the run from the ground up in which each block is centred, level and at the height of its place in
the run. Any other block that reaches into the space of the next place is an obstruction.

Detections are noisy and the arm hides blocks, so each limit is wider for what was inside it
(``STAY``), and a change counts only after it has lasted ``settle_time``.

Which block to move (the order of the questions is the order of importance):

1. an obstruction: away with the highest one;
2. the stack is no prefix of the order: away with the top block;
3. blocks are missing: the next one of the order goes onto the tower.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from behavior_executor.scene_view import SceneSnapshot, SeenObject

STAY = 1.3
"""Factor on every limit for a block that was inside it at the last observation."""
MAX_TILT = 0.26
"""[rad] A block tilted by more does not stand."""
MAX_HEIGHT_ERROR = 0.4
"""In block heights: how far a block may be from the height of its place."""
OBSTRUCTION_RADIUS = 1.45
"""In block heights: nearer to the axis than this, two cubes touch at some yaw (sqrt 2)."""
OBSTRUCTION_MARGIN = 0.2
"""In block heights: how far a block may reach into the layer of the next place."""

BUILD = "build"
CLEAR = "clear"


@dataclass(frozen=True)
class TowerPlan:
    """The tower to build. Lengths in metres, in the frame of the snapshots."""

    order: tuple[str, ...]
    """Names of the blocks, bottom first."""
    x: float
    y: float
    """Axis of the tower."""
    block_height: float = 0.0515
    tolerance: float = 0.02575
    """Horizontal distance from the axis up to which a block counts as part of the stack."""
    surface: float = 0.0
    """Height of the surface that the tower stands on."""

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            ValueError: empty or ambiguous order, or a length that is not positive.
        """
        if not self.order or len(set(self.order)) != len(self.order) or "" in self.order:
            raise ValueError(
                f"order must name each block once, bottom first, not '{';'.join(self.order)}'"
            )
        if self.block_height <= 0.0 or self.tolerance <= 0.0:
            raise ValueError("block_height and tolerance must be positive")

    def level_height(self, level: int) -> float:
        """Height of the centre of a block at this level, 0 the lowest [m]."""
        return self.surface + (level + 0.5) * self.block_height


@dataclass(frozen=True)
class Choice:
    """The block to move next."""

    block: str
    purpose: str
    """BUILD: onto the tower; CLEAR: out of the way."""


@dataclass(frozen=True)
class TowerObservation:
    """What stands at the tower's place."""

    plan: TowerPlan
    stack: tuple[str, ...] = ()
    """Bottom first."""
    obstructions: tuple[str, ...] = ()
    """Highest first."""
    held: str = ""
    """Block in the gripper; it is in neither of the above."""
    settled: bool = False
    """No change is waiting for its settle time."""

    @property
    def order(self) -> tuple[str, ...]:
        """Names of the blocks as they shall stand, bottom first."""
        return self.plan.order

    @property
    def correct(self) -> bool:
        """Whether the stack is a beginning of the order."""
        return self.stack == self.order[: len(self.stack)]

    @property
    def complete(self) -> bool:
        """Whether the stack is the order."""
        return self.stack == self.order

    @property
    def next_block(self) -> str:
        """First block of the order that is not in the stack; empty when there is none."""
        return next((name for name in self.order if name not in self.stack), "")

    @property
    def progress(self) -> float:
        """Part of the order that stands correctly, 0..1."""
        right = 0
        for wanted, found in zip(self.order, self.stack, strict=False):
            if wanted != found:
                break
            right += 1
        return right / len(self.order)

    def without(self, block: str) -> TowerObservation:
        """The same scene if this block were not there."""
        return replace(
            self,
            stack=tuple(name for name in self.stack if name != block),
            obstructions=tuple(name for name in self.obstructions if name != block),
            held="" if self.held == block else self.held,
        )

    def choose(self) -> Choice | None:
        """The block to move next, or None when the tower is complete and free."""
        if self.obstructions:
            return Choice(self.obstructions[0], CLEAR)
        if not self.correct:
            return Choice(self.stack[-1], CLEAR)
        return None if self.complete else Choice(self.next_block, BUILD)

    def belongs_on_top(self, block: str) -> bool:
        """Whether this block is the one that the tower needs now.

        Wherever the block itself is counts for nothing, so the answer stays the same while it is
        grasped, carried and released.
        """
        rest = self.without(block)
        return rest.correct and not rest.obstructions and rest.next_block == block

    def is_wanted(self, choice: Choice) -> bool:
        """Whether a choice made earlier still makes sense while its block is being picked."""
        if choice.purpose == BUILD:
            return self.belongs_on_top(choice.block)
        in_the_way = choice.block in self.obstructions or self.stack[-1:] == (choice.block,)
        return in_the_way or self.held == choice.block

    def summary(self) -> str:
        """One line, e.g. "blue_block yellow_block . . | holds green_block"."""
        places = [*self.stack, *["."] * (len(self.order) - len(self.stack))]
        parts = [" ".join(places)]
        if not self.correct:
            parts.append("wrong order")
        if self.obstructions:
            parts.append("in the way: " + " ".join(self.obstructions))
        if self.held:
            parts.append(f"holds {self.held}")
        return " | ".join(parts)


class TowerObserver:
    """Observes one tower over time."""

    def __init__(self, plan: TowerPlan, *, settle_time: float = 0.3) -> None:
        """Start without memory.

        Args:
            plan: the tower.
            settle_time: how long [s] a change must last before it counts, 0 or more.
        """
        self.plan = plan
        self.settle_time = settle_time
        self._seen = TowerObservation(plan)
        self._seen_since = float("inf")
        self._accepted: TowerObservation | None = None

    def update(self, snapshot: SceneSnapshot, now: float) -> TowerObservation:
        """Take in a snapshot.

        Args:
            snapshot: the scene; the same one may come again.
            now: node time [s].

        Returns:
            The newest observation that has lasted; what is held is always the newest.
        """
        seen = self._look(snapshot)
        if self._same_tower(seen, self._seen) and self._seen_since <= now:
            lasted = now - self._seen_since
        else:
            self._seen_since, lasted = now, 0.0
        self._seen = seen
        if lasted >= self.settle_time:
            self._accepted = seen
        if self._accepted is None:
            return seen
        accepted = self._accepted
        # A block that was picked up is not in the tower any more, whatever the settle time says.
        accepted = accepted.without(seen.held) if seen.held else accepted
        return replace(accepted, held=seen.held, settled=self._same_tower(seen, accepted))

    @staticmethod
    def _same_tower(a: TowerObservation, b: TowerObservation) -> bool:
        return a.stack == b.stack and a.obstructions == b.obstructions

    def _look(self, snapshot: SceneSnapshot) -> TowerObservation:
        plan = self.plan
        before = self._seen
        stack: list[str] = []
        others: list[SeenObject] = []
        for seen in sorted(snapshot.objects.values(), key=lambda seen: (seen.z, seen.name)):
            if seen.held or seen.derived:
                continue
            was_there = seen.name in before.stack or seen.name in before.obstructions
            radius = OBSTRUCTION_RADIUS * plan.block_height * (STAY if was_there else 1.0)
            if seen.distance_xy(plan.x, plan.y) > radius:
                continue
            if self._stands(seen, len(stack), STAY if seen.name in before.stack else 1.0):
                stack.append(seen.name)
            else:
                others.append(seen)
        next_layer = plan.surface + (len(stack) + OBSTRUCTION_MARGIN) * plan.block_height
        held = snapshot.held
        return TowerObservation(
            plan=plan,
            stack=tuple(stack),
            obstructions=tuple(o.name for o in reversed(others) if o.top > next_layer),
            held=held.name if held is not None else "",
        )

    def _stands(self, seen: SeenObject, level: int, factor: float) -> bool:
        plan = self.plan
        height_error = abs(seen.z - plan.level_height(level)) / plan.block_height
        return (
            seen.distance_xy(plan.x, plan.y) <= plan.tolerance * factor
            and height_error <= MAX_HEIGHT_ERROR * min(factor, 1.2)
            and seen.tilt <= MAX_TILT * factor
        )


def tower_place(
    tower: TowerObservation, snapshot: SceneSnapshot, *, max_correction: float
) -> tuple[float, float, float]:
    """Where the centre of the next block goes on top of the stack [m].

    Above the block that carries it, moved towards the tower's axis by at most ``max_correction``
    [m]: so the tower straightens out over the layers and no block hangs over by more than that.
    """
    plan, stack = tower.plan, tower.stack
    x, y = plan.x, plan.y
    support = snapshot.objects.get(stack[-1]) if stack else None
    if support is not None:
        error = support.distance_xy(plan.x, plan.y)
        part = 1.0 if error <= max_correction else max_correction / error
        x = support.x + part * (plan.x - support.x)
        y = support.y + part * (plan.y - support.y)
    return x, y, plan.level_height(len(stack))
