# SPDX-License-Identifier: Apache-2.0
"""Messages and their fields: read, checked, converted."""
