# SPDX-License-Identifier: Apache-2.0
"""Shapes, the scene of them about the robot, and what touches what."""
