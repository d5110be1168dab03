# SPDX-License-Identifier: Apache-2.0
"""An object that moves with a link: how it sits in it, and when it is let go.

How the object sits is found once, from a pose of the object and the link's pose *of the same
time*:

- An object seen shortly before it was attached: the detection, with the link at the detection's
  time. The object may have been lifted since.
- An object last seen earlier, or frozen (the hand hides it): it rested until it was grasped, so
  its resting pose, with the link where it came nearest to it.

Poses of links may arrive after the images, so this may have to wait. It never takes a detection
made after the object was attached: that one may show the object where somebody put it since. An
object that is found to sit further from the link than a hand reaches is not held at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from behavior_scene.detections import Array, frozen

LinkPose = Callable[[str, float | None], Array | None]
"""world_T_link (4x4) of a link at a time [s] (None: newest), or None if it is not known (yet)."""

REMEMBERED = 10
"""Number of detections that wait for the link's pose of their time."""
_STEP = 0.1
"""[s] between the poses of the link among which the nearest is looked for."""


@dataclass(frozen=True, slots=True)
class AttachmentRules:
    """Times [s] and lengths [m]."""

    tolerance: float = 0.05
    """An object seen further than this from where the link holds it has left the link ..."""
    confirmations: int = 2
    """... when this many detections in a row, near each other, say so."""
    reach: float = 0.3
    """An object whose surface is further than this from the link's origin is not held by it."""
    recent: float = 0.5
    """A detection at most this much older than the attachment may show the object being moved."""
    lookback: float = 8.0
    """The grasp is looked for this long before the attachment."""
    patience: float = 5.0
    """How long the link's pose of the right time is waited for; then the newest counts. Poses of a
    simulation that runs fast on a busy machine come seconds late."""


@dataclass(slots=True)
class Attachment:
    """One object in one link; see the module's text."""

    link: str
    since: float
    """When it was attached [s]."""
    resting: Array
    """world_T_object as it was last known before."""
    seen: float
    """Time of `resting`: of the detection, or when the object was frozen [s]."""
    at_rest: bool
    """It was frozen: whatever moved since, it was not the object."""
    size: float
    """Radius of the sphere around the object [m]."""
    rules: AttachmentRules
    link_T_object: Array | None = None
    _unchecked: deque[tuple[float, Array]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    _images: deque[tuple[float, list[Array]]] = field(
        default_factory=lambda: deque(maxlen=REMEMBERED)
    )
    """Positions of all detections of the class, image by image."""
    _elsewhere: list[Array] = field(default_factory=list)
    """Those away from the link in the image before."""
    _missed: int = 0
    _disagreements: int = 0
    _disagreeing: Array | None = None

    def complete(self, link_pose: LinkPose, now: float) -> str:
        """Find how the object sits, if that can be told now; returns why it is let go, or ''."""
        if self.link_T_object is not None:
            return ""
        link_then = self._link_at_grasp(link_pose)
        if link_then is None:
            if now - self.since <= self.rules.patience:
                return ""
            link_then = link_pose(self.link, None)
            if link_then is None:
                return f"the pose of '{self.link}' is not known"
        sits = np.linalg.solve(link_then, self.resting)
        apart = float(np.linalg.norm(sits[:3, 3]))
        if apart > self.rules.reach + self.size:
            return f"it is {apart:.2f} m away from '{self.link}', too far to be held"
        self.link_T_object = frozen(sits)
        return ""

    def note(self, stamp: float, pose: Array) -> None:
        """Take in a detection of the object made since it was attached."""
        if stamp > self.since:
            self._unchecked.append((stamp, pose))

    def note_image(self, stamp: float, positions: list[Array]) -> None:
        """Take in where an image shows things of the object's class [m], this one or others."""
        if stamp > self.since:
            self._images.append((stamp, positions))

    def check(self, link_pose: LinkPose, gate: float, instances: int) -> str:
        """Compare what was noted with the link, each at its own time, once that is known.

        Args:
            link_pose: where the link is when.
            gate: detections further apart than this show different things [m].
            instances: how many things of the object's class there are; 0: nobody knows.

        Returns:
            Why the object is let go, or ''.
        """
        while (held := self._held(link_pose, self._unchecked)) is not None:
            _, seen = self._unchecked.popleft()
            if self._disagrees(held, seen, gate):
                apart = _apart(seen[:3, 3], held[:3, 3])
                return f"it was seen {apart:.2f} m away from where '{self.link}' would hold it"
        while (held := self._held(link_pose, self._images)) is not None:
            _, positions = self._images.popleft()
            if instances > 0 and self._all_elsewhere(held, positions, gate, instances):
                return f"all {instances} of its class are seen away from '{self.link}'"
        return ""

    def _held(self, link_pose: LinkPose, noted: deque[Any]) -> Array | None:
        """Where the link held the object at the time of the first of `noted`, if that is known."""
        if not noted or self.link_T_object is None:
            return None
        link_then = link_pose(self.link, noted[0][0])
        return None if link_then is None else np.asarray(link_then @ self.link_T_object)

    def _all_elsewhere(
        self, held: Array, positions: list[Array], gate: float, instances: int
    ) -> bool:
        """Count an image; True when enough of them show all instances at other places.

        Only what two images show at the same place counts: a single detection may be false. What
        is nearer to another one than the object is large is that one again, reported twice. An
        image that shows one where the link holds it shows the object, whatever else it takes for
        such things.
        """
        away: list[Array] = []
        for at in positions:
            if _apart(at, held[:3, 3]) <= gate + self.rules.tolerance:
                self._elsewhere, self._missed = [], 0
                return False
            if all(_apart(at, other) > self.size for other in away):
                away.append(at)
        again = sum(any(_apart(at, old) <= gate for old in self._elsewhere) for at in away)
        self._elsewhere = away
        self._missed = self._missed + 1 if again >= instances else 0
        return self._missed >= max(self.rules.confirmations - 1, 1)

    def _disagrees(self, held: Array, seen: Array, gate: float) -> bool:
        """Count a detection; True when enough of them in a row disagree."""
        if _apart(held[:3, 3], seen[:3, 3]) <= self.rules.tolerance:
            self._disagreements, self._disagreeing = 0, None
            return False
        before, self._disagreeing = self._disagreeing, seen[:3, 3]
        same = before is not None and _apart(before, self._disagreeing) <= gate
        self._disagreements = self._disagreements + 1 if same else 1
        return self._disagreements >= self.rules.confirmations

    def _link_at_grasp(self, link_pose: LinkPose) -> Array | None:
        if not self.at_rest and self.since - self.seen <= self.rules.recent:
            return link_pose(self.link, self.seen)
        if link_pose(self.link, self.since) is None:
            return None
        begin = max(self.seen, self.since - self.rules.lookback)
        times = np.linspace(self.since, begin, max(int((self.since - begin) / _STEP), 1) + 1)
        known = [pose for t in times if (pose := link_pose(self.link, float(t))) is not None]
        return min(known, key=lambda pose: _apart(pose[:3, 3], self.resting[:3, 3]))


def _apart(first: Array, second: Array) -> float:
    return float(np.linalg.norm(first - second))
