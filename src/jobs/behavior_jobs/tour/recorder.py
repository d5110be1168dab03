# SPDX-License-Identifier: Apache-2.0
"""Listens to a run, and has the director intervene."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from behavior_msgs.msg import (
    LocalizationResult,
    Metrics,
    MissionAction,
    MissionFeedback,
    PathPlannerHealth,
    PlannerOperationMode,
    Route,
    RouteRequest,
    SemanticRegionArray,
)
from behavior_msgs.srv import DisturbNavigation
from geometry_msgs.msg import PoseArray
from nav_msgs.msg import Odometry

from behavior_executor.missions.mission import FINAL_STATES, State
from behavior_jobs.tour.cues import Action, Director, marks_of
from behavior_jobs.tour.evidence import (
    Answered,
    Asked,
    Cause,
    Evidence,
    Located,
    StateChange,
)
from behavior_motion.planar_pose import Pose2D
from behavior_ros import QOS_EVENT_LOG, QOS_LATCHED, seconds
from behavior_sim.navigation.config import NavigationConfig
from behavior_sim.navigation.messages import pose_from, pose_message
from behavior_sim.navigation.path_planner import Mode, Reason
from behavior_sim.navigation.recording import Event, Moment, Obstacle, RouteTaken, note
from behavior_sim.trials import RunningStack

DISTURB = "simulation/disturb_navigation"
_SETTLE = 1.0
"""[s] of simulated time after the mission's end that is still recorded."""
_FIGURES = 10.0
"""[s] of simulated time in which the world tells its last figures: it does so every second."""
_ENDS = {state.name.lower() for state in FINAL_STATES}
_KINDS = {
    "block": DisturbNavigation.Request.BLOCK,
    "unblock": DisturbNavigation.Request.UNBLOCK,
    "lose_localization": DisturbNavigation.Request.LOSE_LOCALIZATION,
    "move_frame": DisturbNavigation.Request.MOVE_FRAME,
    "add_person": DisturbNavigation.Request.ADD_PERSON,
}


