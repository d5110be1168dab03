# SPDX-License-Identifier: Apache-2.0
"""Nav2's control nodes that need no ROS.

They agree with nav2_behavior_tree of Lyrical, which Jazzy's and Kilted's trees do not tell from
their own, apart from the port `wrap_around`; where they do not, their text says so.
"""

from __future__ import annotations

from behavior_tree import (
    BidirectionalPort,
    ControlNode,
    InputPort,
    LogicError,
    NodeConfig,
    NodeStatus,
    TreeNode,
    ports_list,
)

IDLE, RUNNING, SKIPPED = NodeStatus.IDLE, NodeStatus.RUNNING, NodeStatus.SKIPPED
SUCCESS, FAILURE = NodeStatus.SUCCESS, NodeStatus.FAILURE


class _Control(ControlNode):
    def _tick(self, index: int) -> NodeStatus:
        """Tick a child, which may not remain IDLE."""
        status = self.tick_child(index)
        if status is IDLE:
            raise LogicError(f"'{self.children[index].full_path()}' was ticked and is IDLE")
        return status

    def _end(self, status: NodeStatus) -> NodeStatus:
        """End a run: no child goes on."""
        if status is FAILURE:
            self._note_failures()
        self.reset_children()
        return status


class PipelineSequence(_Control):
    """Ticks all children up to the furthest that was reached, again in every tick, so that the
    first ones keep what the last one works on up to date. SUCCESS when the last one succeeds,
    FAILURE when any fails.
    """

    restorable = ("_reached",)

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._reached = 0

    def tick(self) -> NodeStatus:
        """Tick the children."""
        skipped = 0
        for index in range(len(self.children)):
            status = self._tick(index)
            if status is FAILURE:
                return self._over(FAILURE)
            if status is RUNNING and index >= self._reached:
                self._reached = index
                return RUNNING
            skipped += status is SKIPPED
        return self._over(SKIPPED if skipped == len(self.children) else SUCCESS)

    def _over(self, status: NodeStatus) -> NodeStatus:
        self._reached = 0
        return self._end(status)

    def halt(self) -> None:
        """Begin anew."""
        self._reached = 0
        super().halt()


class NonblockingSequence(_Control):
    """Ticks all children in every tick, whatever they did before. SUCCESS when all succeed in one
    tick, FAILURE when any fails.

    A child that is skipped counts as one that succeeds; in Nav2 it is an error.
    """

    def tick(self) -> NodeStatus:
        """Tick the children."""
        done, skipped = True, 0
        for index in range(len(self.children)):
            status = self._tick(index)
            if status is FAILURE:
                return self._end(FAILURE)
            done = done and status is not RUNNING
            skipped += status is SKIPPED
        if not done:
            return RUNNING
        return self._end(SKIPPED if skipped == len(self.children) else SUCCESS)


class PersistentSequence(_Control):
    """A Sequence that keeps in `current_child_idx` where it is, and goes on there after a halt.

    The entry must be set before, by ``<Script code="current_child_idx := 0"/>``.
    """

    ports = ports_list(
        BidirectionalPort("current_child_idx", int, description="the child that is at work")
    )

    def tick(self) -> NodeStatus:
        """Tick the children from the one at work on."""
        index = int(self.get_input("current_child_idx"))
        if index < 0:
            raise LogicError(f"port [current_child_idx] is {index}: there is no such child")
        self.set_status(RUNNING)
        while index < len(self.children):
            status = self._tick(index)
            if status is RUNNING:
                return RUNNING
            if status is FAILURE:
                return self._over(FAILURE)
            index += 1
            self.set_output("current_child_idx", index)
        return self._over(SUCCESS)

    def _over(self, status: NodeStatus) -> NodeStatus:
        self.set_output("current_child_idx", 0)
        return self._end(status)


class RecoveryNode(_Control):
    """Ticks its first child, and when that fails its second, the recovery, after whose success the
    first one is tried again: `number_of_retries` times. FAILURE when the recovery fails or the
    retries are used up; the reason is that of the first child.
    """

    min_children = 2
    max_children = 2
    restorable = ("_recovers", "_retries")

    ports = ports_list(
        InputPort("number_of_retries", int, 1, "how often it may recover and try again")
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._recovers = False
        self._retries = 0

    def tick(self) -> NodeStatus:
        """Tick what is at work."""
        allowed = int(self.get_input("number_of_retries"))
        self.set_status(RUNNING)
        while True:
            status = self._recovery() if self._recovers else self._work(allowed)
            if status is not None:
                return status

    def _work(self, allowed: int) -> NodeStatus | None:
        """Tick the first child; None: go on with the recovery."""
        status = self._tick(0)
        if status is RUNNING:
            return status
        if status is not FAILURE or self._retries >= allowed:
            return self._over(status)
        self.halt_child(0)
        self._recovers = True
        return None

    def _recovery(self) -> NodeStatus | None:
        """Tick the second child; None: try again."""
        status = self._tick(1)
        if status is RUNNING:
            return status
        if status is FAILURE:
            return self._over(FAILURE)
        self.halt_child(1)
        self._recovers = False
        if status is SKIPPED:  # there is nothing to be done about it; it is no retry either
            return FAILURE
        self._retries += 1
        return None

    def _over(self, status: NodeStatus) -> NodeStatus:
        self._forget()
        self.reset_children()
        return status

    def _forget(self) -> None:
        self._recovers = False
        self._retries = 0

    def failed_children(self) -> list[TreeNode]:
        """The first child: why nothing was done about it is not why it failed."""
        return self.children[:1]

    def halt(self) -> None:
        """Begin anew."""
        self._forget()
        super().halt()


class RoundRobin(_Control):
    """Ticks the next child whenever it is run anew, and the one after that when it fails. SUCCESS
    when one succeeds, FAILURE when all have failed; without `wrap_around` when the last one has.

    In Nav2 the success of the last child is a FAILURE without `wrap_around`; here it is a success,
    after which the first one is next.
    """

    restorable = ("_failed", "_next")

    ports = ports_list(
        InputPort("wrap_around", bool, False, "go on with the first child after the last")
    )

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        super().__init__(name, config)
        self._next = 0
        self._failed = 0

    def tick(self) -> NodeStatus:
        """Tick the next children, until one does not fail."""
        wraps = bool(self.get_input("wrap_around"))
        self.set_status(RUNNING)
        count, skipped = len(self.children), 0
        while self._failed + skipped < count:
            index = self._next
            status = self._tick(index)
            if status is RUNNING:
                return RUNNING
            self._next = (index + 1) % count
            if status is SUCCESS:
                self._failed = 0
                return self._end(SUCCESS)
            self._failed += status is FAILURE
            skipped += status is SKIPPED
            if self._next == 0 and not wraps:
                break
        self._next = self._failed = 0
        return self._end(SKIPPED if skipped == count else FAILURE)

    def failed_children(self) -> list[TreeNode]:
        """All that have failed in this run."""
        return self._all_failed_children()

    def halt(self) -> None:
        """Begin with the first child."""
        self._next = self._failed = 0
        super().halt()
