# SPDX-License-Identifier: Apache-2.0
"""Worlds: their description, model and physics."""
