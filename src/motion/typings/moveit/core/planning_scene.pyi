# SPDX-License-Identifier: Apache-2.0
from moveit_msgs.msg import PlanningScene as PlanningSceneMessage

class PlanningScene:
    @property
    def planning_scene_message(self) -> PlanningSceneMessage: ...
