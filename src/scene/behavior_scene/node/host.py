# SPDX-License-Identifier: Apache-2.0
"""What the parts of the scene node share: the scene, the frames, and when it is shown.

The node is a composition: each part gets the host, declares its own parameters and interfaces, and
looks at the scene in the executor's thread only. A part that shows something calls
:meth:`SceneHost.on_snapshot`; a part that changes the scene calls :meth:`SceneHost.publish`
afterwards and answers then, so that everybody who listens gets the change before the answer, or
can wait for its revision.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.time import Time

from behavior_ros import (
    ParameterSpec,
    TransformError,
    create_transform_buffer,
    declare_all,
    seconds,
    to_time,
)
from behavior_ros.node.resting_timer import RestingTimer
from behavior_scene.clouds.color import Hsv
from behavior_scene.detections import Array
from behavior_scene.library import LibraryError, ObjectLibrary, load_library
from behavior_scene.memory.store import SceneMemory, StorageError
from behavior_scene.objects.attachment import AttachmentRules
from behavior_scene.objects.definitions import DefinitionError, definitions_from
from behavior_scene.objects.scene import Scene, SceneParameters
from behavior_scene.objects.scene_lookup import PointsProvider
from behavior_scene.objects.snapshot import Snapshot
from behavior_scene.questions.shown_shapes import ShownShapes
from behavior_scene.tracking.tracks import Track
from behavior_tree.shown_text import named, reason_text, visible

_DEFAULTS = SceneParameters()
REVISIONS_PER_SECOND = 2**16
"""More changes than that a scene never sees, so the revisions of a node that is started again go on
above those of the one before. Below 2^53, which scripts of trees count exactly."""
PARAMETERS = [
    ParameterSpec("frame", "world", "fixed frame of all objects"),
    ParameterSpec("library", "", "YAML file of the object library; empty: accept every class"),
    ParameterSpec(
        "stale_after", _DEFAULTS.stale_after, "[s] unseen for longer: STALE", range=(0.05, 3600.0)
    ),
    ParameterSpec(
        "lost_after", _DEFAULTS.lost_after, "[s] unseen for longer: LOST", range=(0.05, 3600.0)
    ),
    ParameterSpec(
        "attached_tolerance",
        _DEFAULTS.attachment.tolerance,
        "[m] a held object seen further from the hand than this has left it",
        range=(0.001, 1.0),
    ),
    ParameterSpec(
        "maximum_age", _DEFAULTS.maximum_age, "[s] older images are refused", range=(0.01, 60.0)
    ),
    ParameterSpec(
        "automatic_objects",
        _DEFAULTS.automatic,
        "tracks become objects by themselves; false: objects must be set up",
    ),
    ParameterSpec(
        "minimum_history",
        _DEFAULTS.minimum_history,
        "detections that a track must have for an object to be set up on it",
        range=(1, 10000),
    ),
    ParameterSpec("publish_rate", 40.0, "[Hz] at most", range=(0.1, 100.0)),
    ParameterSpec("idle_period", 0.5, "[s] publish at least this often", range=(0.05, 10.0)),
]

LONGEST_LOGGED = 10_000
"""[characters] of one entry of the log."""
MeanColor = Callable[[Array, tuple[float, float, float]], Hsv | None]
"""Of the points in a box, by its pose in the fixed frame and its edges [m]; None: not known."""
Then = Callable[[Any, Exception | None], None]
RunOnMemory = Callable[[Callable[[SceneMemory], Any], Then], None]
"""Gets work on the memory, and what gets its result or error in the executor's thread."""


def _no_memory(work: Callable[[SceneMemory], Any], then: Then) -> None:
    then(None, StorageError("this node keeps no memory"))


