# SPDX-License-Identifier: Apache-2.0
"""A single-threaded executor that costs a fraction of rclpy's.

rclpy's asks every node for its entities before each wait, makes a new wait set of them, wraps each
callback in a task, and wakes itself twice for each, so that it does all of that two or three times
for one message. Here lists and wait set are kept until an entity comes or goes, callbacks are
called as they are, and only other threads need to wake a wait. What is taken from the middleware,
and how, is left to rclpy.

The conditions of publishers and subscriptions (rclpy's event handlers, which log offers that do not
fit) are half of all entities and hardly ever met: they are looked at once a second. Services,
clients and actions that hear nothing are waited for by a thread of their own. Subscriptions of
:mod:`behavior_ros.topics.background` end no wait here.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from rclpy.context import Context
from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidHandle
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    TimeoutObject,
    await_or_execute,
)
from rclpy.node import Node
from rclpy.task import Future, Task
from rclpy.waitable import NumberOfEntities

from behavior_ros.node.kept_answers import kept_answers
from behavior_ros.process.seldom_watch import SeldomWatch, wait_set_for
from behavior_ros.topics.background import BackgroundReader, is_background

_EVENTS = 1.0
"""[s] wall time between two looks at event handlers."""
_LIVELY = 1.0
"""[s] wall time for which services, clients and actions are waited for like all else, after one of
them has heard something."""
_LEAVING = 0.001
"""[s] wall time between two looks whether a thread has left."""
_OFTEN, _SELDOM = ("timer", "subscription", "guard"), ("client", "service")
"""Kinds of what is in every wait, and of what is left to the watch, with actions."""
_ADDERS = {
    "timer": "add_timer",
    "subscription": "add_subscription",
    "guard": "add_guard_condition",
    "client": "add_client",
    "service": "add_service",
}


class LeanExecutor(Executor):  # type: ignore[misc] # rclpy has no type information
    """Calls callbacks in the thread that spins.

    As with rclpy's executors, a coroutine is resumed once in each round: who completes what it
    waits for in another thread wakes the executor.
    """

    def __init__(self, *, context: Context | None = None) -> None:
        super().__init__(context=context)
        self._tasks: list[Task] = []
        self._changed = True
        """Whether an entity has come or gone since `_waiting` was made."""
        self._waiting = _Waiting((), self.context, self._interrupt)
        self._background: BackgroundReader | None = None
        self._ready: deque[Callable[[], None]] = deque()
        self._suspended: list[Callable[[], None]] = []
        """Resume the callbacks that wait for something."""
        self._ran = False
        """Whether anything ran since those were resumed."""
        self._spinning: int | None = None
        """Thread that spins now."""
        self.idle = False
        """Whether it waits for something to do."""
        self.on_idle: Callable[[], None] = lambda: None
        """Called in the thread that spins when there is nothing left to do."""

    # -- what others call ------------------------------------------------------------------------

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> Task:
        """Have a function or coroutine called soon; any thread may call this."""
        task = Task(callback, args, kwargs, executor=self)
        with self._tasks_lock:
            self._tasks.append(task)
        self.idle = False
        self._interrupt()
        return task

    def add_node(self, node: Node) -> bool:
        """Take a node over."""
        self._changed = True
        return bool(super().add_node(node))

    def remove_node(self, node: Node) -> None:
        """Let go of a node."""
        self._changed = True
        super().remove_node(node)

    def wake(self) -> None:
        """Note that an entity has come or gone, and end the wait."""
        self._changed = True
        if threading.get_ident() == self._spinning:
            self._waiting.close()  # what is being destroyed goes at once, as nothing is waited for
        self._interrupt()

    def _interrupt(self) -> None:
        """End the wait if this is another thread than the one that waits."""
        guard = self._guard
        if guard and threading.get_ident() != self._spinning:
            with suppress(InvalidHandle):  # the executor is being shut down
                guard.trigger()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop, and let go of all entities; any thread may call this.

        Args:
            timeout_sec: [s] wall time in which another thread that spins must have come out of its
                callback; None or negative: for ever

        Returns:
            False if it has not: it ends with that callback, and can be shut down then.
        """
        self._is_shutdown = True
        self._interrupt()
        if not self._leave(timeout_sec):
            return False
        super().shutdown(timeout_sec)
        self._waiting.close()
        self._read_in_background([])
        return True

    def _leave(self, timeout: float | None) -> bool:
        """Wait until no other thread waits for what is about to be destroyed."""
        end = math.inf if timeout is None or timeout < 0.0 else time.monotonic() + timeout
        while self._spinning not in (None, threading.get_ident()):
            if time.monotonic() > end:
                return False
            time.sleep(_LEAVING)
        return True

    def spin_once(self, timeout_sec: float | TimeoutObject | None = None) -> None:
        """Wait for a callback and call it.

        Args:
            timeout_sec: [s] wall time to wait at most; None or negative: for ever
        """
        self._spin_once(timeout_sec, lambda: False)

    def spin_once_until_future_complete(
        self, future: Future, timeout_sec: float | TimeoutObject | None = None
    ) -> None:
        """The same, but return as soon as a future is done."""
        future.add_done_callback(lambda _: self.wake())
        self._spin_once(timeout_sec, future.done)

    # -- rounds ----------------------------------------------------------------------------------

    def _spin_once(
        self, timeout: float | TimeoutObject | None, reached: Callable[[], bool]
    ) -> None:
        seconds = timeout.timeout if isinstance(timeout, TimeoutObject) else timeout
        end = None if seconds is None or seconds < 0 else time.monotonic() + seconds
        outer, self._spinning = self._spinning, threading.get_ident()
        try:
            while not (self._is_shutdown or reached()):
                if not self._ready:
                    self._queue_tasks()
                if self._ready:
                    self._ready.popleft()()
                    return
                left = None if end is None else max(0.0, end - time.monotonic())
                self._wait(left)
                if not self._ready and end is not None and time.monotonic() >= end:
                    return
        finally:
            self._spinning = outer

    def _queue_tasks(self) -> None:
        """New tasks, and if anything has run, those that wait for something."""
        if self._tasks:
            with self._tasks_lock:
                tasks, self._tasks = self._tasks, []
            self._ready.extend(partial(self._run_task, task) for task in tasks)
        if self._ran and self._suspended:
            self._ready.extend(self._suspended)
            self._suspended = []
        self._ran = False

    def _run_task(self, task: Task) -> None:
        if task.cancelled():
            return
        task()
        if task.exception() is not None:
            raise task.exception()
        if task.done():
            self._ran = True
        else:
            self._suspended.append(partial(self._run_task, task))

    def _wait(self, seconds: float | None) -> None:
        """Wait until something is ready, other threads interrupt, or the time is over."""
        if self._changed:
            self._changed = False
            self._waiting.close()
            nodes = self.get_nodes()
            self._waiting = _Waiting(nodes, self.context, self._interrupt)
            self._read_in_background(
                [each for node in nodes for each in node.subscriptions if is_background(each)]
            )
        self.idle = True
        self.on_idle()
        found = self._waiting.wait(
            seconds, (self._guard, self._sigint_gc), check_groups=bool(self._suspended)
        )
        self.idle = False
        if not self.context.ok():
            raise ExternalShutdownException()
        self._ran = True  # other threads may have completed what is waited for
        takers = {
            "waitable": self._take_waitable,
            "timer": self._take_timer,
            "subscription": self._take_subscription,
            "guard_condition": self._take_guard_condition,
            "client": self._take_client,
            "service": self._take_service,
        }
        for kind, entity in found:
            take = takers[kind]
            self._ready.append(partial(self._call, entity, take))

    def _read_in_background(self, subscriptions: list[Any]) -> None:
        """Have a thread receive these subscriptions, and no others any more."""
        reader = self._background
        if subscriptions == ([] if reader is None else reader.subscriptions):
            return
        if reader is not None:
            reader.close()
        self._background = (
            BackgroundReader(subscriptions, self.context, self._fail) if subscriptions else None
        )

    def _fail(self, error: BaseException) -> None:
        """Have an error of another thread raised by whoever spins."""

        def fail() -> None:
            raise error

        self.create_task(fail)

    def _call(self, entity: Any, take: Callable[[Any], Any]) -> None:
        """Take what is there for an entity, and call its callback."""
        if self._changed and not self._is_there(entity):
            return
        if not entity.callback_group.beginning_execution(entity):
            return  # the next wait finds it again
        execute = None
        try:
            execute = take(entity)
        except InvalidHandle:
            pass  # it was destroyed meanwhile
        finally:
            if execute is None:
                entity.callback_group.ending_execution(entity)
        if execute is not None:
            self._resume(entity, execute())

    def _resume(self, entity: Any, work: Coroutine[Any, Any, None]) -> None:
        ended = True
        try:
            work.send(None)
            ended = False
        except StopIteration:
            pass
        finally:
            if ended:
                self._ran = True
                entity.callback_group.ending_execution(entity)
        if not ended:
            self._suspended.append(partial(self._resume, entity, work))

    def _take_timer(self, timer: Any) -> Any:
        with timer.handle:
            if not timer.handle.is_timer_ready():
                return None  # it was cancelled or set anew meanwhile
        return super()._take_timer(timer)

    def _take_service(self, service: Any) -> Any:
        """As rclpy does, but an answer that cannot be delivered yet is sent again."""
        with service.handle:
            request, header = service.handle.service_take_request(service.srv_type.Request)
        if header is None:
            return None

        async def execute() -> None:
            response = await await_or_execute(
                service.callback, request, service.srv_type.Response()
            )
            if not isinstance(response, service.srv_type.Response):
                raise TypeError(f"service {service.srv_name} answered with {response!r}")
            node = next((each for each in self.get_nodes() if _has(each, service)), None)
            if node is not None:  # else it has gone, or the callback has destroyed its service
                kept_answers(node).send(
                    f"a call of {service.srv_name}",
                    service.handle,
                    "service_send_response",
                    response,
                    getattr(header, "request_id", header),
                )

        return execute

    def _is_there(self, entity: Any) -> bool:
        return any(
            entity is each
            for node in self.get_nodes()
            for each in (
                *node.waitables,
                *node.timers,
                *node.subscriptions,
                *node.guards,
                *node.clients,
                *node.services,
            )
        )


