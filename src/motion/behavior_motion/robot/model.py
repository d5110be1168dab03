# SPDX-License-Identifier: Apache-2.0
"""Robots by configuration alone: a YAML file names URDF, SRDF, joints, frames, limits, gripper."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from behavior_motion.checks import Matrix, Vector, as_joints, as_vector
from behavior_motion.errors import known
from behavior_motion.robot.meshes import (
    check_hulls,
    check_mesh_files,
    replace_meshes,
    unreadable,
)
from behavior_motion.robot.other_links import OtherLinks, one_number_joint
from behavior_motion.robot.resources import resolve
from behavior_motion.robot.robot_file import (
    GripperSection,
    Limits,
    RobotFile,
    load_part,
    load_robot_file,
    spread,
)
from behavior_motion.robot.srdf import Srdf, disabled_pairs, read_srdf
from behavior_motion.robot.urdf import add_frames, followers, urdf_of_parts
from behavior_motion.robot.yaml_lines import with_lines

FINGER_ROOM = 0.1
"""[-] of a finger joint's range in the URDF, by which it may leave it open: makers round."""


@dataclass(frozen=True)
class GripperConfig:
    """A gripper whose state is one opening width."""

    joint_names: tuple[str, ...]
    """Joints that open and close it; empty where the robot has no such gripper."""
    joint_scale: tuple[float, ...]
    """Joint position per metre of width."""
    open_width: float
    """Widest opening [m]."""
    closed_width: float
    """Narrowest opening [m]."""
    max_speed: float
    """Speed of the width [m/s]."""
    max_force: float
    """Grasp force [N]."""
    grasp_force: float
    """Of the closing fingers where nobody asks for another [N]."""
    link: str
    """Link that held objects move with; empty where the robot has no gripper."""
    touch_links: tuple[str, ...]
    """Links that may touch a held object."""
    grips: Mapping[str, float]
    """Opening widths [m] by name."""
    still_time: float = 0.06
    """[s] fingers that have not moved for so long rest."""
    joint_zero: tuple[float, ...] = ()
    """Joint position at no width; empty: 0 for all."""

    def __post_init__(self) -> None:
        """Have a zero for each joint."""
        zero = self.joint_zero or (0.0,) * len(self.joint_names)
        object.__setattr__(self, "joint_zero", zero)

    def joint_positions(self, width: float) -> Vector:
        """Positions of ``joint_names`` at an opening ``width`` [m]."""
        positions: Vector = np.array(self.joint_scale, dtype=np.float64) * width + self.joint_zero
        return positions

    def width(self, joint_positions: ArrayLike) -> float:
        """Opening width [m] from positions of ``joint_names``."""
        positions = as_vector("joint_positions", joint_positions, len(self.joint_names))
        # In Python's own numbers: it is asked of every joint state, and numpy takes longer.
        joints = zip(positions.tolist(), self.joint_zero, self.joint_scale, strict=True)
        widths = [(p - zero) / scale for p, zero, scale in joints]
        return sum(widths) / len(widths) if widths else 0.0


NO_GRIPPER = GripperConfig((), (), 0.0, 0.0, 1.0, 1.0, 1.0, "", (), MappingProxyType({}))


