# SPDX-License-Identifier: Apache-2.0
"""The links of a robot that joints of other groups move: to a group they are obstacles.

Another arm, the base below a torso: where they are, the joint states say, and a plan goes around
them as they stand when it is made. Links that hang on the group itself, such as the arms on a
torso, are no obstacles to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from behavior_motion.checks import Matrix
from behavior_motion.errors import known
from behavior_motion.robot.robot_file import RobotFile
from behavior_motion.robot.srdf import disabled_pairs

PREFIX = "robot/"
"""Of the obstacles' names, so that no object of a scene is called so."""


class OtherLinks:
    """Shapes and places of the links that a group does not move."""

    def __init__(self, full: Any, geometry: Any, config: RobotFile) -> None:
        """Of pinocchio's models of all of a robot, bodies and collision geometries, and one group
        of its file; raises `KeyError` for unknown joints.
        """
        moving = {*config.arm.joints, *config.other_joints}
        if config.gripper is not None:
            moving |= set(config.gripper.joints)
        for joint in sorted(moving):
            known("joint", joint, list(full.names)[1:])
            one_number_joint("groups", full, joint)
        # Other joints stand as the URDF draws them, as they do for the group.
        still = [full.getJointId(n) for n in list(full.names)[1:] if n not in moving]
        if still:
            full, geometry = pin.buildReducedModel(full, geometry, still, pin.neutral(full))
        # A copy that is kept: the caller's loses objects, and what a list of them gives are views.
        self._kept = geometry = pin.GeometryModel(geometry)
        self._model, self._data = full, full.createData()
        body = pin.FrameType.BODY
        links = [frame.name for frame in full.frames if frame.type == body]
        base = known("base_frame", config.base_frame, links)
        self._base = full.getFrameId(base, body)
        root = config.base.frame if config.base is not None else base
        self._root = full.getFrameId(known("base.frame", root, links), body)
        others = {full.getJointId(joint) for joint in config.other_joints}
        own = {full.getJointId(joint) for joint in moving} - others
        above = set(full.supports[full.frames[self._base].parentJoint])
        self.left_out: set[str] = set()
        """Names of the geometries that are not of the group."""
        self.geometries: dict[str, Any] = {}
        """Of the obstacles, by name: pinocchio's geometry objects."""
        own_links: set[str] = set()
        owners: dict[str, str] = {}
        for item in geometry.geometryObjects:
            owner = full.frames[item.parentFrame].name
            between = above ^ set(full.supports[item.parentJoint])
            if not between & others:
                own_links.add(owner)
                continue
            self.left_out.add(item.name)
            if not between & own:
                self.geometries[PREFIX + item.name] = item
                owners[PREFIX + item.name] = owner
        disabled = disabled_pairs(config)
        self.may_touch = [
            (name, link)
            for name, owner in owners.items()
            for link in sorted(own_links)
            if frozenset((owner, link)) in disabled
        ]
        """Obstacles and links of the group that need not be checked against each other."""
        self.joints = config.other_joints
        """Joints that say where they are."""

    def poses(self, joints: Mapping[str, float]) -> dict[str, Matrix]:
        """Poses (4, 4) of the obstacles in the group's base frame, at positions by joint [rad, m];
        joints that it does not name are where the URDF draws them.
        """
        base_T_root = self._placed(joints)
        return {
            name: np.array(
                (base_T_root * self._data.oMi[item.parentJoint] * item.placement).homogeneous
            )
            for name, item in self.geometries.items()
        }

    def base_T_root(self, joints: Mapping[str, float]) -> Matrix:
        """Pose (4, 4) of all of the robot's base frame in the group's; see `poses`."""
        base_T_root = self._placed(joints)
        pose: Matrix = np.array((base_T_root * self._data.oMf[self._root]).homogeneous)
        return pose

    def _placed(self, joints: Mapping[str, float]) -> Any:
        """Bring all links to where joints have them; where pinocchio's origin is in the base."""
        q = pin.neutral(self._model)
        for name in self.joints:
            q[self._model.joints[self._model.getJointId(name)].idx_q] = joints.get(name, 0.0)
        pin.forwardKinematics(self._model, self._data, q)
        pin.updateFramePlacements(self._model, self._data)
        return self._data.oMf[self._base].inverse()


def one_number_joint(key: str, model: Any, name: str) -> Any:
    """A joint of pinocchio's model that one number places.

    Raises:
        ValueError: it turns without end, or about several axes; ``key`` is where it is named.
    """
    joint = model.joints[model.getJointId(name)]
    if joint.nq != 1 or joint.nv != 1:
        raise ValueError(
            f"{key}: {name!r} is continuous, floating or planar; only revolute joints with limits "
            "and prismatic joints can be planned: give it limits in the URDF"
        )
    return joint
