# SPDX-License-Identifier: Apache-2.0
"""What belongs to a node beside what rclpy knows of: parts, parameters, timers, its end."""
