# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence

from moveit_msgs.msg import RobotTrajectory as RobotTrajectoryMessage

class RobotTrajectory:
    def get_robot_trajectory_msg(
        self, joint_filter: Sequence[str] = ...
    ) -> RobotTrajectoryMessage: ...
