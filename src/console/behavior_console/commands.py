# SPDX-License-Identifier: Apache-2.0
"""Commands of pages: who may give them, one where it matters; each is answered and audited."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from behavior_console.audit import Audit, AuditEntry
from behavior_console.control import Control
from behavior_console.protocol import Answer, Command, Role
from behavior_tree.shown_text import visible

LONGEST = 60.0
"""[s] that a command may take until its answer."""


@dataclass(frozen=True)
class Client:
    """Who gives a command."""

    number: int
    """Of the connection."""
    name: str
    role: Role

    @property
    def who(self) -> str:
        """For people."""
        return f"{self.name or 'page'} #{self.number}"


class CommandError(Exception):
    """A command is not carried out; the sentence says why and what to do."""


Handler = Callable[[Client, Mapping[str, Any]], Awaitable[Answer]]
"""Does what a command asks for.

Raises:
    CommandError: it cannot.
"""


@dataclass(frozen=True)
class _Offered:
    role: Role
    handler: Handler
    controls: bool
    audited: bool


class Commands:
    """What pages may ask for. Use it in the event loop's thread.

    Args:
        audit: is told of every command.
        control: who of the pages has control.
    """

    def __init__(self, audit: Audit, control: Control) -> None:
        self.control = control
        self._audit = audit
        self._offered: dict[str, _Offered] = {}
        self._when_left: list[Callable[[int], None]] = []

    def when_left(self, function: Callable[[int], None]) -> None:
        """Have a function called with the number of each page that leaves."""
        self._when_left.append(function)

    def leave(self, number: int) -> None:
        """A page is gone."""
        self.control.leave(number)
        for function in self._when_left:
            function(number)

    def offer(
        self,
        name: str,
        handler: Handler,
        *,
        role: Role = Role.OPERATE,
        controls: bool = True,
        audited: bool = True,
    ) -> None:
        """Offer a command.

        Args:
            name: as pages give it; of ``run.*`` everything that begins so.
            handler: does it.
            role: that a page needs.
            controls: whether it is for who has control alone.
            audited: whether it is written down; False: it only shows others something.
        """
        self._offered[name] = _Offered(role, handler, controls, audited)

    @property
    def names(self) -> list[str]:
        """Of all commands."""
        return sorted(self._offered)

    async def run(self, client: Client, command: Command) -> Answer:
        """Carry a command out."""
        answer = await self._answer(client, command)
        offered = self._find(command.name)
        if offered is None or offered.audited or not answer.ok:
            self._audit.note(
                AuditEntry(time.time(), client.who, client.role, command.name, command.args, answer)
            )
        return answer

    async def _answer(self, client: Client, command: Command) -> Answer:
        offered = self._find(command.name)
        try:
            if offered is None:
                raise CommandError(
                    f"there is no command '{command.name}': choose of {', '.join(self.names)}"
                )
            if client.role < offered.role:
                raise CommandError(
                    f"'{command.name}' needs the role {offered.role.word}, this page may "
                    f"{client.role.word}: open it by the address that 'behavior status' prints"
                )
            if offered.controls:
                self._need_control(client)
            arguments = {**command.args, "command": command.name}
            async with asyncio.timeout(LONGEST):
                return await offered.handler(client, arguments)
        except CommandError as error:
            return Answer(ok=False, message=str(error))
        except TimeoutError:
            return Answer(
                ok=False,
                message=f"no answer within {LONGEST:g} s; what became of it shows the page's state",
            )
        except Exception as error:  # a fault of the handler's: the page is answered all the same
            name = visible(command.name)
            self._audit.warn(f"command '{name}' broke off:\n{traceback.format_exc()}")
            return Answer(
                ok=False,
                message=f"'{command.name}' broke off by a fault of the console, which its log has:"
                f" {error!r}; look whether it had an effect before you try again",
            )

    def _find(self, name: str) -> _Offered | None:
        group = f"{name.partition('.')[0]}.*"
        return self._offered.get(name) or self._offered.get(group)

    def _need_control(self, client: Client) -> None:
        holder = self.control.take(client.number, client.who)
        if holder:
            raise CommandError(f"{holder} has control: ask for it, or wait")
