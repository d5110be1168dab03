# SPDX-License-Identifier: Apache-2.0
"""The stack description as actions of `launch`, for the launch file.

This runs inside `ros2 launch`, in a Python that need have no package beyond the distribution's:
`launch_plan` reads the description, in the Python of our nodes.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.logging import launch_config
from launch_ros.actions import Node

from behavior_packages.interpreter import interpreter

LAUNCH_FILE = "bringup.launch.py"
PLAN = ("behavior_packages.programs", "behavior_bringup.launch_plan.main")


def launch_arguments() -> list[Any]:
    """One launch argument for every argument of the stack that the command line chooses.

    Included in another launch file only the world is declared: which stack it is, and so which
    arguments it has, is known when it is brought up.
    """
    arguments = {"world": {"default": "", "help": "which one is brought up; empty: the default"}}
    if any(word.endswith(LAUNCH_FILE) for word in sys.argv):
        chosen = [word.removeprefix("world:=") for word in sys.argv if word.startswith("world:=")]
        # Where something is wrong, bringing it up says so: launch would blame this file's syntax.
        with contextlib.suppress(RuntimeError):
            arguments = _answer(world=chosen[-1] if chosen else None)
    return [
        DeclareLaunchArgument(name, default_value=argument["default"], description=argument["help"])
        for name, argument in arguments.items()
    ]


def launch_processes(context: Any) -> list[Any]:
    """The processes of the world that was chosen; the launch file calls it."""
    given = dict(context.launch_configurations)
    folder = tempfile.mkdtemp(prefix="behavior-", dir=launch_config.log_dir)
    plan = _answer(world=given.get("world") or None, given=given, folder=folder)
    for name in plan["unset"]:
        os.environ.pop(name, None)
    os.environ.update(plan["set"])  # the processes inherit this one's environment
    return [_action(process) for process in plan["processes"]]


def _answer(**request: Any) -> dict[str, Any]:
    """What `launch_plan` answers.

    Raises:
        RuntimeError: its sentence; launch shows it.
    """
    done = subprocess.run(
        [interpreter(), "-m", *PLAN],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _action(process: dict[str, Any]) -> Any:
    """One process; the launch ends with a process of ours, not with a window that is closed."""
    name = process["name"]
    if program := process.get("program"):
        return Node(
            package=program["package"],
            executable=program["executable"],
            name=name,
            arguments=program["arguments"],
            ros_arguments=process["ros_arguments"],
            parameters=[program["parameters"]],
            output="screen",
        )
    return ExecuteProcess(
        cmd=process["command"],
        name=name,
        output="screen",
        on_exit=[Shutdown(reason=f"the process '{name}' ended")],
    )
