# SPDX-License-Identifier: Apache-2.0
"""The steps of pick and place one by one, for trees that compose their own.

/sample_grasp and /sample_place_pose tell ways, /select_reachable chooses one of them,
/check_grasped and /check_placed tell whether it worked; the arm is moved by /move_arm and /gripper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from behavior_msgs.action import SelectReachable
from behavior_msgs.srv import CheckGrasped, CheckPlaced, SampleGrasp, SamplePlacePose
from rclpy.node import Node

from behavior_ros import GoalContext, WorkerActionServer
from behavior_skills.arm.grasp_check import MOST_PATIENCE, GraspCheck, GraspCheckRequest
from behavior_skills.arm.pick import PickParameters, PickSkill
from behavior_skills.arm.planning import PlanningWorld
from behavior_skills.arm.select_reachable import SelectReachableRequest, SelectReachableSkill
from behavior_skills.arm.specified_place import SpecifiedPlaceParameters, SpecifiedPlaceSkill
from behavior_skills.goal_checks import invalid, planning_budget
from behavior_skills.interfaces import Array, Failure, Hand, SkillFailure
from behavior_skills.node import conversion
from behavior_skills.node.controllers import ArmClient, GripperClient
from behavior_skills.node.goal_runtime import GoalRuntime
from behavior_skills.node.scene_client import SceneClient
from behavior_skills.node.worker_service import WorkerService
from behavior_skills.placement import PlaceSpecification, post_place_pose

Work = Callable[[GoalRuntime, SceneClient], Any]
PLACED_PATIENCE = 3.0
"""[s]"""


@dataclass(slots=True)
class StepServers:
    """Serves the steps; call :meth:`serve` once."""

    node: Node
    arm: ArmClient
    gripper: GripperClient
    world: PlanningWorld
    hand: Hand
    pick_parameters: PickParameters
    place_parameters: SpecifiedPlaceParameters
    base_T_world: Callable[[], Array]
    """Where the world's frame is; raises `SkillFailure`."""
    frames_of: Callable[[SceneClient], conversion.FrameLookup]
    run: Callable[..., Any]
    """(context, kind, work, needs_arm=) -> result, with failures as codes."""
    accept: Callable[[Any], str | None]
    """Why a goal that uses the planner is refused now; None: it is not."""

    def serve(self) -> dict[str, Any]:
        """Start the servers; returns them by name."""

        def service(kind: Any, name: str, work: Callable[[GoalContext], Any]) -> WorkerService:
            def failed(text: str) -> Any:
                return conversion.fail(kind.Response(), Failure.EXECUTION_FAILED, text)

            return WorkerService(self.node, kind, name, work, failed)

        return {
            "sample_grasp": service(SampleGrasp, "/sample_grasp", self._sample_grasp),
            "sample_place_pose": service(
                SamplePlacePose, "/sample_place_pose", self._sample_place_pose
            ),
            "check_grasped": service(CheckGrasped, "/check_grasped", self._check_grasped),
            "check_placed": service(CheckPlaced, "/check_placed", self._check_placed),
            "select_reachable": WorkerActionServer(
                self.node,
                SelectReachable,
                "/select_reachable",
                self._select_reachable,
                accept=self.accept,
            ),
        }

    def _sample_grasp(self, context: GoalContext) -> SampleGrasp.Response:
        def work(runtime: GoalRuntime, scene: SceneClient) -> SampleGrasp.Response:
            skill = PickSkill(
                runtime,
                self.arm,
                self.gripper,
                scene,
                self.world,
                self.hand,
                self.pick_parameters,
                conversion.sample_grasp_request(context.goal),
            )
            with planning_budget():
                ways = skill.sample()
            return SampleGrasp.Response(
                message=f"{len(ways)} ways to grasp it.",
                pre=self._stamped([pre for pre, _, _ in ways], runtime),
                target=self._stamped([target for _, target, _ in ways], runtime),
                grasp=[conversion.pose_message(grasp.object_T_tool) for _, _, grasp in ways],
                score=[grasp.score for _, _, grasp in ways],
            )

        return self._answer(context, SampleGrasp, work)

    def _sample_place_pose(self, context: GoalContext) -> SamplePlacePose.Response:
        def work(runtime: GoalRuntime, scene: SceneClient) -> SamplePlacePose.Response:
            specification = self._specification(context.goal.parameters)
            skill = self._place_skill(specification, runtime, scene)
            with planning_budget():
                places = skill.sample()
            vector = np.array(specification.post_place_vector or (), dtype=np.float64)
            posts = [post_place_pose(p.place, vector) for p in places] if len(vector) else []
            return SamplePlacePose.Response(
                message=f"{len(places)} places that nothing stands in.",
                pre=self._stamped([place.pre for place in places], runtime),
                target=self._stamped([place.place for place in places], runtime),
                post=self._stamped(posts, runtime),
                share=float(skill.report.share if skill.report else 1.0),
            )

        # What is held is settled here: not while another goal takes it, or lets go of it.
        return self._answer(context, SamplePlacePose, work, needs_arm=True)

    def _check_grasped(self, context: GoalContext) -> CheckGrasped.Response:
        def work(runtime: GoalRuntime, scene: SceneClient) -> CheckGrasped.Response:
            goal = context.goal
            request = GraspCheckRequest(
                goal.object_name, goal.width, goal.height, goal.rise, goal.patience
            )
            check = GraspCheck(runtime, self.arm, scene, self.world, request)
            response = CheckGrasped.Response()
            try:
                check.run()
                response.message = f"'{goal.object_name}' is in the gripper."
            except SkillFailure as failure:
                conversion.fail(response, failure.failure, str(failure))
            response.gap, response.seen_height = float(check.gap), float(check.height)
            return response

        return self._answer(context, CheckGrasped, work)

    def _check_placed(self, context: GoalContext) -> CheckPlaced.Response:
        def work(runtime: GoalRuntime, scene: SceneClient) -> CheckPlaced.Response:
            goal = context.goal
            specification = self._specification(goal.parameters)
            patience = goal.patience or PLACED_PATIENCE
            if not 0.0 < patience <= MOST_PATIENCE:
                raise invalid(f"patience is {goal.patience:g} s, give 0 to {MOST_PATIENCE:g}")
            height = 0.0
            if specification.success_mode == "height":
                height = self._tool_height(goal, scene)
            skill = self._place_skill(specification, runtime, scene)
            pose = skill.check_placed(height, patience)
            return CheckPlaced.Response(
                message=f"It is placed by success_mode {specification.success_mode}.",
                placed=self._stamped([pose], runtime)[0],
            )

        return self._answer(context, CheckPlaced, work)

    def _tool_height(self, goal: CheckPlaced.Request, scene: SceneClient) -> float:
        """Height of the tool when it let go, in the base frame [m]."""
        if len(goal.tool) != 1:
            raise invalid(
                f"success_mode height needs the one pose of the tool when it let go, tool has "
                f"{len(goal.tool)}"
            )
        return float(conversion.stamped_pose(goal.tool[0], self.frames_of(scene))[2, 3])

    def _select_reachable(self, context: GoalContext) -> SelectReachable.Result:
        def work(runtime: GoalRuntime, scene: SceneClient) -> SelectReachable.Result:
            goal, lookup = context.goal, self.frames_of(scene)
            result = SelectReachable.Result(index=-1)
            request = SelectReachableRequest(
                target=tuple(conversion.stamped_pose(pose, lookup) for pose in goal.target),
                pre=tuple(conversion.stamped_pose(pose, lookup) for pose in goal.pre),
                plan=goal.mode == SelectReachable.Goal.PLAN,
                in_order=goal.in_order,
                may_touch=tuple(goal.may_touch),
            )
            skill = SelectReachableSkill(runtime, self.arm, scene, self.world, self.hand, request)
            try:
                result.index = skill.run()
            except SkillFailure as failure:
                return conversion.fail(result, failure.failure, str(failure))
            result.message = f"Way {result.index} can be reached."
            result.chosen = [goal.target[result.index]]
            if goal.pre:
                result.chosen_pre = [goal.pre[result.index]]
            return result

        return self.run(context, SelectReachable, work)

    def _specification(self, text: str) -> PlaceSpecification:
        specification = conversion.place_specification(text)
        if specification is None:
            raise invalid(
                "parameters must be a place specification: objects: [thing, container], ..."
            )
        return specification

    def _place_skill(
        self, specification: PlaceSpecification, runtime: GoalRuntime, scene: SceneClient
    ) -> SpecifiedPlaceSkill:
        return SpecifiedPlaceSkill(
            runtime,
            self.arm,
            self.gripper,
            scene,
            self.world,
            self.hand,
            self.place_parameters,
            specification,
            self.base_T_world(),
            self.node.get_logger().warning,
        )

    def _stamped(self, poses: Sequence[Array], runtime: GoalRuntime) -> list[Any]:
        frame, now = self.world.planner.robot.base_frame, runtime.now()
        return [conversion.stamped_message(pose, frame, now) for pose in poses]

    def _answer(
        self, context: GoalContext, kind: Any, work: Work, *, needs_arm: bool = False
    ) -> Any:
        """Work on a request of a service, taken as the goal of an action without feedback."""
        action = SimpleNamespace(__name__=kind.__name__, Result=kind.Response, Feedback=dict)
        return self.run(context, action, work, needs_arm=needs_arm)
