# SPDX-License-Identifier: Apache-2.0
"""`RosStack`: what operators ask for, over ROS.

Missions are handed in on the topic ``/mission/action``: they go on when the console ends. Requests
come from the web server's thread; callbacks are the node's.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from typing import Any

from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction, MissionFeedback, MissionStep
from behavior_msgs.srv import ControlRun, EditTree, FreezeObjects, ListMissions, SetAutonomyLevel
from diagnostic_msgs.msg import KeyValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from std_msgs.msg import String

from behavior_console.channels import Channels
from behavior_console.commands import CommandError
from behavior_console.forms import forms
from behavior_console.operating import Said
from behavior_console.orders import MissionOrder
from behavior_console.reducers.mission import order_queue
from behavior_executor.missions.catalogue import EVERYTHING, MissionCatalogue, catalogue_of
from behavior_ros import QOS_LATCHED, QOS_REQUESTS, End, GoalOutcome, remote_actions, upright_pose

PATIENCE = 10.0
"""[s] wall time for an answer."""
_CONTROLS = {
    "pause": MissionAction.PAUSE,
    "resume": MissionAction.RESUME,
    "cancel": MissionAction.CANCEL,
}
_ENDED = (MissionFeedback.FINISHED, MissionFeedback.FAILED, MissionFeedback.CANCELED)
_MOST_WAITING = 64
_LOOK, _LOOK_AGAIN = 1.0, 10.0
"""[s] between two looks at the executor's missions, before there is an answer and afterwards."""
_ORDERED_FROM = 2
"""Missions that wait from which on their order is asked for."""
_EXECUTOR = "behavior_executor"
_NO_EXECUTOR = "no executor takes missions: start a stack with 'behavior up'"


