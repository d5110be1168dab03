# SPDX-License-Identifier: Apache-2.0
"""Controllers of simulated robots."""
