# SPDX-License-Identifier: Apache-2.0
"""A tree of frames through time: pure, no ROS.

Every frame but a root has one parent. A moving frame keeps its samples for the cache time, counted
back from its newest one; a static frame keeps one sample that holds at every time.

Lookup walks from both frames to their lowest common ancestor and composes
``target_T_source = inverse(ancestor_T_target) @ ancestor_T_source``. Between two samples positions
are interpolated linearly and rotations by slerp. No extrapolation, as in tf2.
"""

from __future__ import annotations

import bisect
import difflib
import math
import threading
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from behavior_ros.messages.rotations import (
    Matrix,
    Quaternion,
    Vector,
    conjugate,
    multiply,
    quaternion_to_rotation,
    rotate,
    slerp,
)

_SECOND = 1_000_000_000
_END = 2**31 * _SECOND
"""[ns] Times of messages are before."""
_MAX_DEPTH = 1000


class TransformError(LookupError):
    """A transform is not known; the message names frames and times and says what to do."""


class _Sample(NamedTuple):
    position: Vector
    rotation: Quaternion

    def then(self, other: _Sample) -> _Sample:
        """Return ``a_T_c`` where this is ``a_T_b`` and the other ``b_T_c``."""
        x, y, z = rotate(self.rotation, other.position)
        a, b, c = self.position
        return _Sample((a + x, b + y, c + z), multiply(self.rotation, other.rotation))

    def inverse(self) -> _Sample:
        """Return ``b_T_a`` where this is ``a_T_b``."""
        rotation = conjugate(self.rotation)
        x, y, z = rotate(rotation, self.position)
        return _Sample((-x, -y, -z), rotation)

    def matrix(self) -> Matrix:
        matrix = np.eye(4)
        matrix[:3, :3] = quaternion_to_rotation(*self.rotation)
        matrix[:3, 3] = self.position
        return matrix


