# SPDX-License-Identifier: Apache-2.0
"""moveit_py as its bindings declare it (MoveIt 2, branch jazzy), around a planner that stands in.

Classes, methods, properties, names, order and types of arguments are those of the bindings'
sources; what they lack is an error here, as it is there. Arguments without a name in the bindings
are positional only. Left out: whole classes and overloads for other message types.
"""

from __future__ import annotations

import copy
import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped

if typing.TYPE_CHECKING:
    pass

Vector = Sequence[float] | np.ndarray


def bound(method: Any) -> Any:
    """Refuse what pybind11 refuses: other names, other numbers and other types of arguments."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        hints = typing.get_type_hints(method, localns={"FakeMoveIt": object})
        for name, value in given.arguments.items():
            if name in hints and not _fits(value, hints[name]):
                raise TypeError(
                    f"{method.__qualname__}(): incompatible function arguments: {name} = {value!r}"
                )
        return method(*args, **kwargs)

    return call


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Mapping:
        return isinstance(value, dict) and all(
            _fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items()
        )
    if origin is list:
        return isinstance(value, list | tuple) and all(_fits(each, inner[0]) for each in value)
    if origin is Callable:
        return callable(value)
    if inner:  # a union
        return any(_fits(value, each) for each in inner)
    if hint is float:
        return isinstance(value, float | int | np.floating) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


class Handle:
    """An object of C++; it takes no attributes of others."""

    __slots__ = ("core",)

    @classmethod
    def around(cls, core: Any) -> Any:
        """One that C++ hands out."""
        made = cls.__new__(cls)
        made.core = core
        return made


class RobotModel(Handle):
    __slots__ = ()


class RobotState(Handle):
    """Positions of all joints, and what is attached to links."""

    __slots__ = ("attached", "positions", "updated")

    @bound
    def __init__(self, robot_model: RobotModel, /) -> None:
        self.core = robot_model.core
        self.positions = dict.fromkeys(self.core.all_joints, 0.0)
        self.attached: frozenset[str] = frozenset()
        self.updated = False

    def __copy__(self) -> RobotState:
        other = RobotState(RobotModel.around(self.core))
        other.positions, other.attached = dict(self.positions), self.attached
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> RobotState:
        return copy.copy(self)

    @property
    def joint_positions(self) -> dict[str, float]:
        return dict(self.positions)

    @joint_positions.setter
    @bound
    def joint_positions(self, joint_positions: Mapping[str, float]) -> None:
        for name, value in joint_positions.items():
            if name not in self.positions:
                raise RuntimeError(f"Variable '{name}' is not known to model")
            self.positions[name] = float(value)
        self.updated = False

    @bound
    def set_joint_group_positions(
        self, joint_model_group_name: str, position_values: Vector
    ) -> None:
        self.positions.update(zip(self.core.arm_joints, position_values, strict=True))
        self.updated = False

    @bound
    def set_to_default_values(self) -> None:
        self.positions = dict.fromkeys(self.positions, 0.0)
        self.updated = False

    @bound
    def clear_attached_bodies(self) -> None:
        self.attached = frozenset()

    @bound
    def update(self, force: bool = False, type: str = "all") -> None:
        if type not in ("all", "links_only", "collisions_only"):
            raise ValueError("Invalid category")
        self.updated = True


class PlanningScene(Handle):
    __slots__ = ()

    @property
    def current_state(self) -> RobotState:
        """Referred to, not copied: it changes as the scene does."""
        self.core.check_locked()
        state: RobotState = self.core.scene_state
        return state

    @property
    def planning_scene_message(self) -> Any:
        self.core.check_locked()
        return self.core.scene_message()


class LockedPlanningSceneContextManagerRO(Handle):
    __slots__ = ()

    def __enter__(self) -> PlanningScene:
        self.core.locks += 1
        scene: PlanningScene = PlanningScene.around(self.core)
        return scene

    def __exit__(self, type: object, value: object, traceback: object) -> None:
        self.core.locks -= 1


class PlanningSceneMonitor(Handle):
    __slots__ = ()

    @property
    def name(self) -> str:
        return "planning_scene_monitor"

    @bound
    def read_only(self) -> LockedPlanningSceneContextManagerRO:
        made: LockedPlanningSceneContextManagerRO = LockedPlanningSceneContextManagerRO.around(
            self.core
        )
        return made

    @bound
    def new_planning_scene_message(self, scene: Any) -> bool:
        if type(scene).__name__ != "PlanningScene":
            raise TypeError(f"new_planning_scene_message(): scene = {scene!r}")
        assert not self.core.locks, "it waits for the lock that this thread holds"
        return bool(self.core.new_planning_scene_message(scene))


class PlanRequestParameters(Handle):
    __slots__ = (
        "max_acceleration_scaling_factor",
        "max_velocity_scaling_factor",
        "planner_id",
        "planning_attempts",
        "planning_pipeline",
        "planning_time",
    )
    TYPES = dict.fromkeys(("planner_id", "planning_pipeline"), str) | {"planning_attempts": int}

    @bound
    def __init__(self, moveit_cpp: MoveItPy, ns: str, /) -> None:
        self.core = moveit_cpp.core
        self.planner_id = self.planning_pipeline = ""
        self.planning_attempts, self.planning_time = 1, 1.0
        self.max_velocity_scaling_factor = self.max_acceleration_scaling_factor = 1.0

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "core" and not _fits(value, self.TYPES.get(name, float)):
            raise TypeError(f"{name} = {value!r}: incompatible function arguments")
        super().__setattr__(name, value)


class RobotTrajectory(Handle):
    __slots__ = ()

    @bound
    def get_robot_trajectory_msg(self, joint_filter: list[str] = []) -> Any:  # noqa: B006
        return self.core


class MotionPlanResponse(Handle):
    """``core`` is the message of the path, or None, and the error's code."""

    __slots__ = ()

    @property
    def trajectory(self) -> RobotTrajectory | None:
        made: RobotTrajectory = RobotTrajectory.around(self.core[0])
        return made if self.core[0] is not None else None

    @property
    def error_code(self) -> Any:
        return self.core[1]

    @property
    def planning_time(self) -> float:
        return 0.0

    def __bool__(self) -> bool:
        return bool(self.error_code.val == 1)


