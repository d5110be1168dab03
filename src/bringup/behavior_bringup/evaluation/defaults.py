# SPDX-License-Identifier: Apache-2.0
"""What an evaluation does unless it is asked for something else."""

from __future__ import annotations

FAST = 8.0
"""Times real time, at most: arms and objects wait for programs that compute (`busy_speed` of their
stacks), a navigation world only for those that lag behind."""
CORES = 2.0
"""That an episode of a whole stack keeps busy."""
PER_STACK = 20
"""Episodes after which a fresh stack comes up, which takes about as long as half an episode."""
