# SPDX-License-Identifier: Apache-2.0
"""From messages to channels. No ROS: what has the fields of a message is one, recorded or not."""

from behavior_console.reducers.reducers import TOPICS, Reducers

__all__ = ["TOPICS", "Reducers"]
