# SPDX-License-Identifier: Apache-2.0
"""Jobs: demonstrated, disturbed and judged."""
