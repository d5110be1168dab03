# SPDX-License-Identifier: Apache-2.0
"""The ROS node of the scene: one host, and parts that each own their topics and services."""
