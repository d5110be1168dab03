# SPDX-License-Identifier: Apache-2.0
"""Watching a tree from outside: `loggers`, `groot2`, and the `history` of its blackboards."""
