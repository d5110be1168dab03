# SPDX-License-Identifier: Apache-2.0
"""How large messages of a master control may be; measured before anything else is done with them.

With these, reading a message takes a few milliseconds of a thread of its own, and a step of the
vehicle well below one. The factsheet tells them. A leg of an order is one mission, which may have
more places than an order has nodes.
"""

from __future__ import annotations

MOST_BYTES = 128 * 1024
"""Of a message."""
MOST_PARTS = 5000
"""Objects and lists of a message: each costs microseconds, known or not."""
MOST_NODES = 300
"""Of an order, and of what is still to be driven with an update to it."""
MOST_ACTIONS = 300
"""Of an order with all its updates."""
MOST_ACTIONS_HERE = 20
"""Of a node, an edge, or a message of instant actions."""
MOST_PARAMETERS = 50
"""Of an action."""
MOST_POINTS = 1000
"""Knots and control points of a trajectory."""
LONGEST_NAME = 256
"""Characters of identifiers, types, and names of maps."""
LONGEST_TEXT = 1000
"""Characters of descriptions, and of the errors in the state."""
MOST_REFERENCES = 20
"""Of an error."""
MOST_ERRORS = 20
"""That the state holds; older ones go."""
MOST_INSTANT = 50
"""Ended instant actions that the state tells of; older ones go."""
MOST_MESSAGES = 100
"""That wait to be dealt with; what comes besides is lost, and an error says so."""
MESSAGES_PER_STEP = 5
