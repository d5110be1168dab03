# SPDX-License-Identifier: Apache-2.0
"""Specialised tick of Parallel whose counts are literals."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.parallel import Parallel, from_end
from behavior_tree.errors import NodeExecutionError
from behavior_tree.fast_tick import Tick, specialises
from behavior_tree.leaf import callback_result
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, SUCCESS
from behavior_tree.specialised.actions import call_running

__all__: list[str] = []


@specialises(Parallel.tick)
def _parallel(node: Parallel) -> Tick | None:
    successes, failures = node.literal_input("success_count"), node.literal_input("failure_count")
    if successes is None or failures is None:
        return None
    count = len(node.children)
    need, limit = from_end(successes, count), from_end(failures, count)
    if not (0 < need <= count and 0 < limit <= count):
        return None  # decided after the first child, or an error
    node._literal_counts = (need, limit)
    return _tick_until_decided if successes >= 0 else _tick_all


def _tick_until_decided(self: Parallel) -> NodeStatus:
    return _tick_children(self, *self._literal_counts, skipping_helps=False)


def _tick_all(self: Parallel) -> NodeStatus:
    return _tick_children(self, *self._literal_counts, skipping_helps=True)


def _tick_children(self: Parallel, need: int, limit: int, *, skipping_helps: bool) -> NodeStatus:
    """The thresholds are looked at when a child changed something, not after each. What a Parallel
    mostly does is to tick actions that go on, so `call_running` is written out here.
    """
    before = self.status
    if before is not RUNNING:
        self._reason = ""
        self._failed_child = None
        self.status = RUNNING
    children, done = self.children, self._done
    count, skipped, some_done = len(children), 0, bool(done)
    strict = self._rt.quirks.parallel_all_skipped_succeeds
    successes, failures = self._successes, self._failures
    running, calls_function = RUNNING, call_running  # local names are faster
    try:
        for index, child in enumerate(children):
            if some_done and index in done:
                continue
            if child._run is calls_function and child.status is running:
                try:
                    run = child._running
                    status = run(child)
                    if status is running:
                        continue
                    status = child.finish_tick(RUNNING, callback_result(child, status))
                except NodeExecutionError:
                    raise
                except Exception as error:
                    raise child._execution_error(error) from error
            else:
                run = child._run
                status = run(child)
            if status is RUNNING:
                continue
            if status is SUCCESS:
                done.add(index)
                successes += 1
            elif status is SKIPPED:
                skipped += 1
            elif status is FAILURE:
                done.add(index)
                failures += 1
            else:
                raise self._bad_child()
            if successes >= need or (
                skipping_helps and successes + skipped >= need and (strict or skipped < count)
            ):
                return _end(self, SUCCESS, successes == count)
            if failures and (failures == limit or count - failures < need):
                self._note_failures()
                return _end(self, FAILURE, False)
    except Exception as error:
        self._successes, self._failures = successes, failures
        if isinstance(error, NodeExecutionError):
            raise
        raise self._execution_error(error) from error
    self._successes, self._failures = successes, failures
    return RUNNING if skipped < count else self._not_stored(before, SKIPPED)


def _end(self: Parallel, status: NodeStatus, all_done: bool) -> NodeStatus:
    self._clear()
    if all_done:
        for child in self.children:
            child.status = IDLE
    else:
        self.reset_children()
    self.status = status
    if status is FAILURE and self._up is not None:
        self._up._failed_child = self
    return status
