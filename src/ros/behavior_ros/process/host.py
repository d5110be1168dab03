# SPDX-License-Identifier: Apache-2.0
r"""Several nodes of several packages in one process: ``python -m behavior_ros.process.host``.

Every ``/clock`` message costs a callback per node and every process an interpreter, so components
share processes::

    python -m behavior_ros.process.host --node behavior_scene.node.scene_node:SceneNode:=rate=10.0 \
        --node behavior_executor.node.executor_node:BehaviorExecutor \
        --ros-args --params-file robot.yaml

After the class, ``:=key=value`` sets a parameter of that node (a YAML value); ``:=__node=name`` and
``:=__ns=/space`` give it another name or namespace. It may be repeated.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

import yaml
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.utilities import remove_ros_args

from behavior_packages.bounded_yaml import read_yaml
from behavior_ros.process.entry import STOP_DEADLINE, STOPS, end_within, run


class HostError(ValueError):
    """A node cannot be hosted; the message says which and why."""


@dataclass(frozen=True)
class HostedNode:
    """One ``--node`` of the command line."""

    module: str
    """Python module, like behavior_scene.node.scene_node."""
    attribute: str
    """Class in the module."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Parameter overrides of this node."""
    remaps: dict[str, str] = field(default_factory=dict)
    """``__node`` and ``__ns``."""

    @classmethod
    def parse(cls, text: str) -> HostedNode:
        """Return what ``module:Class:=key=value`` stands for.

        Raises:
            HostError: if the text has another form
        """
        head, *settings = text.split(":=")
        module, colon, attribute = head.partition(":")
        if not (module and colon and attribute):
            raise HostError(
                f"--node {text}: write module:Class, like behavior_scene.node.scene_node:SceneNode"
            )
        parameters: dict[str, Any] = {}
        remaps: dict[str, str] = {}
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not (key and equals):
                raise HostError(f"--node {text}: write :=key=value instead of :={setting}")
            if key in ("__node", "__ns"):
                remaps[key] = value
            else:
                try:
                    parameters[key] = read_yaml(value)
                except yaml.YAMLError as error:
                    why = " ".join(str(error).split())
                    raise HostError(f"--node {text}: {key} is no YAML: {why}") from error
        return cls(module, attribute, parameters, remaps)

    def factory(self) -> Callable[[], Node]:
        """Import the class and return what makes the node.

        Raises:
            HostError: if there is no such module or class
        """
        try:
            module = importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            raise HostError(
                f"--node {self.module}:{self.attribute}: {error}; check the spelling, and that the "
                "package is built and the environment activated"
            ) from error
        made = getattr(module, self.attribute, None)
        if not callable(made):
            raise HostError(f"--node {self.module}:{self.attribute}: no such class in the module")
        arguments: dict[str, Any] = {}
        if self.parameters:
            arguments["parameter_overrides"] = [
                Parameter(key, value=value) for key, value in self.parameters.items()
            ]
        if self.remaps:
            pairs = [
                part for key, value in self.remaps.items() for part in ("-r", f"{key}:={value}")
            ]
            arguments["cli_args"] = ["--ros-args", *pairs]
        return partial(made, **arguments)


def main(args: Sequence[str] | None = None) -> int:
    """Host the nodes named on the command line; return the exit code."""
    arguments = list(sys.argv if args is None else ["host", *args])
    parser = argparse.ArgumentParser(
        prog="behavior_ros.process.host", description=__doc__.split("::")[0]
    )
    parser.add_argument(
        "--node",
        action="append",
        required=True,
        metavar="MODULE:CLASS[:=KEY=VALUE...]",
        help="a node to host; repeat for several",
    )
    options = parser.parse_args(remove_ros_args(arguments)[1:])
    try:
        factories = [HostedNode.parse(text).factory() for text in options.node]
    except HostError as error:
        print(error, file=sys.stderr)
        return 2
    return run(factories, arguments)


def script() -> NoReturn:
    """Host nodes, then end the process, also where worker threads did not end.

    A daemon thread that comes back from C++ while the interpreter is being torn down aborts the
    process, which would turn a clean stop into a crash.
    """
    faulthandler.enable(sys.__stderr__ or 2)
    code = main()
    for number in STOPS:  # whoever stops it twice would have killed it now
        signal.signal(number, signal.SIG_IGN)
    end_within(STOP_DEADLINE)
    left = [thread.name for thread in threading.enumerate() if thread.daemon]
    if left:
        print(f"ending although threads still work: {', '.join(left)}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    script()
