# SPDX-License-Identifier: Apache-2.0
"""The service ``/behavior/edit_tree`` and the topic ``/behavior/tree_updates``: several editors
change the trees of missions, also while they tick.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from behavior_msgs.msg import TreeUpdate
from behavior_msgs.srv import EditTree
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from behavior_executor.editing.aside import Aside
from behavior_executor.editing.edited_trees import EditedTrees, Loader
from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest, TreeNews
from behavior_executor.missions.catalogue import MissionEntry
from behavior_executor.running.tree_run import TreeRun
from behavior_ros import QOS_EVENT_LOG, QOS_REQUESTS

LOOK = 1.0
"""[s] steady time between two looks at who has gone."""
_LOOKS_ONLY = (
    "trees are not edited here, only looked at: set the executor's parameter edit_trees to true"
)


class TreeEditServer:
    """Hands requests to `EditedTrees`, and its answers and news to the peers.

    Args:
        node: through which it is served
        find: the mission of a name; raises MissionError
        loader: makes trees
        folder: keeps what is not saved; None: that is lost with the process
        edited: is called when the tree that ticks has been edited
        warn: is given what an operator should know
        looked_at: is given what has become of each edit that was looked at
        may_edit: whether peers may do more than look
    """

    def __init__(
        self,
        node: Node,
        *,
        find: Callable[[str], MissionEntry],
        loader: Loader,
        folder: Path | None,
        edited: Callable[[TreeRun], None],
        warn: Callable[[str], None],
        looked_at: Callable[[TreeNews], None],
        may_edit: bool,
    ) -> None:
        self._node = node
        self._looked_at = looked_at
        self._aside = Aside(node)
        self.trees = EditedTrees(
            find=find,
            loader=loader,
            folder=folder,
            work=self._aside,
            wall=time.monotonic,
            tell=self._tell,
            edited=edited,
            warn=warn,
            refusal="" if may_edit else _LOOKS_ONLY,
        )
        self._news = node.create_publisher(TreeUpdate, "behavior/tree_updates", QOS_EVENT_LOG)
        # While a request waits for its turn, its group keeps others from running.
        self._service = node.create_service(
            EditTree,
            "behavior/edit_tree",
            self._on_request,
            qos_profile=QOS_REQUESTS,
            callback_group=ReentrantCallbackGroup(),
        )
        self._timer = node.create_timer(
            LOOK, self.trees.look_around, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def destroy(self) -> None:
        """Serve no more; what is being written is written."""
        self._aside.close()
        self._node.destroy_timer(self._timer)
        self._node.destroy_service(self._service)
        self._node.destroy_publisher(self._news)

    async def _on_request(
        self, request: EditTree.Request, answer: EditTree.Response
    ) -> EditTree.Response:
        done: Future = Future()
        self.trees.exchange(_request_of(request), done.set_result)
        return _filled(answer, await done)

    def _tell(self, news: TreeNews) -> None:
        message = TreeUpdate(
            tree=news.tree,
            document=news.document,
            revision=news.revision,
            editor=news.editor,
            number=news.number,
            code=int(news.answer.code),
            message=news.answer.message,
            editors=list(news.editors),
            update=news.update,
        )
        message.stamp = self._node.get_clock().now().to_msg()
        self._news.publish(message)
        if news.editor:
            self._looked_at(news)


def _request_of(message: EditTree.Request) -> ExchangeRequest:
    return ExchangeRequest(
        message.tree,
        message.editor,
        message.number,
        message.edit,
        message.document,
        bytes(message.state),
        message.offset,
    )


def _filled(message: EditTree.Response, told: ExchangeAnswer) -> EditTree.Response:
    message.code = int(told.answer.code)
    message.message = told.answer.message
    message.nodes = list(told.answer.nodes)
    message.retry_after = told.answer.retry_after
    message.tree, message.document = told.tree, told.document
    message.revision, message.last_number = told.revision, told.last_number
    message.ticks, message.editors = told.ticks, list(told.editors)
    message.update, message.offset, message.size = told.update, told.offset, told.size
    return message
