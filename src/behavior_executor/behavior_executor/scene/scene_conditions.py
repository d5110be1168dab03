# SPDX-License-Identifier: Apache-2.0
"""Conditions about the scene, answered within the tick from the one snapshot that all nodes see.

Each writes its value to an output port, whatever the answer, so that it can be watched while a tree
is written, and says in words why it failed. What needs points of a camera, or shall wait until it
is so, goes to the scene by an action instead: see ``ShapeContainsPoints`` and ``WaitForProximity``
in ``config/nodes.yaml``.
"""

from __future__ import annotations

import enum
import math
from typing import ClassVar

import numpy as np
from geometry_msgs.msg import Pose, PoseStamped

from behavior_executor.scene.scene_nodes import Scene
from behavior_executor.scene_view import Matrix, SceneBody
from behavior_motion.collision.convex import ConvexShape, convex_shape, gap_above, signed_distance
from behavior_motion.errors import MotionError
from behavior_ros import matrix_to_pose, pose_to_matrix
from behavior_ros.messages.field_values import message_from_text
from behavior_tree import (
    BidirectionalPort,
    ConditionNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    OutputPort,
    PortInfo,
    ports_list,
    register_converter,
)
from behavior_tree.blackboard.ports import is_pointer

CONTACT_TOLERANCE = 0.015
"""[m] gap or overlap between two objects that are said to lie on each other, as in the scene."""


# Poses in XML as text, with or without nodes made from interfaces.
register_converter(Pose, lambda text: message_from_text(Pose, text))


class Unanswerable(Exception):
    """The scene cannot tell; the text says why."""


class SceneCondition(ConditionNode):
    """Base: SUCCESS where :meth:`holds`, else FAILURE with the reason that it gave."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, as the factory does; ``scene`` is where it looks."""
        super().__init__(name, config)
        self._scene = scene

    def tick(self) -> NodeStatus:
        """Look."""
        self.set_failure_reason("")
        try:
            yes, text = self.holds()
        except (Unanswerable, MotionError) as error:
            yes, text = False, str(error)
        if yes:
            return NodeStatus.SUCCESS
        self.set_failure_reason(text)
        return NodeStatus.FAILURE

    def holds(self) -> tuple[bool, str]:
        """Whether it is so, and how it is in words.

        Raises:
            Unanswerable: the scene cannot tell.
        """
        raise NotImplementedError

    def body(self, port: str) -> SceneBody:
        """The object that a port names; raises Unanswerable unless the scene has it."""
        name, snapshot = self.get_input(port), self._scene.snapshot
        if snapshot is None:
            raise Unanswerable("no fresh scene: do the camera and the scene node run?")
        if name not in snapshot.bodies:
            known = ", ".join(sorted(snapshot.bodies)) or "nothing"
            raise Unanswerable(f"the scene has no '{name}'; it has {known}")
        return snapshot.bodies[name]

    def place(self, port: str) -> Matrix:
        """Where the object or frame is that a port names, 4x4 in the frame of the scene [m].

        Raises:
            Unanswerable: it is not known, or the object is lost.
        """
        return self.place_of(self.get_input(port))

    def place_of(self, name: str) -> Matrix:
        """Where an object or frame of this name is; see :meth:`place`."""
        snapshot = self._scene.snapshot
        if snapshot is None:
            raise Unanswerable("no fresh scene: do the camera and the scene node run?")
        if name in snapshot.bodies:
            body = snapshot.bodies[name]
            if body.lost:
                raise Unanswerable(
                    f"{name} is lost: last seen {snapshot.stamp - body.last_seen:.1f} s ago"
                )
            return body.pose
        pose = self._scene.frame_pose(name)
        if pose is None:
            known = ", ".join(sorted(snapshot.bodies)) or "none"
            raise Unanswerable(
                f"'{name}' is no object ({known}), and no frame that is known on /tf so far"
            )
        return pose

    def within(self, value: float, what: str, unit: str) -> tuple[bool, str]:
        """Whether a value lies within the ports ``minimum`` and ``maximum``."""
        self.set_output("value", value)
        low, high = self.get_input("minimum"), self.get_input("maximum")
        return low <= value <= high, f"{what} {value:.3f} {unit}, not {low:g}..{high:g} {unit}"


def _object_port(what: str = "object of the scene") -> PortInfo:
    return InputPort("object_name", str, description=what)


def _value_port(what: str) -> PortInfo:
    return OutputPort("value", float, description=what)


class DistanceType(enum.Enum):
    """Which part of an offset counts."""

    XYZ = "XYZ"
    """All of it."""
    XY = "XY"
    """Horizontally."""
    Z = "Z"
    """Difference in height, never negative."""


def distance(first: Matrix, second: Matrix, kind: DistanceType) -> float:
    """Distance of two poses [m]."""
    x, y, z = (float(part) for part in first[:3, 3] - second[:3, 3])
    if kind is DistanceType.XY:
        return math.hypot(x, y)
    return abs(z) if kind is DistanceType.Z else math.hypot(x, y, z)


