# SPDX-License-Identifier: Apache-2.0
"""The entry point of every process.

The context outlives the signal: rclpy's own handlers shut it down at once, after which nothing can
be published and no goal cancelled any more. Ours only say stop; then everything registered in
:mod:`behavior_ros.node.closing` ends, nodes are destroyed, and the context goes last.
"""

from __future__ import annotations

import faulthandler
import gc
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from behavior_ros.leaves.node_models import NodeModelError
from behavior_ros.node.closing import closables, destroy_node
from behavior_ros.node.companions import with_companions
from behavior_ros.node.parameters import ParameterError
from behavior_ros.process.clock_follower import follow_clock
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.process.local_transport import match_transport
from behavior_ros.process.shared_clock import share_clock
from behavior_ros.topics.background import share_subscriptions
from behavior_ros.transforms.builtin_transforms import share_transforms

_GRACE = 1.5
"""[s] wall time that closing may take before nodes are destroyed anyway."""
_STDERR = 2
"""As a number: what stands in for it in Python may be no file."""
STOPS = (signal.SIGINT, signal.SIGTERM)
"""Signals that stop a process."""
STOP_DEADLINE = 60.0
"""[s] wall time after a signal in which a process ends, or is ended with what its threads do."""
STANDSTILL = 60.0
"""[s] wall time for which a thread keeps the interpreter's lock until all threads are written."""


def run(factories: Sequence[Callable[[], Node]], args: Sequence[str] | None = None) -> int:
    """Run nodes in one single-threaded executor until SIGINT, SIGTERM or a shutdown.

    Args:
        factories: each makes one node
        args: command line with ``--ros-args``; None: that of the process

    Returns:
        the process's exit code: 0 after a stop, 1 after an error, which has been printed;
        2 if the command line is wrong
    """
    match_transport()
    try:
        rclpy.init(
            args=None if args is None else list(args),
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except RuntimeError as error:
        print(f"wrong ROS arguments: {error}", file=sys.stderr)
        return 2
    nodes: list[Node] = []
    with _StopSignals() as stop:
        try:
            return _run(factories, nodes, stop)
        finally:
            for node in with_companions(nodes):
                _destroy(node)
            rclpy.try_shutdown()


def _run(factories: Sequence[Callable[[], Node]], nodes: list[Node], stop: _StopSignals) -> int:
    try:
        with stop.interrupting():
            for factory in factories:
                nodes.append(factory())
    except _Stopped:
        return 0
    except (ParameterError, NodeModelError, OSError) as error:
        get_logger("behavior_ros").fatal(str(error))
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    # What start-up made lives as long as the process: a full collection that walks through all of
    # it takes tens of milliseconds, in which no tick happens.
    gc.collect()
    gc.freeze()
    executor = LeanExecutor()
    everyone = with_companions(nodes)
    for node in everyone:
        executor.add_node(node)
    share_clock(everyone, follow_clock(everyone, executor))
    share_transforms(everyone)
    share_subscriptions(everyone)
    align_timers(everyone)
    stop.wake = lambda: executor.create_task(_nothing)
    try:
        while stop.count == 0:
            executor.spin_once()
        _close(nodes, executor, stop)
    except ExternalShutdownException:
        return 0
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        stop.wake = _nothing
        executor.shutdown(timeout_sec=0.0)
    return 0


def align_timers(nodes: Sequence[Node]) -> None:
    """Have the timers of a process become due together, as far as their periods allow.

    Each time one is due the process wakes, on cold caches, and waits again for all there is: that
    takes more than what most timers do.
    """
    for timer in [timer for node in nodes for timer in node.timers]:
        if not timer.is_canceled():
            timer.reset()


def _nothing() -> None:
    """Do nothing: a task that makes the executor return from its wait."""


def _close(nodes: Sequence[Node], executor: Executor, stop: _StopSignals) -> None:
    """Let everything registered end, until the grace is over or a second signal comes."""
    deadline = time.monotonic() + _GRACE
    waiting = closables(with_companions(nodes))
    for closable in waiting:
        closable.begin_close()
    while stop.count < 2 and time.monotonic() < deadline:
        if all(closable.closed() for closable in waiting):
            return
        executor.spin_once(timeout_sec=0.05)


def _destroy(node: Node) -> None:
    try:
        destroy_node(node)
    except Exception:
        traceback.print_exc()


def end_within(deadline: float) -> None:
    """End this process with exit code 1 if it still runs after the deadline [s].

    What hangs at the end, hangs in the middleware or at a lock: the Python stacks of all threads
    are written to stderr, without asking for the interpreter's lock, so that it can be found. Fast
    DDS locks itself up now and then when others leave, on busy machines, and then no endpoint can
    be destroyed (https://github.com/eProsima/Fast-DDS/issues/6502).
    """
    faulthandler.dump_traceback_later(deadline, exit=True, file=_STDERR)


def tell_within(deadline: float) -> None:
    """Write what all threads do if nobody has called this anew before the deadline [s].

    Whoever hangs in the middleware with the interpreter's lock keeps everybody from
    :func:`end_within`, also a thread that hears of a signal. What stood still only because the
    machine did goes on, so nothing is ended.
    """
    faulthandler.dump_traceback_later(deadline, file=_STDERR)


class _Stopped(BaseException):
    """A signal came while a node was being made."""


class _StopSignals:
    """Counts SIGINT and SIGTERM, and wakes whoever waits.

    Python runs signal handlers only between two of its instructions, so not while the executor
    waits inside the middleware. The wake-up descriptor is written at once; a thread reads it.
    """

    def __init__(self) -> None:
        self.count = 0
        self.wake: Callable[[], object] = _nothing
        self._interrupts = False
        self._is_main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> _StopSignals:
        if self._is_main:
            self._reader, self._writer = socket.socketpair()
            self._writer.setblocking(False)
            self._handlers = {number: signal.signal(number, self._handle) for number in STOPS}
            self._descriptor = signal.set_wakeup_fd(
                self._writer.fileno(), warn_on_full_buffer=False
            )
            self._watcher = threading.Thread(target=self._watch, name="stop_signals", daemon=True)
            self._watcher.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_main:
            signal.set_wakeup_fd(self._descriptor)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._writer.close()  # ends the watcher
            self._watcher.join(1.0)
            faulthandler.cancel_dump_traceback_later()

    def interrupting(self) -> _Interrupting:
        """Return a context in which a signal raises _Stopped."""
        return _Interrupting(self)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._interrupts:
            raise _Stopped

    def _watch(self) -> None:
        with self._reader:
            self._reader.settimeout(STANDSTILL / 3.0)
            while True:
                if self.count == 0:
                    tell_within(STANDSTILL)
                try:
                    received = self._reader.recv(16)
                except TimeoutError:
                    continue
                if not received:
                    return
                stops = sum(byte in STOPS for byte in received)
                if stops:
                    if self.count == 0:  # who is told again and again is given no more time
                        end_within(STOP_DEADLINE)
                    self.count += stops
                    self.wake()


class _Interrupting:
    def __init__(self, signals: _StopSignals) -> None:
        self._signals = signals

    def __enter__(self) -> None:
        self._signals._interrupts = True

    def __exit__(self, *_: object) -> None:
        self._signals._interrupts = False
