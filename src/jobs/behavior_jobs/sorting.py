# SPDX-License-Identifier: Apache-2.0
"""What is sorted and what is not: things of some classes, each class with its container. No ROS.

Things are told apart by the scene, which may lose one from sight and find it again elsewhere. So
whatever was seen once counts until the end: it is sorted, waits to be fetched, is held, or is
missing. When nothing else is left to do, missing ones are waited for, but not for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from behavior_executor.scene_view import SceneSnapshot, SeenObject

CROWDED = 0.075
"""[m] A thing nearer than this to another one is hard to grasp."""
FALLING = 0.3
"""[m] What is seen less than this above its container, and not held, falls into it."""


@dataclass(frozen=True)
class SortObservation:
    """How far the sorting is."""

    sorted: tuple[str, ...] = ()
    """In the container of its class."""
    waiting: tuple[str, ...] = ()
    """Seen elsewhere, the best to fetch first."""
    missing: tuple[str, ...] = ()
    """Seen before, but not of late."""
    held: str = ""
    """In the gripper."""
    held_class: str = ""
    given_up: bool = False
    """Nothing is left but missing things, and they were waited for long enough."""

    @property
    def complete(self) -> bool:
        """Everything that was ever seen is sorted."""
        return bool(self.sorted) and not (self.waiting or self.missing or self.held)

    @property
    def progress(self) -> float:
        """Part that is sorted, 0..1."""
        known = len(self.sorted) + len(self.waiting) + len(self.missing) + bool(self.held)
        return len(self.sorted) / known if known else 0.0

    def summary(self) -> str:
        """One line, e.g. "4 sorted, 1 waits | holds red_ball_1 | missing: blue_ball_0"."""
        parts = [f"{len(self.sorted)} sorted, {len(self.waiting)} to fetch"]
        if self.held:
            parts.append(f"holds {self.held}")
        if self.missing:
            parts.append("missing: " + " ".join(self.missing))
        return " | ".join(parts)


class SortObserver:
    """Observes the sorting over time."""

    def __init__(self, containers: Mapping[str, str], *, wait_for_missing: float = 8.0) -> None:
        """Start without memory.

        Args:
            containers: class to the name of its container.
            wait_for_missing: how long [s] missing things are waited for at the end.

        Raises:
            ValueError: no classes, or a negative time.
        """
        if not containers or not all(containers) or not all(containers.values()):
            raise ValueError("name at least one class and its container, as in red_ball:red_tray")
        if wait_for_missing < 0.0:
            raise ValueError(f"wait_for_missing must not be below 0, not {wait_for_missing}")
        self.containers = dict(containers)
        self.wait_for_missing = wait_for_missing
        self._classes: dict[str, str] = {}
        self._sorted: set[str] = set()
        self._idle_since: float | None = None

    def update(self, snapshot: SceneSnapshot, now: float, *, avoid: str = "") -> SortObservation:
        """Take in a snapshot.

        Args:
            snapshot: the scene.
            now: node time [s].
            avoid: a thing that is fetched last.
        """
        things = {
            name: seen
            for name, seen in snapshot.objects.items()
            if seen.class_id in self.containers
        }
        self._classes |= {name: seen.class_id for name, seen in things.items()}
        held = next((seen for seen in things.values() if seen.held), None)
        waiting: list[SeenObject] = []
        missing: list[str] = []
        for name in self._classes:
            seen = things.get(name)
            if seen is not None and seen.held:
                self._sorted.discard(name)
            elif seen is None or seen.stale:
                # Out of sight in its container, it is still there.
                if name not in self._sorted:
                    missing.append(name)
            elif self._contained(seen, snapshot):
                self._sorted.add(name)
            else:
                self._sorted.discard(name)
                waiting.append(seen)
        if waiting or held is not None or not missing:
            self._idle_since = None
        else:  # a clock that is set back does not make it wait until that time has come once more
            self._idle_since = now if self._idle_since is None else min(self._idle_since, now)
        waited = now - self._idle_since if self._idle_since is not None else -1.0
        return SortObservation(
            sorted=tuple(sorted(self._sorted)),
            waiting=tuple(self._by_ease(waiting, snapshot, avoid)),
            missing=tuple(missing),
            held=held.name if held is not None else "",
            held_class=held.class_id if held is not None else "",
            given_up=waited >= self.wait_for_missing,
        )

    def _contained(self, seen: SeenObject, snapshot: SceneSnapshot) -> bool:
        container = snapshot.objects.get(self.containers[seen.class_id])
        if container is None:  # out of sight: what lay in it is still there
            return seen.name in self._sorted
        x, y, z = seen.seen_from(container)
        length, width, height = container.size
        above = -height <= z <= height / 2 + FALLING
        return above and abs(x) <= length / 2 and abs(y) <= width / 2

    def _by_ease(self, waiting: list[SeenObject], snapshot: SceneSnapshot, avoid: str) -> list[str]:
        """Names, those that stand alone and near their container first."""

        def difficulty(seen: SeenObject) -> tuple[bool, bool, float, str]:
            gaps = (
                seen.distance_xy(other.x, other.y) for other in waiting if other.name != seen.name
            )
            container = snapshot.objects.get(self.containers[seen.class_id])
            way = seen.distance_xy(container.x, container.y) if container is not None else 9.0
            return seen.name == avoid, min(gaps, default=9.0) < CROWDED, way, seen.name

        return [seen.name for seen in sorted(waiting, key=difficulty)]


def containers_from(pairs: list[str]) -> dict[str, str]:
    """Class to container, from texts ``class:container``.

    Raises:
        ValueError: a text of another form, or a class named twice.
    """
    containers: dict[str, str] = {}
    for pair in pairs:
        name, colon, container = pair.partition(":")
        if not (colon and name.strip() and container.strip()):
            raise ValueError(f"'{pair}' must be of the form class:container")
        if name.strip() in containers:
            raise ValueError(f"class '{name.strip()}' is named twice")
        containers[name.strip()] = container.strip()
    return containers
