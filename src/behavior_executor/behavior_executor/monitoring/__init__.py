# SPDX-License-Identifier: Apache-2.0
"""The running tree as tools outside see it."""
