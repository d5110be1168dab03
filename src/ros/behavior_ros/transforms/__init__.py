# SPDX-License-Identifier: Apache-2.0
"""Where frames are: one protocol, two implementations."""
