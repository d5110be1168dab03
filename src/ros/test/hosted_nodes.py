# SPDX-License-Identifier: Apache-2.0
"""Nodes that test_entry.py hosts in processes of their own."""

import atexit
import os
import signal
import threading
import time

from behavior_msgs.action import Pick
from rclpy.node import Node

from behavior_ros import (
    ParameterSpec,
    WorkerActionServer,
    declare,
    load_node_models,
    remote_actions,
)
from behavior_ros.process import entry


class Plain(Node):
    """Says when it runs and when it is destroyed."""

    def __init__(self, **kwargs):
        super().__init__("plain", **kwargs)
        spec = ParameterSpec("rate", 1.0, "rate [Hz]", range=(0.1, 100.0))
        self._rate = declare(self, spec)
        self._timer = self.create_timer(0.01, self.tell)

    def tell(self):
        self._timer.cancel()
        print(f"running {self.get_fully_qualified_name()} rate {self._rate}", flush=True)

    def destroy_node(self):
        print("destroyed", flush=True)
        super().destroy_node()


class Hanging(Node):
    """Waits in its end for a lock that nobody gives back."""

    def __init__(self, **kwargs):
        super().__init__("hanging", **kwargs)
        entry.STOP_DEADLINE = 1.0
        self._timer = self.create_timer(0.01, self.tell)

    def tell(self):
        self._timer.cancel()
        print("running", flush=True)

    def destroy_node(self):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()


class StoppedTwice(Plain):
    """Is told to stop once more by both signals when all has ended."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        atexit.register(self.stop_again)

    def stop_again(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)


class Slow(Node):
    """Takes long to be made."""

    def __init__(self, **kwargs):
        super().__init__("slow", **kwargs)
        print("making", flush=True)
        time.sleep(30.0)


class Broken(Node):
    """Cannot be made."""

    def __init__(self, **kwargs):
        super().__init__("broken", **kwargs)
        raise RuntimeError("no motor")


class Misread(Node):
    """Cannot be made, as a file of tree nodes is wrong."""

    def __init__(self, **kwargs):
        super().__init__("misread", **kwargs)
        load_node_models({"nodes": [{"node": "A", "action": "/a"}]})


class Raising(Node):
    """Raises in a callback."""

    def __init__(self, **kwargs):
        super().__init__("raising", **kwargs)
        self.create_timer(0.05, self.fail)

    def fail(self):
        raise RuntimeError("in a callback")


class Stubborn(Node):
    """Serves an action without ever looking whether it was cancelled, and runs a goal of it."""

    def __init__(self, **kwargs):
        super().__init__("stubborn", **kwargs)
        self.server = WorkerActionServer(self, Pick, "/hosted_pick", self.serve)
        self.runner = remote_actions(self).action(Pick, "/hosted_pick")
        self.timer = self.create_timer(0.05, self.begin)

    def begin(self):
        if self.runner.ready():
            self.timer.cancel()
            self.runner.send(Pick.Goal())

    def serve(self, context):
        print("working", flush=True)
        time.sleep(30.0)
        return Pick.Result()

    def destroy_node(self):
        self.server.destroy()
        super().destroy_node()


class Serving(Node):
    """Serves an action whose goals take a minute."""

    def __init__(self, **kwargs):
        super().__init__("serving", **kwargs)
        self.server = WorkerActionServer(self, Pick, "/killed_pick", self.serve)

    def serve(self, context):
        print("working", flush=True)
        context.sleep(60.0)
        return Pick.Result()


class Working(Node):
    """Serves an action and runs a goal of it, so that both have to end with the process."""

    def __init__(self, **kwargs):
        super().__init__("working", **kwargs)
        self.server = WorkerActionServer(self, Pick, "/hosted_pick", self.serve)
        self.outer = WorkerActionServer(self, Pick, "/hosted_outer", self.relay)
        self.runner = remote_actions(self).action(Pick, "/hosted_pick")
        self.starter = remote_actions(self).action(Pick, "/hosted_outer")
        self.timer = self.create_timer(0.05, self.begin)
        atexit.register(self.tell_what_is_left)

    def tell_what_is_left(self):
        actions = [type(w).__name__ for w in self.waitables if "Action" in type(w).__name__]
        print(f"actions left: {actions}", flush=True)

    def begin(self):
        if self.runner.ready() and self.starter.ready():
            self.timer.cancel()
            self.starter.send(Pick.Goal())

    def relay(self, context):
        self.runner.run(context, Pick.Goal())
        return Pick.Result()

    def serve(self, context):
        print("working", flush=True)
        try:
            context.sleep(60.0)
        finally:
            print(f"stopped: {context.cancel_reason}", flush=True)
        return Pick.Result()
