# SPDX-License-Identifier: Apache-2.0
"""Fake drivers over ROS: they accept, refuse, replace and fail as the real ones do.

What they answer is that of ros2_control's joint trajectory controller and its gripper controllers,
and of the Franka gripper's node, by their sources (Jazzy).
"""

from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from behavior_ros import seconds

RESULT = FollowJointTrajectory.Result
PREEMPTED = "Current goal preempted by new incoming action."
DEACTIVATED = "Current goal cancelled during deactivate transition."


class FakeTrajectoryController:
    """A joint trajectory controller of ros2_control, with its checks and its words."""

    def __init__(self, node, name, joints):
        self.node, self.joints = node, tuple(joints)
        self.active, self.fault = True, None
        self.goals, self.cancelled = [], 0
        self._end = None
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            f"{name}/follow_joint_trajectory",
            execute_callback=self._execute,
            goal_callback=self._judge,
            handle_accepted_callback=self._accept,
            cancel_callback=self._cancel,
        )

    def deactivate(self):
        self.active = False
        self._finish("abort", RESULT.INVALID_GOAL, DEACTIVATED)

    def _judge(self, goal):
        """It says in its log alone why it refuses."""
        trajectory = goal.trajectory
        fine = self.active and sorted(trajectory.joint_names) == sorted(self.joints)
        return GoalResponse.ACCEPT if fine and trajectory.points else GoalResponse.REJECT

    def _accept(self, handle):
        self._finish("abort", RESULT.INVALID_GOAL, PREEMPTED)
        self.goals.append(handle.request)
        self._end = Future(executor=self.node.executor)
        duration = seconds(handle.request.trajectory.points[-1].time_from_start)
        timer = self.node.create_timer(duration, lambda: self._over(timer, end))
        end = self._end
        handle.execute()

    def _over(self, timer, end):
        self.node.destroy_timer(timer)
        if end is not self._end:
            return
        if self.fault == "path":
            text = "Aborted due to path tolerance violation"
            self._finish("abort", RESULT.PATH_TOLERANCE_VIOLATED, text)
        elif self.fault == "goal_time":
            text = "Aborted due to goal_time_tolerance exceeding by 0.010000 seconds"
            self._finish("abort", RESULT.GOAL_TOLERANCE_VIOLATED, text)
        else:
            self._finish("succeed", RESULT.SUCCESSFUL, "Goal successfully reached!")

    def _finish(self, how, code, text):
        end, self._end = self._end, None
        if end is not None:
            end.set_result((how, code, text))

    def _cancel(self, handle):
        self.cancelled += 1
        self._finish("canceled", RESULT.SUCCESSFUL, "")
        return CancelResponse.ACCEPT

    async def _execute(self, handle):
        how, code, text = await self._end
        getattr(handle, how)()
        return RESULT(error_code=code, error_string=text)


class FakeGripper:
    """An action of a gripper: it ends every goal as the test says."""

    def __init__(self, node, kind, name):
        self.goals, self.how, self.result = [], "succeed", {}
        self._kind = kind
        self._server = ActionServer(node, kind, name, execute_callback=self._execute)

    async def _execute(self, handle):
        self.goals.append(handle.request)
        getattr(handle, self.how)()
        return self._kind.Result(**self.result)
