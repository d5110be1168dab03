# SPDX-License-Identifier: Apache-2.0
"""`Carrier`: what brings a peer's requests to the executor. `Line`: one peer, which is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from behavior_console.commands import CommandError
from behavior_executor.editing.edit_peer import EditPeer
from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest

PATIENCE = 15.0
"""[s] after which a command says that it was not answered."""
_PAUSE = 0.1
"""[s] before a request is sent again that could not be."""


class NoAnswer(Exception):
    """A request was not answered; the sentence says why and what to do."""


class Carrier(Protocol):
    """Brings requests to the executor; it may lose, double and delay them."""

    async def exchange(self, request: ExchangeRequest) -> ExchangeAnswer:
        """One request and its answer.

        Raises:
            NoAnswer: there is none.
        """
        ...


class Line:
    """One peer and its requests, one at a time.

    Args:
        peer: asks.
        carrier: brings it.
        patience: [s] wall time until somebody who waits gives up.
    """

    def __init__(self, peer: EditPeer, carrier: Carrier, *, patience: float = PATIENCE) -> None:
        self.peer = peer
        self.problem = ""
        """Why the last request has no answer."""
        self._carrier, self._patience = carrier, patience
        self._turn = asyncio.Lock()
        self._asked = float("-inf")

    async def until(self, done: Callable[[], bool]) -> None:
        """Ask until something holds.

        Raises:
            CommandError: it does not in time, or there is no such tree.
        """
        try:
            async with asyncio.timeout(self._patience):
                while not done():
                    await self._step(done)
        except TimeoutError:
            text = self.problem or "what became of it is not known: look at the tree"
            raise CommandError(f"no answer within {self._patience:g} s: {text}") from None

    async def keep_up(self, every: float) -> None:
        """Ask if there is something to ask, or nothing was asked for so long [s]."""
        if self.peer.wants or time.monotonic() - self._asked > every:
            try:
                async with self._turn:
                    await self._ask()
            except NoAnswer as error:
                self.problem = str(error)

    async def _step(self, done: Callable[[], bool]) -> None:
        """Ask once, and wait as long as the answer says; raises CommandError."""
        async with self._turn:
            if done():
                return
            try:
                told = await self._ask()
            except NoAnswer as error:
                self.problem = str(error)
                await asyncio.sleep(_PAUSE)
                return
        if done():
            return
        if told.answer.retry_after:  # this is not its answer yet
            await asyncio.sleep(told.answer.retry_after)
        elif not told.document:
            raise CommandError(told.answer.message)

    async def _ask(self) -> ExchangeAnswer:
        request = self.peer.request()
        self._asked = time.monotonic()
        told = await self._carrier.exchange(request)
        self.problem = ""
        self.peer.take(request, told)
        return told
