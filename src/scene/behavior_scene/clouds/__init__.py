# SPDX-License-Identifier: Apache-2.0
"""Point clouds: views without a copy, mean colours, counts of points within shapes."""