class TourRecorder:
    """Keeps what is heard from now on.

    Args:
        client: in the domain of the stack.
        config: the world.
        director: who intervenes.
    """

    def __init__(self, client: RunningStack, config: NavigationConfig, director: Director) -> None:
        self.evidence = Evidence(config)
        self.action_id = ""
        """Of the mission; nothing is recorded before it is known."""
        self._client = client
        self._director = director
        self._frames = {name: Pose2D(*pose) for name, pose in config.frames.items()}
        self._people: tuple[tuple[float, float], ...] = ()
        self._futures: list[tuple[str, Any]] = []
        self._figures_at = -math.inf
        self._subscribed: list[Callable[[], None]] = []
        # What is judged by must not be dropped while this process is busy.
        events = QOS_EVENT_LOG
        for kind, topic, callback, qos in (
            (Odometry, "simulation/truth", self._on_truth, events),
            (PoseArray, "simulation/people", self._on_people, events),
            (LocalizationResult, "localization/result", self._on_localization, events),
            (PathPlannerHealth, "path_planner/health", self._on_health, events),
            (PlannerOperationMode, "planner_operation_mode", self._on_mode, events),
            (RouteRequest, "route_request", self._on_request, events),
            (Route, "route", self._on_route, events),
            (MissionFeedback, "mission/feedback", self._on_feedback, events),
            (Metrics, "behavior/metrics", self._on_metrics, events),
            (SemanticRegionArray, "semantic_regions", self._on_regions, QOS_LATCHED),
        ):
            self._subscribed.append(client.listen(kind, topic, callback, qos))

    def stop(self) -> None:
        """Hear nothing any more."""
        for forget in self._subscribed:
            forget()
        self._subscribed.clear()

    @property
    def waiting(self) -> list[str]:
        """Interventions that found no occasion."""
        return self._director.waiting

    @property
    def now(self) -> float:
        """Simulated time of the newest moment [s]; -1: none yet."""
        moments = self.evidence.recording.moments
        return moments[-1].time if moments else -1.0

    @property
    def ended(self) -> float | None:
        """When the mission was told to have ended [s]; None: not yet."""
        changes = self.evidence.states[-1:]
        return changes[0].time if changes and changes[0].state in _ENDS else None

    def settle(self) -> None:
        """Wait until what came up to a little after the mission's end has been heard, all of it.

        Who follows the mission hears of its end on another subscription, maybe long before.

        Raises:
            Exception: simulated time stands still.
        """
        wait = self._client.wait_simulated
        wait(lambda: self.ended is not None, now=lambda: self.now)
        end = self.ended or 0.0
        wait(lambda: self.now >= end + _SETTLE, now=lambda: self.now)
        wait(lambda: self._figures_at >= end, now=lambda: self.now, limit=_FIGURES)
        wait(lambda: all(future.done() for _, future in self._futures), now=lambda: self.now)

    def finish(self) -> Evidence:
        """What was heard, with the simulation's refusals."""
        self.evidence.refused = [
            f"{name}: {future.result().message if future.done() else 'no answer'}"
            for name, future in self._futures
            if not future.done() or future.result().code != 0
        ]
        return self.evidence

    # -- what is heard

    def _on_truth(self, message: Odometry) -> None:
        if not self.action_id:
            return
        moment = Moment(
            seconds(message.header.stamp),
            pose_from(message.pose.pose),
            message.twist.twist.linear.x,
            self._people,
        )
        self.evidence.recording.moments.append(moment)
        state = self.evidence.states[-1].state if self.evidence.states else ""
        cue = self._director.due(moment, state)
        if cue is not None:
            self.evidence.done.append((moment.time, cue.name))
            for action in cue.actions:
                self._intervene(action, moment)

    def _on_people(self, message: PoseArray) -> None:
        self._people = tuple((pose.position.x, pose.position.y) for pose in message.poses)

    def _on_localization(self, message: LocalizationResult) -> None:
        good = message.status == LocalizationResult.GOOD
        time, last = seconds(message.header.stamp), self.evidence.located[-1:]
        if not last or (last[0].good, last[0].tile) != (good, message.map_id):
            self.evidence.located.append(Located(time, good, message.map_id))
        changes = self.evidence.recording.localization
        was_good = not changes or changes[-1][1]
        note(changes, time, good)
        if good and not was_good:
            self._mark(time, "the robot is located again")

    def _on_health(self, message: PathPlannerHealth) -> None:
        if message.status == PathPlannerHealth.FAILURE:
            name = Reason(message.reason).name
            self.evidence.failures.append((seconds(message.header.stamp), name))

    def _on_mode(self, message: PlannerOperationMode) -> None:
        note(self.evidence.recording.modes, seconds(message.header.stamp), Mode(message.mode))

    def _on_request(self, message: RouteRequest) -> None:
        cause = Cause(message.cause)
        time = seconds(message.header.stamp)
        self.evidence.asked.append(Asked(time, message.id, cause, tuple(message.avoid_edges)))
        if cause is Cause.REROUTE:
            self._mark(time, "the way is blocked: another route is asked for")
        elif cause is Cause.GOAL_MOVED:
            self._mark(time, "the goal has moved: a new route is asked for")

    def _on_route(self, message: Route) -> None:
        time = seconds(message.header.stamp)
        places = [[p.pose.position.x, p.pose.position.y] for p in message.path.poses]
        self.evidence.answered.append(
            Answered(time, message.request_id, tuple(message.edges), message.text)
        )
        if places and self.action_id:
            route = RouteTaken(time, np.array(places), tuple(message.edges))
            self.evidence.recording.routes.append(route)

    def _on_feedback(self, message: MissionFeedback) -> None:
        if message.action_id != self.action_id:
            return
        changes, state = self.evidence.states, State(message.state).name.lower()
        time = seconds(message.header.stamp)
        if not changes or changes[-1].state != state:
            changes.append(StateChange(time, state))
        note(self.evidence.recording.paused, time, state == "paused")

    def _on_metrics(self, message: Metrics) -> None:
        if message.component == "navigation_world":
            self.evidence.figures = {metric.name: metric.value for metric in message.metrics}
            self._figures_at = seconds(message.header.stamp)

    def _on_regions(self, message: SemanticRegionArray) -> None:
        time, tiles = seconds(message.header.stamp), self.evidence.recording.tiles
        changed = bool(tiles) and tiles[-1][1] != message.map_id
        note(tiles, time, message.map_id)
        if changed:
            self._mark(time, f"tile {message.map_id} is loaded")

    # -- what is done

    def _intervene(self, action: Action, moment: Moment) -> None:
        self._mark(moment.time, action.text)
        mark = marks_of(action, moment.time, self._frames.get(action.name, Pose2D()))
        obstacles = self.evidence.recording.obstacles
        if isinstance(mark, Obstacle):
            obstacles.append(mark)
        elif action.kind == "unblock":
            obstacles[:] = [replace(each, until=min(each.until, moment.time)) for each in obstacles]
        elif mark is not None:
            self.evidence.recording.frames.append(mark)
            self._frames[action.name] = action.pose
        if action.kind in ("pause", "resume"):
            kind = MissionAction.PAUSE if action.kind == "pause" else MissionAction.RESUME
            self._client.give(MissionAction(type=kind, action_id=self.action_id))
            return
        request = DisturbNavigation.Request(
            kind=_KINDS[action.kind],
            name=action.name,
            pose=pose_message(action.pose),
            duration=action.duration,
            speed=action.speed,
        )
        request.size = list(action.size)
        future = self._client.call_later(DisturbNavigation, DISTURB, request)
        self._futures.append((action.kind, future))

    def _mark(self, time: float, text: str) -> None:
        moments = self.evidence.recording.moments
        if moments:
            robot = moments[-1].robot
            self.evidence.recording.events.append(Event(time, text, robot.x, robot.y))