class RosStack:
    """Asks the nodes of one robot.

    Args:
        node: in the robot's namespace; it is spun in another thread.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._missions = node.create_publisher(MissionAction, "mission/action", QOS_REQUESTS)
        node.create_subscription(MissionFeedback, "mission/feedback", self._take, QOS_REQUESTS)
        self._run_control = self._client(ControlRun, "behavior/control_run")
        self._edit_tree = self._client(EditTree, "behavior/edit_tree")
        self._level = self._client(SetAutonomyLevel, "autonomy/set_level")
        self._freeze = self._client(FreezeObjects, "scene/freeze")
        self._list = self._client(ListMissions, "mission/list")
        self._parameters = node.create_client(GetParameters, f"{_EXECUTOR}/get_parameters")
        self._catalogue: MissionCatalogue | None = None
        self._execute = remote_actions(node).action(ExecuteMission, "mission/execute")
        self._preflight = remote_actions(node).action(ExecuteMission, "mission/preflight")
        self._waiting: dict[str, Future[Said]] = {}
        self._motions = node.create_publisher(String, "motion/previewed", QOS_LATCHED)
        self._have_motions: set[str] = set()
        """Missions that do previewed motions."""

    # -- what `behavior_console.operating.Stack` asks for ------------------------------------------

    async def start(self, order: MissionOrder, action_id: str, policy: int, priority: int) -> Said:
        """Hand a mission in; the answer is its first feedback."""
        if not self._missions.get_subscription_count():
            raise CommandError(_NO_EXECUTOR)
        if len(self._waiting) >= _MOST_WAITING:
            raise CommandError("too many missions wait for the executor's answer: try again")
        mission = _mission(order)
        mission.action_id, mission.policy, mission.priority = action_id, policy, priority
        waiting = self._waiting[action_id] = Future()
        try:
            self._missions.publish(mission)
            said: Said = await _within(waiting, "the executor")
            return said
        finally:
            self._waiting.pop(action_id, None)

    def use_motions(self, motions: str, action_id: str) -> None:
        """Have previewed motions done by a mission until it ends."""
        if motions:
            self._have_motions.add(action_id)
        else:
            self._have_motions.discard(action_id)
        self._motions.publish(String(data=f"{action_id}\n{motions}"))

    async def preflight(self, order: MissionOrder) -> Said:
        """Could it start now?"""
        return await self._goal(self._preflight, _mission(order))

    async def tree_revision(self, mission: str) -> str:
        """Of the mission's tree with all edits, saved or not."""
        answer = await self._call(self._edit_tree, EditTree.Request(tree=mission))
        if answer.code != EditTree.Response.CODE_MADE:
            raise CommandError(answer.message)
        return f"{answer.document}/{answer.revision}"

    async def control(self, verb: str, action_id: str) -> Said:
        """Pause, resume or cancel a mission."""
        mission = MissionAction(type=_CONTROLS[verb], action_id=action_id)
        return await self._goal(self._execute, mission)

    async def run_control(self, line: str) -> Said:
        """A line of docs/run_control.md."""
        answer = await self._call(self._run_control, ControlRun.Request(command=line))
        return Said(bool(answer.success), str(answer.message))

    async def move(self, action_id: str, place: int) -> Said:
        """Let a mission wait at another place; the answer has the identifiers in their order."""
        return await self.run_control(f"queue {action_id} {place}")

    async def set_level(self, level: int) -> Said:
        """Choose who moves the robot."""
        answer = await self._call(self._level, SetAutonomyLevel.Request(level=level))
        return Said(answer.code == 0, str(answer.message))

    async def freeze(self, names: Sequence[str], freeze: bool) -> Said:
        """Hold objects of the scene where they are, or let them follow their detections again."""
        request = FreezeObjects.Request(names=list(names), freeze=freeze)
        answer = await self._call(self._freeze, request)
        return Said(answer.code == 0, "" if answer.code == 0 else str(answer.message))

    # -- forms -------------------------------------------------------------------------------------

    async def forms(self, world: str) -> list[dict[str, Any]]:
        """The channel ``missions``, from the executor's list and the tree files of this machine.

        Args:
            world: name of the stack's world; empty: unknown.

        Raises:
            CommandError: no executor answers.
        """
        answer = await self._call(self._list, ListMissions.Request())
        offered = dict(zip(answer.names, answer.descriptions, strict=True))
        if self._catalogue is None:
            self._catalogue = catalogue_of(*await self._where_missions_are())
        entries = await asyncio.to_thread(self._catalogue.entries)
        return forms(offered, entries, world=world)

    async def keep_forms(self, channels: Channels, world: str) -> None:
        """Keep the channel ``missions`` as it is to be, until it is cancelled."""
        log, bad = self._node.get_logger(), ""
        while True:
            rows = None
            try:
                rows = await self.forms(world)
            except CommandError:
                self._catalogue = None  # the next executor may have others
            except Exception as error:  # a mission's file may hold anything
                if repr(error) != bad:
                    bad = repr(error)
                    log.error(f"the missions cannot be shown: {bad}")
            if rows != channels.value("missions"):
                channels.set("missions", rows)
            await asyncio.sleep(_LOOK if rows is None else _LOOK_AGAIN)

    async def keep_queue(self, channels: Channels) -> None:
        """Keep the channel ``queue`` in the executor's order, until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK)
            if len(channels.value("queue") or []) < _ORDERED_FROM:
                continue
            with contextlib.suppress(CommandError):
                answer = await self.run_control("queue")
                if answer.ok:
                    order_queue(channels, answer.message.split())

    async def own_missions(self) -> Path | None:
        """The first folder of its user's own into which the executor looks; None: it has none.

        Raises:
            CommandError: no executor answers.
        """
        directories, _ = await self._where_missions_are()
        found = (Path(name) for name in directories if name not in ("", EVERYTHING))
        return next((folder for folder in found if folder.is_dir()), None)

    async def _where_missions_are(self) -> tuple[list[str], str]:
        """The executor's parameters `tree_directories` and `behavior_tree_file`."""
        request = GetParameters.Request(names=["tree_directories", "behavior_tree_file"])
        try:
            answer = await self._call(self._parameters, request)
        except CommandError:
            return [EVERYTHING], ""
        folders, file = answer.values
        return list(folders.string_array_value), str(file.string_value)

    # -- asking ------------------------------------------------------------------------------------

    def _client(self, kind: Any, name: str) -> Any:
        return self._node.create_client(kind, name, qos_profile=QOS_REQUESTS)

    async def _call(self, client: Any, request: Any) -> Any:
        if not client.service_is_ready():
            raise CommandError(
                f"nobody serves {client.service_name}: 'behavior status' tells what is up"
            )
        answered: Future[Any] = Future()
        future = client.call_async(request)
        future.add_done_callback(lambda done: _settle(answered, done.result))
        try:
            return await _within(answered, client.service_name)
        finally:
            future.cancel()

    async def _goal(self, action: Any, mission: MissionAction) -> Said:
        if not action.ready():
            raise CommandError(_NO_EXECUTOR)
        ended: Future[GoalOutcome] = Future()
        action.send(
            ExecuteMission.Goal(mission=mission),
            from_worker=True,
            on_end=lambda outcome: _settle(ended, lambda: outcome),
        )
        outcome = await _within(ended, "the executor")
        if outcome.result is None:
            rejected = outcome.end is End.REJECTED
            raise CommandError("the executor is shutting down" if rejected else outcome.message)
        return Said(outcome.result.code == 0, str(outcome.result.message))

    def _take(self, message: MissionFeedback) -> None:
        if message.action_id in self._have_motions and message.state in _ENDED:
            self.use_motions("", message.action_id)
        waiting = self._waiting.get(message.action_id)
        if waiting is None:
            return
        ended = message.state in (MissionFeedback.FAILED, MissionFeedback.CANCELED)
        text = message.text if ended else f"{message.name or 'the mission'} was accepted"
        _settle(waiting, lambda: Said(not ended, str(text)))


def _mission(order: MissionOrder) -> MissionAction:
    if not order.drives:
        return MissionAction(
            type=MissionAction.RUN_BEHAVIOR,
            name=order.name,
            parameters=[KeyValue(key=key, value=value) for key, value in order.parameters.items()],
        )
    goals = [upright_pose(each.frame, each.x, each.y, each.yaw) for each in order.drives]
    if len(goals) == 1:
        return MissionAction(type=MissionAction.NAVIGATE_TO_POSE, goal=goals[0])
    steps = [MissionStep(type=MissionAction.NAVIGATE_TO_POSE, goal=goal) for goal in goals]
    return MissionAction(type=MissionAction.SEQUENCE, steps=steps)


def _settle(future: Future[Any], result: Callable[[], Any]) -> None:
    """Hand an answer, or why there is none, to who waits, if anybody still does."""
    with contextlib.suppress(InvalidStateError):
        try:
            answer = result()
        except Exception as error:  # the other thread has to hear of it
            future.set_exception(error)
        else:
            future.set_result(answer)


async def _within(future: Future[Any], who: str) -> Any:
    try:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        raise CommandError(f"{who} did not answer within {PATIENCE:g} s") from None
