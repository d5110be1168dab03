# SPDX-License-Identifier: Apache-2.0
"""A node that test_entry.py hosts in a process whose interpreter stands still soon."""

import ctypes

from rclpy.node import Node

from behavior_ros.process import entry

entry.STANDSTILL = 1.0


class Locked(Node):
    """Hangs in C with the interpreter's lock, as rclpy does where the middleware hangs."""

    def __init__(self, **kwargs):
        super().__init__("locked", **kwargs)
        self.create_timer(0.05, self.hang)

    def hang(self):
        print("hanging", flush=True)
        lock, mutex = ctypes.PyDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
        lock(mutex)
        lock(mutex)
