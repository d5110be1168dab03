# SPDX-License-Identifier: Apache-2.0
"""How to take hold of an object: candidates from its shape or from annotations, and filters."""
