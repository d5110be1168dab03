# SPDX-License-Identifier: Apache-2.0
"""The stack description as actions of `launch`, for the launch file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument, ExecuteProcess, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from behavior_bringup.description import Process, load_stack, resolve, stack_file
from behavior_bringup.environment import enter_domain
from behavior_bringup.offers import world_or_default
from behavior_bringup.paths import journal_file
from behavior_bringup.security.policy import enclave_arguments
from behavior_bringup.stack import host_command, write_parameters


def launch_arguments() -> list[Any]:
    """One launch argument for every argument of the stack."""
    stack = load_stack(stack_file(world_or_default(None)))
    return [
        DeclareLaunchArgument(
            name, default_value=_launch_text(argument.default), description=argument.help
        )
        for name, argument in stack.arguments.items()
    ]


def launch_processes(context: Any) -> list[Any]:
    """The processes of the world that was chosen; the launch file calls it."""
    enter_domain(None)  # the processes inherit this one's environment
    world = LaunchConfiguration("world").perform(context)
    stack = load_stack(stack_file(world))
    arguments = {
        name: LaunchConfiguration(name, default=_launch_text(argument.default)).perform(context)
        for name, argument in stack.arguments.items()
    }
    if "journal" in stack.arguments and not arguments["journal"]:
        arguments["journal"] = str(journal_file("launch", world))
    processes = resolve(stack, environment="distribution", arguments=arguments)
    folder = Path(tempfile.mkdtemp(prefix="behavior-launch-"))
    return [_action(process, folder) for process in processes]


def _action(process: Process, folder: Path) -> Any:
    """One process; the launch ends with a process of ours, not with a window that is closed."""
    if process.program is not None:
        return Node(
            package=process.program.package,
            executable=process.program.executable,
            name=process.name,
            arguments=process.program.arguments,
            ros_arguments=enclave_arguments(process.name),
            parameters=[process.program.parameters],
            output="screen",
        )
    return ExecuteProcess(
        cmd=host_command(process, write_parameters(process, folder)),
        name=process.name,
        output="screen",
        on_exit=[Shutdown(reason=f"the process '{process.name}' ended")],
    )


def _launch_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
