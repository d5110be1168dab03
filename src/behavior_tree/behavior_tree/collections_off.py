# SPDX-License-Identifier: Apache-2.0
"""Making many objects at once, without looking for garbage among them again and again."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_MANY = 20_000
"""Objects that take a while to look through."""


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Let the collector of cyclic garbage rest: where all that is made is kept, it finds nothing
    and takes a third of the time. What has been made counts as old afterwards, so that it is not
    looked through at once.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # Whoever has frozen objects wants to keep them apart, and to count them takes long.
            if gc.get_count()[0] > _MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