class FrameCondition(SceneCondition):
    """Base of the conditions that also know frames which are no objects."""

    frame_ports: ClassVar[tuple[str, ...]] = ("object_name",)
    """Inputs that name an object or frame."""

    def __init__(self, name: str, config: NodeConfig, scene: Scene) -> None:
        """Make the node, and have frames received from now on."""
        super().__init__(name, config, scene)
        texts = [config.input_ports.get(port, "") for port in self.frame_ports]
        scene.receive_frames(*(text for text in texts if text and not is_pointer(text)))


class Proximity(FrameCondition):
    """Tells whether the distance of two objects or frames lies within bounds."""

    frame_ports = ("object_name", "reference")
    ports = ports_list(
        _object_port("object or frame"),
        InputPort("reference", str, description="second object or frame"),
        InputPort("distance_type", DistanceType, default=DistanceType.XYZ, description="part"),
        InputPort("minimum", float, default=0.0, description="[m]"),
        InputPort("maximum", float, default=1.0, description="[m]"),
        _value_port("distance [m]"),
    )

    def holds(self) -> tuple[bool, str]:
        """Measure."""
        kind = self.get_input("distance_type")
        value = distance(self.place("object_name"), self.place("reference"), kind)
        names = f"{self.get_input('object_name')} and {self.get_input('reference')}"
        return self.within(value, f"{names} are apart by", "m")


class IsReachable(FrameCondition):
    """Tells whether an object is so near to the robot's base that an arm may reach it.

    By distance alone: nothing is planned, and obstacles do not count.
    """

    frame_ports = ("object_name", "base")
    ports = ports_list(
        _object_port("object or frame"),
        InputPort("base", str, description="frame of the arm's base"),
        InputPort("minimum", float, default=0.25, description="[m] from the base"),
        InputPort("maximum", float, default=0.8, description="[m] from the base"),
        _value_port("distance [m]"),
    )

    def holds(self) -> tuple[bool, str]:
        """Measure."""
        value = distance(self.place("object_name"), self.place("base"), DistanceType.XYZ)
        what = f"{self.get_input('object_name')} is away from {self.get_input('base')} by"
        return self.within(value, what, "m")


class ShapeKind(enum.Enum):
    """Kinds of shapes; dimensions [m] in brackets."""

    SPHERE = "sphere"
    """(radius)"""
    BOX = "box"
    """(x, y, z)"""
    CYLINDER = "cylinder"
    """(height along z, radius)"""
    CAPSULE = "capsule"
    """(length of the axis along z without the caps, radius)"""
    CONVEX_MESH = "convex_mesh"
    """(x, y, z of the first corner, of the second, ...)"""


class ShapeContainsFrame(FrameCondition):
    """Tells whether the origin of a frame or object lies in a shape that is fixed to another."""

    frame_ports = ("object_name", "frame")
    ports = ports_list(
        _object_port("object or frame that the shape is fixed to"),
        InputPort("frame", str, description="object or frame that shall be inside"),
        InputPort("shape", ShapeKind, default=ShapeKind.SPHERE, description="kind of shape"),
        InputPort(
            "dimensions",
            list[float],
            default="0.5",
            description="[m] sphere: radius; box: x;y;z; cylinder: height;radius; capsule: "
            "length;radius; convex_mesh: x;y;z of all corners",
        ),
        InputPort("pose", Pose, default="0;0;0", description="[m] of the shape in object_name"),
        _value_port("distance from the shape's surface [m], negative inside"),
    )

    def holds(self) -> tuple[bool, str]:
        """Measure."""
        shape = self._shape()
        pose = self.place("object_name") @ pose_to_matrix(self.get_input("pose"))
        local = np.linalg.inv(pose) @ self.place("frame")
        value = float(signed_distance(shape, local[None, :3, 3])[0])
        self.set_output("value", value)
        where = f"the {self.get_input('shape').value} at {self.get_input('object_name')}"
        return value <= 0.0, f"{self.get_input('frame')} is {value:.3f} m outside {where}"

    def _shape(self) -> ConvexShape:
        kind, numbers = self.get_input("shape"), self.get_input("dimensions")
        if kind is not ShapeKind.CONVEX_MESH:
            return convex_shape(kind.value, numbers)
        if len(numbers) % 3:
            raise Unanswerable(f"dimensions: {len(numbers)} numbers are no x;y;z of corners")
        return convex_shape(kind.value, (), np.reshape(numbers, (-1, 3)))


class ObjectIsVisible(SceneCondition):
    """Tells whether an object was seen lately."""

    ports = ports_list(
        _object_port(),
        InputPort("max_age", float, default=1.0, description="[s] since it was last seen"),
        _value_port("time since it was last seen [s]"),
    )

    def holds(self) -> tuple[bool, str]:
        """Look."""
        value = self._age(self.body("object_name"))
        text = f"{self.get_input('object_name')} was last seen {value:.2f} s ago"
        return value <= self.get_input("max_age"), text

    def _age(self, body: SceneBody) -> float:
        assert self._scene.snapshot is not None
        value = self._scene.snapshot.stamp - body.last_seen
        self.set_output("value", value)
        return value


