# SPDX-License-Identifier: Apache-2.0
"""Answers to requests that reach their clients, also those that are still being discovered.

A client's request may arrive before its reader of answers is known here. rmw_fastrtps waits 100 ms
for that reader; then it drops the answer, which rclpy tells by a mere RuntimeWarning, and the
client waits for ever. Here such an answer is kept and sent again, until it is delivered, the client
is gone, or it is too old.
"""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from behavior_ros.node.node_parts import node_parts

KEPT = 20.0
"""[s] wall time for which an answer is tried to be sent."""
_FIRST = 0.1
"""[s] wall time until the second try; from then on twice as long each time. A try in vain takes the
executor 100 ms."""
_LONGEST = 2.0
"""[s] wall time between two tries at most."""
_LOOK = 0.1
_DROPPED = "failed to send response"
_THIS_MODULE = re.escape(__name__) + r"\Z"
_FILTER = ("error", re.compile(_DROPPED, re.I), RuntimeWarning, re.compile(_THIS_MODULE), 0)
"""As `warnings` keeps it."""


def delivered(handle: Any, method: str, *arguments: Any) -> bool:
    """Send an answer; returns whether its client can have got it.

    Args:
        handle: of rclpy's service or action server
        method: of the handle, that which sends
        arguments: of that: response, and header of the request

    Raises:
        RCLError: it cannot be sent
        InvalidHandle: the service was destroyed
    """
    # Not catch_warnings, which is for one thread only. Each time, as that of others takes it away.
    if _FILTER not in warnings.filters:
        warnings.filterwarnings(
            "error", message=_DROPPED, category=RuntimeWarning, module=_THIS_MODULE
        )
    try:
        with handle:
            # Called from this module, as the filter is for warnings of this one.
            getattr(handle, method)(*arguments)
    except RuntimeWarning:
        return False
    except SystemError as error:  # what an extension makes of a warning that is an error
        if isinstance(error.__cause__, RuntimeWarning):
            return False
        raise
    return True


@dataclass
class _Answer:
    """One that was not delivered yet."""

    what: str
    handle: Any
    method: str
    arguments: tuple[Any, ...]
    due: float
    """[s] wall time of the next try."""
    wait: float
    """[s] wall time from the last try to that."""
    end: float
    """[s] wall time of the last try."""


class KeptAnswers:
    """Those of one node; get it from :func:`kept_answers`. Used in the executor's thread only."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kept: list[_Answer] = []
        self._timer: Any = None

    def __len__(self) -> int:
        return len(self._kept)

    def send(self, what: str, handle: Any, method: str, *arguments: Any) -> bool:
        """Send an answer, now and if need be later again; see `delivered`.

        Args:
            what: is answered, for the log
            handle: as there
            method: likewise
            arguments: likewise

        Returns:
            False: it cannot be sent, which the log says.
        """
        try:
            if not delivered(handle, method, *arguments):
                self.keep(what, handle, method, *arguments)
        except InvalidHandle:
            return False  # the server was destroyed
        except rclpy_implementation.RCLError as error:
            self._node.get_logger().warning(f"{what} could not be answered: {error}")
            return False
        return True

    def keep(self, what: str, handle: Any, method: str, *arguments: Any) -> None:
        """Have an answer that was not delivered sent again."""
        now = time.monotonic()
        self._kept.append(
            _Answer(what, handle, method, arguments, now + _FIRST, _FIRST, now + KEPT)
        )
        if self._timer is None:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = self._node.create_timer(_LOOK, self._look, clock=steady)
        elif self._timer.is_canceled():
            self._timer.reset()

    def _look(self) -> None:
        """Send what is due; after one try in vain the others wait, as each takes its time."""
        now = time.monotonic()
        for answer in [each for each in self._kept if each.due <= now]:
            self._kept.remove(answer)
            if not self._try(answer):
                break
        if not self._kept:
            self._timer.cancel()

    def _try(self, answer: _Answer) -> bool:
        """Send one again; False: in vain."""
        try:
            if delivered(answer.handle, answer.method, *answer.arguments):
                return True
        except (InvalidHandle, rclpy_implementation.RCLError):
            return True  # the server or the client has gone
        now = time.monotonic()
        if now >= answer.end:
            self._node.get_logger().warning(
                f"the answer to {answer.what} was given up: for {KEPT:g} s its client took none"
            )
            return False
        answer.wait = min(2.0 * answer.wait, _LONGEST)
        answer.due = now + answer.wait
        self._kept.append(answer)
        return False


def kept_answers(node: Node) -> KeptAnswers:
    """The node's: one, however many services it has."""
    return node_parts(node).shared(KeptAnswers, lambda: KeptAnswers(node))