_IDENTITY = _Sample((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass
class _Link:
    """How a frame hangs on its parent: samples by time, or one for all times."""

    parent: str
    static: bool
    stamps: list[int] = field(default_factory=list)
    samples: list[_Sample] = field(default_factory=list)

    def put(self, stamp: int, sample: _Sample, cache: int) -> None:
        if self.static:
            self.stamps, self.samples = [0], [sample]
            return
        if self.stamps and stamp < self.stamps[-1] - cache:
            raise TransformError(
                f"it is {(self.stamps[-1] - stamp) / _SECOND:.3f} s older than the newest sample, "
                f"more than the {cache / _SECOND:g} s that are kept: check the sender's clock, "
                "and clear the buffer if time jumped back"
            )
        index = bisect.bisect_left(self.stamps, stamp)
        if index < len(self.stamps) and self.stamps[index] == stamp:
            self.samples[index] = sample
            return
        self.stamps.insert(index, stamp)
        self.samples.insert(index, sample)
        oldest = self.stamps[-1] - cache
        if self.stamps[0] < oldest:
            expired = bisect.bisect_left(self.stamps, oldest)
            del self.stamps[:expired], self.samples[:expired]

    def at(self, stamp: int) -> _Sample:
        if self.static:
            return self.samples[0]
        index = bisect.bisect_left(self.stamps, stamp)
        if self.stamps[index] == stamp:
            return self.samples[index]
        earlier, later = self.stamps[index - 1], self.stamps[index]
        share = (stamp - earlier) / (later - earlier)
        return interpolate(self.samples[index - 1], self.samples[index], share)


def interpolate(first: _Sample, second: _Sample, share: float) -> _Sample:
    """Return the sample at a share 0..1 of the way from the first to the second."""
    position = tuple(
        a + share * (b - a) for a, b in zip(first.position, second.position, strict=True)
    )
    return _Sample(position, slerp(first.rotation, second.rotation, share))  # type: ignore[arg-type]


class TransformTree:
    """Frames and their samples. All methods may be called from any thread.

    Args:
        cache_time: [s] for which samples of moving frames are kept
    """

    def __init__(self, cache_time: float = 10.0) -> None:
        if not cache_time > 0:
            raise ValueError(f"cache_time is {cache_time} s: give a positive number")
        self._cache = round(cache_time * _SECOND)
        self._links: dict[str, _Link] = {}
        self._frames: set[str] = set()
        self._lock = threading.Lock()

    def set(
        self,
        parent: str,
        child: str,
        stamp: int,
        position: Vector,
        rotation: Quaternion,
        *,
        static: bool = False,
    ) -> None:
        """Take in one sample of ``parent_T_child``.

        Args:
            parent: frame in which the child's pose is given
            child: frame whose pose it is
            stamp: [ns] time of the sample; without meaning where static
            position: [m] of the child's origin in the parent
            rotation: quaternion x, y, z, w of the child in the parent
            static: holds at every time

        A new parent replaces the old one with all its samples, a static sample all moving ones and
        the other way round.

        Raises:
            TransformError: empty or equal names, numbers that are no transform, too old a sample, a
                time that no clock shows
        """
        parent, child = _name(parent), _name(child)
        try:
            if not static:
                _check_clock(stamp)
            sample = _sample(parent, child, position, rotation)
            with self._lock:
                link = self._links.get(child)
                if link is None or link.parent != parent or link.static != static:
                    link = _Link(parent, static)
                link.put(stamp, sample, self._cache)
                if link is not self._links.get(child):
                    self._links[child] = link
                    self._frames.update((parent, child))
        except TransformError as error:
            what = f"{parent} -> {child} at {stamp / _SECOND:.3f} s"
            raise TransformError(f"{what}: {error}") from None

    def clear(self) -> None:
        """Forget the moving frames; the static ones stay."""
        with self._lock:
            self._links = {child: link for child, link in self._links.items() if link.static}
            parents = {link.parent for link in self._links.values()}
            self._frames = parents | set(self._links)

    def frames(self) -> list[str]:
        """Return the names of all known frames, sorted."""
        with self._lock:
            return sorted(self._frames)

    def parent(self, frame: str) -> str | None:
        """Return the parent of a frame, None for a root or an unknown frame."""
        with self._lock:
            link = self._links.get(frame)
            return None if link is None else link.parent

    def lookup(self, target: str, source: str, stamp: int = 0) -> tuple[Matrix, int]:
        """Return ``target_T_source`` and the time [ns] it holds at.

        Args:
            target: frame that the result maps to
            source: frame that the result maps from
            stamp: [ns]; 0: the latest time at which every moving frame on the way is known

        The time is 0 if it was 0 and all frames on the way are static.

        Raises:
            TransformError: unknown frame, frames not connected, or a time out of reach
        """
        target, source = _name(target), _name(source)
        _check_clock(stamp)
        with self._lock:
            for frame in (target, source):
                self._check_known(frame, target, source)
            up, down = self._ways(target, source)
            moving = [frame for frame in (*up, *down) if not self._links[frame].static]
            if stamp == 0 and moving:
                stamp = min(self._links[frame].stamps[-1] for frame in moving)
            for frame in moving:
                self._check_time(frame, stamp, target, source)
            found = self._compose(up, stamp).inverse().then(self._compose(down, stamp))
            return found.matrix(), stamp

    def _check_known(self, frame: str, target: str, source: str) -> None:
        if frame in self._frames:
            return
        near = difflib.get_close_matches(frame, self._frames, n=3, cutoff=0.4)
        if near:
            hint = "nearest: " + ", ".join(near)
        elif self._frames:
            hint = "known: " + ", ".join(sorted(self._frames)[:20])
        else:
            hint = "no transform was received yet: check that their sender runs"
        raise TransformError(
            f"no transform from {source} to {target}: frame {frame!r} is unknown ({hint})"
        )

    def _path(self, frame: str) -> list[str]:
        """Return the frame, its parent, and so on up to the root."""
        path = [frame]
        while (link := self._links.get(path[-1])) is not None:
            path.append(link.parent)
            if len(path) > _MAX_DEPTH or link.parent in path[:-1]:
                loop = " -> ".join(path[-6:])
                raise TransformError(f"the frames form a loop ({loop}): give each one parent only")
        return path

    def _ways(self, target: str, source: str) -> tuple[list[str], list[str]]:
        """Return the frames from target, and from source, up to below their common ancestor."""
        up, down = self._path(target), self._path(source)
        if up[-1] != down[-1]:
            raise TransformError(
                f"no transform from {source} to {target}: they are in unconnected trees, "
                f"{source} below root {down[-1]!r} and {target} below root {up[-1]!r}; "
                f"publish a transform that connects {up[-1]!r} with {down[-1]!r}"
            )
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        return up, down

    def _check_time(self, frame: str, stamp: int, target: str, source: str) -> None:
        link = self._links[frame]
        first, last = link.stamps[0], link.stamps[-1]
        if first <= stamp <= last:
            return
        future = stamp > last
        distance = (stamp - last if future else first - stamp) / _SECOND
        raise TransformError(
            f"no transform from {source} to {target} at {stamp / _SECOND:.6f} s: {link.parent} -> "
            f"{frame} is known from {first / _SECOND:.6f} to {last / _SECOND:.6f} s, extrapolation "
            f"{distance:.6f} s into the {'future' if future else 'past'}; "
            + ("wait for it, or ask for time 0 (the latest)" if future else "ask for a later time")
        )

    def _compose(self, frames: list[str], stamp: int) -> _Sample:
        """Return ``ancestor_T_frame`` of the first of the frames."""
        composed = _IDENTITY
        for frame in frames:
            composed = self._links[frame].at(stamp).then(composed)
        return composed


def _sample(parent: str, child: str, position: Vector, rotation: Quaternion) -> _Sample:
    """What was told of a frame, with a quaternion of length 1.

    Raises:
        TransformError: equal names, or numbers that are no transform
    """
    if parent == child:
        raise TransformError("a frame cannot be its own parent")
    norm = math.hypot(*rotation)
    if not (math.isfinite(norm) and all(map(math.isfinite, position))):
        raise TransformError(f"{position}, {rotation} are not finite numbers")
    if abs(norm - 1.0) > 1e-2:
        raise TransformError(f"quaternion {rotation} has length {norm:.4g}, not 1")
    x, y, z, w = rotation
    return _Sample(position, (x / norm, y / norm, z / norm, w / norm))


def _check_clock(stamp: int) -> None:
    """Refuse what messages can hold, and clocks never show."""
    if not 0 <= stamp < _END:
        raise TransformError(f"{stamp / _SECOND:.3f} s is no time of a clock")


def _name(frame: str) -> str:
    name = frame.removeprefix("/")
    if not name:
        raise TransformError("a frame's name is empty: give the name of a frame")
    return name
