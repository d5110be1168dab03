# SPDX-License-Identifier: Apache-2.0
"""Navigation: managers for the executor, the rules that they follow, safety gate, Nav2.

The managers (:mod:`behavior_navigation.managers`) are built on the executor's API for managers.
What they decide stands in :mod:`behavior_navigation.rules`, free of ROS.
"""
