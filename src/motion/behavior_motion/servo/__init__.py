# SPDX-License-Identifier: Apache-2.0
"""Reactive control: one small step towards a target, many times a second."""
