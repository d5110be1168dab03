# SPDX-License-Identifier: Apache-2.0
"""The physical world: robot, objects, contacts. No ROS, no controllers, one thread at a time."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from behavior_sim.judging import ROBOT
from behavior_sim.worlds.config import WorldConfig, brought
from behavior_sim.worlds.door import latch_name
from behavior_sim.worlds.joint_group import Fingers, JointGroup
from behavior_sim.worlds.layouts import Pose, draw_layout, draw_start, pose_of
from behavior_sim.worlds.model import build_model
from behavior_sim.worlds.reading import Vector
from behavior_sim.worlds.robot import PLANE
from behavior_sim.worlds.state_file import StateError
from behavior_sim.worlds.suction_cup import SuctionCup
from behavior_sim.worlds.variation import Factors, varied_world
from behavior_sim.worlds.visible_objects import visible_objects
from behavior_sim.worlds.world_state import WorldState

_PENETRATION = 0.002
"""[m] deeper than this, two bodies count as occupying the same place."""
_NUDGE = 1e-6
"""[m/s]"""
_SETTLING, _CALMED = 0.4, 0.1
"""[s] after which what was put somewhere has come to rest, and during which nothing picks up speed:
what is only believed to be somewhere may overlap a little, and is not to be flung away."""
_APART, _IN_A_ROW = 0.2, 10
"""[m] between objects outside, and how many of them stand along x."""


class UnknownObject(ValueError):
    """The world has no such object; the message lists those it has."""


class InvalidDisturbance(ValueError):
    """A disturbance that cannot be done; the message says why and what to change."""


class World:
    """Physics of one world.

    Simulated time only ever grows, over resets too; it is a whole number of steps.

    Args:
        config: the world.
        seed: of the first start state.
    """

    def __init__(self, config: WorldConfig, seed: int = 0) -> None:
        self.config = self._original = config
        self.model = build_model(config)
        self.data = mujoco.MjData(self.model)
        self.steps = 0
        """Physics steps since the world was made."""
        model = self.model
        self.groups = {
            group.name: JointGroup(
                model,
                self.data,
                group.arm.joints,
                stiffness=group.arm.stiffness,
                damping=group.arm.damping,
            )
            for group in config.robot.groups
        }
        """Joints of the robot's groups, by their names."""
        self.fingers = {
            group.name: Fingers(model, self.data, group.gripper)
            for group in config.robot.groups
            if group.gripper is not None
        }
        """Of the groups that have some."""
        base = config.robot.base
        self.base: JointGroup | None = None
        """Of a robot that drives: x, y, yaw in the world [m, m, rad]."""
        if base is not None:
            self.base = JointGroup(
                model, self.data, PLANE, stiffness=base.stiffness, damping=base.damping
            )
        self._arm = next(iter(self.groups.values()))
        self._hand = self.fingers.get(config.robot.groups[0].name)
        self._object_q = {n: int(model.joint(n).qposadr[0]) for n in config.objects}
        self._object_v = {n: int(model.joint(n).dofadr[0]) for n in config.objects}
        self._object_body = {n: int(model.body(n).id) for n in config.objects}
        self.visible_objects = visible_objects(config)
        """Everything that can be seen, by name."""
        self._body_of = {
            name: int(model.body(obj.body).id) if obj.body else 0
            for name, obj in self.visible_objects.items()
        }
        suction = config.robot.suction
        self.cup = SuctionCup(model, self.data, suction, self._object_body) if suction else None
        """The suction cup of a robot that has one."""
        self._brought = brought(config.objects, config.spawner)
        self._belts = _belts(model, config)
        self._ground = int(model.geom("ground").bodyid[0])
        self.reset(seed)

    def vary(self, factors: Factors) -> None:
        """Have other objects from the next `reset` on; no factors: those of the world's file.

        Everything that was measured of the world keeps its meaning: the model stays where it is,
        with the values of the one that the varied world would have.

        Raises:
            WorldError: the world cannot be varied so; nothing is changed.
        """
        config = varied_world(self._original, factors)
        if config == self.config:
            return
        _copy_model(build_model(config), self.model)
        self.config = config
        self.visible_objects = visible_objects(config)

    # -- time ---------------------------------------------------------------------------------

    @property
    def timestep(self) -> float:
        """[s]"""
        return self.config.timestep

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.steps * self.config.timestep

    def step(self, count: int = 1) -> None:
        """Advance by `count` physics steps; the interpreter lock is released meanwhile."""
        mujoco.mj_step(self.model, self.data, nstep=count)
        self.steps += count

    @property
    def unstable(self) -> bool:
        """Whether the physics ran away since the last reset (MuJoCo starts over by itself then)."""
        warnings = self.data.warning
        bad = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQACC)
        return any(warnings[int(kind)].number for kind in bad)

    def reset(self, seed: int, layout: str = "") -> None:
        """Objects to a start state, arm home, gripper open, everything at rest.

        Raises:
            UnknownLayout: there is no such layout; nothing is changed.
        """
        poses = draw_layout(self.config, layout, np.random.default_rng([seed, 0]))
        start = draw_start(self.config, np.random.default_rng([seed, 1]))
        mujoco.mj_resetData(self.model, self.data)
        for name in self._brought:
            self._put(name, self._outside(name))
        for name, pose in poses.items():
            self._put(name, pose)
        for group in self.config.robot.groups:
            self.groups[group.name].put(np.array(group.arm.home))
        for fingers in self.fingers.values():
            fingers.put(fingers.config.open)
        if self.base is not None:
            self.base.put(start)
        if self.cup is not None:
            self.cup.reset()
        mujoco.mj_forward(self.model, self.data)

    def restore(self, state: WorldState) -> dict[str, float]:
        """Everything where a state has it, at rest; objects that it does not name go outside.

        Fingers that hold something are shut upon it, a suction cup holds it as it is. What is not
        where it can stay, such as in the air, falls.

        Returns:
            How far each object of the state came to rest from where it was to be [m].

        Raises:
            UnknownObject: the state has an object that the world has not; nothing is changed.
            StateError: so is it with a joint, or it is out of its range.
        """
        for name in state.objects:
            self._start(name)
        places = {self._coordinate(name, at): at for name, at in state.joints.items()}
        self.reset(0)
        for name in self.config.objects:
            pose = state.objects.get(name)
            self._put(name, self._outside(name) if pose is None else self._above_ground(name, pose))
        self.data.qpos[list(places)] = list(places.values())
        self._hold_still(bool(state.held))
        if self.cup is not None and state.held:
            self.cup.take(state.held)
        self._settle()
        return {
            name: float(np.linalg.norm(self.object_pose(name)[:3, 3] - pose[:3, 3]))
            for name, pose in state.objects.items()
        }

    def _coordinate(self, joint: str, position: float) -> int:
        """Index of a joint's coordinate.

        Raises:
            StateError: there is no such joint, or it cannot be there.
        """
        known = {self.model.joint(i).name: i for i in range(self.model.njnt)}
        hinged = [name for name in known if name not in self._object_q]
        if joint not in hinged:
            raise StateError(f"there is no joint {joint!r}; there are {', '.join(hinged)}")
        found = self.model.joint(known[joint])
        low, high = found.range
        slack = 0.01 * (high - low)
        if self.model.jnt_limited[known[joint]] and not low - slack <= position <= high + slack:
            raise StateError(f"{joint} at {position:.4f} is outside {low:.4f} to {high:.4f}")
        return int(found.qposadr[0])

    def _hold_still(self, held: bool) -> None:
        """Command the robot to stay where it is, and fingers too, or to hold what they touch."""
        driven = list(self.groups.values()) + ([self.base] if self.base is not None else [])
        for group in driven:
            group.put(group.positions.copy())
        for fingers in self.fingers.values():
            fingers.command(0.0 if held else fingers.gap, fingers.config.force)
        mujoco.mj_forward(self.model, self.data)

    def _settle(self) -> None:
        calm = round(_CALMED / self.timestep)
        for _ in range(calm):
            self.step()
            for start in self._object_v.values():
                self.data.qvel[start : start + 6] = 0.0
        self.step(round(_SETTLING / self.timestep) - calm)

    # -- robot --------------------------------------------------------------------------------

    # Of the only group, or the first one; the others' are in `groups` and `fingers`.

    @property
    def arm_positions(self) -> NDArray[np.float64]:
        """Joint angles [rad]."""
        return self._arm.positions

    @property
    def gap(self) -> float:
        """Between the fingers [m]; of a robot without any: 0."""
        return 0.0 if self._hand is None else self._hand.gap

    def body_pose(self, name: str) -> Pose:
        """world_T_body (4, 4) of a body of the robot or an object."""
        return self._body_pose(self.model.body(name).id)

    def _body_pose(self, body: int) -> Pose:
        pose = np.eye(4)
        pose[:3, :3] = self.data.xmat[body].reshape(3, 3)
        pose[:3, 3] = self.data.xpos[body]
        return pose

    # -- what can be seen ---------------------------------------------------------------------

    def visible_pose(self, name: str) -> Pose:
        """world_T_object (4, 4) of the middle of something's shape.

        How a sphere is turned cannot be seen: it counts as upright.
        """
        obj = self.visible_objects[name]
        placed: Pose = self._body_pose(self._body_of[name]) @ obj.body_T_centre
        if obj.shape == "sphere":
            placed[:3, :3] = np.eye(3)
        return placed

    def visible_poses(self) -> dict[str, Pose]:
        """world_T_object (4, 4) of everything that can be seen."""
        return {name: self.visible_pose(name) for name in self.visible_objects}

    def visible_velocity(self, name: str) -> NDArray[np.float64]:
        """Linear [m/s] and angular [rad/s] velocity of something in the world frame (6,)."""
        body, at = self._body_of[name], self.visible_pose(name)[:3, 3]
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, linear, angular, at, body)
        velocity: NDArray[np.float64] = np.concatenate(
            [linear @ self.data.qvel, angular @ self.data.qvel]
        )
        return velocity

    # -- objects ------------------------------------------------------------------------------

    def object_pose(self, name: str) -> Pose:
        """world_T_object (4, 4).

        Raises:
            UnknownObject: there is no such object.
        """
        start = self._start(name)
        q = self.data.qpos[start : start + 7]
        pose = np.eye(4)
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, q[3:])
        pose[:3, :3] = rotation.reshape(3, 3)
        pose[:3, 3] = q[:3]
        return pose

    def touching(self, name: str) -> set[int]:
        """Ids of the bodies in contact with an object."""
        return {other for other, _ in self._contacts(self._object_body[name])}

    def held_objects(self) -> list[str]:
        """Objects that all fingers touch and the ground does not, or that the cup holds."""
        if self.cup is not None:
            return [self.cup.held] if self.cup.held else []
        if not self.data.ncon:
            return []
        touching = self._all_touching()
        held = []
        for name, body in self._object_body.items():
            bodies = touching.get(body, set())
            if self._ground not in bodies and self._holding(bodies) is not None:
                held.append(name)
        return held

    def holding_group(self, name: str) -> str | None:
        """Name of the group whose fingers, or cup, hold an object; None: none does."""
        if name not in self.held_objects():
            return None
        if self.cup is not None:
            return self.config.robot.groups[0].name
        return self._holding(self.touching(name))

    def _holding(self, bodies: set[int]) -> str | None:
        """Group of which all fingers are among bodies."""
        for group, fingers in self.fingers.items():
            if all(finger in bodies for finger in fingers.bodies):
                return group
        return None

    # -- disturbances -------------------------------------------------------------------------

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object to world_T_object `pose`, at rest; lifted where it would reach below the
        ground.

        Raises:
            UnknownObject: there is no such object.
            InvalidDisturbance: the place is taken; nothing is changed.
        """
        start = self._start(name)
        before = self.data.qpos[start : start + 7].copy()
        self._put(name, self._above_ground(name, pose))
        mujoco.mj_forward(self.model, self.data)
        hit = [
            body for body, depth in self._contacts(self._object_body[name]) if depth > _PENETRATION
        ]
        if hit:
            self.data.qpos[start : start + 7] = before
            mujoco.mj_forward(self.model, self.data)
            names = sorted({self.model.body(body).name for body in hit})
            raise InvalidDisturbance(
                f"{name} cannot be put there, {', '.join(names)} is in the way; choose a free place"
            )
        velocity = self._object_v[name]
        self.data.qvel[velocity : velocity + 6] = 0.0
        if self.cup is not None and self.cup.held == name:
            self.cup.release()

    def take_away(self, name: str) -> None:
        """Put an object outside the workspace.

        Raises:
            UnknownObject: there is no such object.
        """
        self._start(name)
        self.move_object(name, self._outside(name))

    def bring(self, name: str, pose: Pose, velocity: NDArray[np.float64]) -> None:
        """Put an object to world_T_object `pose`, moving with `velocity` [m/s] (3,).

        Raises:
            UnknownObject: there is no such object.
            InvalidDisturbance: the place is taken; nothing is changed.
        """
        self.move_object(name, pose)
        start = self._object_v[name]
        self.data.qvel[start : start + 3] = velocity

    @property
    def belts(self) -> tuple[str, ...]:
        """Names of the fixtures with a moving belt."""
        return tuple(self._belts)

    def jam(self, fixture: str, on: bool) -> None:
        """Stop the belts of a fixture, or let them run again."""
        for geom, velocity in self._belts[fixture].items():
            self.model.geom_surfacevel[geom, :3] = 0.0 if on else velocity
        # What sleeps on a belt does not notice that it begins to run; a velocity wakes it.
        for start in self._object_v.values():
            self.data.qvel[start] += _NUDGE

    def unhook(self, door: str, on: bool) -> None:
        """Have a door's lever turn without drawing its bolt, or draw it again."""
        self.model.tendon_limited[self.model.tendon(latch_name(door)).id] = not on

    def push(self, name: str, impulse: NDArray[np.float64]) -> None:
        """Change the momentum of an object, a part of a door or a `ROBOT` that drives [N s].

        The impulse acts on the middle of the shape; where hinges guide it, they take their share.

        Raises:
            UnknownObject: there is nothing of that name.
            InvalidDisturbance: it stands still, whatever pushes it.
        """
        base = self.config.robot.base
        if name == ROBOT and base is not None:
            body = int(self.model.body(base.frame).id)
            at = self.data.xpos[body]
        elif name in self.visible_objects:
            body, at = self._body_of[name], self.visible_pose(name)[:3, 3]
        else:
            raise UnknownObject(
                f"world {self.config.name} has no object {name!r}; there are "
                f"{', '.join(self.visible_objects)}"
            )
        linear = np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, linear, None, at, body)
        if not linear.any():
            raise InvalidDisturbance(f"{name} stands still and cannot be pushed")
        change = np.zeros((1, self.model.nv))
        mujoco.mj_solveM(self.model, self.data, change, (linear.T @ impulse)[None])
        self.data.qvel += change[0]

    def release(self, name: str, pose: Pose) -> None:
        """Take an object out of the gripper and put it to world_T_object `pose`.

        Raises:
            UnknownObject: there is no such object.
            InvalidDisturbance: the gripper does not hold it, or the place is taken.
        """
        self._start(name)
        held = self.held_objects()
        if name not in held:
            raise InvalidDisturbance(
                f"the gripper does not hold {name} but {', '.join(held) or 'nothing'}; "
                "use MOVE to move an object that lies"
            )
        self.move_object(name, pose)

    # -- inner --------------------------------------------------------------------------------

    def _start(self, name: str) -> int:
        if name not in self._object_q:
            raise UnknownObject(
                f"world {self.config.name} has no object {name!r}; there are "
                f"{', '.join(self._object_q) or 'none that can be put elsewhere; push it'}"
            )
        return self._object_q[name]

    def _put(self, name: str, pose: Pose) -> None:
        start = self._object_q[name]
        x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
        self.data.qpos[start : start + 7] = [*pose[:3, 3], w, x, y, z]

    def _above_ground(self, name: str, pose: Pose) -> Pose:
        config = self.config.objects[name]
        extent = float(np.abs(pose[2, :3]) @ np.array(config.extents)) / 2
        if config.shape == "sphere":
            extent = config.size[0]
        lifted = pose.copy()
        lifted[2, 3] = max(pose[2, 3], self.config.ground + extent)
        return lifted

    def _outside(self, name: str) -> Pose:
        """A place on the ground for an object that is taken away, or has not come yet."""
        config = self.config.objects[name]
        row, column = divmod(list(self.config.objects).index(name), _IN_A_ROW)
        apart = np.array([column, row]) * max(_APART, 1.5 * max(config.extents))
        x, y = np.array(self.config.outside) + apart
        return pose_of([x, y, self.config.ground + config.extents[2] / 2])

    def _all_touching(self) -> dict[int, set[int]]:
        """What each body touches that touches anything."""
        found: dict[int, set[int]] = defaultdict(set)
        for first, second in self.model.geom_bodyid[self.data.contact.geom].tolist():
            found[first].add(second)
            found[second].add(first)
        return found

    def _contacts(self, body: int) -> Iterator[tuple[int, float]]:
        """Bodies that touch `body`, with the depth [m]."""
        contacts = self.data.contact
        bodies = self.model.geom_bodyid[contacts.geom]
        for (first, second), distance in zip(bodies, contacts.dist, strict=True):
            if first == body:
                yield int(second), -float(distance)
            elif second == body:
                yield int(first), -float(distance)


def _copy_model(source: Any, target: Any) -> None:
    """Have a compiled model hold the values of another one of the same structure."""
    for owner, other in ((target, source), (target.stat, source.stat)):
        for name in dir(owner):
            value = getattr(owner, name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value[...] = getattr(other, name)
            elif isinstance(value, float):
                setattr(owner, name, getattr(other, name))


def _belts(model: Any, config: WorldConfig) -> dict[str, dict[int, Vector]]:
    """Geoms that move, with their velocity [m/s], by the names of their fixtures."""
    return {
        name: {
            int(model.geom(f"{name}_{part}").id): box.velocity
            for part, box in fixture.boxes.items()
            if box.velocity
        }
        for name, fixture in config.fixtures.items()
        if fixture.moves
    }
