# SPDX-License-Identifier: Apache-2.0
"""Missions: what they are, which there are, which runs and which wait. No ROS."""