class SceneHost:
    """The scene of one node; see the module's text."""

    def __init__(self, node: Node) -> None:
        self.node = node
        values = declare_all(node, PARAMETERS)
        self.frame: str = values["frame"]
        """Fixed frame of all objects."""
        self.points: PointsProvider = lambda: None
        """What objects that are found in points look at; the part that receives clouds sets it."""
        self.mean_color: MeanColor = lambda world_T_box, size: None
        """Mean colour of the points in a box; the part that receives clouds sets it."""
        self.run_on_memory: RunOnMemory = _no_memory
        """Has work done on the memory; the part that keeps the memory sets it."""
        self.shown_shapes = ShownShapes()
        """Shapes that were asked about, for whoever draws them."""
        self._period = 1.0 / values["publish_rate"]
        self._idle_period: float = values["idle_period"]
        self._shown: Snapshot | None = None
        self._changed = False
        self._listeners: list[Callable[[Snapshot], None]] = []
        self._identity = np.eye(4)
        self._transforms = create_transform_buffer(node)
        self.scene = Scene(
            self._library(values["library"]),
            self.link_pose,
            SceneParameters(
                stale_after=values["stale_after"],
                lost_after=values["lost_after"],
                attachment=AttachmentRules(tolerance=values["attached_tolerance"]),
                maximum_age=values["maximum_age"],
                automatic=values["automatic_objects"],
                minimum_history=values["minimum_history"],
            ),
            cloud=self._newest_points,
            color_of=self._measured_color,
            log=self._log,
            first_revision=int(time.time()) * REVISIONS_PER_SECOND,
        )
        node.create_timer(self._idle_period, self._on_idle)
        # The last change before a silence is shown too, not only what comes after a period.
        self._late = RestingTimer(node, self._period, self._publish_late)

    def now(self) -> float:
        """Node time [s]."""
        return seconds(self.node.get_clock().now())

    def on_snapshot(self, listener: Callable[[Snapshot], None]) -> None:
        """Have `listener` called with every snapshot that is published."""
        self._listeners.append(listener)

    def snapshot(self) -> Snapshot:
        """All objects now."""
        return self.scene.snapshot(self.now())

    def publish(self) -> Snapshot:
        """Publish the scene as it is now; returns what was published."""
        shown = self._shown = self.snapshot()
        self._changed = False
        for listener in self._listeners:
            listener(shown)
        return shown

    def publish_soon(self) -> None:
        """Publish the scene, but not more often than `publish_rate`."""
        self._changed = True
        if self.now() - self._shown_at() >= 0.9 * self._period:
            self.publish()
        elif self._late.resting:
            self._late.start()

    def _shown_at(self) -> float:
        """Time of the newest published snapshot [s]."""
        return -np.inf if self._shown is None else self._shown.stamp

    def publish_changes(self) -> None:
        """Publish now what is to be published soon: somebody waits for it."""
        if self._changed:
            self.publish()

    def _publish_late(self) -> None:
        self._late.rest()
        if self._changed:
            self.publish_soon()

    def _on_idle(self) -> None:
        now = self.now()
        if not 0.0 <= now - self._shown_at() < self._idle_period:
            self.publish()

    def detector_pose(self, frame: str, stamp: float) -> Array | None:
        """Pose of a detector's frame at a time, or None."""
        if frame != self.frame and not np.isfinite(stamp):
            return None
        return self.link_pose(frame, stamp)

    def link_pose(self, link: str, stamp: float | None) -> Array | None:
        """world_T_link at a time [s] (None: newest), or None; the fixed frame costs no lookup."""
        if link == self.frame:
            return self._identity
        if stamp is not None and stamp < 0.0:
            return None  # messages can hold such times, clocks and transforms cannot
        time = Time.from_msg(to_time(stamp)) if stamp else None
        try:
            matrix: Array = self._transforms.lookup_matrix(self.frame, link, time)
        except TransformError:
            return None
        return matrix

    def unknown_object(self, name: str) -> str:
        """What to say when there is no object of this name."""
        known = named(self.snapshot().objects)
        return (
            f"Object '{visible(name)}' is not in the scene. Known are {known}; see that it is in "
            "view."
        )

    def unknown_link(self, link: str) -> str:
        """What to say when the pose of a link is not known."""
        return (
            f"The pose of link '{visible(link)}' in '{self.frame}' is not known. Give a frame "
            "that is on /tf and see that the robot_state_publisher runs."
        )

    def _newest_points(self) -> tuple[Array, float] | None:
        return self.points()

    def _measured_color(self, track: Track) -> Hsv | None:
        shape = track.object_class.shape
        x, y, z = track.newest.size if shape is None else (2.0 * h for h in shape.half_extents)
        return self.mean_color(track.world_T_object, (x, y, z))

    def _library(self, path: str) -> ObjectLibrary:
        if not path:
            return ObjectLibrary()
        try:
            library = load_library(path)
            definitions_from(library.objects, path)
            return library
        except (LibraryError, DefinitionError) as error:
            self.log_error(f"{error} Going on without it: every class is accepted.")
            return ObjectLibrary()

    def _log(self, text: str) -> None:
        logger: Any = self.node.get_logger()
        logger.info(reason_text(text))

    def log_error(self, text: str) -> None:
        """Log an error; characters that move a cursor are written out."""
        logger: Any = self.node.get_logger()
        logger.error(visible(text, LONGEST_LOGGED, lines=True))
