# SPDX-License-Identifier: Apache-2.0
"""The tour: a mobile robot drives to five goals, with all that can happen on the way.

``cues`` and ``findings`` are pure: they see what was recorded, never ROS. ``recorder`` listens and
intervenes, ``pictures`` draws, ``job`` is what the package offers.
"""
