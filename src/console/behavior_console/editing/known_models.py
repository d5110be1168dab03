# SPDX-License-Identifier: Apache-2.0
"""`KnownModels`: what kinds of nodes there are, found once for all pages, ahead of who asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from behavior_console.editing.node_models import Row


class KnownModels:
    """Finds them in a thread. Use it in the event loop's thread.

    Args:
        find: imports all packages and takes seconds; is called again only after it has failed.
    """

    def __init__(self, find: Callable[[], list[Row]]) -> None:
        self._find = find
        self._found: asyncio.Future[list[Row]] | None = None

    async def rows(self) -> list[Row]:
        """All of them.

        Raises:
            Exception: what finding them has raised.
        """
        if self._found is None or (self._found.done() and self._found.exception()):
            self._found = asyncio.ensure_future(asyncio.to_thread(self._find))
        return await asyncio.shield(self._found)

    async def find_ahead(self) -> None:
        """Begin before anybody asks, who then waits less; what is wrong is for who asks."""
        with contextlib.suppress(Exception):
            await self.rows()