class ObjectIsStale(ObjectIsVisible):
    """Tells whether an object has not been seen for too long; one that never was fails."""

    def holds(self) -> tuple[bool, str]:
        """Look."""
        value = self._age(self.body("object_name"))
        text = f"{self.get_input('object_name')} was seen {value:.2f} s ago"
        return value > self.get_input("max_age"), text


class ObjectIsHeld(SceneCondition):
    """Tells whether an object moves with a link of the robot."""

    ports = ports_list(
        _object_port(),
        InputPort("link", str, default="", description="which link; empty: any"),
        OutputPort("holder", str, description="link that it moves with; empty: none"),
    )

    def holds(self) -> tuple[bool, str]:
        """Look."""
        body, link = self.body("object_name"), self.get_input("link")
        self.set_output("holder", body.attached_link)
        if not body.attached_link:
            return False, f"{body.name} is not held"
        yes = link in ("", body.attached_link)
        return yes, f"{body.name} is held by {body.attached_link}, not by {link}"


class ObjectMoved(FrameCondition):
    """Tells whether an object has moved from where it was when it was first looked at.

    The port ``origin`` keeps that pose. While its entry is empty, the pose of this tick is written
    there, and the object has not moved; to begin anew, clear the entry.
    """

    ports = ports_list(
        _object_port("object or frame"),
        InputPort("threshold", float, default=0.05, description="[m]"),
        BidirectionalPort("origin", PoseStamped, None, "where it was at first"),
        _value_port("distance from the origin [m]"),
    )

    def holds(self) -> tuple[bool, str]:
        """Compare."""
        name, pose = self.get_input("object_name"), self.place("object_name")
        snapshot = self._scene.snapshot
        assert snapshot is not None
        origin: PoseStamped | None = self.get_input("origin", None)
        if origin is None:
            origin = PoseStamped(pose=matrix_to_pose(pose))
            origin.header.frame_id = snapshot.frame
            if not self.set_output("origin", origin):
                raise Unanswerable(
                    "connect the port origin with a blackboard entry: {where_it_was}"
                )
        if origin.header.frame_id != snapshot.frame:
            raise Unanswerable(
                f"origin is in frame '{origin.header.frame_id}', the scene in '{snapshot.frame}'"
            )
        value = distance(pose, pose_to_matrix(origin.pose), DistanceType.XYZ)
        self.set_output("value", value)
        text = f"{name} has moved by {value:.3f} m only"
        return value > self.get_input("threshold"), text


class IsOnTopOf(SceneCondition):
    """Tells whether an object touches another one from above, its centre above the other."""

    ports = ports_list(
        _object_port("object on top"),
        InputPort("reference", str, description="object below"),
        InputPort("tolerance", float, default=CONTACT_TOLERANCE, description="[m] of contact"),
        _value_port("gap between them [m], negative where they overlap; nan: not above"),
    )

    def holds(self) -> tuple[bool, str]:
        """Measure."""
        upper, lower = self.body("object_name"), self.body("reference")
        gap = gap_above(_shape_of(upper), upper.pose, _shape_of(lower), lower.pose)
        self.set_output("value", math.nan if gap is None else gap)
        if gap is None:
            return False, f"the centre of {upper.name} is not above {lower.name}"
        text = f"{upper.name} is {gap:.3f} m above the surface of {lower.name}"
        return abs(gap) <= self.get_input("tolerance"), text


class IsInside(FrameCondition):
    """Tells whether the centre of an object or frame lies in the shape of an object."""

    ports = ports_list(
        _object_port("object or frame inside"),
        InputPort("reference", str, description="object around it"),
        _value_port("distance from the surface [m], negative inside"),
    )

    def holds(self) -> tuple[bool, str]:
        """Measure."""
        outer = self.body("reference")
        local = np.linalg.inv(outer.pose) @ self.place("object_name")
        value = float(signed_distance(_shape_of(outer), local[None, :3, 3])[0])
        self.set_output("value", value)
        text = f"{self.get_input('object_name')} is {value:.3f} m outside {outer.name}"
        return value <= 0.0, text


def _shape_of(body: SceneBody) -> ConvexShape:
    if body.shape is None:
        raise Unanswerable(f"the scene does not know the shape of {body.name}")
    return body.shape


SCENE_CONDITIONS: tuple[type[SceneCondition], ...] = (
    Proximity,
    IsReachable,
    ShapeContainsFrame,
    ObjectIsVisible,
    ObjectIsStale,
    ObjectIsHeld,
    ObjectMoved,
    IsOnTopOf,
    IsInside,
)
"""All conditions of this module that trees can use."""
