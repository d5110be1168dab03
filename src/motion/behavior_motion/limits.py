# SPDX-License-Identifier: Apache-2.0
"""How large a request may be. Whatever keeps these limits is bounded in time and memory."""

from __future__ import annotations

MOST_WAYPOINTS = 200
"""Waypoints, or alternative goals, of one request."""
MOST_TARGETS = 10_000
"""Targets of one batch of inverse kinematics."""
MOST_ATTEMPTS = 1_000
"""Start vectors of inverse kinematics for one target."""
MOST_SHORTCUTS = 10_000
"""Shortcuts tried on a path."""
MOST_OBJECTS = 1_000
"""Objects of a scene."""
LONGEST_PLANNING_TIME = 60.0
"""[s] of processor time that may be allowed."""
LONGEST_LINE = 20.0
"""[m] of a Cartesian path, a radian of turning counted as 0.2 m."""
FARTHEST = 1e4
"""[m] between a pose and the base."""
LEAST_SCALING = 1e-3
"""Least fraction of the velocity and acceleration limits."""
MOST_KNOTS = 10_000
"""Knots of a planned trajectory: slow motions have them farther apart."""
LARGEST = 1e5
"""[m] of a shape's size, and of the coordinates of its corners."""
THINNEST = 1e-6
"""[-] Least spread of a convex mesh's corners in any direction, as a part of their greatest
coordinate: below 2e-8, coal's search for their hull ends the process."""
