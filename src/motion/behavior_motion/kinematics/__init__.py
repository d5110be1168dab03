# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: joint vectors that bring a frame to a pose."""
