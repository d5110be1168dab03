# SPDX-License-Identifier: Apache-2.0
"""Paths and trajectories: their geometry, and their times within limits."""
