# SPDX-License-Identifier: Apache-2.0
"""Questions about a snapshot of the scene, each a pure function."""