def _has(node: Node, service: Any) -> bool:
    return any(service is each for each in node.services)


def _is_seldom(kind: str, entity: Any) -> bool:
    return kind in _SELDOM or (kind == "waitable" and not isinstance(entity, EventHandler))


class _Waiting:
    """The entities of some nodes, kept from being destroyed, and a wait set for them."""

    def __init__(self, nodes: Any, context: Context, interrupt: Callable[[], None]) -> None:
        self._held = ExitStack()
        self._held.enter_context(context.handle)
        self._entities: dict[str, list[tuple[Any, Any]]] = {
            kind: self._hold([each for node in nodes for each in getattr(node, f"{kind}s")])
            for kind in ("timer", "guard", "client", "service")
        }
        self._entities["subscription"] = self._hold(
            [each for node in nodes for each in node.subscriptions if not is_background(each)]
        )
        waitables = [each for node in nodes for each in node.waitables]
        self._waitables = self._enter([w for w in waitables if not isinstance(w, EventHandler)])
        self._events = self._enter([w for w in waitables if isinstance(w, EventHandler)])
        self._look_at_events = 0.0
        self._by_pointer = {
            handle.pointer: entity for group in self._entities.values() for entity, handle in group
        }
        seldom = NumberOfEntities(
            num_clients=len(self._entities["client"]),
            num_services=len(self._entities["service"]),
        )
        for waitable in self._waitables:
            seldom += waitable.get_num_entities()
        self._seldom = SeldomWatch(context, seldom, interrupt)
        self._lively_until = time.monotonic() + _LIVELY
        often = NumberOfEntities(
            num_subs=len(self._entities["subscription"]),
            num_gcs=len(self._entities["guard"]) + 2,
            num_timers=len(self._entities["timer"]),
        )
        for event in self._events:
            often += event.get_num_entities()
        self._set = wait_set_for(often + seldom, context)

    def _enter(self, entities: list[Any]) -> list[Any]:
        """Those of some entities that are not destroyed, which they will not be before `close`."""
        kept = []
        for entity in entities:
            try:
                self._held.enter_context(entity)
            except InvalidHandle:
                continue
            kept.append(entity)
        return kept

    def _hold(self, entities: list[Any]) -> list[tuple[Any, Any]]:
        handles = {id(entity.handle): entity for entity in entities}
        return [
            (handles[id(handle)], handle) for handle in self._enter([e.handle for e in entities])
        ]

    def close(self) -> None:
        """Let go of the entities."""
        self._seldom.close()
        self._held.close()

    __del__ = close

    def wait(
        self, seconds: float | None, guards: tuple[Any, ...], *, check_groups: bool
    ) -> list[tuple[str, Any]]:
        """Wait, and return what is ready, by kind.

        Args:
            seconds: wall time to wait at most; None: for ever
            guards: end the wait and are not returned
            check_groups: leave out what must not run beside a callback that is suspended
        """
        now = time.monotonic()
        events = now >= self._look_at_events
        if events:
            self._look_at_events = now + _EVENTS
        if self._seldom.found:
            self._lively_until = now + _LIVELY
        lively = check_groups or seconds == 0.0 or now < self._lively_until
        waitables = (self._waitables if lively else []) + (self._events if events else [])
        if check_groups:
            waitables = [w for w in waitables if w.callback_group.can_execute(w)]
        wait_set = self._set
        wait_set.clear_entities()
        if lively:
            self._seldom.end()
        else:
            self._seldom.begin(self._add_seldom)
        self._add(wait_set, _OFTEN + _SELDOM if lively else _OFTEN, check_groups=check_groups)
        for guard, _ in self._entities["guard"]:
            if guard._executor_triggered:
                guard.trigger()  # it was not handled, as its group was busy
        for guard in guards:
            wait_set.add_guard_condition(guard.handle)
        for waitable in waitables:
            waitable.add_to_wait_set(wait_set)
        wait_set.wait(round((_EVENTS if seconds is None else min(seconds, _EVENTS)) * 1e9))
        found = self._found(waitables, guards, in_waitables=events)
        if lively and any(_is_seldom(*each) for each in found):
            self._lively_until = time.monotonic() + _LIVELY
        return found

    def _add(self, wait_set: Any, kinds: Sequence[str], *, check_groups: bool) -> None:
        """Put the entities of some kinds into a wait set."""
        for kind in kinds:
            add = getattr(wait_set, _ADDERS[kind])
            for entity, handle in self._entities[kind]:
                if not check_groups or entity.callback_group.can_execute(entity):
                    add(handle)

    def _add_seldom(self, wait_set: Any) -> None:
        self._add(wait_set, _SELDOM, check_groups=False)
        for waitable in self._waitables:
            waitable.add_to_wait_set(wait_set)

    def _found(
        self, waitables: Sequence[Any], guards: tuple[Any, ...], *, in_waitables: bool
    ) -> list[tuple[str, Any]]:
        """What is ready, by kind; `in_waitables`: something of theirs may be."""
        wait_set, found = self._set, []
        own = {guard.handle.pointer for guard in guards}
        for kind in ("timer", "subscription", "guard_condition", "client", "service"):
            for pointer in wait_set.get_ready_entities(kind):
                entity = self._by_pointer.get(pointer)
                if entity is not None:
                    found.append((kind, entity))
                    if kind == "guard_condition":
                        entity._executor_triggered = True
                elif pointer not in own:
                    in_waitables = True
        if in_waitables:  # they need not be asked otherwise
            found[:0] = [("waitable", w) for w in waitables if w.is_ready(wait_set)]
        return found
