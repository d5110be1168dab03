# SPDX-License-Identifier: Apache-2.0
from moveit.core.robot_trajectory import RobotTrajectory
from moveit_msgs.msg import MoveItErrorCodes, RobotState

class MotionPlanResponse:
    @property
    def trajectory(self) -> RobotTrajectory: ...
    @property
    def error_code(self) -> MoveItErrorCodes: ...
    @property
    def start_state(self) -> RobotState: ...
    planning_time: float
    planner_id: str
    def __bool__(self) -> bool: ...
