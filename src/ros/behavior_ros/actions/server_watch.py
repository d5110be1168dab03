# SPDX-License-Identifier: Apache-2.0
"""Is the server of a goal still there? Three signs, none of which needs its cooperation.

1. The graph: its status publisher has a unique id. If all ids of the moment of sending are gone,
   that server is gone; if there is a new one, it was restarted, though the old id may haunt the
   graph for a while. It counts at the second look: what a server sent before it went arrives later
   than the news of its end, now and then.
2. The graph again: no server is discovered.
3. A question: the graph forgets a killed process only after the middleware's lease (20 s for Fast
   DDS). So the server of a silent goal is asked for the result of a goal that never was, which
   every action server answers at once with "unknown". The answer counts once the goal itself was
   acknowledged: a goal sent while the server was being discovered may never have reached it.

Being there is a matter of processes, not of the robot: time here is wall time, since simulated time
stands still when the simulation is what died. Silence counts while somebody listens: who is ticked
after a long pause has asked nobody meanwhile, so the pause is no sign of anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from behavior_ros.actions.burst_action_client import BurstActionClient
from behavior_ros.actions.goal_identifier import new_identifier
from behavior_tree.cause import Cause, CauseKind

_PERIOD = 0.2
"""[s] between two looks at the graph."""


def server_lost(what: str) -> Cause:
    """The cause of a failure: a server is not there, or went away; `what` says which and how."""
    return Cause(CauseKind.SERVER_LOST, f"server lost: {what}")


class ServerWatch:
    """Watches the server of one action while a goal is with it.

    Args:
        node: the client's node
        client: action client
        name: of the action
        timeout: [s] wall time without a sign of life after which the server counts as lost
        clock: wall clock in seconds, for tests
    """

    def __init__(
        self,
        node: Node,
        client: BurstActionClient,
        name: str,
        timeout: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._client = client
        self._name = name
        self.restarted = False
        """Whether another server than the one of the moment of sending has come up."""
        self._timeout = timeout
        self._clock = clock
        self._looked = clock()
        self._silent = 0.0
        self._absent = False
        self._signs = 0
        self._question: Any = None
        self._asked = clock()
        self._identities = self._servers()

    def look(self, signs_of_life: int, *, accepted: bool) -> Cause | None:
        """Return why the server counts as lost, None while it does not.

        Args:
            signs_of_life: number of answers from the server so far, in any form
            accepted: the goal was acknowledged; until then answers to other questions count for
                nothing: request or acknowledgement got lost, and nobody will ever tell the end

        Cheap enough for every tick: between two looks at the graph it does nothing.
        """
        now = self._clock()
        if signs_of_life != self._signs:
            self._signs, self._silent = signs_of_life, 0.0
        passed = now - self._looked
        if passed < min(_PERIOD, self._timeout / 4):
            return None
        self._looked = now
        self._silent += min(passed, self._timeout / 4)
        servers = self._servers()
        absent = bool(self._identities) and not (servers and servers <= self._identities)
        if absent and not self._absent:
            self._absent = True
            return None
        self._absent = absent
        if absent:
            self.restarted = bool(servers)
            what = "is gone"
            if servers:
                what = "was restarted " + (
                    "and forgot the goal" if accepted else "before it had acknowledged the goal"
                )
            return server_lost(f"the server of {self._name} {what}")
        self._identities = self._identities or servers
        if self._question is not None and self._question.done():
            self._question = None
            self._silent = 0.0 if accepted else self._silent
        if self._silent > self._timeout:
            return server_lost(
                f"the server of {self._name} has not answered for {self._silent:.1f} s"
            )
        if self._question is None and now - self._asked > self._timeout / 4:
            self._ask(now)
        return None

    def _servers(self) -> set[bytes]:
        publishers = self._node.get_publishers_info_by_topic(f"{self._name}/_action/status")
        return {bytes(publisher.endpoint_gid) for publisher in publishers}

    def _ask(self, now: float) -> None:
        """Ask for the result of a goal that never was; any answer is a sign of life."""
        self._asked = now
        never_sent = self._client.handle_of(new_identifier())
        self._question = never_sent.get_result_async()

    def close(self) -> None:
        """Forget an open question. One that a server will answer stays with rclpy, which would warn
        of an unexpected answer, as if there were several servers.
        """
        if self._question is not None and (self._absent or self._silent > self._timeout):
            self._question.cancel()
        self._question = None
