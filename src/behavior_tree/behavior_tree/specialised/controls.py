# SPDX-License-Identifier: Apache-2.0
"""Specialised ticks of Sequence, Fallback and their reactive forms."""

from __future__ import annotations

from behavior_tree.basic_types import NodeStatus
from behavior_tree.control.fallback import Fallback
from behavior_tree.control.reactive import ReactiveFallback, ReactiveSequence
from behavior_tree.control.sequence import Sequence
from behavior_tree.errors import NodeExecutionError
from behavior_tree.fast_tick import Tick, specialises
from behavior_tree.node import FAILURE, IDLE, RUNNING, SKIPPED, TreeNode
from behavior_tree.specialised.in_order import in_order, place_of
from behavior_tree.specialised.unrolled import unrolled

__all__: list[str] = []

Reactive = ReactiveSequence | ReactiveFallback


@specialises(Sequence.tick)
def _sequence(node: Sequence) -> Tick:
    return unrolled("SUCCESS", "FAILURE", len(node.children)) or in_order


@specialises(Fallback.tick)
def _fallback(node: Fallback) -> Tick:
    return unrolled("FAILURE", "SUCCESS", len(node.children)) or in_order


@specialises(ReactiveSequence.tick)
def _reactive(node: Reactive) -> Tick:
    return _from_the_first


def _from_the_first(self: Reactive) -> NodeStatus:
    before = self.status
    if before is not RUNNING:
        self.status = RUNNING
    children, goes_on = self.children, self._goes_on
    skipped = reached = 0
    try:
        for child in children:
            run = child._run
            status = run(child)
            if status is goes_on:
                continue
            if status is SKIPPED:
                skipped += 1
                reached = place_of(child, children, reached) + 1
                self.halt_child(reached - 1)
                continue
            if status is RUNNING:
                _halt_others(children, child)
                self.status = status  # a leaf may have halted the tree
                return status
            if status is IDLE:
                raise self._bad_child()
            for other in children:
                if other.status is not IDLE:
                    if other.status is RUNNING:
                        other.halt_node()
                    other.status = IDLE
            break
        else:
            status = goes_on
            if skipped and status is FAILURE:
                self._note_failures()
            for child in children:
                child.status = IDLE
    except NodeExecutionError:
        raise
    except Exception as error:
        raise self._execution_error(error) from error
    if skipped and skipped == len(children):
        return self._not_stored(before, SKIPPED)
    self.status = status
    if status is FAILURE and self._up is not None:
        self._up._failed_child = self
    return status


def _halt_others(children: list[TreeNode], running: TreeNode) -> None:
    """Make all children but one IDLE; those before it have completed or been skipped."""
    passed = False
    for child in children:
        if child is running:
            passed = True
        elif not passed:
            child.status = IDLE
        elif child.status is not IDLE:
            if child.status is RUNNING:
                child.halt_node()
            child.status = IDLE
