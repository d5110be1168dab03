# SPDX-License-Identifier: Apache-2.0
"""The side of an editor: what it knows of a shared tree, and what it has asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from behavior_tree.sharing.document import Replica
from behavior_tree.sharing.edits import Answer, Edit, Running


class RemoteEditor:
    """Numbers edits, keeps them until they are answered, and has a replica of the tree.

    It may go on while nobody can be reached: what has not been answered is sent again, in order,
    and what the replica misses is asked for by its state vector.

    Args:
        name: of the editor; under the same name nobody else may edit at the same time
        last_number: of its edits before, as the authority knows it
    """

    def __init__(self, name: str, last_number: int = 0) -> None:
        self.name = name
        self.replica = Replica()
        self.document_id = ""
        self._last = last_number
        self._open: dict[int, Edit] = {}

    def propose(self, operation: Mapping[str, Any], running: Running = Running.REFUSE) -> Edit:
        """An edit to be sent until it is answered for good.

        Args:
            operation: such as ``{"op": "remove", "node": "n7"}``
            running: what becomes of it if it changes what runs
        """
        self._last += 1
        text = json.dumps({**operation, "running": running.value})
        edit = self._open[self._last] = Edit(self.name, self._last, text)
        return edit

    @property
    def unanswered(self) -> list[Edit]:
        """Edits to be sent again."""
        return list(self._open.values())

    def answered(self, edit: Edit, answer: Answer) -> None:
        """Take note of an answer; a doubled one is fine."""
        if answer.is_final:
            self._open.pop(edit.number, None)

    def catch_up(self, document_id: str, update: bytes, last_number: int = 0) -> None:
        """Take in what was missing.

        Args:
            document_id: another one than before: the replica begins anew
            update: for the state vector of the replica, or for none
            last_number: of this editor, as the authority knows it
        """
        if document_id != self.document_id:
            self.replica, self.document_id = Replica(), document_id
        self.replica.apply(update)
        self._last = max(self._last, last_number)
