# SPDX-License-Identifier: Apache-2.0
"""Skills of an arm with a gripper: plain functions over protocols, free of ROS."""
