# SPDX-License-Identifier: Apache-2.0
from typing import Any

from moveit.core.robot_model import RobotModel

class RobotState:
    joint_positions: dict[str, float]
    def __init__(self, robot_model: RobotModel) -> None: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> RobotState: ...
    def update(self, force: bool = ..., type: str = ...) -> None: ...
