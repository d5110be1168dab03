# SPDX-License-Identifier: Apache-2.0
"""The API for managers: what connects trees with one side of the world."""
