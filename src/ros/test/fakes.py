# SPDX-License-Identifier: Apache-2.0
"""Actions whose servers answer only when told to."""

from types import SimpleNamespace

from rclpy.task import Future

from behavior_ros import RemoteAction, RemoteActions
from behavior_ros.node.at_work import AtWork


class FakeServer:
    """An action server and the connection to it, answering only when told to."""

    def __init__(self):
        self.answer = Future()
        self.result = Future()
        self.cancels = []
        self.questions = 0
        """Times that the result was asked for."""
        self.feedback = None
        self.listed = False
        """Whether it was told by the list of goals that the goal was accepted."""

    @property
    def accepted(self):
        return self.listed or (self.answer.done() and self.answer.result().accepted)

    def send_goal_async(self, goal, feedback_callback, goal_uuid):
        self.feedback = feedback_callback
        return self.answer

    def accept(self):
        if not self.answer.done():
            self.answer.set_result(self.handle())

    def handle(self):
        """What a client asks with."""
        return SimpleNamespace(
            accepted=True, get_result_async=self._asked, cancel_goal_async=self._cancel
        )

    def _asked(self):
        self.questions += 1
        return self.result

    def reject(self):
        if not self.answer.done() and not self.listed:
            self.answer.set_result(SimpleNamespace(accepted=False))

    def _cancel(self):
        self.cancels.append(Future())
        return self.cancels[-1]

    def answer_cancel(self, code):
        if self.cancels and not self.cancels[-1].done():
            self.cancels[-1].set_result(
                SimpleNamespace(return_code=code, goals_canceling=[] if code else ["goal"])
            )

    def finish(self, status, result=None):
        if self.accepted and not self.result.done():
            self.result.set_result(
                SimpleNamespace(status=status, result=result or f"result {status}")
            )


class PuppetClient:
    """Makes a puppet server's goal of everything that is sent."""

    def __init__(self):
        self.up = True
        self.goals = []
        self.on_status = {}
        self._by_identifier = {}

    def server_is_ready(self):
        return self.up

    def send_goal_async(self, goal, feedback_callback, goal_uuid):
        self.goals.append(FakeServer())
        self._by_identifier[bytes(goal_uuid.uuid)] = self.goals[-1]
        return self.goals[-1].send_goal_async(goal, feedback_callback, goal_uuid)

    def handle_of(self, identifier):
        return self._by_identifier[bytes(identifier.uuid)].handle()

    def forget(self, identifier):
        self.on_status.pop(bytes(identifier.uuid), None)

    def list_goal(self, server, status):
        """The server's list of goals arrives."""
        if server.answer.done() and not server.accepted:
            return
        server.listed = True
        for key, callback in list(self.on_status.items()):
            if self._by_identifier[key] is server:
                callback(status)


class PuppetWatch:
    """Tells of the server what the test says."""

    def __init__(self, actions):
        self._actions = actions

    @property
    def restarted(self):
        return self._actions.restarted

    def look(self, signs_of_life, *, accepted):
        return self._actions.lost

    def close(self):
        pass


class PuppetAction(RemoteAction):
    """Its server is a puppet, and lost on command."""

    def __init__(self, actions, name):
        self.name, self.wall, self.client, self._actions = (
            name,
            actions.wall,
            PuppetClient(),
            actions,
        )
        self.workers = AtWork()

    def watch(self, server_timeout):
        return PuppetWatch(self._actions)


class PuppetActions(RemoteActions):
    """A wall clock that is set by hand, and looks that are asked for."""

    def __init__(self):
        self.now = 0.0
        self.lost, self.restarted = None, False
        self.goals, self._actions = {}, {}
        self.mark = b""
        self._timer = SimpleNamespace(
            is_canceled=lambda: True, reset=lambda: None, cancel=lambda: None
        )

    def wall(self):
        return self.now

    def action(self, action_type, name):
        return self._actions.setdefault(name, PuppetAction(self, name))
