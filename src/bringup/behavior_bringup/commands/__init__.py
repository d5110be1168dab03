# SPDX-License-Identifier: Apache-2.0
"""The verbs of the command `behavior` that have no room of their own."""
