# SPDX-License-Identifier: Apache-2.0
"""Stacks: their description, processes, state, and the way to them."""
