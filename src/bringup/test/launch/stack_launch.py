# SPDX-License-Identifier: Apache-2.0
"""For `launch_test`: the block world comes up, stacks nothing, and ends with every exit code 0."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import launch_testing.actions
import launch_testing.asserts
import rclpy
from behavior_msgs.srv import ListMissions
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

LAUNCH_FILE = Path(__file__).parents[4] / "launch" / "bringup.launch.py"


def generate_test_description() -> LaunchDescription:
    """The stack, included as a user's own launch file would."""
    stack = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH_FILE)),
        launch_arguments=[("world", "block_stacking"), ("headless", "true")],
    )
    return LaunchDescription([stack, launch_testing.actions.ReadyToTest()])


class TestWhileItIsUp(unittest.TestCase):
    """While it is up."""

    def test_the_missions_are_told(self) -> None:
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node("launch_test", context=context)
        executor = rclpy.executors.SingleThreadedExecutor(context=context)
        executor.add_node(node)
        try:
            client = node.create_client(ListMissions, "/mission/list")
            assert client.wait_for_service(timeout_sec=120.0)
            answer = client.call_async(ListMissions.Request())
            executor.spin_until_future_complete(answer, timeout_sec=60.0)
            assert "stack_blocks" in answer.result().names
        finally:
            executor.shutdown()
            node.destroy_node()
            rclpy.shutdown(context=context)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    """After it was stopped."""

    def test_every_process_ended_well(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
