# SPDX-License-Identifier: Apache-2.0
"""Brings a stack up on a full ROS 2 distribution.

    ros2 launch behavior_bringup bringup.launch.py world:=block_stacking speed:=2.0 headless:=true

Which nodes run in which processes, with which parameters, comes from config/stacks/WORLD.yaml, the
file that `behavior up` reads too.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from behavior_bringup.stacks.launching import launch_arguments, launch_processes


def generate_launch_description() -> LaunchDescription:
    """Arguments and processes of the stack; ros2 launch calls it."""
    return LaunchDescription([*launch_arguments(), OpaqueFunction(function=launch_processes)])
