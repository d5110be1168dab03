# SPDX-License-Identifier: Apache-2.0
"""`RosCarrier`: brings requests to the executor's ``/behavior/edit_tree``, and its news."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from behavior_msgs.msg import TreeUpdate
from behavior_msgs.srv import EditTree
from rclpy.node import Node

from behavior_console.editing.carrier import NoAnswer
from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest, TreeNews
from behavior_executor.editing.tree_messages import answer_of, message_of, news_of
from behavior_ros import QOS_EVENT_LOG, QOS_REQUESTS

ANSWER_WITHIN = 2.0
"""[s] wall time after which a request may be sent again."""


class RosCarrier:
    """Asks the executor of one robot. Its node spins elsewhere; it is used in an event loop.

    Args:
        node: through which it asks, in the robot's namespace.
    """

    def __init__(self, node: Node) -> None:
        self.on_news: Callable[[TreeNews], None] | None = None
        """Is called in the thread of the node's executor."""
        self._client = node.create_client(EditTree, "behavior/edit_tree", qos_profile=QOS_REQUESTS)
        node.create_subscription(TreeUpdate, "behavior/tree_updates", self._hear, QOS_EVENT_LOG)

    async def exchange(self, request: ExchangeRequest) -> ExchangeAnswer:
        """One request and its answer.

        Raises:
            NoAnswer: there is none.
        """
        if not self._client.service_is_ready():
            raise NoAnswer(
                f"no executor answers on {self._client.service_name}: start the stack with "
                "'behavior up'"
            )
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Any] = loop.create_future()

        def hand_on(future: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(_settle, answered, future)

        future = self._client.call_async(message_of(request))
        future.add_done_callback(hand_on)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                return answer_of(await answered)
        except TimeoutError:
            raise NoAnswer("the executor does not answer: look at its log") from None
        finally:
            self._client.remove_pending_request(future)

    def _hear(self, message: TreeUpdate) -> None:
        if self.on_news is not None:
            self.on_news(news_of(message))


def _settle(answered: asyncio.Future[Any], future: Any) -> None:
    if not answered.done():
        answered.set_result(future.result())
