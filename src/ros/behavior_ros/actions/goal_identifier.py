# SPDX-License-Identifier: Apache-2.0
"""Identifiers of goals; the first half of one tells on whose behalf the goal is sent.

The identifier is all that a server learns of who asks, and it comes with the goal itself. So a
skill knows without asking, and without a race, whether a leaf of a certain mission wants it.
"""

from __future__ import annotations

import hashlib
import secrets

from unique_identifier_msgs.msg import UUID

_HALF = 8


def mark_of(sender: str) -> bytes:
    """The first half of the identifiers of goals that are sent for a sender, such as a mission."""
    return hashlib.sha256(sender.encode()).digest()[:_HALF]


def mark_in(identifier: UUID) -> bytes:
    """The first half of a goal's identifier: that of `mark_of` its sender, or a random one."""
    return bytes(identifier.uuid[:_HALF])


def new_identifier(mark: bytes = b"") -> UUID:
    """Return the identifier of a new goal; without a mark all of it is random."""
    mark = mark or secrets.token_bytes(_HALF)
    return UUID(uuid=list(mark + secrets.token_bytes(_HALF)))