class PlanningComponent(Handle):
    __slots__ = ()

    @bound
    def __init__(self, joint_model_group_name: str, moveit_py_instance: MoveItPy) -> None:
        self.core = moveit_py_instance.core
        assert joint_model_group_name == self.core.group

    @property
    def planning_group_name(self) -> str:
        return str(self.core.group)

    @bound
    def set_start_state_to_current_state(self) -> None:
        self.core.start = None

    @bound
    def set_start_state(
        self, configuration_name: str | None = None, robot_state: RobotState | None = None
    ) -> bool:
        if (configuration_name is None) == (robot_state is None):
            raise ValueError("Must specify one of configuration name and robot state")
        assert robot_state is not None, "named configurations are not among what stands in"
        assert robot_state.updated, "a state that was changed has to be updated"
        self.core.start = copy.copy(robot_state)
        return True

    @bound
    def set_goal_state(
        self,
        configuration_name: str | None = None,
        robot_state: RobotState | None = None,
        pose_stamped_msg: PoseStamped | None = None,
        pose_link: str | None = None,
        motion_plan_constraints: list[Any] | None = None,
    ) -> bool:
        given = (configuration_name, robot_state, pose_stamped_msg, motion_plan_constraints)
        if sum(each is not None for each in given) != 1:
            raise ValueError("Must specify exactly one kind of goal")
        self.core.set_goals(motion_plan_constraints)
        return True

    @bound
    def set_path_constraints(self, path_constraints: Any) -> bool:
        self.core.set_constraints(path_constraints)
        return True

    @bound
    def plan(
        self,
        single_plan_parameters: PlanRequestParameters | None = None,
        multi_plan_parameters: Any | None = None,
        planning_scene: PlanningScene | None = None,
        solution_selection_function: Callable[..., Any] | None = None,
        stopping_criterion_callback: Callable[..., Any] | None = None,
    ) -> MotionPlanResponse:
        assert not self.core.locks, "it waits for the lock that this thread holds"
        made: MotionPlanResponse = MotionPlanResponse.around(self.core.plan(single_plan_parameters))
        return made


class MoveItPy(Handle):
    __slots__ = ()

    @bound
    def __init__(
        self,
        node_name: str = "moveit_py",
        name_space: str = "",
        launch_params_filepaths: list[str] = [],  # noqa: B006
        config_dict: Any = None,
        provide_planning_service: bool = True,
        remappings: Mapping[str, str] | None = None,
    ) -> None:
        raise AssertionError("it is made by `FakeMoveIt.moveit_py`")

    @bound
    def get_planning_component(self, planning_component_name: str) -> PlanningComponent:
        return PlanningComponent(planning_component_name, self)

    @bound
    def get_planning_scene_monitor(self) -> PlanningSceneMonitor:
        made: PlanningSceneMonitor = PlanningSceneMonitor.around(self.core)
        return made

    @bound
    def get_robot_model(self) -> RobotModel:
        made: RobotModel = RobotModel.around(self.core)
        return made

    @bound
    def shutdown(self) -> None:
        self.core.shutdown()
