# SPDX-License-Identifier: Apache-2.0
"""Fixtures of these tests."""

from behavior_ros.testing import ros, spinner

__all__ = ["ros", "spinner"]
