# SPDX-License-Identifier: Apache-2.0
"""The scene as trees see it: conditions, tree nodes, their manager."""
