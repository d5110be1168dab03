# SPDX-License-Identifier: Apache-2.0
"""Doors: the panel behind a lever or knob, and the frame that it hangs in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from behavior_scene.derived.base import (
    LEAST_LENGTH,
    Derived,
    DerivedObject,
    NotDerivableError,
    View,
    horizontal_direction,
    nearest,
    upright,
)
from behavior_scene.derived.capsule import count_in_capsule
from behavior_scene.detections import Array
from behavior_scene.tracking.tracks import Track
from behavior_scene.yaml_models import Count, Length

MOST_STEPS = 1000
"""That a latch post is searched in to each side: at each all points near the door are counted."""
LEVEL = 0.2
"""An axis whose vertical part is below this lies level."""


class DoorPanel(DerivedObject):
    """A door's leaf by its mechanism: position of the mechanism, x along the leaf to its middle.

    The mechanism is the one nearest to `viewer`, the panel the one nearest to the mechanism; z is
    up, for the hinge is taken to be vertical. Where the detector tells how
    large and how turned the panel is, x is that level edge of it which is the longer one; else it
    points at the panel's middle, which turns it off by the mechanism's distance from the leaf: 7 cm
    before a leaf of 0.5 m by 30 degrees.
    """

    kind: Literal["door_panel"] = "door_panel"
    viewer: str
    """Frame of the camera."""
    mechanisms: tuple[str, ...] = (
        "door_lever",
        "door_knob",
        "door_push_bar",
        "door_pull_handle",
    )
    panel: str = "door_panel"
    """Class of the panels."""
    maximum_distance: Length = 2.0
    """Between mechanism and panel [m]."""

    def sources(self) -> tuple[str, ...]:
        """The camera; what else it looks at are tracks."""
        return (self.viewer,)

    def compute(self, view: View) -> Derived:
        """See the class."""
        mechanism = nearest(view.tracks(self.mechanisms), view.pose(self.viewer)[:3, 3])
        if mechanism is None:
            raise NotDerivableError(f"no track of {', '.join(self.mechanisms)}")
        at = mechanism.world_T_object[:3, 3]
        panel = nearest(view.tracks([self.panel]), at)
        if panel is None:
            raise NotDerivableError(f"no track of {self.panel}")
        offset = panel.world_T_object[:3, 3] - at
        apart = float(np.linalg.norm(offset))
        if apart > self.maximum_distance:
            raise NotDerivableError(
                f"the nearest {self.panel} is {apart:.2f} m from {mechanism.name}, more than "
                f"{self.maximum_distance:g} m"
            )
        along = _along_leaf(panel, offset)
        if along is None:
            along = horizontal_direction(offset, f"{mechanism.name} and {panel.name}")
        return Derived(upright(at, math.atan2(along[1], along[0])))


def _along_leaf(panel: Track, offset: Array) -> Array | None:
    """Unit vector (3,) along a leaf, to the side of `offset` [m]; None: nobody knows."""
    pose, edges = panel.world_T_object, np.array(panel.size)
    level = [axis for axis in range(3) if abs(pose[2, axis]) < LEVEL]
    if len(level) != 2 or not edges.all():
        return None
    edge = pose[:3, max(level, key=lambda axis: float(edges[axis]))]
    way = float(edge[:2] @ offset[:2])
    if abs(way) < LEAST_LENGTH:
        return None
    return horizontal_direction(edge * np.sign(way), "both ends of the leaf")


class DoorFrame(DerivedObject):
    """The frame of a door, by its latch post; origin at the hinge, x towards the latch post.

    `panel` is a frame at the mechanism whose x points along the leaf to the hinge, as `door_panel`
    gives it. The hinge is assumed `hinge_distance` along it; with the door shut the latch post is
    `post_distance` beyond the mechanism. An upright capsule is swung from there about the hinge, to
    both sides in turn in steps of `swing_step`, until it holds `min_post_points`. The angle between
    leaf and post tells how far the door is open: not more than `shut_angle`: shut; with the leaf on
    `viewer`'s side of the frame: a door to pull, else one to push. The
    sign of the angle would tell the side for hinges on the left only.
    """

    kind: Literal["door_frame"] = "door_frame"
    uses_points: ClassVar[bool] = True
    panel: str
    viewer: str
    """Frame on the side from which the door is pulled or pushed."""
    hinge_distance: Length = 0.8
    post_distance: Length = 0.16
    radius: Length = 0.05
    half_length: Length = 0.2
    """Of the capsule's axis, above and below the mechanism [m]."""
    min_post_points: Count = 1000
    swing_step: Length = math.pi / 64
    """[rad]"""
    swing_limit: Length = math.pi / 2
    """[rad]"""
    shut_angle: Length = math.radians(7.0)
    """[rad]"""

    @model_validator(mode="after")
    def _not_too_fine(self) -> Self:
        if self.swing_limit > MOST_STEPS * self.swing_step:
            raise ValueError(
                f"swing_limit {self.swing_limit:g} takes more than {MOST_STEPS} steps of "
                f"swing_step {self.swing_step:g}"
            )
        return self

    def sources(self) -> tuple[str, ...]:
        """The panel and the viewer."""
        return (self.panel, self.viewer)

    def compute(self, view: View) -> Derived:
        """See the class."""
        panel = view.pose(self.panel)
        to_hinge = horizontal_direction(panel[:3, 0], f"the x axis of '{self.panel}' and gravity")
        hinge = panel[:3, 3] + self.hinge_distance * to_hinge
        shut_yaw = math.atan2(-to_hinge[1], -to_hinge[0])
        angle = self._post_angle(view.points(), hinge, shut_yaw)
        frame = upright(hinge, shut_yaw + angle)
        if abs(angle) <= self.shut_angle:
            return Derived(frame, text="shut")
        normal = frame[:3, 1]
        leaf_side = -float(normal @ to_hinge)
        viewer_side = float(normal @ (view.pose(self.viewer)[:3, 3] - hinge))
        way = "pull" if leaf_side * viewer_side > 0.0 else "push"
        return Derived(frame, text=f"{way} door, {math.degrees(abs(angle)):.0f} deg open")

    def _post_angle(self, points: Array, hinge: Array, shut_yaw: float) -> float:
        """Angle from the leaf to the post [rad]; raises `NotDerivableError`."""
        reach = self.hinge_distance + self.post_distance
        local = points - hinge
        # Only this ring about the hinge can be in any of the capsules.
        ring = np.abs(np.hypot(local[:, 0], local[:, 1]) - reach) <= self.radius
        local = local[ring & (np.abs(local[:, 2]) <= self.half_length + self.radius)]
        for angle in self._angles():
            yaw = shut_yaw + angle
            center = (reach * math.cos(yaw), reach * math.sin(yaw))
            inside = count_in_capsule(
                local, center, self.radius, -self.half_length, self.half_length
            )
            if inside >= self.min_post_points:
                return angle
        raise NotDerivableError(
            f"no latch post {reach:.2f} m from the hinge of '{self.panel}': nowhere up to "
            f"{math.degrees(self.swing_limit):.0f}° {self.min_post_points} points"
        )

    def _angles(self) -> Iterator[float]:
        yield 0.0
        for step in range(1, int(self.swing_limit / self.swing_step + 1e-9) + 1):
            yield step * self.swing_step
            yield -step * self.swing_step
