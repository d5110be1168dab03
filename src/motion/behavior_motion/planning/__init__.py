# SPDX-License-Identifier: Apache-2.0
"""Planning: the interface, planners by name, and the embedded planner."""
