# SPDX-License-Identifier: Apache-2.0
"""The executor node and its interfaces."""
