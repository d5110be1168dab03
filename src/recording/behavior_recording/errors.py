# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with recordings."""


class RecordingError(Exception):
    """A recording cannot be written or read; the message is a sentence that says what to do."""
