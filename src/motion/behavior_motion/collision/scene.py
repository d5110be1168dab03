# SPDX-License-Identifier: Apache-2.0
"""What surrounds the robot and what it holds, and which pairs may touch.

The scene is a plain record: no geometry library, no robot motion. Planners read immutable
snapshots of it, so it may be changed from one thread while another plans.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from behavior_motion.checks import Matrix, as_pose, at_most
from behavior_motion.collision.shapes import HalfSpace, HeightField, Shape
from behavior_motion.errors import ErrorCode, MotionError, UnknownNameError, known
from behavior_motion.limits import MOST_OBJECTS
from behavior_motion.robot.model import RobotModel


def is_pattern(name: str) -> bool:
    """Whether a name of a rule is an fnmatch pattern."""
    return any(c in name for c in "*?[")


@dataclass(frozen=True)
class WorldObject:
    """An object that does not move with the robot."""

    shape: Shape
    world_T_object: Matrix


@dataclass(frozen=True)
class AttachedObject:
    """An object that moves with a link."""

    shape: Shape
    link: str
    link_T_object: Matrix
    touch_links: tuple[str, ...]
    """Links that may touch it."""


@dataclass(frozen=True)
class CollisionRule:
    """Names or fnmatch patterns of two parties that may, or may not, touch."""

    a: str
    b: str
    allowed: bool

    @property
    def is_pattern(self) -> bool:
        """Whether it speaks of more than one pair of names."""
        return is_pattern(self.a) or is_pattern(self.b)

    def matches(self, x: str, y: str) -> bool:
        """True where the rule speaks of the pair, in either order."""
        return (fnmatchcase(x, self.a) and fnmatchcase(y, self.b)) or (
            fnmatchcase(x, self.b) and fnmatchcase(y, self.a)
        )


@dataclass(frozen=True)
class SceneSnapshot:
    """Immutable state of a scene."""

    objects: Mapping[str, WorldObject] = field(default_factory=dict)
    attached: Mapping[str, AttachedObject] = field(default_factory=dict)
    rules: tuple[CollisionRule, ...] = ()
    revision: int = 0
    """Counts every change."""
    structure: int = 0
    """Counts the changes other than moved objects."""

    def allowed(self, x: str, y: str) -> bool:
        """True where the latest matching rule lets ``x`` and ``y`` touch."""
        exact, patterns = self._sorted_rules
        latest, allowed = exact.get(frozenset((x, y)), (-1, False))
        for place, rule in patterns:
            if place < latest:
                break
            if rule.matches(x, y):
                return rule.allowed
        return allowed

    @cached_property
    def _sorted_rules(
        self,
    ) -> tuple[dict[frozenset[str], tuple[int, bool]], list[tuple[int, CollisionRule]]]:
        """Places and verdicts of the latest rules of pairs of names; places and rules with
        patterns, the latest first. A robot may come with hundreds of the former.
        """
        exact, patterns = {}, []
        for place, rule in enumerate(self.rules):
            if rule.is_pattern:
                patterns.append((place, rule))
            else:
                exact[frozenset((rule.a, rule.b))] = (place, rule.allowed)
        return exact, patterns[::-1]


class PlanningScene:
    """Objects around the robot, attached objects, allowed contacts. Poses in the base frame."""

    def __init__(self, robot: RobotModel) -> None:
        """Start empty; ``robot`` supplies link names."""
        self.robot = robot
        self._lock = threading.RLock()
        self._state = SceneSnapshot()

    # ---------------------------------------------------------------- objects

    def add_object(self, name: str, shape: Shape, world_T_object: ArrayLike) -> None:
        """Add an object, or replace the one of that name (attached or not).

        Args:
            name: Unique; not a link's name, none of ``* ? [ ]``.
            shape: Its geometry.
            world_T_object: 4x4 pose in the robot's base frame.

        Raises:
            MotionError: INVALID_OBJECT_NAME, INVALID_POSE, NOT_FINITE, or INVALID_OPTION where
                there are too many.
        """
        if not name or any(c in name for c in "*?[]"):
            raise MotionError(
                ErrorCode.INVALID_OBJECT_NAME,
                f"name: {name!r} is empty or holds a pattern character (* ? [ ])",
            )
        if name in self.robot.frame_names:
            raise MotionError(
                ErrorCode.INVALID_OBJECT_NAME,
                f"name: {name!r} is a link of the robot; choose another",
            )
        if name not in self.object_names():
            at_most("objects", len(self.object_names()) + 1, MOST_OBJECTS)
        added = WorldObject(shape, as_pose("world_T_object", world_T_object))
        with self._lock:
            state = self._state
            attached = {n: o for n, o in state.attached.items() if n != name}
            self._commit(objects={**state.objects, name: added}, attached=attached)

    def move_object(self, name: str, world_T_object: ArrayLike) -> None:
        """Set the pose of an object that is not attached.

        Raises:
            MotionError: INVALID_OBJECT_NAME where there is none, INVALID_POSE, NOT_FINITE.
        """
        pose = as_pose("world_T_object", world_T_object)
        with self._lock:
            objects = self._state.objects
            old = self._loose(name)
            self._commit(
                objects={**objects, name: replace(old, world_T_object=pose)}, structural=False
            )

    def remove_object(self, name: str) -> None:
        """Remove an object (attached or not) and the collision rules that name it exactly."""
        with self._lock:
            state = self._state
            known("object", name, self.object_names(), ErrorCode.INVALID_OBJECT_NAME)
            self._commit(
                objects={n: o for n, o in state.objects.items() if n != name},
                attached={n: o for n, o in state.attached.items() if n != name},
                rules=tuple(r for r in state.rules if name not in (r.a, r.b)),
            )

    def clear(self) -> None:
        """Remove every object and every rule."""
        with self._lock:
            self._commit(objects={}, attached={}, rules=())

    def object_names(self) -> tuple[str, ...]:
        """Names of all objects, attached ones included, sorted."""
        state = self._state
        return tuple(sorted({*state.objects, *state.attached}))

    def object_shape(self, name: str) -> Shape:
        """Geometry of an object."""
        state = self._state
        known("object", name, self.object_names(), ErrorCode.INVALID_OBJECT_NAME)
        return (state.objects.get(name) or state.attached[name]).shape

    def object_pose(self, name: str) -> Matrix:
        """Pose ``world_T_object`` (4x4) of an object that is not attached."""
        return np.array(self._loose(name).world_T_object)

    # ---------------------------------------------------------------- holding

    def attach_object(self, name: str, link: str, *, link_T_object: ArrayLike) -> None:
        """Let an object move with a link from now on, until it is added anew.

        ``link`` may touch it, and where that is one of them the gripper's touch links.

        Args:
            name: An object of the scene.
            link: Link or frame that carries it.
            link_T_object: Its pose in the link.

        Raises:
            MotionError: INVALID_OBJECT_NAME, INVALID_LINK_NAME, INVALID_POSE.
        """
        robot = self.robot
        known("link", link, robot.frame_names)
        touching = {link}
        if link == robot.tool_frame or link in robot.gripper.touch_links:
            touching |= set(robot.gripper.touch_links)
        with self._lock:
            state = self._state
            known("object", name, self.object_names(), ErrorCode.INVALID_OBJECT_NAME)
            pose = as_pose("link_T_object", link_T_object)
            old = state.objects.get(name) or state.attached[name]
            if isinstance(old.shape, HalfSpace | HeightField):
                raise MotionError(
                    ErrorCode.INVALID_GEOMETRY,
                    f"object {name!r}: a {type(old.shape).__name__} cannot be carried; attach a "
                    "box or a mesh",
                )
            held = AttachedObject(old.shape, link, pose, tuple(sorted(touching)))
            self._commit(
                objects={n: o for n, o in state.objects.items() if n != name},
                attached={**state.attached, name: held},
            )

    def attached(self) -> dict[str, AttachedObject]:
        """Attached objects by name."""
        return dict(self._state.attached)

    # ---------------------------------------------------------------- contacts

    def allow_collision(self, a: str, b: str, allowed: bool = True) -> None:
        """Let two parties touch, or forbid it again; the latest rule that matches counts.

        Args:
            a: Link, object, or fnmatch pattern of such names.
            b: The other one.
            allowed: False restores checking.

        Raises:
            MotionError: INVALID_OBJECT_NAME; a name without pattern characters is neither a link
                nor an object.
        """
        rule = self._rule(a, b, allowed)
        with self._lock:
            kept = tuple(r for r in self._state.rules if {r.a, r.b} != {a, b})
            self._commit(rules=(*kept, rule))

    @contextmanager
    def allowing(self, pairs: Iterable[tuple[str, str]]) -> Iterator[None]:
        """Let pairs touch within a ``with`` block; see :meth:`allow_collision`."""
        rules = tuple(self._rule(a, b, True) for a, b in pairs)
        if not rules:
            yield  # nothing changes, so that whoever keeps something of the scene may go on
            return
        with self._lock:
            self._commit(rules=(*self._state.rules, *rules))
        try:
            yield
        finally:
            with self._lock:
                # By identity: an equal rule set by someone else meanwhile must stay.
                mine = {id(r) for r in rules}
                self._commit(rules=tuple(r for r in self._state.rules if id(r) not in mine))

    # ---------------------------------------------------------------- whole

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return self._state.revision

    def snapshot(self) -> SceneSnapshot:
        """The present state, immutable."""
        return self._state

    def copy(self) -> PlanningScene:
        """An independent scene of the same content."""
        twin = PlanningScene(self.robot)
        with self._lock:
            twin._state = self._state
        return twin

    def _rule(self, a: str, b: str, allowed: bool) -> CollisionRule:
        names = (*self.robot.frame_names, *self.object_names())
        for party in (a, b):
            if not is_pattern(party):
                known("link or object", party, names, ErrorCode.INVALID_OBJECT_NAME)
        return CollisionRule(a, b, allowed)

    def _loose(self, name: str) -> WorldObject:
        state = self._state
        if name in state.attached:
            raise UnknownNameError(
                ErrorCode.INVALID_OBJECT_NAME,
                f"object {name!r} is attached: its pose is that of its link",
            )
        return state.objects[known("object", name, state.objects, ErrorCode.INVALID_OBJECT_NAME)]

    def _commit(
        self,
        *,
        objects: Mapping[str, WorldObject] | None = None,
        attached: Mapping[str, AttachedObject] | None = None,
        rules: tuple[CollisionRule, ...] | None = None,
        structural: bool = True,
    ) -> None:
        old = self._state
        self._state = SceneSnapshot(
            old.objects if objects is None else MappingProxyType(dict(objects)),
            old.attached if attached is None else MappingProxyType(dict(attached)),
            old.rules if rules is None else rules,
            old.revision + 1,
            old.structure + int(structural),
        )
