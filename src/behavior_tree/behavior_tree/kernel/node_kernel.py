# SPDX-License-Identifier: Apache-2.0
"""`NodeKernel`: how a node is ticked, halted, and hooked.

``child._run(child)`` is how a parent ticks a child. `select_kernel` chooses that function for each
node, so that nothing is looked up per tick that a node does not have:

* ``_execute`` calls the body, ``tick()``, and stores and records what it gives
* ``_execute_guarded`` does the same for a node with conditions or hooks: pre-conditions, pre-tick
  hook, body, post-conditions, post-tick hook, change of status; `_execute_first` compiles the
  conditions before
* the body itself, if it is marked by `stores_status`: those of the nodes that most trees mostly
  consist of store and record the status themselves, one call per node instead of two
* ``_execute_traced`` around one of them, while somebody wants to know which node is at work
* a gate around all that, while an operator controls the run (`behavior_tree.run_control`)

There is one text per kind of node, watched or not. What is to be told of a tick goes into the
record of the tree (`behavior_tree.kernel.record`), if it has one: four items for each change of a
status, and for each tick that leaves it as it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import update_wrapper
from time import monotonic_ns
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from behavior_tree.basic_types import NodeStatus
from behavior_tree.errors import BehaviorTreeError, LogicError, NodeExecutionError
from behavior_tree.kernel.conditions import Conditions
from behavior_tree.kernel.node_state import PostTickHook, PreTickHook, Tick
from behavior_tree.kernel.port_access import PortAccess

if TYPE_CHECKING:
    from behavior_tree.kernel.node import TreeNode

IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING
SUCCESS = NodeStatus.SUCCESS
FAILURE = NodeStatus.FAILURE
SKIPPED = NodeStatus.SKIPPED

_STORING: set[Callable[..., NodeStatus]] = set()


def stores_status(body: Tick) -> Tick:
    """Decorator of a ``tick()`` that stores and records the status itself, its own errors named,
    while ``_stores`` is true. While it is false, that is left to the kernel: a node with conditions
    has its status only after them. A class that overrides ``tick()`` is not affected.
    """
    _STORING.add(body)
    return body


def _copy(function: Any) -> Any:
    code, names = function.__code__.replace(), function.__globals__
    given = function.__defaults__, function.__closure__
    copy = update_wrapper(FunctionType(code, names, None, *given), function)
    if function in _STORING:
        _STORING.add(copy)
    return copy


class NodeKernel(PortAccess):
    """Execution of a node."""

    __slots__ = ()

    ticking_functions: ClassVar[tuple[str, ...]] = ("_execute", "_execute_guarded", "tick")
    """What each class has a copy of."""
    synchronous: ClassVar[bool] = False
    """True if a tick never gives RUNNING."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Give the class its own copies of the functions that tick its nodes.

        A function of CPython remembers where it found the attributes of the class that it has seen
        last (PEP 659); shared by nodes of many classes it would look them up again for each, which
        costs as much as all the rest.
        """
        super().__init_subclass__(**arguments)
        for name in cls.ticking_functions:
            function = getattr(cls, name, None)
            if isinstance(function, FunctionType) and (name != "tick" or function in _STORING):
                setattr(cls, name, _copy(function))

    # -- what a node class defines --------------------------------------------------------------

    def tick(self) -> NodeStatus:
        """Body of the node, run once per tick; never returns IDLE."""
        raise NotImplementedError(f"{type(self).__name__} defines no tick()")

    def halt(self) -> None:
        """Stop what is running and become IDLE; `halt_node` also runs ``_onHalted``."""
        self.reset_status()

    # -- ticking --------------------------------------------------------------------------------

    def execute_tick(self) -> NodeStatus:
        """Tick the node once, conditions and hooks included."""
        record = self._rt.record
        if record is not None:  # the time at which the tick begins
            time = monotonic_ns() if record.timed else 0
            record += (time, self, self.status, self.status)
        return self._run(self)

    def select_kernel(self) -> None:
        """Choose the cheapest execution that does all this node needs; called after any change."""
        kernel = self._untraced_kernel()
        self._waits = None
        self._stores = kernel is self._body
        run = type(self)._execute_traced if self._rt.tracing else kernel
        control = self._rt.control
        self._run = run if control is None else control.around(self, run)

    def _untraced_kernel(self) -> Tick:
        kind, body, conditions = type(self), self._body, self._conditions
        if conditions is None and self._pre_tick is None and self._post_tick is None:
            return body if body in _STORING else kind._execute
        unbound = conditions is not None and not conditions.bound
        return kind._execute_first if unbound else kind._execute_guarded

    def _execute(self) -> NodeStatus:
        before = self.status
        if before is not RUNNING:
            self._reason = ""
            self._failed_child = None
        body = self._body  # apart from the call: Python finds an attribute faster than a method
        try:
            status = body(self)
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        if status is SUCCESS or status is FAILURE or (status is RUNNING and not self.synchronous):
            current = self.status
            self.status = status
            record = self._rt.record
            if record is not None:
                record += (monotonic_ns() if record.timed else 0, self, current, status)
            if status is FAILURE and self._up is not None:
                self._up._failed_child = self
            return status
        return self._not_stored(before, status)

    def _execute_first(self) -> NodeStatus:
        if self._conditions is not None:
            self._conditions.bind()
        self.select_kernel()
        return self._untraced_kernel()(self)

    def _execute_guarded(self) -> NodeStatus:
        before = self.status
        if before is not RUNNING:
            self._reason = ""
            self._failed_child = None
        try:
            conditions = self._conditions
            status = None if conditions is None else self._imposed_before(before, conditions)
            if status is None and self._pre_tick is not None:
                status = self._replaced(before)
            if status is None:
                body = self._body
                status = body(self)
            if conditions is not None and status is SUCCESS:
                for run in conditions.after_success:
                    run()
            elif conditions is not None and status is FAILURE:
                for run in conditions.after_failure:
                    run()
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        if self._post_tick is not None:
            given = self._reason
            override = self._post_tick(self, status)
            if override is SUCCESS or override is FAILURE:
                if override is not status:
                    self._note_imposed(override, given, "imposed after the tick")
                status = override
        if status is SUCCESS or status is FAILURE or (status is RUNNING and not self.synchronous):
            current = self.status
            self.status = status
            record = self._rt.record
            if record is not None:
                record += (monotonic_ns() if record.timed else 0, self, current, status)
            if status is FAILURE and self._up is not None:
                self._up._failed_child = self
            return status
        return self._not_stored(before, status)

    def _imposed_before(self, before: NodeStatus, conditions: Conditions) -> NodeStatus | None:
        """Result that a pre-condition gives instead of the body."""
        test_while = conditions.test_while
        if before is RUNNING:
            if test_while is not None and not test_while():
                self.halt_node()
                return SKIPPED
        elif before is IDLE or before is SKIPPED:
            for test, imposed, source in conditions.tests:
                if test():
                    if imposed is FAILURE:
                        self.set_failure_reason("_failureIf: " + source)
                    return imposed
            if test_while is not None and not test_while():
                return SKIPPED
        return None

    def _replaced(self, before: NodeStatus) -> NodeStatus | None:
        """Result that the pre-tick hook gives instead of the body."""
        if self._pre_tick is not None and before is not SUCCESS and before is not FAILURE:
            given = self._reason
            override = self._pre_tick(self)
            if override is SUCCESS or override is FAILURE:
                self._note_imposed(override, given, "imposed instead of the tick")
                return override
        return None

    def _note_imposed(self, status: NodeStatus, given: str, reason: str) -> None:
        """Note how a hook's result came, unless the hook has given a reason in place of `given`."""
        self._failed_child = None
        if self._reason is given:
            if status is FAILURE:
                self.set_failure_reason(reason)
            else:
                self._reason = reason

    def set_failure_reason(self, text: str) -> None:
        """Say in plain words why this node is about to return FAILURE, by a `Cause` where somebody
        may act upon its kind; forgotten when it starts again.
        """
        self._reason = text
        record = self._rt.record
        if text and record is not None:
            record.reasons.append((cast("TreeNode", self), text))

    def _execute_traced(self) -> NodeStatus:
        runtime = self._rt
        outer, runtime.at_work = runtime.at_work, (threading.get_ident(), self)
        try:
            return self._untraced_kernel()(self)
        finally:
            runtime.at_work = outer

    def _not_stored(self, before: NodeStatus, status: NodeStatus) -> NodeStatus:
        """End of a tick whose result leaves the stored status alone."""
        if status is SKIPPED:
            self._reason = ""
            self._failed_child = None
            record = self._rt.record
            if record is not None:
                record += (0, self, self.status, self.status)
            started = self.status is RUNNING and before is not RUNNING
            if started and not self._rt.quirks.skipped_stays_running:
                self.halt()
            return SKIPPED
        if status is IDLE:
            raise self._execution_error(LogicError("tick() must not return IDLE"))
        if status is RUNNING:
            raise self._execution_error(
                LogicError("SyncActionNode MUST never return RUNNING: use a StatefulActionNode")
            )
        raise self._execution_error(
            LogicError(f"tick() must return a NodeStatus, it returned {status!r}")
        )

    def _execution_error(self, error: Exception) -> NodeExecutionError:
        message = (
            str(error)
            if isinstance(error, BehaviorTreeError)
            else f"{type(error).__name__}: {error}"
        )
        return NodeExecutionError(self._config.path, self._config.registration_id, message)

    # -- halting --------------------------------------------------------------------------------

    def halt_node(self) -> None:
        """Halt and run ``_onHalted``."""
        runtime = self._rt
        outer = runtime.at_work
        if runtime.tracing:
            runtime.at_work = (threading.get_ident(), self)
        try:
            self.halt()
            conditions = self._conditions
            if conditions is not None:
                conditions.bind()
                if conditions.on_halted is not None:
                    conditions.on_halted()
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        finally:
            if runtime.tracing:
                runtime.at_work = outer

    # -- status ---------------------------------------------------------------------------------

    def set_status(self, status: NodeStatus) -> None:
        """Store a status and record it if it changed."""
        previous = self.status
        if previous is not status:
            self.status = status
            record = self._rt.record
            if record is not None:
                record += (monotonic_ns() if record.timed else 0, self, previous, status)

    def reset_status(self) -> None:
        """Become IDLE."""
        self.set_status(IDLE)

    # -- hooks ----------------------------------------------------------------------------------

    def set_pre_tick(self, hook: PreTickHook | None) -> None:
        """Call ``hook(node)`` before each tick; SUCCESS or FAILURE from it replaces the tick."""
        self._pre_tick = hook
        self.select_kernel()

    def set_post_tick(self, hook: PostTickHook | None) -> None:
        """Call ``hook(node, status)`` after each tick; SUCCESS or FAILURE from it overrides the
        result.
        """
        self._post_tick = hook
        self.select_kernel()


def select_kernels(nodes: Iterable[NodeKernel]) -> None:
    """`NodeKernel.select_kernel` of many nodes."""
    for node in nodes:
        node.select_kernel()
