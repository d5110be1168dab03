# SPDX-License-Identifier: Apache-2.0
"""Collision checks of one robot in one scene snapshot, on pinocchio and coal.

One broadphase with the naive manager: measured against the full pair list it gives identical
answers, whereas DynamicAABBTreeArray and SaP miss collisions (and are no faster).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from behavior_motion.checks import Matrix, Vector
from behavior_motion.collision.bounding_boxes import BoundingBoxes
from behavior_motion.collision.geometry import coal_geometry, distance_geometry
from behavior_motion.collision.reports import CollisionReport, DistanceReport
from behavior_motion.collision.scene import SceneSnapshot
from behavior_motion.collision.shapes import HeightField, Mesh, Shape
from behavior_motion.interruption import check_interrupted
from behavior_motion.robot.model import RobotModel

Pair = tuple[str, str]


def _se3(pose: Matrix) -> Any:
    return pin.SE3(pose[:3, :3].copy(), pose[:3, 3].copy())


@dataclass(frozen=True, eq=False)
class Proximity:
    """Two parties near each other."""

    pair: Pair
    """Names of link or object."""
    distance: float
    """[m]; negative: penetration."""
    normal: Vector
    """Unit vector from the first to the second, in the model's root frame, (3,)."""
    points: tuple[Vector, Vector]
    """Nearest point on each, in the root frame, (3,) [m]."""
    joints: tuple[int, int]
    """Joint of pinocchio's model that carries each; 0: the world."""


