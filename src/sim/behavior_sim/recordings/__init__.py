# SPDX-License-Identifier: Apache-2.0
"""Recordings of worlds: kept, drawn, summed up."""
