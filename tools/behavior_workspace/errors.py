# SPDX-License-Identifier: Apache-2.0
"""The one error that setup reports."""


class SetupError(Exception):
    """Something that keeps the suite from being set up, as one sentence with its remedy."""
