# SPDX-License-Identifier: Apache-2.0
"""The trees of missions, edited by several while they tick."""
