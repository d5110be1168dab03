# SPDX-License-Identifier: Apache-2.0
"""Driver `nav2`: NavigateToPose for poses, FollowPath for paths (Jazzy)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from behavior_msgs.action import MoveBase

from behavior_ros import GoalContext, remote_actions
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.interfaces import FailureCode, SkillFailure
from behavior_skills.node.drivers.driver import Driver, DriverParts, Options, Role

LOCALIZE = "See that the base is localized: map, odometry and their transforms"
ANOTHER_GOAL = "Choose a goal that is free and within the map"
CLEAR = "Clear what stands in the base's way"
ERRORS = {
    101: ("INVALID_CONTROLLER", "See controller_plugins in Nav2's parameters"),
    102: ("TF_ERROR", LOCALIZE),
    103: ("INVALID_PATH", "Give a path that begins where the base is"),
    104: ("PATIENCE_EXCEEDED", CLEAR),
    105: ("FAILED_TO_MAKE_PROGRESS", f"{CLEAR}, or see whether its driver takes commands"),
    106: ("NO_VALID_CONTROL", CLEAR),
    107: ("CONTROLLER_TIMED_OUT", "See whether Nav2's machine is overloaded"),
    201: ("INVALID_PLANNER", "See planner_plugins in Nav2's parameters"),
    202: ("TF_ERROR", LOCALIZE),
    203: ("START_OUTSIDE_MAP", LOCALIZE),
    204: ("GOAL_OUTSIDE_MAP", ANOTHER_GOAL),
    205: ("START_OCCUPIED", "Drive the base by hand to where it is free"),
    206: ("GOAL_OCCUPIED", ANOTHER_GOAL),
    207: ("TIMEOUT", "See whether Nav2's machine is overloaded"),
    208: ("NO_VALID_PATH", f"{CLEAR}, or choose another goal"),
}
"""Error codes of nav2_msgs, which name them for each action by itself, and what to do."""


class Nav2Options(Options):
    """The actions."""

    navigate_to_pose: str = "navigate_to_pose"
    follow_path: str = "follow_path"


class Nav2:
    """Nav2's drives."""

    def __init__(self, parts: DriverParts, options: Nav2Options) -> None:
        goals = MoveBase.Goal
        self._types = {
            goals.POSE: load_interface("nav2_msgs/action/NavigateToPose", "action")[0],
            goals.PATH: load_interface("nav2_msgs/action/FollowPath", "action")[0],
        }
        names = {goals.POSE: options.navigate_to_pose, goals.PATH: options.follow_path}
        actions = remote_actions(parts.node)
        self._actions = {
            mode: actions.action(kind, names[mode]) for mode, kind in self._types.items()
        }

    def serves(self, mode: int) -> bool:
        """Whether Nav2 is there for goals of this mode."""
        action = self._actions.get(mode)
        return action is not None and action.ready()

    def run(self, context: GoalContext, trouble: Callable[[], str | None]) -> None:
        """Drive; raises `SkillFailure`, `Cancelled`, `WaitTimeout` or `ServerLost`."""
        goal, mode = context.goal, context.goal.mode
        wanted = self._types[mode].Goal()
        if mode == goal.POSE:
            wanted.pose = goal.target
        else:
            wanted.path = goal.path

        def feedback(message: Any) -> None:
            left = distance_left(message)
            context.publish_feedback(MoveBase.Feedback(phase="move", distance_remaining=left))

        outcome = self._actions[mode].run(
            context,
            wanted,
            timeout=goal.timeout or float("inf"),
            on_feedback=feedback,
            lost=trouble,
        )
        if outcome.succeeded:
            return
        code = getattr(outcome.result, "error_code", 0)
        text = getattr(outcome.result, "error_msg", "") or outcome.message
        name, remedy = ERRORS.get(
            code, ("", "See Nav2's log; clear the way or choose another goal")
        )
        raise SkillFailure(
            FailureCode.EXECUTION_FAILED,
            f"Nav2 ended with {outcome.end.name}, error {code}{name and f' {name}'}: "
            f"{text or 'no reason given'}. {remedy}.",
        )


def distance_left(feedback: Any) -> float:
    """[m] to the goal, by the feedback of either action; Lyrical's paths tell it one level down."""
    tracking = getattr(feedback, "tracking_feedback", feedback)
    return float(
        getattr(tracking, "distance_remaining", getattr(tracking, "distance_to_goal", math.nan))
    )


NAV2 = Driver(role=Role.NAVIGATION, options=Nav2Options, make=Nav2)
