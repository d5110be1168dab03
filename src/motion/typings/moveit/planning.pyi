# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from moveit.core.planning_interface import MotionPlanResponse
from moveit.core.planning_scene import PlanningScene
from moveit.core.robot_model import RobotModel
from moveit.core.robot_state import RobotState
from moveit_msgs.msg import Constraints
from moveit_msgs.msg import PlanningScene as PlanningSceneMessage

class PlanRequestParameters:
    planner_id: str
    planning_pipeline: str
    planning_attempts: int
    planning_time: float
    max_velocity_scaling_factor: float
    max_acceleration_scaling_factor: float
    def __init__(self, moveit: MoveItPy, namespace: str) -> None: ...

class PlanningComponent:
    def set_start_state(
        self, configuration_name: str | None = ..., robot_state: RobotState | None = ...
    ) -> bool: ...
    def set_goal_state(
        self,
        configuration_name: str | None = ...,
        robot_state: RobotState | None = ...,
        pose_stamped_msg: Any | None = ...,
        pose_link: str | None = ...,
        motion_plan_constraints: Sequence[Constraints] | None = ...,
    ) -> bool: ...
    def set_path_constraints(self, path_constraints: Constraints) -> bool: ...
    def plan(
        self,
        single_plan_parameters: PlanRequestParameters | None = ...,
        multi_plan_parameters: Any | None = ...,
        planning_scene: PlanningScene | None = ...,
        solution_selection_function: Callable[..., Any] | None = ...,
        stopping_criterion_callback: Callable[..., bool] | None = ...,
    ) -> MotionPlanResponse: ...

class LockedPlanningSceneContextManagerRO:
    def __enter__(self) -> PlanningScene: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

class PlanningSceneMonitor:
    def read_only(self) -> LockedPlanningSceneContextManagerRO: ...
    def new_planning_scene_message(self, scene: PlanningSceneMessage) -> bool: ...

class MoveItPy:
    def __init__(
        self,
        node_name: str = ...,
        name_space: str = ...,
        launch_params_filepaths: Sequence[str] = ...,
        config_dict: Mapping[str, Any] | None = ...,
        provide_planning_service: bool = ...,
    ) -> None: ...
    def get_planning_component(self, planning_component_name: str) -> PlanningComponent: ...
    def get_planning_scene_monitor(self) -> PlanningSceneMonitor: ...
    def get_robot_model(self) -> RobotModel: ...
    def shutdown(self) -> None: ...
