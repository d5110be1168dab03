# SPDX-License-Identifier: Apache-2.0
"""The demonstration of the navigation: a tour, what happens on it, and whether all of it did.

``tour`` and ``judge`` are pure: they see what was recorded, never ROS. ``recorder`` listens,
``demo`` brings it all together, ``disturbing`` is the verb `behavior disturb-navigation`.
"""
