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

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.logging import launch_config
from launch_ros.actions import Node

from behavior_packages.interpreter import interpreter

LAUNCH_FILE = "bringup.launch.py"
RESPAWN_DELAY = 1.0
"""[s] from the end of a process to its next start."""
PLAN = ("behavior_packages.programs", "behavior_bringup.stacks.launch_plan.main")


def launch_arguments() -> list[Any]:
    """One launch argument for every argument of the stack that the command line chooses.

    Included in another launch file only the world is declared: which stack it is, and so which
    arguments it has, is known when it is brought up.
    """
    arguments = {"world": {"default": "", "help": "which one is brought up; empty: the default"}}
    respawn = {"default": "0", "help": "how often a process of ours that ends is started again"}
    if any(word.endswith(LAUNCH_FILE) for word in sys.argv):
        chosen = [word.removeprefix("world:=") for word in sys.argv if word.startswith("world:=")]
        # Where something is wrong, bringing it up says so: launch would blame this file's syntax.
        with contextlib.suppress(RuntimeError):
            arguments = _answer(world=chosen[-1] if chosen else None)
    return [
        DeclareLaunchArgument(name, default_value=argument["default"], description=argument["help"])
        for name, argument in {**arguments, "respawn": respawn}.items()
    ]


def launch_processes(context: Any) -> list[Any]:
    """The processes of the world that was chosen; the launch file calls it."""
    configurations = context.launch_configurations
    given = {name: value for name, value in configurations.items() if isinstance(value, str)}
    respawn = _count(given.get("respawn", "0"))
    plan = _answer(
        world=given.get("world") or None,
        given=given,
        folder=tempfile.mkdtemp(prefix="behavior-", dir=launch_config.log_dir),
        namespace=_namespace(configurations),
        ros_arguments=_ros_arguments(configurations),
    )
    _check_programs(plan["processes"])
    for name in plan["unset"]:
        os.environ.pop(name, None)
    os.environ.update(plan["set"])  # the processes inherit this one's environment
    return [_action(process, respawn) for process in plan["processes"]]


def _check_programs(processes: list[dict[str, Any]]) -> None:
    """Before the first process: launch would leave those behind that it had started.

    Raises:
        RuntimeError: a program's package is not installed.
    """
    for process in processes:
        if "program" not in process:
            continue
        package = process["program"]["package"]
        try:
            get_package_prefix(package)
        except PackageNotFoundError:
            apt = f"ros-{os.environ.get('ROS_DISTRO', 'jazzy')}-{package.replace('_', '-')}"
            raise RuntimeError(
                f"the process '{process['name']}' needs the package '{package}':"
                f" 'sudo apt install {apt}' brings it"
                + (", headless:=true does without" if process["name"] == "rviz" else "")
            ) from None


def _namespace(configurations: Any) -> str:
    """What PushRosNamespace has pushed, with a slash in front; empty: nothing."""
    pushed = str(configurations.get("ros_namespace") or "").strip("/")
    return pushed and f"/{pushed}"


def _ros_arguments(configurations: Any) -> list[str]:
    """What PushRosNamespace, SetParameter, SetParametersFromFile and SetRemap ask of all nodes.

    Actions of launch_ros follow them by themselves; ours start nodes in a way of their own.
    """
    arguments = []
    if namespace := _namespace(configurations):
        arguments += ["-r", f"__ns:={namespace}"]
    for parameter in configurations.get("global_params") or ():
        if isinstance(parameter, str):
            arguments += ["--params-file", os.path.abspath(parameter)]
        else:
            arguments += ["-p", "{}:={}".format(*parameter)]
    for name, replacement in configurations.get("ros_remaps") or ():
        arguments += ["-r", f"{name}:={replacement}"]
    return arguments


def _count(text: str) -> int:
    """The argument `respawn`.

    Raises:
        RuntimeError: it is no number of times.
    """
    if not text.isdecimal():
        raise RuntimeError(f"respawn:={text}: write how often, like respawn:=3")
    return int(text)


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


def _action(process: dict[str, Any], respawn: int) -> Any:
    """One process; the launch ends with a process of ours that ends once more than it is started
    again, not with a window that is closed.
    """
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
        respawn=respawn > 0,
        respawn_delay=RESPAWN_DELAY,
        respawn_max_retries=respawn,
        on_exit=_Ended(name, respawn),
    )


class _Ended:
    """What the end of a process brings about: nothing while launch starts it again."""

    def __init__(self, name: str, respawn: int) -> None:
        self._name, self._left = name, respawn

    def __call__(self, event: Any, context: Any) -> list[Any]:
        if self._left > 0:
            self._left -= 1
            return []
        return [Shutdown(reason=f"the process '{self._name}' ended")]
