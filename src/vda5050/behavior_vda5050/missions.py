# SPDX-License-Identifier: Apache-2.0
"""Drives and actions of a VDA5050 order as missions of the executor.

One mission runs at a time. An action that is a mission may therefore not run beside a drive: given
with blocking type NONE it waits, as INITIALIZING, until the drive has ended, and the other way
round.
"""

from __future__ import annotations

import itertools
import math
import time
import uuid
from collections.abc import Callable

from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction, MissionFeedback
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from behavior_ros import QOS_EVENT_LOG, End, GoalOutcome, remote_actions, upright_pose
from behavior_vda5050.actions import RunningAction
from behavior_vda5050.messages import Action, ActionStatus, NodePosition
from behavior_vda5050.order_rules import Place

PREFIX = "vda5050"
"""Missions of this client have identifiers that begin with it."""
SILENCE = 10.0
"""[s] without a word on a mission after which it counts as lost; the executor tells of it 5 times a
second."""
ASK_AGAIN = 1.0
"""[s] after which a pause or cancellation that has shown no effect is asked for again."""
_ENDED = (MissionFeedback.FINISHED, MissionFeedback.FAILED, MissionFeedback.CANCELED)
_ACTIVE = {
    MissionFeedback.RUNNING: ActionStatus.RUNNING,
    MissionFeedback.PAUSED: ActionStatus.PAUSED,
}


class Missions:
    """Sends missions to the executor, and follows them; used in one thread.

    A mission that an earlier client left behind is cancelled: nobody knows its order any more.
    """

    def __init__(self, node: Node) -> None:
        """Talk through a node.

        Args:
            node: of the client.
        """
        self._action = remote_actions(node).action(ExecuteMission, "mission/execute")
        self._session = f"{PREFIX}_{uuid.uuid4().hex[:8]}_"
        self._numbers = itertools.count(1)
        self._sent: dict[str, SentMission] = {}
        """Those that run or wait; also those that were given up, until they are known to end."""
        node.create_subscription(
            MissionFeedback, "mission/feedback", self._on_feedback, QOS_EVENT_LOG
        )

    @property
    def ready(self) -> bool:
        """Whether an executor is there."""
        return self._action.ready()

    def send(self, mission: MissionAction) -> SentMission:
        """Have a mission run, after those that run or wait already."""
        mission.action_id = f"{self._session}{next(self._numbers)}"
        mission.policy = MissionAction.POLICY_QUEUE
        self._sent = {key: sent for key, sent in self._sent.items() if not sent.over}
        sent = SentMission(self, mission.action_id)
        self._sent[mission.action_id] = sent
        if self.ready:
            self._goal(mission, sent.on_end)
        else:
            sent.outcome = (False, "there is no executor")
        return sent

    def control(self, kind: int, action_id: str) -> None:
        """Pause, resume or cancel a mission; its feedback tells what came of it."""
        self._goal(MissionAction(type=kind, action_id=action_id))

    def _goal(
        self, mission: MissionAction, on_end: Callable[[GoalOutcome], None] | None = None
    ) -> None:
        goal = ExecuteMission.Goal(mission=mission)
        self._action.send(goal, server_timeout=SILENCE, on_end=on_end)

    def _on_feedback(self, message: MissionFeedback) -> None:
        sent = self._sent.get(message.action_id)
        if sent is not None:
            sent.on_feedback(message)
        elif message.state not in _ENDED and self._is_strange(message.action_id):
            stranger = self._sent[message.action_id] = SentMission(self, message.action_id)
            stranger.give_up("an earlier client sent it")

    def _is_strange(self, action_id: str) -> bool:
        return action_id.startswith(PREFIX) and not action_id.startswith(self._session)


