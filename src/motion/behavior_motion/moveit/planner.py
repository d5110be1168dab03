# SPDX-License-Identifier: Apache-2.0
"""``behavior_motion.MotionPlanner`` with MoveIt's planning pipelines."""

from __future__ import annotations

import time
from typing import Any

from moveit.planning import MoveItPy

from behavior_motion.collision.scene import PlanningScene
from behavior_motion.moveit.routes import MoveItRoutes
from behavior_motion.moveit.scene_mirror import SceneMirror
from behavior_motion.planning.embedded import EmbeddedPlanner
from behavior_motion.robot.model import RobotModel
from behavior_motion.robot.robot_file import MoveItSection

NODE_NAME = "behavior_motion_moveit"


class MoveItPlanner(EmbeddedPlanner):
    """Routes by MoveIt; goals, timing, checks and questions as in the embedded planner."""

    def __init__(
        self,
        robot: RobotModel,
        scene: PlanningScene | None = None,
        *,
        seed: int = 0,
        moveit: MoveItPy | None = None,
    ) -> None:
        """Start MoveIt for the robot, or take one that runs.

        Raises:
            ValueError: The robot's file has no section ``moveit``.
        """
        section = robot.config.moveit
        if section is None:
            raise ValueError(f"the file of robot {robot.name!r} has no section 'moveit'")
        self._moveit = moveit or MoveItPy(
            node_name=NODE_NAME, config_dict=configuration(section, robot)
        )
        mirror = SceneMirror(robot, self._moveit.get_planning_scene_monitor())
        # MoveIt searches in threads of its own, whose processor time ours does not count.
        super().__init__(robot, scene, seed=seed, clock=time.monotonic)
        self.route_finder = MoveItRoutes(self._moveit, robot, mirror, section.group)

    def close(self) -> None:
        """Shut MoveIt down."""
        self._moveit.shutdown()


def configuration(section: MoveItSection, robot: RobotModel) -> dict[str, Any]:
    """MoveIt's parameters from the robot's MoveIt configuration package, with our pipelines."""
    from moveit_configs_utils import MoveItConfigsBuilder

    builder = MoveItConfigsBuilder(section.robot_name, package_name=section.config_package)
    builder.planning_pipelines(pipelines=["ompl", "pilz_industrial_motion_planner"])
    values: dict[str, Any] = builder.to_moveit_configs().to_dict()
    values["planning_pipelines"] = {"pipeline_names": ["ompl", "pilz_industrial_motion_planner"]}
    values["plan_request_params"] = {
        "planning_attempts": 1,
        "planning_pipeline": "ompl",
        "planner_id": "RRTConnectkConfigDefault",
        "max_velocity_scaling_factor": 1.0,
        "max_acceleration_scaling_factor": 1.0,
    }
    values["planning_scene_monitor_options"] = {
        "name": "planning_scene_monitor",
        "robot_description": "robot_description",
        "joint_state_topic": "/joint_states",
        "attached_collision_object_topic": "/moveit_cpp/planning_scene_monitor",
        "publish_planning_scene_topic": "/moveit_cpp/publish_planning_scene",
        "monitored_planning_scene_topic": "/moveit_cpp/monitored_planning_scene",
        "wait_for_initial_state_timeout": 10.0,
    }
    return values
