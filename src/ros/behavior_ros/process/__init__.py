# SPDX-License-Identifier: Apache-2.0
"""A process of nodes: its entry point, executor, clock and transport."""