class CollisionWorld:
    """The robot, what it holds and what surrounds it, ready to be checked.

    Each pair has a margin: it counts as colliding where its distance is below the margin (a
    negative margin tolerates that much penetration). Not safe to share between threads.
    """

    def __init__(self, robot: RobotModel, scene: SceneSnapshot) -> None:
        """Build from a snapshot; takes a few milliseconds."""
        self.robot = robot
        self.scene = scene
        self._model = robot.pin_model
        self._data = self._model.createData()
        self._geometry = pin.GeometryModel(robot.pin_geometry)
        self._owners: list[str] = [
            self._model.frames[g.parentFrame].name for g in self._geometry.geometryObjects
        ]
        self._substitutes: dict[int, Any] = {}
        self._add_attached()
        self._first_world = len(self._owners)
        self._add_world()
        self._add_pairs()
        # Of thousands of pairs each of these takes long, and cannot be ended in its middle.
        check_interrupted()
        self._results = self._geometry.createData()
        check_interrupted()
        self._manager = pin.BroadPhaseManager_NaiveCollisionManager(
            self._model, self._geometry, self._results
        )
        self._margins: dict[int, float] = {}
        self._measured = self._geometry_for_distances()
        self._boxes: BoundingBoxes | None = None
        """Made when they are asked for; of planners' worlds nobody asks."""
        self.checks = 0
        """Number of states checked so far: a clock that does not depend on the machine."""
        self._q_full = robot.full_configuration(np.zeros(robot.dof))

    # ---------------------------------------------------------------- building

    def _add_attached(self) -> None:
        # Coal cannot check bare triangles against height fields: there the hull must do.
        rough = any(isinstance(o.shape, HeightField) for o in self.scene.objects.values())
        for name, held in self.scene.attached.items():
            shape = held.shape
            if rough and isinstance(shape, Mesh):
                shape = replace(shape, convex=True)
            frame_id = self._model.getFrameId(held.link, pin.FrameType.BODY)
            frame = self._model.frames[frame_id]
            placement = frame.placement * _se3(held.link_T_object)
            self._add(name, frame.parentJoint, frame_id, placement, shape)

    def _add_world(self) -> None:
        for name, item in self.scene.objects.items():
            self._add(name, 0, 0, self._root_placement(item.world_T_object), item.shape)

    def _root_placement(self, world_T_object: Matrix) -> Any:
        return _se3(self.robot.root_T_base @ world_T_object)

    def _add(self, name: str, joint: int, frame: int, placement: Any, shape: Shape) -> None:
        check_interrupted()
        substitute = distance_geometry(shape)
        if substitute is not None:
            self._substitutes[len(self._owners)] = substitute
        # The prefix keeps an object's name apart from the geometries of the robot.
        self._geometry.addGeometryObject(
            pin.GeometryObject(f"object/{name}", joint, frame, placement, coal_geometry(shape))
        )
        self._owners.append(name)

    def _geometry_for_distances(self) -> tuple[Any, Any]:
        """Model and data for distances: others where coal cannot measure some geometry."""
        if not self._substitutes:
            return self._geometry, self._results
        model = pin.GeometryModel(self._geometry)
        for i, geometry in self._substitutes.items():
            model.geometryObjects[i].geometry = geometry
        return model, model.createData()

    def _add_pairs(self) -> None:
        scene, robot_count = self.scene, self.robot.pin_geometry.ngeoms
        self._drop_allowed_robot_pairs()
        for i in range(robot_count, self._first_world):
            held = scene.attached[self._owners[i]]
            for j in range(robot_count):
                if self._owners[j] not in held.touch_links and not self._same_joint(i, j):
                    self._pair(j, i)
            for j in range(robot_count, i):
                if not self._same_joint(i, j):
                    self._pair(j, i)
        for i in range(self._first_world, len(self._owners)):
            for j in range(self._first_world):
                # Links bolted to the base rest on things and no motion changes that.
                if j >= robot_count or self._geometry.geometryObjects[j].parentJoint != 0:
                    self._pair(j, i)
        pairs = self._geometry.collisionPairs
        self._pairs: list[tuple[int, int]] = [(int(p.first), int(p.second)) for p in pairs]
        self._of_world = [k for k, (_, b) in enumerate(self._pairs) if b >= self._first_world]

    def _drop_allowed_robot_pairs(self) -> None:
        for pair in list(self._geometry.collisionPairs):
            if self.scene.allowed(self._owners[pair.first], self._owners[pair.second]):
                self._geometry.removeCollisionPair(pin.CollisionPair(pair.first, pair.second))

    def _same_joint(self, i: int, j: int) -> bool:
        objects = self._geometry.geometryObjects
        return bool(objects[i].parentJoint == objects[j].parentJoint)

    def _pair(self, first: int, second: int) -> None:
        check_interrupted()
        if not self.scene.allowed(self._owners[first], self._owners[second]):
            self._geometry.addCollisionPair(pin.CollisionPair(first, second))

    def move_objects(self, scene: SceneSnapshot) -> None:
        """Take over poses from a snapshot of the same structure."""
        for i in range(self._first_world, len(self._owners)):
            item = scene.objects[self._owners[i]]
            if item is not self.scene.objects[self._owners[i]]:
                placement = self._root_placement(item.world_T_object)
                self._geometry.geometryObjects[i].placement = placement
                self._measured[0].geometryObjects[i].placement = placement
        self._boxes = None
        self.scene = scene

    # ---------------------------------------------------------------- margins

    def set_margins(self, padding: float, exceptions: Mapping[Pair, float] | None = None) -> None:
        """Set the margin of every pair.

        Args:
            padding: Margin of pairs with a world object [m]; other pairs get 0.
            exceptions: Margins of named pairs, where smaller.
        """
        wanted = dict.fromkeys(self._of_world, padding) if padding > 0 else {}
        if exceptions:
            for k, (a, b) in enumerate(self._pairs):
                limit = exceptions.get((self._owners[a], self._owners[b]))
                if limit is not None:
                    wanted[k] = min(limit, wanted.get(k, 0.0))
        requests = self._results.collisionRequests
        for k in self._margins.keys() - wanted.keys():
            requests[k].security_margin = 0.0
        for k, margin in wanted.items():
            if self._margins.get(k) != margin:
                requests[k].security_margin = margin
        self._margins = wanted

    # ---------------------------------------------------------------- queries

    def set_gripper_width(self, width: float | None) -> None:
        """Opening of the gripper in all following queries [m]; None: open."""
        self._q_full = self.robot.full_configuration(np.zeros(self.robot.dof), width)

    def collides(self, q: Vector) -> bool:
        """True where any pair is closer than its margin at joints ``q``."""
        check_interrupted()
        self.checks += 1
        full = self._q_full
        full[self.robot.q_index] = q
        return bool(pin.computeCollisions(self._model, self._data, self._manager, full, True))

    def close_pairs(self, q: Vector) -> dict[Pair, float]:
        """Distance [m] of every pair that is closer than its margin; negative: penetration."""
        if not self.collides(q):
            return {}
        # All pairs, without the broadphase: it leaves old results in the pairs that it skips.
        pin.computeCollisions(
            self._model, self._data, self._geometry, self._results, self._q_full, False
        )
        self._place()
        found: dict[Pair, float] = {}
        results = self._results.collisionResults
        for k, (a, b) in enumerate(self._pairs):
            if results[k].isCollision():
                pair = (self._owners[a], self._owners[b])
                distance = self._pair_distance(k)
                found[pair] = min(distance, found.get(pair, np.inf))
        return found

    def report(self, q: Vector) -> CollisionReport:
        """Colliding pairs at joints ``q``, deepest first."""
        pairs = [(a, b, -d) for (a, b), d in self.close_pairs(q).items()]
        return CollisionReport(tuple(sorted(pairs, key=lambda p: -p[2])))

    def first_collision(self, path: Iterable[Vector]) -> int | None:
        """Index of the first colliding joint vector, or None."""
        for i, q in enumerate(path):
            if self.collides(q):
                return i
        return None

    def distance(self, q: Vector) -> DistanceReport:
        """The closest pair at joints ``q``; margins do not count."""
        if not self._pairs:
            return DistanceReport(float("inf"), None)
        self._q_full[self.robot.q_index] = q
        self._place()
        distances = self._distances()
        k = int(np.argmin(distances))
        a, b = self._pairs[k]
        return DistanceReport(distances[k], (self._owners[a], self._owners[b]))

    def near(self, q: Vector, within: float) -> list[Proximity]:
        """Every pair closer than ``within`` [m], closest first; margins do not count."""
        self._q_full[self.robot.q_index] = q
        self._place()
        model, data = self._measured
        if self._boxes is None:
            models = [self._geometry, model] if self._substitutes else [model]
            self._boxes = BoundingBoxes(*models, pairs=self._pairs)
        objects = model.geometryObjects
        found = []
        for k in self._boxes.nearer_than(within, data.oMg):
            distance = self._pair_distance(k)
            if distance >= within:
                continue
            a, b = self._pairs[k]
            result = data.distanceResults[k]
            found.append(
                Proximity(
                    (self._owners[a], self._owners[b]),
                    distance,
                    np.array(result.normal),
                    (np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())),
                    (int(objects[a].parentJoint), int(objects[b].parentJoint)),
                )
            )
        return sorted(found, key=lambda p: p.distance)

    def _place(self) -> None:
        """Bring the placements of all geometries up to date, for single pairs."""
        pin.updateGeometryPlacements(
            self._model, self._data, self._geometry, self._results, self._q_full
        )
        if self._substitutes:
            pin.updateGeometryPlacements(self._model, self._data, *self._measured)

    def _distances(self) -> list[float]:
        """Distance of every pair, placements being up to date; negative: penetration."""
        model, data = self._measured
        pin.computeDistances(model, data)
        distances = [result.min_distance for result in data.distanceResults]
        for k, (a, b) in enumerate(self._pairs if self._substitutes else ()):
            if a in self._substitutes or b in self._substitutes:
                distances[k] = self._pair_distance(k)
        return distances

    def _pair_distance(self, k: int) -> float:
        """Distance of a pair, placements being up to date; negative: penetration."""
        model, data = self._measured
        distance = float(pin.computeDistance(model, data, k).min_distance)
        unsure = any(i in self._substitutes for i in self._pairs[k])
        if distance > 0 and unsure and pin.computeCollision(self._geometry, self._results, k):
            # Under a surface altogether: at least as deep as the surface is far.
            return -distance
        return distance
