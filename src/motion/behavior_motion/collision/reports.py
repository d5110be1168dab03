# SPDX-License-Identifier: Apache-2.0
"""What collision checks answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CollisionReport:
    """What touches what."""

    pairs: tuple[tuple[str, str, float], ...] = ()
    """Names of link or object, and penetration depth [m], deepest first."""
    limits: tuple[str, ...] = ()
    """Joints outside their limits, in words."""

    @property
    def ok(self) -> bool:
        """True where nothing touches and all joints are within their limits."""
        return not self.pairs and not self.limits

    @property
    def text(self) -> str:
        """The report as a sentence."""
        if self.ok:
            return "free of collision"
        touching = [f"{a!r} and {b!r} overlap by {1e3 * d:.1f} mm" for a, b, d in self.pairs[:3]]
        if len(self.pairs) > 3:
            touching.append(f"{len(self.pairs) - 3} more pairs collide")
        return "; ".join((*self.limits, *touching))


@dataclass(frozen=True)
class DistanceReport:
    """The closest pair."""

    distance: float
    """Distance [m]; negative: penetration; infinity where nothing can collide."""
    pair: tuple[str, str] | None
    """Names of link or object."""
