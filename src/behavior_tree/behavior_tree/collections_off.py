# SPDX-License-Identifier: Apache-2.0
"""Making many objects at once, without looking for garbage among them again and again."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["no_collections"]


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Let the collector of cyclic garbage rest: where all that is made is kept, it finds nothing
    and takes a third of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
