# SPDX-License-Identifier: Apache-2.0
"""ConcurrentSequence and Step: one list that tells order and concurrency."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from behavior_tree.basic_types import NodeStatus, NodeType
from behavior_tree.blackboard.ports import InputPort, ports_list
from behavior_tree.errors import LogicError
from behavior_tree.kernel.node import (
    FAILURE,
    IDLE,
    RUNNING,
    SKIPPED,
    SUCCESS,
    NodeConfig,
    TreeNode,
)
from behavior_tree.nodes.authoring.order import CALLED, PREVIOUS, Child, Order, find_order
from behavior_tree.nodes.control.base import ControlNode
from behavior_tree.nodes.decorators.force import ResultChanger

_SHORTEST_LOOP = 0.005
"""What takes less time goes round once in a regular tick [s]."""


class OnFailure(enum.IntEnum):
    """What becomes of the children that run when another one fails."""

    halt = 0
    """They are halted at once."""
    finish = 1
    """They go on to their end."""


class Step(ResultChanger):
    """A child of a ConcurrentSequence that comes after others than the one before it: passes on
    the result of its own child.
    """

    __slots__ = ()

    role = "Step"
    of_success = SUCCESS
    of_failure = FAILURE

    ports = ports_list(
        InputPort(
            "execute_after",
            str,
            PREVIOUS,
            "what must have ended before this starts: previous (the child before it), "
            "beginning (nothing), names of children, ; between them; or gosub: only a Gosub "
            "runs this",
        )
    )

    def port_changed(self, name: str) -> None:
        super().port_changed(name)
        if self._up is not None:
            self._up.children_changed()

    def children_changed(self) -> None:
        super().children_changed()
        if self._up is not None:  # where others call this by its child's name
            self._up.children_changed()


@dataclass(frozen=True)
class _Plan:
    """Who waits for whom."""

    before: dict[TreeNode, frozenset[TreeNode]]
    followers: dict[TreeNode, list[tuple[TreeNode, frozenset[TreeNode]]]]
    """Who waits for a child, and all that it waits for."""


class ConcurrentSequence(ControlNode):
    """Start each child as soon as what it comes after has ended: the child before it, or what the
    Step around it says in ``execute_after``. SUCCESS when all have ended, SKIPPED if all were
    skipped. After a failure nothing more starts, what runs is halted or finishes, and the result is
    FAILURE when nothing runs any more.
    """

    role = "ConcurrentSequence"
    children_at_once = True

    ports = ports_list(
        InputPort(
            "on_failure",
            OnFailure,
            OnFailure.halt,
            "what becomes of the children that run when another one fails: halt or finish",
        ),
        InputPort("concurrent", bool, True, "false: one child after the other, for a trial"),
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._plan: _Plan | None = None
        self._changed = True
        """True if children may have to be started that wait for none of those that run."""
        self._active: list[TreeNode] = []
        """Children that run, in the order in which they started."""
        self._ended: set[TreeNode] = set()
        """Children that have succeeded or were skipped."""
        self._failed: list[TreeNode] = []
        self._all_skipped = True
        self._jump: tuple[TreeNode, TreeNode] | None = None
        """The child that a Goto wants to go on with, and the child in which that Goto is."""
        self._landed = 0.0
        """When the list began, or the last jump was taken, on the tree's clock [s]."""
        self._entry: TreeNode | None = None
        """The child at which the next run begins."""

    # -- the tick -------------------------------------------------------------------------------

    def tick(self) -> NodeStatus:
        if self.status is not RUNNING:
            self._forget()
            self._landed = self._rt.clock()
            self._start()
            if self._entry is not None:
                self._pass_over(self._entry)
        if self._changed:
            self._changed = False
            if self._plan is None or not self.is_literal("concurrent"):
                self._plan = self._new_plan()
            self._start_ready(self._plan)
        active, index = self._active, 0
        while index < len(active):  # grows when what was waited for has ended
            child = active[index]
            run = child._run
            status = run(child)
            if status is RUNNING:
                index += 1
            elif self.status is not RUNNING:
                break  # a leaf has halted the tree
            else:
                del active[index]
                if self._jump is None or status is FAILURE:  # which no jump makes good
                    self._child_ended(child, status)
        if self.status is not RUNNING:
            self.reset_children()
            self._start()
            return RUNNING
        if self._jump is not None:
            return self._land(*self._jump)
        return RUNNING if active else self._ended_as(FAILURE if self._failed else SUCCESS)

    def _child_ended(self, child: TreeNode, status: NodeStatus) -> None:
        if status is FAILURE:
            self._failed.append(child)
            if self.get_input("on_failure") == OnFailure.halt:
                self._active.clear()
            return
        if status is IDLE:
            raise self._bad_child()
        ended = self._ended
        ended.add(child)
        if status is not SKIPPED:
            self._all_skipped = False
        plan = self._plan
        if plan is not None and not self._failed and child in plan.followers:
            for follower, others in plan.followers[child]:
                if others <= ended:
                    self._begin(follower)

    def _start_ready(self, plan: _Plan) -> None:
        """Start all for which nothing is left to wait, after the beginning or an edit."""
        if not self._failed:
            for child in plan.before:
                if plan.before[child] <= self._ended:
                    self._begin(child)

    def _begin(self, child: TreeNode) -> None:
        if child not in self._active and child not in self._ended:
            self._active.append(child)

    def _ended_as(self, status: NodeStatus) -> NodeStatus:
        skipped = status is SUCCESS and self._all_skipped
        self.reset_children()
        return SKIPPED if skipped else status

    # -- a run that begins further on -------------------------------------------------------------

    def begin_at(self, child: TreeNode | None) -> None:
        """Let the next run begin as if all that is listed before a child, or that it waits for, had
        succeeded; None: at its beginning, as always.
        """
        self._entry = child

    def _pass_over(self, entry: TreeNode) -> None:
        self._entry = None
        self._plan = plan = self._new_plan()
        children = list(plan.before)
        if entry not in children:
            return
        needed = _waited_for(entry, plan)
        listed = children[: children.index(entry)]
        self._ended = needed | {each for each in listed if entry not in _waited_for(each, plan)}
        self._all_skipped = False
        for child in self._ended:
            child.set_status(SUCCESS)

    # -- jumps ----------------------------------------------------------------------------------

    def jump(self, target: TreeNode, origin: TreeNode) -> None:
        """Go on with another child, from the next tick on.

        Args:
            target: the child to go on with
            origin: the child that wants it, which is left
        """
        self._jump = (target, origin)

    def _land(self, target: TreeNode, origin: TreeNode) -> NodeStatus:
        """Take a jump: all from the target on is as if it had not begun, all before it that does
        not run counts as ended. What is left is halted, with its locks and whatever it tries.
        """
        self._jump = None
        self._reset(origin)
        if origin in self._active:
            self._active.remove(origin)
        if self._failed:  # nothing more starts
            return RUNNING if self._active else self._ended_as(FAILURE)
        children = self.layered()
        place = children.index(target)
        self._ended.add(origin)
        self._ended.update(child for child in children[:place] if child not in self._active)
        for child in children[place:]:
            self._reset(child)
            if child in self._active:
                self._active.remove(child)
            self._ended.discard(child)
        self._all_skipped = False
        self._changed = True
        self._begin(target)
        self._loop_again()
        return RUNNING

    def _loop_again(self) -> None:
        """Ask for the next tick at once, unless it goes round in no time: then it waits for it."""
        now = self._rt.clock()
        if now - self._landed >= _SHORTEST_LOOP:
            self.emit_wake_up()
        self._landed = now

    # -- the order ------------------------------------------------------------------------------

    def layered(self) -> list[TreeNode]:
        """The children whose order it is."""
        return [child for child in self.children if not is_called(child)]

    def _new_plan(self) -> _Plan:
        children = self.layered()
        found = find_order([_described(child) for child in children])
        if not isinstance(found, Order):
            raise LogicError(f"{found[0].message} ({found[0].remedy})")
        before = found.before
        if not (self.get_input("concurrent") and self._rt.concurrent):
            before = [()] * len(children)
            for first, second in zip(found.sequence, found.sequence[1:], strict=False):
                before[second] = (first,)
        waits = {
            child: frozenset(children[place] for place in places)
            for child, places in zip(children, before, strict=True)
        }
        followers: dict[TreeNode, list[tuple[TreeNode, frozenset[TreeNode]]]] = {}
        for child, others in waits.items():
            for other in others:
                followers.setdefault(other, []).append((child, others))
        return _Plan(waits, followers)

    def comes_after(self) -> list[tuple[int, ...]]:
        """For each child of `layered` the indices of those it waits for, with the ports as they
        are now.
        """
        before = self._new_plan().before
        places = {child: index for index, child in enumerate(before)}
        return [tuple(sorted(map(places.__getitem__, others))) for others in before.values()]

    def children_changed(self) -> None:
        self.look_again()
        present = set(self.children)
        self._active = [child for child in self._active if child in present]
        self._ended &= present
        self._failed = [child for child in self._failed if child in present]

    def add_child(self, child: TreeNode) -> None:
        super().add_child(child)
        self.look_again()

    def port_changed(self, name: str) -> None:
        super().port_changed(name)
        self.look_again()

    def look_again(self) -> None:
        """Make the plan anew: what it depends on has changed."""
        self._plan = None
        self._changed = True

    # -- the end --------------------------------------------------------------------------------

    def failed_children(self) -> list[TreeNode]:
        return list(self._failed)

    def halt(self) -> None:
        self._forget()
        super().halt()

    def _forget(self) -> None:
        self._active.clear()
        self._ended.clear()
        self._failed.clear()
        self._all_skipped = True
        self._changed = True
        self._jump = None

    # -- saving ---------------------------------------------------------------------------------

    def save_state(self) -> Any:
        places = {child: index for index, child in enumerate(self.children)}
        return {
            "active": [places[child] for child in self._active],
            "ended": sorted(places[child] for child in self._ended),
            "failed": [places[child] for child in self._failed],
            "all_skipped": self._all_skipped,
        }

    def restore_state(self, state: Any) -> None:
        children = self.children
        self._active = [children[place] for place in state["active"]]
        self._ended = {children[place] for place in state["ended"]}
        self._failed = [children[place] for place in state["failed"]]
        self._all_skipped = state["all_skipped"]
        self._changed = True


def _waited_for(child: TreeNode, plan: _Plan) -> set[TreeNode]:
    """All that must have ended before a child begins."""
    found: set[TreeNode] = set()
    stack = [child]
    while stack:
        new = plan.before[stack.pop()] - found
        found |= new
        stack.extend(new)
    return found


def is_called(child: TreeNode) -> bool:
    """True for a child that only a Gosub runs."""
    return isinstance(child, Step) and child.get_input("execute_after") == CALLED


def names_of(child: TreeNode) -> tuple[str, ...]:
    """What the others may call a child of a list."""
    if not isinstance(child, Step):
        return _names(child)
    own = _names(child) if child.name != child.registration_id() else ()
    return (*own, *_names(child.child))


def _described(child: TreeNode) -> Child:
    after = child.get_input("execute_after") if isinstance(child, Step) else PREVIOUS
    return Child(names_of(child), after)


def _names(node: TreeNode) -> tuple[str, ...]:
    if node.type() is NodeType.SUBTREE:
        return tuple(dict.fromkeys((str(node.name), node.registration_id())))
    return (str(node.name),)
