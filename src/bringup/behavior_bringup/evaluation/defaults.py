# SPDX-License-Identifier: Apache-2.0
"""What an evaluation does unless it is asked for something else."""

from __future__ import annotations

FAST = 8.0
"""Times real time: as fast as the whole stack keeps up with on 2 cores.

The simulation can go faster (0), and waits when the scene lags behind; but planning then takes ever
more of the simulated time, and the robot reacts late.
"""
CORES = 2.0
"""That an episode of a whole stack keeps busy."""
PER_STACK = 20
"""Episodes after which a fresh stack comes up, which takes about as long as half an episode."""
