# SPDX-License-Identifier: Apache-2.0
"""The navigation managers: each a node of its own in the executor's process."""
