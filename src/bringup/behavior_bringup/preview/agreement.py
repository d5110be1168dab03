# SPDX-License-Identifier: Apache-2.0
"""How well an execution agrees with its preview, in sentences. No ROS."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from behavior_bringup.preview.differences import Tolerances, differences
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.report import Preview

ENDS = Tolerances(distance=0.02, angle=math.inf, joint=0.05, base=0.15, seen=False)
"""Up to where two ends count as equal: detections and contacts differ from run to run, and an
object may be symmetrical."""


def agreement(preview: Preview, duration: float, end: LiveState) -> Iterator[str]:
    """What to say of a mission that took so long [s] and ended so."""
    share = duration / preview.duration - 1.0 if preview.duration > 0.0 else math.inf
    yield f"It took {duration:.1f} s; the preview {preview.duration:.1f} s ({share:+.1%})."
    if preview.end.base is not None and end.base is not None:
        apart = math.dist(preview.end.base.pose[:2], end.base.pose[:2])
        yield f"The robot ended {1e3 * apart:.0f} mm from its preview."
    else:
        yield f"Objects ended {1e3 * farthest(preview.end, end):.0f} mm from their preview at most."
    for line in differences(preview.end, end, ENDS):
        yield f"Ended otherwise than previewed: {line}."


def farthest(previewed: LiveState, real: LiveState) -> float:
    """The greatest distance between the places of an object [m]; 0 without common objects."""
    return max(
        (
            float(np.linalg.norm(real.objects[name].pose[:3, 3] - item.pose[:3, 3]))
            for name, item in previewed.objects.items()
            if name in real.objects
        ),
        default=0.0,
    )
