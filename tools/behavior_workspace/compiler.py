# SPDX-License-Identifier: Apache-2.0
"""Imported by `fast_tests` before its processes part: numba takes a third of a second to learn its
types when it first compiles or loads something, which each of them would else do for itself.
"""

from numba import njit

njit("int64(int64)")(lambda number: number)
