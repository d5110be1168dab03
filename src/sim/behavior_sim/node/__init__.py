# SPDX-License-Identifier: Apache-2.0
"""The node of the simulated world, and its time."""
