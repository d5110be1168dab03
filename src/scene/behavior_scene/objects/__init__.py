# SPDX-License-Identifier: Apache-2.0
"""What behaviours act on: defined objects that follow tracks, are held by links or derived."""
