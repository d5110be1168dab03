# SPDX-License-Identifier: Apache-2.0
"""Simulated worlds: physics by MuJoCo, controllers, detections, recordings, and their node.

Everything but ``node``, ``messages`` and ``controller_action_server`` is free of ROS.
"""