class SentMission:
    """A mission on its way, and how it is doing.

    It is followed by the topic, which an executor that was restarted goes on with, as well as by
    the action.
    """

    def __init__(self, missions: Missions, action_id: str) -> None:
        """Begin to follow.

        Args:
            missions: sent it.
            action_id: its identifier.
        """
        self.action_id = action_id
        self.state = int(MissionFeedback.WAITING)
        """One of MissionFeedback's."""
        self.outcome: tuple[bool, str] | None = None
        """Success and text, once it has ended."""
        self._missions = missions
        self._cancelled = self._given_up = False
        self._held: bool | None = None
        """Whether it shall be paused; None: that is for others to say, such as an operator."""
        self._heard = self._asked = time.monotonic()

    def poll(self) -> tuple[bool, str] | None:
        """How it ended; what was asked for and has not come about is asked for again."""
        now = time.monotonic()
        if self.outcome is None and now - self._heard > SILENCE:
            self.give_up(f"the executor has been silent for {SILENCE:g} s")
        if self.outcome is None and now - self._asked > ASK_AGAIN:
            self._ask()
        return self.outcome

    @property
    def stands(self) -> bool:
        """Whether it does nothing: it is paused, or has ended."""
        return self.outcome is not None or self.state == MissionFeedback.PAUSED

    @property
    def over(self) -> bool:
        """Whether it is known to have ended."""
        return self.outcome is not None and not self._given_up

    def cancel(self) -> None:
        """End it; `poll` tells when it has."""
        self._cancelled = True
        self._ask()

    def give_up(self, why: str) -> None:
        """Wait for its end no more. It is cancelled whenever the executor tells that it goes on,
        which may be long after: one that was restarted resumes what it ran before.
        """
        self._end(False, why)
        self._given_up = True
        self.cancel()

    def hold(self, held: bool) -> None:
        """Pause it, or let it go on."""
        self._held = held
        self._ask()

    def on_feedback(self, message: MissionFeedback) -> None:
        """The executor told of it."""
        self._heard = time.monotonic()
        changed, self.state = message.state != self.state, message.state
        late = self._heard - self._asked > ASK_AGAIN
        if message.state in _ENDED:
            self._end(message.state == MissionFeedback.FINISHED, message.text)
        elif late if self._given_up else changed:
            self._ask()
        elif self._held is False and late and message.state == MissionFeedback.RUNNING:
            self._held = None  # it goes on, also after a pause that was on its way

    def on_end(self, outcome: GoalOutcome) -> None:
        """Its goal has ended; what becomes of it beside a goal that is lost tells the topic."""
        if outcome.end is End.REJECTED:
            self._end(False, "the executor is shutting down")
        elif outcome.result is not None:
            self._end(outcome.result.code == MissionFeedback.SUCCESS, outcome.result.message)

    def _end(self, succeeded: bool, text: str) -> None:
        self._given_up = False
        if self.outcome is None:
            self.outcome = (succeeded, str(text))

    def _ask(self) -> None:
        """Ask for what is wanted, if the mission is not there yet."""
        self._asked = time.monotonic()
        if self._cancelled:
            self._missions.control(MissionAction.CANCEL, self.action_id)
        elif self._held and self.state == MissionFeedback.RUNNING:
            self._missions.control(MissionAction.PAUSE, self.action_id)
        elif self._held is False and self.state == MissionFeedback.PAUSED:
            self._missions.control(MissionAction.RESUME, self.action_id)


class MissionDriver:
    """Drives legs as missions FOLLOW_ROUTE, or NAVIGATE_TO_POSE to a single place."""

    def __init__(
        self, missions: Missions, *, frame: str, place: Callable[[], Place | None]
    ) -> None:
        """Drive in one frame.

        Args:
            missions: sends them.
            frame: in which node positions are given.
            place: of the vehicle now, where routes begin; None: not known.
        """
        self._missions, self._frame, self._place = missions, frame, place
        self._sent: SentMission | None = None

    def drive(self, places: list[NodePosition]) -> None:
        """Begin to drive along these places."""
        here = self._place()
        if here is not None:
            places = [NodePosition(x=here.x, y=here.y, theta=here.theta), *places]
        poses = [
            self._pose(place, before)
            for before, place in zip([None, *places], places, strict=False)
        ]
        mission = MissionAction()
        if len(poses) - (here is not None) == 1:
            mission.type, mission.goal = MissionAction.NAVIGATE_TO_POSE, poses[-1]
        else:
            mission.type = MissionAction.FOLLOW_ROUTE
            mission.route.header.frame_id = self._frame
            mission.route.poses = poses
        self._sent = self._missions.send(mission)

    def poll(self) -> tuple[bool, str] | None:
        """How the drive ended."""
        return self._sent.poll() if self._sent is not None else (False, "nothing was driven")

    @property
    def stands(self) -> bool:
        """Whether nothing is driven at the moment."""
        return self._sent is None or self._sent.stands

    def cancel(self) -> None:
        """Stop."""
        if self._sent is not None:
            self._sent.cancel()

    def pause(self) -> None:
        """Hold."""
        if self._sent is not None:
            self._sent.hold(True)

    def resume(self) -> None:
        """Go on."""
        if self._sent is not None:
            self._sent.hold(False)

    def _pose(self, place: NodePosition, before: NodePosition | None) -> PoseStamped:
        """A place; without a heading of its own it looks in the direction of the way."""
        yaw = place.theta
        if yaw is None and before is not None:
            yaw = math.atan2(place.y - before.y, place.x - before.x)
        return upright_pose(self._frame, place.x, place.y, yaw or 0.0)


class BehaviorHandler:
    """Does actions of one type by running a behavior; action parameters become its own."""

    def __init__(self, missions: Missions, name: str) -> None:
        """Run a behavior.

        Args:
            missions: sends them.
            name: of the mission, as the executor's catalogue lists it.
        """
        self._missions, self._name = missions, name
        self.description = f"runs the behavior {name}"

    def start(self, action: Action) -> RunningAction:
        """Begin one."""
        mission = MissionAction(type=MissionAction.RUN_BEHAVIOR, name=self._name)
        mission.parameters = [
            KeyValue(key=key, value=str(value).lower() if isinstance(value, bool) else str(value))
            for key, value in action.parameters.items()
        ]
        return _RunningBehavior(self._missions.send(mission))


class _RunningBehavior:
    def __init__(self, sent: SentMission) -> None:
        self._sent = sent

    def poll(self) -> tuple[ActionStatus, str]:
        outcome = self._sent.poll()
        if outcome is None:
            return _ACTIVE.get(self._sent.state, ActionStatus.INITIALIZING), ""
        succeeded, text = outcome
        return (ActionStatus.FINISHED if succeeded else ActionStatus.FAILED), text

    def cancel(self) -> None:
        self._sent.cancel()

    def pause(self) -> None:
        self._sent.hold(True)

    def resume(self) -> None:
        self._sent.hold(False)
