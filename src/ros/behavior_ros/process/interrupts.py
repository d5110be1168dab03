# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C that waits for the end of a callback.

What Python raises at an interrupt may come anywhere, in the middle of rclpy's executor too, which
then keeps the entity whose callback it was for busy: nothing is heard of it any more, not even the
answer to the cancellation that Ctrl-C asks for.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rclpy.signals import (
    get_current_signal_handlers_options,
    install_signal_handlers,
    uninstall_signal_handlers,
)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Hold SIGINT and SIGTERM back, for who spins an executor and goes on with it afterwards.

    Only signals with a handler in Python are held, and only in the main thread, where they come.

    Yields:
        What handles, as the handlers from before do, what came until then: to be called between
        two rounds of the executor.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    # rclpy's own handlers would shut its context down, with the client that has to cancel.
    options = get_current_signal_handlers_options()
    uninstall_signal_handlers()
    came: list[tuple[int, FrameType | None]] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    held = {number: handler for number, handler in before.items() if callable(handler)}

    def handle() -> None:
        while came:
            number, frame = came.pop(0)
            held[signal.Signals(number)](number, frame)

    for number in held:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield handle
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        install_signal_handlers(options)
        handle()
