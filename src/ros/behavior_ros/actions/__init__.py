# SPDX-License-Identifier: Apache-2.0
"""Actions between nodes: servers, clients, goals."""