class RobotModel:
    """Kinematics and limits of one robot. Safe to share between threads.

    Poses are 4x4 matrices in ``base_frame``; joint vectors follow ``joint_names``.
    """

    def __init__(self, config: RobotFile) -> None:
        """Load the model that ``config`` describes.

        Raises:
            FileNotFoundError: URDF, SRDF or a package folder is missing.
            KeyError: A joint or frame named in the configuration is not in the URDF.
            ValueError: Limits or named configurations do not fit the joints.
        """
        self.config = config
        self.name = config.name
        root = urdf_of_parts(config)
        self.followers: Mapping[str, str] = followers(root)
        """Joints of the URDF that follow another (mimic), and which."""
        self._added_frames = frozenset(add_frames(root, config))
        check_mesh_files(root)
        self.urdf: str = ElementTree.tostring(root, encoding="unicode")
        """The URDF, with mounted parts and added frames."""
        self._srdf = read_srdf(resolve(config.srdf, Path())) if config.srdf else Srdf({}, {})
        self._load()
        self.frame_names: tuple[str, ...] = _body_names(self.pin_model)
        """Names of all links and added frames."""
        # Joints may have a link's name: their frames are of other types.
        body = pin.FrameType.BODY
        self._frame_ids = {n: int(self.pin_model.getFrameId(n, body)) for n in self.frame_names}
        self.base_frame = known("base_frame", config.base_frame, self.frame_names)
        self.tool_frame = known("tool_frame", config.tool_frame, self.frame_names)
        self._map_joints()
        self._read_limits()
        if config.planned:
            self._check_followers()
        self.gripper = self._read_gripper()
        self.named: Mapping[str, Vector] = MappingProxyType(
            {n: self._named_configuration(n, q) for n, q in config.named.items()}
            | {n: q for n, q in self._group_states().items() if n not in config.named}
        )
        self._local = threading.local()
        base = self.pin_model.frames[self._frame_ids[self.base_frame]]
        if base.parentJoint != 0:
            raise ValueError(f"base_frame: {self.base_frame!r} moves with the joints")
        self.root_T_base: Matrix = np.array(base.placement.homogeneous)
        self.base_T_root: Matrix = np.asarray(np.linalg.inv(self.root_T_base), dtype=np.float64)

    # ---------------------------------------------------------------- loading

    def _load(self) -> None:
        full, geometry = whole_model(self.urdf)
        arm = self.config.arm
        self.joint_names: tuple[str, ...] = arm.joints
        if arm.group is not None:
            self.joint_names = self._srdf.joints(arm.group, full, self.followers)
            if not self.joint_names:
                raise ValueError(f"arm.group: no joint of {arm.group!r} moves; choose another")
        wanted = set(self.joint_names)
        if self.config.gripper:
            wanted |= set(self.config.gripper.joints)
        names = list(full.names)[1:]
        for joint in sorted(wanted):
            known("joint", joint, names)
        self.others: OtherLinks | None = None
        """Links that other groups move; None: there are no other groups."""
        if self.config.other_joints:
            self.others = OtherLinks(full, geometry, self.config)
            for name in self.others.left_out:
                geometry.removeGeometryObject(name)
        locked = [full.getJointId(n) for n in names if n not in wanted]
        if locked:
            full, geometry = pin.buildReducedModel(full, geometry, locked, pin.neutral(full))
        replace_meshes(geometry)
        geometry.addAllCollisionPairs()
        for link in sorted({link for pair in self.config.disabled_collisions for link in pair}):
            known("disabled_collisions", link, _body_names(full))
        disabled = disabled_pairs(self.config)
        drop_pairs(
            geometry,
            lambda a, b: (
                adjacent(full, a.parentJoint, b.parentJoint)
                or frozenset((full.frames[a.parentFrame].name, full.frames[b.parentFrame].name))
                in disabled
            ),
        )
        self.pin_model: Any = full
        self.pin_geometry: Any = geometry
        self.urdf_links: tuple[str, ...] = tuple(
            name for name in _body_names(full) if name not in self._added_frames
        )
        """Names of the links of the URDF, without the added frames."""
        self.collision_links: tuple[str, ...] = tuple(
            sorted({full.frames[item.parentFrame].name for item in geometry.geometryObjects})
        )
        """Names of the links that have a collision geometry."""

    def _map_joints(self) -> None:
        joints = [one_number_joint("arm.joints", self.pin_model, n) for n in self.joint_names]
        self.q_index: Any = np.array([j.idx_q for j in joints])
        if np.array_equal(np.diff(self.q_index), np.ones(len(joints) - 1)):
            # Numpy assigns to a slice several times faster than to a list of places.
            self.q_index = slice(int(self.q_index[0]), int(self.q_index[-1]) + 1)
        self.v_index = np.array([j.idx_v for j in joints])

    def _check_followers(self) -> None:
        """Refuse joints that plans would move as if no joint followed another."""
        for follower, leader in self.followers.items():
            if follower in self.joint_names:
                raise ValueError(
                    f"arm.joints: {follower!r} follows {leader!r} (mimic in the URDF), so it "
                    "cannot be planned; leave it out"
                )
            if leader in self.joint_names:
                raise ValueError(
                    f"arm.joints: {follower!r} follows {leader!r} (mimic in the URDF), which plans "
                    "would not know; make it fixed in a URDF for planning"
                )

    def _read_limits(self) -> None:
        arm, model = self.config.arm, self.pin_model
        self.lower = self._limit("lower", arm.lower, model.lowerPositionLimit[self.q_index])
        self.upper = self._limit("upper", arm.upper, model.upperPositionLimit[self.q_index])
        self.velocity_limits = self._limit(
            "velocity", arm.velocity, model.velocityLimit[self.v_index]
        )
        self.acceleration_limits = self._limit("acceleration", arm.acceleration, None)
        self.jerk_limits = self._limit("jerk", arm.jerk, None)
        for joint, low, high in zip(self.joint_names, self.lower, self.upper, strict=True):
            if low >= high:
                raise ValueError(
                    f"arm: the lower limit of {joint!r}, {low:g}, is not below its upper one, "
                    f"{high:g}; give arm.lower and arm.upper, or mend the URDF"
                )
        for name in ("velocity", "acceleration", "jerk"):
            for joint, limit in zip(self.joint_names, getattr(self, f"{name}_limits"), strict=True):
                if limit <= 0:
                    raise ValueError(
                        f"arm.{name}: limits must be above zero, that of {joint!r} is {limit:g}"
                    )

    def _limit(self, name: str, given: Limits | None, default: Any) -> Vector:
        if given is not None:
            given = spread(f"arm.{name}", given, self.joint_names)
        values = as_vector(f"arm.{name}", default if given is None else given, self.dof)
        values.flags.writeable = False
        return values

    def _read_gripper(self) -> GripperConfig:
        self._gripper_index = np.zeros(0, dtype=np.int64)
        section = self.config.gripper
        if section is None:
            return NO_GRIPPER
        if both := sorted(section.joints.keys() & set(self.joint_names)):
            raise ValueError(f"gripper.joints: {', '.join(both)} are joints of the arm too")
        for link in section.touch_links:
            known("gripper.touch_links", link, self.frame_names)
        for name, width in section.grips.items():
            if not section.closed_width <= width <= section.open_width:
                raise ValueError(
                    f"gripper.grips.{name}: a width in [{section.closed_width}, "
                    f"{section.open_width}] m wanted, got {width!r}"
                )
        joints = [one_number_joint("gripper.joints", self.pin_model, n) for n in section.joints]
        self._gripper_index = np.array([joint.idx_q for joint in joints], dtype=np.int64)
        self._check_opening(section)
        return GripperConfig(
            tuple(section.joints),
            tuple(section.joints.values()),
            section.open_width,
            section.closed_width,
            section.max_speed,
            section.max_force,
            section.grasp_force,
            known("gripper.link", section.link or self.tool_frame, self.frame_names),
            section.touch_links,
            MappingProxyType({"open": section.open_width, "closed": section.closed_width})
            | MappingProxyType(section.grips),
            section.still_time,
            tuple(section.zero.get(joint, 0.0) for joint in section.joints),
        )

    def _check_opening(self, section: GripperSection) -> None:
        """Refuse an opening for which a finger would leave its range in the URDF."""
        model = self.pin_model
        ends = model.lowerPositionLimit, model.upperPositionLimit
        for (name, scale), index in zip(section.joints.items(), self._gripper_index, strict=True):
            low, high = (float(each[index]) for each in ends)
            position = section.zero.get(name, 0.0) + scale * section.open_width
            beyond = max(low - position, position - high)
            if beyond > FINGER_ROOM * (high - low):
                raise ValueError(
                    f"gripper.open_width: {section.open_width:g} m takes {name!r} to "
                    f"{position:.4g}, and its limits in the URDF are {low:g} and {high:g}"
                )

    def _group_states(self) -> dict[str, Vector]:
        """Named states of the SRDF that place every planned joint, within its limits."""
        states: dict[str, Vector] = {}
        for name, values in self._srdf.states.items():
            if all(joint in values for joint in self.joint_names):
                q = np.array([values[joint] for joint in self.joint_names])
                if np.all((q >= self.lower) & (q <= self.upper)):
                    q.flags.writeable = False
                    states[name] = q
        return states

    def _named_configuration(self, name: str, q: tuple[float, ...]) -> Vector:
        vector = as_vector(f"named.{name}", q, self.dof)
        if np.any(vector < self.lower) or np.any(vector > self.upper):
            raise ValueError(f"named.{name}: outside the joint limits: {vector.tolist()}")
        vector.flags.writeable = False
        return vector

    # ---------------------------------------------------------------- use

    @property
    def dof(self) -> int:
        """Number of planned joints."""
        return len(self.joint_names)

    def full_configuration(self, q: Vector, gripper_width: float | None = None) -> Vector:
        """Configuration of pinocchio's model (arm and gripper) from joints and width [m]."""
        full: Vector = np.array(pin.neutral(self.pin_model))
        full[self.q_index] = q
        width = self.gripper.open_width if gripper_width is None else gripper_width
        full[self._gripper_index] = self.gripper.joint_positions(width)
        return full

    def forward_kinematics(self, q: ArrayLike, frame: str | None = None) -> Matrix:
        """Pose ``base_T_frame`` (4x4) at joints ``q``; by default of the tool frame."""
        vector = as_joints("q", q, self.joint_names)
        frame_id = self._frame_id(frame)
        data = self._data()
        pin.forwardKinematics(self.pin_model, data, self.full_configuration(vector))
        placement = pin.updateFramePlacement(self.pin_model, data, frame_id)
        pose: Matrix = self.base_T_root @ np.array(placement.homogeneous)
        return pose

    def largest_speed(self, qs: Matrix, times: Vector, frame: str | None = None) -> float:
        """Of ``frame`` (the tool) through joints (N, dof) at times (N,) [s]: the largest mean speed
        from one to the next [m/s]; 0 where there is but one.
        """
        places = np.array([self.forward_kinematics(q, frame)[:3, 3] for q in qs])
        ways = np.linalg.norm(np.diff(places, axis=0), axis=1)
        return float(np.max(ways / np.diff(times), initial=0.0))

    def link_poses(self, q: ArrayLike, gripper_width: float | None = None) -> dict[str, Matrix]:
        """Poses ``base_T_link`` (4x4) of every link and added frame; width [m], default open."""
        root_T_links = self._placements(q, gripper_width)
        poses = self.base_T_root @ np.array(
            [root_T_links[i].homogeneous for i in self._frame_ids.values()]
        )
        return dict(zip(self.frame_names, poses, strict=True))

    def poses_above(
        self,
        frames: Iterable[tuple[str, str]],
        q: ArrayLike,
        gripper_width: float | None = None,
    ) -> list[tuple[float, ...]]:
        """Poses of frames in others, in Python's own numbers, as messages want them.

        Args:
            frames: the other one, and the one whose pose it is.
            q: joints.
            gripper_width: [m], default open.

        Returns:
            x, y, z [m] and unit quaternion x, y, z, w of each.
        """
        poses = self._placements(q, gripper_width)
        ids = [(self._frame_id(above), self._frame_id(frame)) for above, frame in frames]
        return [pin.SE3ToXYZQUATtuple(poses[i].actInv(poses[j])) for i, j in ids]

    def _placements(self, q: ArrayLike, gripper_width: float | None) -> list[Any]:
        """Pinocchio's placements of all frames in its root."""
        vector = as_joints("q", q, self.joint_names)
        data = self._data()
        pin.framesForwardKinematics(
            self.pin_model, data, self.full_configuration(vector, gripper_width)
        )
        # Each look into the C++ vector would take as long as all the rest.
        placements: list[Any] = data.oMf.tolist()
        return placements

    def jacobian(self, q: ArrayLike, frame: str | None = None) -> Matrix:
        """Geometric Jacobian (6, dof) of a frame's origin: linear [m/rad] over angular [-].

        Expressed in ``base_frame``'s axes; columns follow ``joint_names``.
        """
        vector = as_joints("q", q, self.joint_names)
        frame_id = self._frame_id(frame)
        full = pin.computeFrameJacobian(
            self.pin_model,
            self._data(),
            self.full_configuration(vector),
            frame_id,
            pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        )
        turn = np.kron(np.eye(2), self.base_T_root[:3, :3])
        result: Matrix = turn @ np.array(full).reshape(6, -1)[:, self.v_index]
        return result

    def moved_by(self, frame: str) -> int:
        """Number of the joint, in pinocchio's model, that moves a link or frame; 0: none does."""
        return int(self.pin_model.frames[self._frame_id(frame)].parentJoint)

    def carrier(self, frame: str) -> tuple[str, Matrix]:
        """The URDF's link that a frame is fixed to, itself where it is one, and link_T_frame."""
        link = frame
        while link in self._added_frames:
            link = self.config.frames[link].parent
        of_link, of_frame = (self.pin_model.frames[self._frame_id(n)] for n in (link, frame))
        return link, np.array(of_link.placement.actInv(of_frame.placement).homogeneous)

    def random_configuration(self, rng: np.random.Generator) -> Vector:
        """Joints drawn evenly between the limits."""
        return rng.uniform(self.lower, self.upper)

    def _frame_id(self, frame: str | None) -> int:
        name = self.tool_frame if frame is None else frame
        if name not in self._frame_ids:
            known("frame", name, self.frame_names)  # raises, and tells which there are
        return self._frame_ids[name]

    def _data(self) -> Any:
        data = getattr(self._local, "data", None)
        if data is None:
            data = self._local.data = self.pin_model.createData()
        return data


