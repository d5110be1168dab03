# SPDX-License-Identifier: Apache-2.0
"""What the command says in one sentence instead of a traceback."""

from __future__ import annotations


class BringupError(Exception):
    """Something failed that the user can read about and mend; exit code 1."""


class UsageError(BringupError):
    """The request itself is wrong; exit code 2."""
