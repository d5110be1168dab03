# SPDX-License-Identifier: Apache-2.0
"""The messages of ``/behavior/edit_tree`` and ``/behavior/tree_updates``, as peers have them."""

from __future__ import annotations

from behavior_msgs.msg import TreeUpdate
from behavior_msgs.srv import EditTree

from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest, TreeNews
from behavior_tree.sharing import Answer, Code


def message_of(request: ExchangeRequest) -> EditTree.Request:
    """What a peer asks, as a message."""
    return EditTree.Request(
        tree=request.tree,
        editor=request.editor,
        number=request.number,
        edit=request.edit,
        document=request.document,
        state=request.state,
        offset=request.offset,
    )


def answer_of(message: EditTree.Response) -> ExchangeAnswer:
    """What a peer is answered."""
    return ExchangeAnswer(
        Answer(
            Code(message.code),
            message.message,
            message.revision,
            tuple(message.nodes),
            message.retry_after,
        ),
        message.tree,
        message.document,
        message.revision,
        message.last_number,
        message.ticks,
        tuple(message.editors),
        bytes(message.update),
        message.offset,
        message.size,
    )


def news_of(message: TreeUpdate) -> TreeNews:
    """What all are told."""
    return TreeNews(
        message.tree,
        message.document,
        message.revision,
        tuple(message.editors),
        message.editor,
        message.number,
        Answer(Code(message.code), message.message, message.revision),
        bytes(message.update),
    )
