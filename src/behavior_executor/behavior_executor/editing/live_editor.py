# SPDX-License-Identifier: Apache-2.0
"""An editor's side of a tree that others edit too, over ROS.

For programs that have nothing else to do meanwhile, such as a command line::

    with LiveEditor("ann") as editor:
        editor.join("stack_blocks")
        node = editor.replica.find("reach")
        print(editor.edit({"op": "set", "node": node, "attributes": {"timeout": "5"}}).message)

Every call blocks until its answer or its timeout, and spins the editor's own node meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import rclpy
from behavior_msgs.msg import TreeUpdate
from behavior_msgs.srv import EditTree
from rclpy.context import Context
from rclpy.node import Node

from behavior_executor.editing.edit_peer import HEARTBEAT, EditPeer
from behavior_executor.editing.tree_exchange import ExchangeAnswer, TreeNews
from behavior_executor.editing.tree_messages import answer_of, message_of, news_of
from behavior_ros import QOS_EVENT_LOG, QOS_REQUESTS
from behavior_ros.node.closing import destroy_node
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.process.local_transport import match_transport
from behavior_tree.monitoring.closing import Closing
from behavior_tree.sharing import Answer, Code, Running
from behavior_tree.sharing.document import Replica

ASK_AGAIN = 2.0
"""[s] wall time after which a request is sent again that was not answered."""
TRIES = 3
"""Numbers for one edit, if another program under the same name has just used them."""
_LOOK = 0.05
"""[s] that one wait for messages takes at most."""


class LiveEditorError(Exception):
    """The executor does not answer, or there is no such tree."""


class LiveEditor(Closing):
    """An editor of one tree of one executor."""

    def __init__(
        self,
        name: str,
        *,
        node_name: str = "live_editor",
        namespace: str = "",
        context: Context | None = None,
        on_news: Callable[[TreeNews], None] | None = None,
    ) -> None:
        """Create the editor's node; rclpy is initialised if it was not.

        Args:
            name: of the editor, whose edits and undo are his own; empty: he only looks.
            node_name: name of the node.
            namespace: of the executor, where several robots share one ROS graph; empty: none.
            context: rclpy context; None: the default one.
            on_news: is called with what becomes of all editors' edits of this tree.
        """
        if context is None and not rclpy.ok():
            match_transport()
            rclpy.init()
        self._peer = EditPeer(name)
        self._on_news = on_news
        self._asked = 0.0
        self._node = Node(
            node_name,
            namespace=namespace,
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._executor = LeanExecutor(context=context)
        self._executor.add_node(self._node)
        self._client = self._node.create_client(
            EditTree, "behavior/edit_tree", qos_profile=QOS_REQUESTS
        )
        self._node.create_subscription(
            TreeUpdate, "behavior/tree_updates", self._hear, QOS_EVENT_LOG
        )

    def close(self) -> None:
        """Destroy the node; the editor counts as being there for some seconds more."""
        self._executor.shutdown(timeout_sec=1.0)
        destroy_node(self._node)

    @property
    def peer(self) -> EditPeer:
        """Tree, editors and answers, as far as they are known."""
        return self._peer

    @property
    def replica(self) -> Replica:
        """The tree as far as it is known."""
        return self._peer.replica

    def join(self, tree: str = "", *, timeout: float = 10.0) -> None:
        """Get the tree, and be seen to be there.

        Args:
            tree: name of the mission; empty: the one that runs.
            timeout: [s] wall time.

        Raises:
            LiveEditorError: no answer within ``timeout``, or there is no such tree.
        """
        self._peer = EditPeer(self._peer.name, tree)
        self._ask_until(lambda: not self._peer.is_behind, timeout)

    def edit(
        self,
        operation: Mapping[str, Any],
        running: Running = Running.REFUSE,
        *,
        timeout: float = 10.0,
    ) -> Answer:
        """Make an edit, and see it in the replica.

        Args:
            operation: such as ``{"op": "undo"}``; docs/authoring.md lists them.
            running: what becomes of it if it changes what runs now.
            timeout: [s] wall time; afterwards it is not known what became of the edit.

        Returns:
            What became of it, or that it waits for what runs.

        Raises:
            LiveEditorError: no answer within ``timeout``.
        """
        peer = self._peer
        for _ in range(TRIES):
            edit = peer.propose(operation, running)
            self._ask_until(lambda: edit.number in peer.answers, timeout)  # noqa: B023 - at once
            answer = peer.answers[edit.number]
            if answer.code is not Code.LATE:
                break
        if answer.code is Code.MADE:
            self._ask_until(lambda: not peer.is_behind, timeout)
        return answer

    def spin(self, seconds: float) -> None:
        """Stay there for so long [s] wall time: hear of others' edits and catch up.

        Raises:
            LiveEditorError: the executor does not answer.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=min(left, _LOOK))
            if self._peer.wants or time.monotonic() - self._asked > HEARTBEAT:
                self._ask(time.monotonic() + ASK_AGAIN * 5)

    def _ask_until(self, done: Callable[[], bool], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not done():
            told = self._ask(deadline)
            if done():
                return
            if not told.document and not told.answer.retry_after:
                raise LiveEditorError(told.answer.message)
            if told.answer.retry_after:
                self._wait(min(deadline, time.monotonic() + told.answer.retry_after))

    def _ask(self, deadline: float) -> ExchangeAnswer:
        """One exchange; it is sent again until it is answered."""
        request = self._peer.request()
        message = message_of(request)
        while True:
            self._wait_for_executor(deadline)
            future = self._client.call_async(message)
            again = min(deadline, time.monotonic() + ASK_AGAIN)
            while not future.done() and time.monotonic() < again:
                self._executor.spin_once(timeout_sec=_LOOK)
            if future.done():
                self._asked = time.monotonic()
                told = answer_of(future.result())
                self._peer.take(request, told)
                return told
            self._client.remove_pending_request(future)

    def _wait_for_executor(self, deadline: float) -> None:
        while not self._client.service_is_ready() or time.monotonic() >= deadline:
            if time.monotonic() >= deadline:
                raise LiveEditorError(
                    f"no executor answers on {self._client.service_name}; start the stack with "
                    "'behavior up' and check that ROS_DOMAIN_ID is the same"
                )
            self._executor.spin_once(timeout_sec=_LOOK)

    def _wait(self, until: float) -> None:
        while time.monotonic() < until:
            self._executor.spin_once(timeout_sec=_LOOK)

    def _hear(self, message: TreeUpdate) -> None:
        news = news_of(message)
        self._peer.hear(news)
        if self._on_news is not None and news.tree == self._peer.tree:
            self._on_news(news)
