# SPDX-License-Identifier: Apache-2.0
"""Concurrent layering: one list that tells order and concurrency, and what follows a failure.

The nodes are registered by `register_authoring_nodes`. See ``docs/authoring.md``.
"""

from behavior_tree.authoring.register import register_authoring_nodes

__all__ = ["register_authoring_nodes"]
