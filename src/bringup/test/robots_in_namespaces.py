# SPDX-License-Identifier: Apache-2.0
"""Robots that share one ROS graph, each started as the launch file starts it in a namespace."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import astuple
from pathlib import Path

from rclpy.node import Node

from behavior_bringup.security.graph import profile_of
from behavior_bringup.stacks.description import load_stack, resolve
from behavior_bringup.stacks.stack import host_command, write_parameters

GLOBAL = {"/clock", "/diagnostics", "/parameter_events", "/rosout"}
"""What robots of one graph share by ROS' own convention."""
OWN_TRANSFORMS = {"/tf": "tf", "/tf_static": "tf_static"}


class Robot:
    """The processes of a stack, with all their nodes in a namespace."""

    def __init__(
        self,
        namespace: str,
        stack: Path,
        folder: Path,
        *,
        arguments: dict[str, str | bool] | None = None,
        remaps: dict[str, str] | None = None,
    ) -> None:
        self.namespace = namespace
        self.nodes: set[str] = set()
        """Fully qualified names of those that the stack's file names."""
        self._folder = folder / namespace.strip("/")
        self._folder.mkdir()
        self._remaps = {"__ns": namespace, **OWN_TRANSFORMS, **(remaps or {})}
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        self._processes = {
            process.name: process
            for process in resolve(load_stack(stack), environment="pip", arguments=arguments)
        }

    def start(self, *names: str) -> None:
        """Start some processes; without names all of them."""
        for name in names or self._processes:
            process = self._processes[name]
            remaps = [w for a, b in self._remaps.items() for w in ("-r", f"{a}:={b}")]
            parameters = write_parameters(process, self._folder, self.namespace)
            self.nodes |= {f"{self.namespace}/{node.name}" for node in process.nodes}
            with (self._folder / f"{name}.log").open("wb") as log:
                self._started[name] = subprocess.Popen(
                    host_command(process, parameters, remaps), stdout=log, stderr=log
                )

    def told(self) -> str:
        """What the processes wrote."""
        logs = sorted(self._folder.glob("*.log"))
        return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')}" for log in logs)

    def stop(self) -> dict[str, int]:
        """Stop all processes; returns their exit codes."""
        for process in self._started.values():
            process.send_signal(signal.SIGINT)
        try:
            return {name: process.wait(240.0) for name, process in self._started.items()}
        finally:
            for process in self._started.values():
                process.kill()


def names_elsewhere(observer: Node, namespace: str) -> dict[str, set[str]]:
    """What the nodes of a namespace use that is neither in it nor shared by all, by node."""
    found = {}
    for name, where in observer.get_node_names_and_namespaces():
        if where != namespace:
            continue
        node = f"{where}/{name}"
        used = set().union(*astuple(profile_of(observer, node)))
        if others := {each for each in used - GLOBAL if not each.startswith(f"{namespace}/")}:
            found[node] = others
    return found
