# SPDX-License-Identifier: Apache-2.0
"""`Conditions`: the pre- and post-conditions of a node, ``_skipIf`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.quirks import Quirks
from behavior_tree.script import Script, compile_script

_BEFORE = (
    ("_failureIf", NodeStatus.FAILURE),
    ("_successIf", NodeStatus.SUCCESS),
    ("_skipIf", NodeStatus.SKIPPED),
)


class Conditions:
    """Scripts of one node, or of several with the same ones on the same blackboard.

    They are compiled when the node is ticked first: most nodes of a large tree wait long for that,
    if it ever comes.
    """

    __slots__ = (
        "_board",
        "_quirks",
        "_texts",
        "after_failure",
        "after_success",
        "bound",
        "on_halted",
        "test_while",
        "tests",
    )

    tests: tuple[tuple[Callable[[], bool], NodeStatus, str], ...]
    """``_failureIf _successIf _skipIf`` in this order: test, the status that it gives, text."""
    test_while: Callable[[], bool] | None
    on_halted: Callable[[], Any] | None
    after_success: tuple[Callable[[], Any], ...]
    """``_onSuccess`` and ``_post``."""
    after_failure: tuple[Callable[[], Any], ...]
    """``_onFailure`` and ``_post``."""

    def __init__(self, texts: dict[str, str], board: Blackboard, quirks: Quirks) -> None:
        self._texts = texts
        self._board = board
        self._quirks = quirks
        self.bound = False
        """True once the other attributes are there."""

    def bind(self) -> None:
        """Compile the scripts for the blackboard, unless that is done; raises ScriptError."""
        if self.bound:
            return
        self.tests = tuple(
            (self._script(name).bind_test(self._board), status, self._texts[name])
            for name, status in _BEFORE
            if name in self._texts
        )
        holds = "_while" in self._texts
        self.test_while = self._script("_while").bind_test(self._board) if holds else None
        self.on_halted = next(iter(self._runs("_onHalted")), None)
        self.after_success = self._runs("_onSuccess", "_post")
        self.after_failure = self._runs("_onFailure", "_post")
        self.bound = True

    def _script(self, name: str) -> Script:
        return compile_script(self._texts[name], self._quirks)

    def _runs(self, *names: str) -> tuple[Callable[[], Any], ...]:
        scripts = [self._script(name) for name in names if name in self._texts]
        return tuple(script.bind_run(self._board) for script in scripts)