def whole_model(urdf: str) -> tuple[Any, Any]:
    """Pinocchio's models of all that a URDF's text describes: bodies, and collision geometries.

    Raises:
        ValueError: a mesh cannot be read, or has no convex hull.
    """
    model, geometry = pin.buildModelFromXML(urdf), pin.GeometryModel()
    try:
        pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION, geometry, [""])
    except ValueError as error:
        raise ValueError(f"mesh {unreadable(error)}") from error
    check_hulls(model, geometry)
    return model, geometry


def drop_pairs(geometry: Any, unwanted: Callable[[Any, Any], bool]) -> None:
    """Remove the collision pairs of which ``unwanted(first, second)`` is true."""
    objects = geometry.geometryObjects
    # As numbers first: what the list gives are views that change when a pair before is removed.
    for first, second in [(pair.first, pair.second) for pair in geometry.collisionPairs]:
        if unwanted(objects[first], objects[second]):
            geometry.removeCollisionPair(pin.CollisionPair(first, second))


def adjacent(model: Any, first: int, second: int) -> bool:
    """True where two joints' bodies are one, or connected by one joint."""
    parents = model.parents
    return bool(first == second or parents[first] == second or parents[second] == first)


def _body_names(model: Any) -> tuple[str, ...]:
    bodies = (f.name for f in model.frames if f.type == pin.FrameType.BODY)
    return tuple(name for name in bodies if name != "universe")


def load_robot(path: str | Path, *, group: str | None = None) -> RobotModel:
    """Robot from its YAML file.

    Args:
        path: The file.
        group: One of the file's groups. Of a file without any, a group of the SRDF to plan for in
            place of the file's joints; the file's limits must then be single numbers or mappings
            that name its joints. None: the file's arm, or all groups of a robot that is not to be
            planned for.

    Raises:
        FileNotFoundError: The file, or one it names, is missing.
        ValueError: The file does not fit the form; the message lists every wrong key.
        KeyError: A joint, link or frame it names is not in the URDF.
    """
    return RobotModel(load_robot_file(path) if group is None else load_part(path, group))


def robot_file_fault(path: str | Path, error: BaseException) -> str:
    """What to say of an error that :func:`load_robot` raised: it names the file, and the line of
    the key at fault.
    """
    text, file = str(error), str(Path(path).expanduser().resolve())
    return text if text.startswith(file) else with_lines(f"{file}: {text}", file)
