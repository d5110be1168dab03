# SPDX-License-Identifier: Apache-2.0
"""Mean colours in HSV, and ranges that they shall lie in.

Hue is an angle, so its mean is that of vectors: every point counts with its chroma (the larger of
its red, green and blue less the smallest), because the hue of a grey point is noise. Saturation and
value are plain means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GREY = 1e-9
"""Mean chroma, 0..1, below which a colour has no hue."""


@dataclass(frozen=True, slots=True)
class Hsv:
    """A colour."""

    hue: float
    """[deg] 0..360; NaN: grey, or colours all round the circle."""
    saturation: float
    """0..1."""
    value: float
    """0..1."""

    def __str__(self) -> str:
        """Short text."""
        hue = "no hue" if math.isnan(self.hue) else f"hue {self.hue:.0f} deg"
        return f"{hue}, saturation {self.saturation:.2f}, value {self.value:.2f}"


@dataclass(frozen=True, slots=True)
class HsvRange:
    """Bounds of a colour; a hue range whose minimum exceeds its maximum runs through 0.

    Raises:
        ValueError: a bound that is not finite, a saturation or value whose minimum exceeds its
            maximum, or a hue outside 0..360.
    """

    hue_min: float = 0.0
    """[deg]."""
    hue_max: float = 360.0
    saturation_min: float = 0.0
    saturation_max: float = 1.0
    value_min: float = 0.0
    value_max: float = 1.0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("saturation", self.saturation_min, self.saturation_max),
            ("value", self.value_min, self.value_max),
        ):
            if not low <= high:
                raise ValueError(
                    f"color: {name} from {low:g} to {high:g} holds nothing; give min <= max in 0..1"
                )
        for hue in (self.hue_min, self.hue_max):
            if not 0.0 <= hue <= 360.0:
                raise ValueError(f"color: hue {hue:g} is no angle in 0..360 [deg]")

    def contains(self, color: Hsv) -> bool:
        """Whether a colour lies within; one without hue only where every hue does."""
        return (
            self._holds_hue(color.hue)
            and self.saturation_min <= color.saturation <= self.saturation_max
            and self.value_min <= color.value <= self.value_max
        )

    def _holds_hue(self, hue: float) -> bool:
        if self.hue_min == 0.0 and self.hue_max == 360.0:
            return True
        if self.hue_min <= self.hue_max:
            # 0 and 360 are the same angle.
            return self.hue_min <= hue <= self.hue_max or self.hue_min <= hue + 360.0 <= (
                self.hue_max
            )
        return hue >= self.hue_min or hue <= self.hue_max

    def __str__(self) -> str:
        """Short text."""
        return (
            f"hue {self.hue_min:g}..{self.hue_max:g} deg,"
            f" saturation {self.saturation_min:g}..{self.saturation_max:g},"
            f" value {self.value_min:g}..{self.value_max:g}"
        )


def mean_of_sums(
    count: int, cosine: float, sine: float, saturation: float, value: float
) -> Hsv | None:
    """Mean colour of points.

    Args:
        count: number of points.
        cosine: sum of chroma (0..1) times the cosine of the hue.
        sine: sum of chroma times the sine of the hue.
        saturation: sum of saturations.
        value: sum of values.

    Returns:
        The mean, None without points.
    """
    if count == 0:
        return None
    if math.hypot(cosine, sine) <= GREY * count:
        hue = math.nan
    else:
        hue = math.degrees(math.atan2(sine, cosine)) % 360.0
    return Hsv(hue, saturation / count, value / count)


def mean_color(packed: NDArray[np.uint32]) -> Hsv | None:
    """Mean colour of points ``0x..RRGGBB``, None without points."""
    red, green, blue = (((packed >> shift) & 255) / 255.0 for shift in (16, 8, 0))
    largest = np.maximum(np.maximum(red, green), blue)
    chroma = largest - np.minimum(np.minimum(red, green), blue)
    some, full = np.where(chroma > 0, chroma, 1.0), np.where(largest > 0, largest, 1.0)
    sixth = np.where(
        largest == red,
        (green - blue) / some,
        np.where(largest == green, 2.0 + (blue - red) / some, 4.0 + (red - green) / some),
    )
    angle = sixth * (math.pi / 3.0)
    return mean_of_sums(
        packed.size,
        float((chroma * np.cos(angle)).sum()),
        float((chroma * np.sin(angle)).sum()),
        float((chroma / full).sum()),
        float(largest.sum()),
    )
