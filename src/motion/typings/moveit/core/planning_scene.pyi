# SPDX-License-Identifier: Apache-2.0
from moveit.core.robot_state import RobotState
from moveit_msgs.msg import PlanningScene as PlanningSceneMessage

class PlanningScene:
    @property
    def current_state(self) -> RobotState: ...
    @property
    def planning_scene_message(self) -> PlanningSceneMessage: ...
