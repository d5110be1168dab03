# SPDX-License-Identifier: Apache-2.0
"""`ConsoleDesk`: what all pages of one console share."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from behavior_console.audit import Audit, AuditEntry
from behavior_console.channels import CHANNELS
from behavior_console.commands import Client, CommandError, Commands
from behavior_console.control import ANSWER_WITHIN, Control
from behavior_console.protocol import Answer
from behavior_console.records.record_source import RecordSource
from behavior_console.records.shelf import RecordShelf
from behavior_console.source import Source, SourceError
from behavior_tree.shown_text import visible

PROTOCOL = 1
_LONGEST_LINE = 1_500
_LOOK = 0.5
"""[s] between two looks at whether control passes on."""


class ConsoleDesk:
    """The live source, the commands, and who has control.

    Args:
        live: what happens now.
        audit: keeps the commands.
        shelf: recordings that pages may look at; None: there are none.
    """

    def __init__(self, live: Source, audit: Audit, *, shelf: RecordShelf | None = None) -> None:
        self.live = live
        self._shelf = shelf
        control = Control(time.monotonic, self._show_control)
        self.commands = Commands(audit, control)
        self.commands.offer("control.take", self._take, controls=False)
        self.commands.offer("control.ask", self._take, controls=False)
        self.commands.offer("control.give", self._give, controls=False)
        self.commands.offer("control.refuse", self._refuse, controls=False)
        self._show_control()

    async def source(self, record: str) -> Source:
        """What a page looks at; empty: what happens now."""
        if record:
            if self._shelf is None:
                raise SourceError(f"there is no record '{record[:200]}'")
            return await self._shelf.source(record)
        return self.live

    def welcome(self, client: Client, source: Source) -> dict[str, Any]:
        """What a page is told first."""
        return {
            "protocol": PROTOCOL,
            "number": client.number,
            "name": client.who,
            "role": client.role.word,
            "view": "record" if isinstance(source, RecordSource) else "live",
            # [s] of the executor's clock: moments that can be shown.
            "history": source.span(),
            "now": source.now(),
            "channels": {name: kind.value for name, kind in CHANNELS.items()},
            "commands": self.commands.names,
        }

    async def background(self) -> None:
        """Pass control on to who asked for it and was not answered, until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK)
            self.commands.control.pass_on()

    def _show_control(self) -> None:
        commands = getattr(self, "commands", None)
        state = commands.control.state() if commands else {"holder": None, "asks": None}
        self.live.channels.set("controller", {**state, "answer_within": ANSWER_WITHIN})

    async def _take(self, client: Client, _: Any) -> Answer:
        return Answer(ok=True, message=self.commands.control.ask(client.number, client.who))

    async def _give(self, client: Client, _: Any) -> Answer:
        if not self.commands.control.give(client.number):
            raise CommandError("this page has no control to give")
        return Answer(ok=True, message="control was given")

    async def _refuse(self, client: Client, _: Any) -> Answer:
        if not self.commands.control.refuse(client.number):
            raise CommandError("this page has no control to keep")
        return Answer(ok=True, message="control is kept")


def event_of(entry: AuditEntry, now: float) -> dict[str, Any]:
    """An entry of the audit for the channel ``events``."""
    row = entry.row()
    outcome = row["message"] or ("done" if row["ok"] else "refused")
    return {
        "t": now,
        "kind": "command",
        "text": f"{entry.who}: {entry.command}: {outcome}",
        "uid": None,
        "level": "info" if row["ok"] else "warning",
    }


def log_line(entry: AuditEntry) -> str:
    """An entry of the audit as one line of the log; whoever reads that does so at a terminal, which
    no page may steer.
    """
    row = entry.row()
    outcome = "done" if row["ok"] else "refused"
    asked = f"{entry.who} ({row['role']}): {entry.command} {row['args']}"
    return visible(f"{asked}: {outcome} {row['message']}", _LONGEST_LINE)
