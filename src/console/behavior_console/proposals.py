# SPDX-License-Identifier: Apache-2.0
"""`ProposalDesk`: missions that robots or language models propose, for people to decide on.

They lie as files in a folder; decisions are made by the command ``behavior proposals``, which looks
again at each, writes it where the stack reads missions, and runs it. No ROS.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from behavior_console.channels import Channels
from behavior_console.commands import Client, CommandError, Commands
from behavior_console.orders import text_of
from behavior_console.processes import started
from behavior_console.protocol import Answer, Role

DECIDE: Sequence[str] = (sys.executable, "-m", "behavior_bringup", "proposals")
LONGEST_TREE = 40_000
"""Characters of a text that is shown; who cannot read all of it here decides at a terminal."""
MOST_LINES = 2_000
"""Of a tree that is shown by what it changes; to compare longer ones would keep pages waiting."""
MOST_SHOWN = 20
"""Of those that wait the newest, and as many that were decided."""
_DECIDED = {"approve": "approved", "reject": "rejected"}
_MOST_BYTES = 512 * 1024
_LOOK = 2.0
"""[s] between two looks at the folder."""
_PATIENCE = 60.0
"""[s] for a decision to be made; a mission that it starts may run for longer."""


class ProposalDesk:
    """Shows proposals and hands decisions on. Use it in one event loop.

    Args:
        channels: has ``proposals`` set.
        folder: of the files.
        namespace: of the robot; empty: none.
        command: decides; gets what is to be done, and further options.
    """

    def __init__(
        self,
        channels: Channels,
        folder: Path,
        *,
        namespace: str = "",
        command: Sequence[str] = DECIDE,
    ) -> None:
        self._channels, self._folder, self._command = channels, folder, [*command]
        self._options = ["--namespace", namespace] if namespace else []
        self._seen: dict[Path, tuple[int, dict[str, Any] | None]] = {}
        self._running: set[asyncio.Task[str]] = set()

    def offer(self, commands: Commands) -> None:
        """Offer the commands to pages."""
        commands.offer("proposal.approve", self.approve, role=Role.EDIT)
        commands.offer("proposal.reject", self.reject, role=Role.EDIT)

    async def keep(self) -> None:
        """Keep the channel as the folder is, until it is cancelled."""
        while True:
            self.look()
            await asyncio.sleep(_LOOK)

    def look(self) -> None:
        """Show what the folder has now."""
        rows = [row for row in map(self._row, self._files()) if row is not None]
        rows.sort(key=lambda row: (row["created"], row["id"]), reverse=True)
        waiting = [row for row in rows if row["status"] == "open"]
        decided = [row for row in rows if row["status"] != "open"]
        shown = waiting[:MOST_SHOWN] + [{**row, "text": ""} for row in decided[:MOST_SHOWN]]
        if shown != (self._channels.value("proposals") or []):
            self._channels.set("proposals", shown)

    async def approve(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``proposal.approve``: what has the digest that the page has shown."""
        row = self._open(args)
        if row["cut"]:
            raise CommandError(
                f"it is too long to be read here: behavior proposals approve {row['id']}"
            )
        if text_of(args, "digest") != row["digest"]:
            raise CommandError("it is not what was shown: look at it again")
        return await self._decide("approve", row, client, "--shown", row["digest"], *self._options)

    async def reject(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``proposal.reject``."""
        return await self._decide("reject", self._open(args), client)

    # -- within ----------------------------------------------------------------------------------

    def _open(self, args: Mapping[str, Any]) -> dict[str, Any]:
        wanted = text_of(args, "id")
        self.look()
        for row in self._channels.value("proposals") or []:
            if row["id"] == wanted and row["status"] == "open":
                return dict(row)
        raise CommandError("that proposal waits no more")

    async def _decide(
        self, verb: str, row: Mapping[str, Any], client: Client, *options: str
    ) -> Answer:
        """Run the command until the decision is made; what it starts goes on."""
        line = [*self._command, verb, row["id"], "--by", client.who, *options]
        task = asyncio.create_task(_said(line))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while not task.done():
                    await asyncio.wait([task], timeout=0.2)
                    if self._is_decided(row["id"]):
                        break
        self.look()
        if self._is_decided(row["id"]):
            return Answer(ok=True, message=f"{row['mission']}: {_DECIDED[verb]}")
        said = task.result() if task.done() else f"no decision within {_PATIENCE:g} s"
        return Answer(ok=False, message=said or "it was not decided")

    def _is_decided(self, identifier: str) -> bool:
        row = self._row(self._folder / f"{identifier}.json")
        return row is not None and row["status"] != "open"

    def _files(self) -> list[Path]:
        try:
            found = [file for file in self._folder.iterdir() if file.suffix == ".json"]
        except OSError:
            return []
        for gone in self._seen.keys() - set(found):
            del self._seen[gone]
        return found

    def _row(self, file: Path) -> dict[str, Any] | None:
        """What a file holds, read again only when it has changed; None: no proposal."""
        try:
            stamp = file.stat().st_mtime_ns
            known = self._seen.get(file)
            if known is None or known[0] != stamp:
                known = self._seen[file] = stamp, _read(file)
        except OSError:
            return None
        return known[1]


def _read(file: Path) -> dict[str, Any] | None:
    with file.open("rb") as stream:
        data = stream.read(_MOST_BYTES)
    try:
        found = json.loads(data)
        texts = {key: found[key] for key in ("id", "created", "author", "mission", "reason")}
        more = {key: found.get(key, "") for key in ("trial", "status", "decided", "outcome")}
        texts |= more | {"digest": found["digest"], "text": found["xml"]}
        before = str(found["before"]) if found.get("base") else ""
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not all(isinstance(text, str) for text in texts.values()) or texts["id"] != file.stem:
        return None
    whole = _difference(before, texts["text"]) if found.get("base") else texts["text"]
    cut = len(whole) > LONGEST_TREE
    return {**texts, "text": whole[:LONGEST_TREE], "cut": cut, "edit": bool(found.get("base"))}


def _difference(before: str, after: str) -> str:
    """What an edit changes, as lines of a diff; of a long one all that it says."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return after
    return "\n".join(difflib.unified_diff(old, new, "now", "proposed", lineterm=""))


async def _said(line: Sequence[str]) -> str:
    """Run a command to its end; what it said last."""
    try:
        process = await started(line)
    except OSError as error:
        return f"the command cannot be run: {error.strerror}: {line[0]}"
    output, _ = await process.communicate()
    lines = [
        text.strip() for text in output.decode("utf-8", "replace").splitlines() if text.strip()
    ]
    return "\n".join(lines[-3:])[:1_000]
