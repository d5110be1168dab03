# SPDX-License-Identifier: Apache-2.0
"""Routes by MoveIt's planning pipelines; takes the place of ``behavior_motion.planning.routes``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from moveit.core.planning_interface import MotionPlanResponse
from moveit.planning import MoveItPy, PlanningComponent, PlanRequestParameters

from behavior_motion.checks import Matrix, Vector
from behavior_motion.errors import ErrorCode
from behavior_motion.interruption import check_interrupted
from behavior_motion.moveit import messages
from behavior_motion.moveit.scene_mirror import SceneMirror
from behavior_motion.planning import routes as embedded
from behavior_motion.planning.query import JointGoal, PlanningFailed, Query
from behavior_motion.robot.model import RobotModel

DIRECT_GOALS = 3
"""Number of near goals that the direct way is tried to."""
PADDINGS = (1.0, 0.3, 0.0)
"""Shares of the planner's padding that searches keep in turn."""
SEARCHES = 10
"""How often the search is begun anew where the final check refuses what it found."""


@dataclass(frozen=True)
class Pipeline:
    """A planner of a planning pipeline of MoveIt."""

    name: str
    planner: str


DIRECT = Pipeline("pilz_industrial_motion_planner", "PTP")
SEARCH = Pipeline("ompl", "RRTConnectkConfigDefault")


class MoveItRoutes:
    """Finds routes as ``behavior_motion.planning.routes.routes`` does, by MoveIt."""

    def __init__(
        self,
        moveit: MoveItPy,
        robot: RobotModel,
        mirror: SceneMirror,
        group: str,
    ) -> None:
        """``group`` is the arm's planning group in MoveIt's SRDF."""
        self._moveit, self._robot, self._mirror = moveit, robot, mirror
        self._group = group
        self._component: PlanningComponent = moveit.get_planning_component(group)

    def __call__(
        self, query: Query, start: Vector, goals: list[JointGoal], stream: int = 2
    ) -> Iterator[tuple[JointGoal, Matrix]]:
        """Goal reached and corners of a free path to it; ask for the next where one does not do.

        Raises:
            PlanningFailed: TIMED_OUT or PLANNING_FAILED, once there are no more.
        """
        constraint = self._constraint(query)
        if query.cone is not None and constraint is None:
            # MoveIt has no constraint of this form: an axis that is none of the link's.
            yield from embedded.routes(query, start, goals, stream)
            return
        scene, width = query.world.scene, query.options.gripper_width
        self._mirror.update(scene, start, width)
        if constraint is None:
            for goal in goals[:DIRECT_GOALS]:
                path, _ = self._plan(query, DIRECT, start, [goal], None)
                if path is not None:
                    yield goal, np.stack([start, goal.q])  # PTP is a line in joint space
        why, rng = "", np.random.default_rng([query.seed, stream])
        for search in range(SEARCHES):
            # Paths that graze things do not survive the rounding of their corners. Where start or
            # goal are too close to something for the clearance, the next search has less of it.
            padding = query.padding * PADDINGS[search % len(PADDINGS)]
            self._mirror.update(scene, start, width, padding)
            path, why = self._plan(query, SEARCH, start, goals, constraint)
            if path is not None:
                goal = min(goals, key=lambda g: float(np.abs(g.q - path[-1]).max()))
                query.keep_clearance(query.clearance([start, goal.q]))
                tries = 0 if query.cone is not None else query.options.smoothing
                yield goal, embedded.shortened(query, path, rng, tries)
            check_interrupted()
            if query.deadline.passed:
                raise PlanningFailed(
                    ErrorCode.TIMED_OUT,
                    f"MoveIt found no path within {query.deadline} "
                    f"({why or 'those it found were refused by the final check'}); allow more "
                    "time, another goal, or move what is in the way",
                )
        raise PlanningFailed(
            ErrorCode.PLANNING_FAILED,
            f"{SEARCHES} searches of MoveIt ended without a free path "
            f"({why or 'refused by the final check'}); try another goal, or move what is in the "
            "way",
        )

    def _plan(
        self,
        query: Query,
        pipeline: Pipeline,
        start: Vector,
        goals: list[JointGoal],
        constraint: messages.PathConstraints | None,
    ) -> tuple[Matrix | None, str]:
        """A path by one pipeline, or None and why."""
        left = query.deadline.left
        if left <= 0.0:
            return None, "no time left"
        component, names = self._component, self._robot.joint_names
        state = self._mirror.state(start, query.options.gripper_width)
        component.set_start_state(robot_state=state)
        component.set_goal_state(
            motion_plan_constraints=messages.joint_constraints(names, [g.q for g in goals])
        )
        component.set_path_constraints(path_constraints=constraint or messages.PathConstraints())
        response = component.plan(single_plan_parameters=self._parameters(query, pipeline, left))
        if not response:
            return None, _reason(response)
        path = messages.path_of(response.trajectory.get_robot_trajectory_msg(), names)
        # MoveIt ends within its tolerance; our goal is exact.
        nearest = min(goals, key=lambda g: float(np.abs(g.q - path[-1]).max()))
        return np.vstack([start, path[1:-1], nearest.q]), ""

    def _parameters(self, query: Query, pipeline: Pipeline, left: float) -> PlanRequestParameters:
        parameters = PlanRequestParameters(self._moveit, "")
        parameters.planning_pipeline = pipeline.name
        parameters.planner_id = pipeline.planner
        parameters.planning_attempts = 1
        parameters.planning_time = left
        # The path alone is taken; it is timed within our own limits.
        parameters.max_velocity_scaling_factor = 1.0
        parameters.max_acceleration_scaling_factor = 1.0
        return parameters

    def _constraint(self, query: Query) -> messages.PathConstraints | None:
        """The path constraint in MoveIt's form; None: there is none, or MoveIt has no such."""
        if query.cone is None:
            return None
        wanted = query.cone.constraint
        axis = np.asarray(wanted.axis)
        index = int(np.argmax(np.abs(axis)))
        link = wanted.link_name or self._robot.tool_frame
        if abs(axis[index]) < 1.0 - 1e-9 or link not in self._robot.urdf_links:
            return None
        direction = np.sign(axis[index]) * np.asarray(wanted.direction)
        columns = np.empty((3, 3))
        helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
        columns[:, index] = direction
        columns[:, (index + 1) % 3] = _unit(np.cross(helper, direction))
        columns[:, (index + 2) % 3] = np.cross(direction, columns[:, (index + 1) % 3])
        return messages.axis_constraint(
            link, self._robot.base_frame, columns, index, wanted.tolerance
        )


def _reason(response: MotionPlanResponse) -> str:
    return f"error code {response.error_code.val} of moveit_msgs/MoveItErrorCodes"


def _unit(vector: Vector) -> Vector:
    unit: Vector = vector / np.linalg.norm(vector)
    return unit
